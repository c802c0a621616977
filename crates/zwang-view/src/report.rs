//! The texts about a run: the summary for people, the table of the audit, the report, the comparison of drifts.

use std::cell::OnceCell;

use serde_json::{Map, Value, json};
use zwang::EventKind;
use zwang::Run;
use zwang::quantity::{number, rounded};
use zwang::simulate::{End, OutputValues};
use zwang_motion::Dynamics;

use crate::article::{Article, Block, article_latex, article_markdown};
use crate::derivation::{DerivationContext, derivation};
use crate::figure::{
    MOST_FRAMES, event_label, figure, geometry_of, is_time, named, page_plots, path_figure, shown, thinned, turned,
    upright,
};
use crate::message::note_sentences;
use crate::page::{Page, PagePlot, page};
use crate::plot::{Figure, svg};
use crate::table::{aligned, count, summary};

/// Coordinates, outputs and events shown in a summary.
const MOST_VALUES: usize = 6;
const MOST_OUTPUTS: usize = 12;
const MOST_EVENTS: usize = 6;

/// What a run came to: size and kind of the problem, cost, how well the physics was kept, end, outputs, events.
fn run_summary(file: &str, run: &Run) -> String {
    let mut out = summary(file, run.check());
    out.push_str(&format!("  {}\n  {}\n  {}\n", cost(run), kept(run), end(run)));
    let choice = |o: &zwang::simulate::OutputRange| run.check().determinacy.is_choice(&o.name);
    let line = |o: &zwang::simulate::OutputRange| {
        let mut line = output_line(run, o);
        if choice(o) {
            line.push("(one of a family: by the smallest multipliers)".into());
        }
        line
    };
    let mut lines: Vec<Vec<String>> = run.outputs().iter().take(MOST_OUTPUTS).map(line).collect();
    if run.outputs().len() > MOST_OUTPUTS {
        lines.push(vec![format!("… {} outputs in all", run.outputs().len())]);
    }
    out.push_str(&flush_left(&lines));
    if !run.events().is_empty() {
        out.push_str(&format!("  {}\n", events(run)));
    }
    out
}

/// Whether the model states units, and with them seconds and joules.
fn has_units(run: &Run) -> bool {
    run.check().equations.model.coordinates.iter().any(|c| c.dimension.is_some())
}

fn with(number: String, unit: &str) -> String {
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

fn seconds(run: &Run, t: f64, n_digits: usize) -> String {
    with(rounded(t, n_digits), if has_units(run) { "s" } else { "" })
}

fn joules(run: &Run, text: String) -> String {
    with(text, if has_units(run) { "J" } else { "" })
}

/// A small number such as an error: two digits, and plainly 0.
fn small(x: f64) -> String {
    if x == 0.0 { "0".into() } else { format!("{x:.1e}") }
}

/// The time a computer took, as people say it.
fn took(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{} µs", rounded(s * 1e6, 2)),
        s if s < 1.0 => format!("{} ms", rounded(s * 1e3, 2)),
        s if s < 120.0 => format!("{} s", rounded(s, 3)),
        s => format!("{} min", rounded(s / 60.0, 3)),
    }
}

/// `20 s simulated in 41 ms by order8 at 1e-9, 604 steps, 49 rejected`.
fn cost(run: &Run) -> String {
    let reached = match *run.end() {
        End::Finished => seconds(run, run.state().t, 7),
        _ => format!("{} of {}", seconds(run, run.state().t, 7), seconds(run, run.end_time(), 7)),
    };
    let steps = count(run.cost().steps, "step", "steps");
    let rejected = match run.cost().rejected {
        0 => String::new(),
        n => format!(", {n} rejected"),
    };
    let cut = match run.cost().cut_for_formulas {
        0 => String::new(),
        n => format!(", {n} cut for formulas"),
    };
    let drift = match run.drift() {
        zwang_motion::Drift::Project => String::new(),
        other => format!(", drift {}", other.as_str()),
    };
    let wall = took(run.seconds().1);
    format!("{reached} simulated in {wall} by {}{drift}, {steps}{rejected}{cut}", method(run))
}

/// The method with what decides its accuracy.
fn method(run: &Run) -> String {
    if run.method().is_fixed_step() {
        let mean = run.state().t / run.cost().steps.max(1) as f64;
        format!("{} with steps of {}", run.method(), seconds(run, mean, 3))
    } else {
        format!("{} at {:e}", run.method(), run.tolerance())
    }
}

/// `energy error 2.0e-8 J, largest residual 2.2e-16 m^2 (again), corrected by at most 8.2e-11`.
fn kept(run: &Run) -> String {
    let energy = &run.audit().energy;
    let mut parts = vec![format!("energy error {}", joules(run, small(energy.drift)))];
    if has_work(run) {
        parts[0].push_str(&format!(" ({})", works(run)));
    }
    if let Some((name, value)) = largest_residual(run) {
        let unit = residual_unit(run, name);
        parts.push(format!("largest residual {} ({name})", with(small(value), &unit)));
    }
    if run.cost().largest_correction > 0.0 {
        parts.push(format!("corrected by at most {}", small(run.cost().largest_correction)));
    }
    parts.join(", ")
}

/// `work done -4.096 J`, and apart from it what impacts took: `work done 2 J, impacts -3 J`.
fn works(run: &Run) -> String {
    let energy = &run.audit().energy;
    /// Beside what impacts took, work below this part is rounding.
    const WORK_ROUNDING: f64 = 1e-12;
    let noise = energy.drift + WORK_ROUNDING * energy.impacts.abs();
    let tell = |word: &str, work: f64| format!("{word} {}", joules(run, rounded(work, 4)));
    match (energy.impacts.abs() > energy.drift, energy.work.abs() > noise) {
        (true, true) => format!("{}, {}", tell("work done", energy.work), tell("impacts", energy.impacts)),
        (true, false) => tell("impacts", energy.impacts),
        _ => tell("work done", energy.work),
    }
}

/// `true` if work was done that exceeds the errors.
fn has_work(run: &Run) -> bool {
    let energy = &run.audit().energy;
    energy.work.abs().max(energy.impacts.abs()) > energy.drift
}

fn largest_residual(run: &Run) -> Option<(&str, f64)> {
    let residuals = run.audit().residuals.iter().map(|(name, value)| (name.as_str(), *value));
    residuals.max_by(|a, b| a.1.total_cmp(&b.1))
}

fn residual_unit(run: &Run, name: &str) -> String {
    let model = &run.check().equations.model;
    let contacts = model.contacts.iter().flat_map(|contact| &contact.rows);
    let row = model.rows().into_iter().chain(contacts).find(|r| r.name == name);
    row.and_then(|r| r.dimension).map_or(String::new(), |d| d.unit())
}

/// `end: x[1] = 0.7 m, …`.
fn end(run: &Run) -> String {
    let model = &run.check().equations.model;
    let value = |((c, q), size): ((&zwang::model::Coordinate, &f64), &f64)| {
        let unit = c.dimension.map_or(String::new(), |d| d.unit());
        format!("{} = {}", c.name, with(rounded(above_noise(run, *q, *size), 7), &unit))
    };
    let values = model.coordinates.iter().zip(&run.state().q).zip(run.sizes().0);
    let shown: Vec<String> = values.take(MOST_VALUES).map(value).collect();
    let more = if run.state().q.len() > MOST_VALUES { ", …" } else { "" };
    let word = match *run.end() {
        End::Finished => "end".to_string(),
        _ => format!("stopped at t = {}", seconds(run, run.state().t, 9)),
    };
    format!("{word}: {}{more}", shown.join(", "))
}

/// A quantity that was of this size along the run, or 0 where it is less than a thousandth of the error allowed.
fn above_noise(run: &Run, x: f64, size: f64) -> f64 {
    const PART_OF_ERROR: f64 = 1e-3;
    if x.abs() <= PART_OF_ERROR * run.tolerance() * size { 0.0 } else { x }
}

/// `tension:`, `last 28.29 N,`, `least 0 N,`, `largest 29.43 N`.
fn output_line(run: &Run, output: &zwang::simulate::OutputRange) -> Vec<String> {
    let name = format!("{}:", output.name);
    match output.values {
        Some(values) => {
            let size = values.min.abs().max(values.max.abs());
            let text = |x: f64| with(rounded(above_noise(run, x, size), 6), &output.unit);
            let OutputValues { last, min, max } = values;
            vec![
                name,
                format!("last {},", if last.is_finite() { text(last) } else { "undefined".into() }),
                format!("least {},", text(min)),
                format!("largest {}{}", text(max), if output.undefined { ", undefined at times" } else { "" }),
            ]
        }
        None => vec![name, "not known".into()],
    }
}

/// Columns flush left, two spaces before each line and one between.
fn flush_left(lines: &[Vec<String>]) -> String {
    let wide = |k: usize| lines.iter().filter_map(|l| l.get(k)).map(|s| s.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for line in lines {
        let cells: Vec<String> = line
            .iter()
            .enumerate()
            .map(|(k, cell)| format!("{cell}{}", " ".repeat(wide(k) - cell.chars().count())))
            .collect();
        out.push_str(&format!("  {}\n", cells.join(" ").trim_end()));
    }
    out
}

/// `events: 0.7144 s rank-drop rod[1]; 0.9 s; … 12 in all`; a repeated event is given by its time alone.
fn events(run: &Run) -> String {
    let mut shown = Vec::new();
    let mut before = String::new();
    for event in run.events().iter().take(MOST_EVENTS) {
        let what = match event.kind.as_str() {
            "switch" => event.name.clone(),
            kind => format!("{kind} {}", event.name),
        };
        // rows that lose rank together come in any order
        let mut words: Vec<&str> = what.split([' ', ',']).collect();
        if event.kind == EventKind::RankDrop {
            words.sort_unstable();
        }
        let sorted = words.concat();
        let t = seconds(run, event.t, 7);
        shown.push(if sorted == before { t } else { format!("{t} {what}") });
        before = sorted;
    }
    let more = match run.events().len() {
        n if n > MOST_EVENTS => format!("; … {n} in all"),
        _ => String::new(),
    };
    format!("events: {}{more}", shown.join("; "))
}

/// Rows of a residual table; a chain of thousands of links is represented by its largest.
const MOST_RESIDUALS: usize = 24;

/// How well the physics was kept: names and values of a table.
pub fn facts(run: &Run) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| rows.push((name.to_string(), value));
    let energy = &run.audit().energy;
    add("Energy at the start", joules(run, number(energy.start)));
    add("Energy at the end", joules(run, number(energy.end)));
    if has_work(run) {
        add("Work done on the system", joules(run, number(energy.work)));
    }
    if energy.impacts != 0.0 {
        add("Energy that impacts added", joules(run, number(energy.impacts)));
    }
    if let Some(parts) = energy.parts {
        add("Work of Qc_ideal", joules(run, number(parts.ideal)));
        add("Work of Qc_nonideal", joules(run, number(parts.nonideal)));
        add("Work of C, as prescribed", joules(run, number(parts.law)));
    }
    add("Largest energy error", joules(run, small(energy.drift)));
    for momentum in &run.audit().momenta {
        let name = format!("Momentum of {}, conserved", momentum.name);
        add(&name, format!("{}, changed by at most {}", rounded(momentum.start, 7), small(momentum.drift)));
    }
    let mut residuals: Vec<&(String, f64)> = run.audit().residuals.iter().collect();
    let n = residuals.len();
    if n > MOST_RESIDUALS {
        residuals.sort_by(|a, b| b.1.total_cmp(&a.1));
        residuals.truncate(MOST_RESIDUALS / 2);
        add("Constraint rows", format!("{n}, the largest residuals below"));
    }
    for (name, value) in residuals {
        add(&format!("Largest residual of {name}"), with(small(*value), &residual_unit(run, name)));
    }
    add("Rank of the constraints", format!("{} of {}", run.rank(), run.check().equations.rows.len()));
    add("Method", method(run));
    add("Against drift", run.drift().as_str().to_string());
    if run.cost().largest_correction > 0.0 {
        add("Largest correction by projection", format!("{} of the size of q", small(run.cost().largest_correction)));
    }
    add("Steps", format!("{}, {} rejected", run.cost().steps, run.cost().rejected));
    if run.cost().cut_for_formulas > 0 {
        add("Steps cut for formulas", run.cost().cut_for_formulas.to_string());
    }
    add("Evaluations of M, Q, A, b", run.cost().evaluations.to_string());
    add("Decompositions of A", run.cost().factorizations.to_string());
    add("Time of the computation", took(run.seconds().1));
    add("Outcome", run.end().as_str().to_string());
    add("Written by", format!("zwang {}", env!("CARGO_PKG_VERSION")));
    rows
}

/// The documents of a run. They share the summary and the derivation of the equations, which is written for the first of them.
pub struct RunReport<'r> {
    run: &'r Run,
    model_text: &'r str,
    summary: String,
    derivation: OnceCell<Vec<Block>>,
}

impl<'r> RunReport<'r> {
    /// A report about the model called `name`, with the text that the documents show.
    pub fn new(name: &str, model_text: &'r str, run: &'r Run) -> RunReport<'r> {
        RunReport { run, model_text, summary: run_summary(name, run), derivation: OnceCell::new() }
    }

    /// The summary that a terminal shows.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// The derivation of the equations behind the run.
    pub fn derivation(&self) -> &[Block] {
        self.derivation.get_or_init(|| {
            let check = self.run.check();
            let notes = note_sentences(self.run.notes());
            let context = DerivationContext {
                model_text: self.model_text,
                check: Some(check),
                at_start: true,
                notes: &notes,
                geometry: geometry_of(check),
            };
            derivation(&mut check.equations.clone(), &context)
        })
    }

    /// A page with animation, plots, derivation and audit.
    pub fn html(&self) -> String {
        run_page(self.run, self.derivation(), &self.summary)
    }

    /// The derivation, the motion and the audit as LaTeX.
    pub fn latex(&self) -> String {
        article_latex(&self.article())
    }

    /// The derivation, the motion and the audit as Markdown.
    pub fn markdown(&self) -> String {
        article_markdown(&self.article())
    }

    fn article(&self) -> Article {
        run_article(self.run, self.derivation().to_vec(), &self.summary)
    }
}

/// The largest number of events in the list of a page: a browser lays out a million buttons for minutes.
const LISTED_EVENTS: usize = 2_000;

/// The events of a page; of more than are listed the last entry tells the number.
fn page_events(run: &Run) -> Vec<(f64, String)> {
    let all = run.events();
    let label = |e: &zwang::Event| (e.t, event_label(e.kind.as_str(), &e.name));
    let mut events: Vec<(f64, String)> = all.iter().take(LISTED_EVENTS).map(label).collect();
    if let Some(last) = all.last().filter(|_| all.len() > LISTED_EVENTS) {
        events.push((last.t, format!("… the last of {} events", all.len())));
    }
    events
}

/// The page of a run.
fn run_page(run: &Run, derivation: &[Block], summary: &str) -> String {
    let model = &run.check().equations.model;
    let stride = run.scene().times.len().div_ceil(MOST_FRAMES).max(1);
    let axes = upright(model, run.scene().dimension);
    let scene = turned(named(thinned(run.scene(), stride)), &axes);
    let plots: Vec<PagePlot> = shown(run)
        .iter()
        .filter(|s| is_time(&s.versus))
        .flat_map(|shown| page_plots(shown, run.scene(), stride))
        .collect();
    let events = page_events(run);
    let title = if model.title.is_empty() { "A motion" } else { &model.title };
    let paths: Vec<String> = shown(run).iter().filter(|s| !is_time(&s.versus)).map(|s| svg(&path_figure(s))).collect();
    page(&Page {
        title,
        derivation,
        summary,
        scene: &scene,
        axes,
        plots: &plots,
        events: &events,
        facts: &facts(run),
        paths: &paths,
    })
}

/// A run as a document: its derivation, then what came of it.
fn run_article(run: &Run, derivation: Vec<Block>, summary: &str) -> Article {
    let title = run.check().equations.model.title.clone();
    let mut blocks = derivation;
    blocks.push(Block::Section("The motion".into()));
    blocks.push(Block::Picture(svg(&Figure { title: String::new(), ..figure(run) }), String::new()));
    if !run.events().is_empty() {
        blocks.push(Block::Part("Events".into()));
        let line = |e: &zwang::Event| vec![seconds(run, e.t, 9), event_label(e.kind.as_str(), &e.name)];
        let mut rows: Vec<Vec<String>> = run.events().iter().take(MOST_TOLD).map(line).collect();
        if run.events().len() > MOST_TOLD {
            rows.push(vec!["…".into(), format!("{} in all", run.events().len())]);
        }
        blocks.push(Block::Table(vec!["time".into(), "event".into()], rows));
    }
    blocks.push(Block::Section("Summary".into()));
    blocks.push(Block::Printed(summary.to_string()));
    blocks.push(Block::Section("Audit".into()));
    let rows = facts(run).into_iter().map(|(name, value)| vec![name, value]).collect();
    blocks.push(Block::Table(vec!["quantity".into(), "value".into()], rows));
    Article { title: if title.is_empty() { "A motion".into() } else { title }, blocks }
}

/// Events of a document; more are in the data files.
const MOST_TOLD: usize = 40;

/// One run of a comparison of the corrections of drift; without a run, the reason why there is none.
pub struct DriftComparison {
    /// `project`, `baumgarte` or `none`.
    pub name: &'static str,
    /// The run, or why it failed.
    pub run: Result<Box<Run>, String>,
}

/// The runs side by side.
pub fn comparison(runs: &[DriftComparison]) -> String {
    let head = ["drift", "steps", "evaluations", "time", "largest |φ|, |ψ|", "largest |φ'|", "energy error", "outcome"];
    let mut lines = vec![head.map(String::from).to_vec()];
    for DriftComparison { name, run } in runs {
        let line = match run {
            Err(message) => vec![name.to_string(), format!("failed: {message}")],
            Ok(run) => {
                let outcome = match *run.end() {
                    End::Finished => "finished".to_string(),
                    _ => format!("{} at {}", run.end().as_str(), seconds(run, run.state().t, 4)),
                };
                vec![
                    name.to_string(),
                    run.cost().steps.to_string(),
                    run.cost().evaluations.to_string(),
                    took(run.seconds().1),
                    small(largest_residual(run).map_or(0.0, |(_, value)| value)),
                    if run.check().system.size().position_rows > 0 { small(run.audit().rate) } else { "-".into() },
                    joules(run, small(run.audit().energy.drift)),
                    outcome,
                ]
            }
        };
        lines.push(line);
    }
    // a failure is reported behind the columns, not inside one
    let (whole, failed): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.len() == head.len());
    let mut out = aligned(&whole);
    for line in failed {
        out.push_str(&format!("  {}\n", line.join("  ")));
    }
    out
}

/// The same for programs.
pub fn comparison_json(runs: &[DriftComparison]) -> Value {
    let one = |DriftComparison { name, run }: &DriftComparison| match run {
        Err(message) => json!({
            "name": name, "steps": null, "rejected": null, "evaluations": null, "wall_seconds": null, "residual": null,
            "residual_rate": null, "energy_drift": null, "t": null, "outcome": "failed", "message": message,
        }),
        Ok(run) => {
            let residuals: Map<String, Value> =
                run.audit().residuals.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            json!({
                "name": name,
                "steps": run.cost().steps,
                "rejected": run.cost().rejected,
                "evaluations": run.cost().evaluations,
                "wall_seconds": run.seconds().1,
                "residual": residuals,
                "residual_rate": run.audit().rate,
                "energy_drift": run.audit().energy.drift,
                "t": run.state().t,
                "outcome": run.end().as_str(),
            })
        }
    };
    runs.iter().map(one).collect()
}
