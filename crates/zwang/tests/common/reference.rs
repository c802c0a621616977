//! Reference values of the gallery, `models/reference/NAME.txt`: what a run of `models/NAME.zw` must come to.
//!
//! ```text
//! # where the numbers come from
//! run --set l=2 --start "x=0.5" --to 10       changes to the model, none for the model as it is; several blocks are allowed
//! t = 10                                      a moment; what follows is known there
//! x = 0.123456789012345                       a coordinate, in SI
//! x' = -1.5                                   its velocity
//! tip.x = 0.5                                 an output, in its own unit
//! error x 2e-7                                how far the value of `x` above may itself be off; without it, rounding
//! energy drift <= 1e-9                        bound on |E(t) - E(0) - ∫ power dt| in SI, for a run with tolerance 1e-11
//! amplified acc 4e5                           by how much the error of `acc` exceeds that of the motion, with the reason in a comment
//! event 0.714355529 rank-drop                 every event of the run, in order of time
//! ```

use super::ROOT;

/// What is known of the runs of one model.
#[derive(Debug, Default, PartialEq)]
pub struct Reference {
    /// One for each `run` line.
    pub runs: Vec<ReferenceRun>,
}

/// What is known of one run.
#[derive(Debug, Default, PartialEq)]
pub struct ReferenceRun {
    /// Changes of parameters and constants, as after `--set`.
    pub overrides: Vec<String>,
    /// Changes of the start, as after `--start`.
    pub start: Vec<String>,
    /// When the run ends, if not where the model says.
    pub to: Option<f64>,
    /// Known values, in order of time.
    pub moments: Vec<Moment>,
    /// Bound on the drift of the energy.
    pub energy_drift: Option<f64>,
    /// Time and kind of every event, in order.
    pub events: Vec<(f64, String)>,
    /// Quantities whose error is larger than that of the motion by a factor, such as accelerations of a fast mode.
    pub amplified: Vec<(String, f64)>,
}

/// Known values at one time.
#[derive(Debug, Default, PartialEq)]
pub struct Moment {
    /// The time.
    pub t: f64,
    /// Name, value, and how far the value itself may be off.
    pub values: Vec<(String, f64, f64)>,
}

/// All references of the gallery: name of the model and what is known.
pub fn references() -> Vec<(String, Reference)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(format!("{ROOT}/models/reference")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let reference = parse(&text).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
        found.push((name, reference));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Reads one file; a mistake is named with its line.
pub fn parse(text: &str) -> Result<Reference, String> {
    let mut reference = Reference::default();
    for (k, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            add_line(&mut reference, line).map_err(|error| format!("{}: {error}: {line}", k + 1))?;
        }
    }
    Ok(reference)
}

fn add_line(reference: &mut Reference, line: &str) -> Result<(), String> {
    let (head, rest) = line.split_once(' ').unwrap_or((line, ""));
    if head == "run" {
        reference.runs.push(run_line(rest)?);
        return Ok(());
    }
    let run = reference.runs.last_mut().ok_or("no `run` line above")?;
    match head {
        "event" => {
            let (t, kind) = rest.split_once(' ').ok_or("an event has a time and a kind")?;
            let t = number(t)?;
            if run.events.last().is_some_and(|last| last.0 > t) {
                return Err("events stand in order of time".into());
            }
            run.events.push((t, kind.trim().to_string()));
        }
        "energy" => {
            let bound = rest.strip_prefix("drift <=").ok_or("of the energy only `drift <=` can be said")?;
            run.energy_drift = Some(number(bound)?);
        }
        "amplified" => {
            let (name, factor) = rest.rsplit_once(' ').ok_or("an amplification has a name and a factor")?;
            run.amplified.push((name.trim().to_string(), number(factor)?));
        }
        "error" => {
            let (name, size) = rest.rsplit_once(' ').ok_or("an error has a name and a size")?;
            let moment = run.moments.last_mut().ok_or("no `t = ` line above")?;
            let value = moment.values.iter_mut().find(|v| v.0 == name.trim()).ok_or("no value of that name above")?;
            value.2 = number(size)?;
        }
        _ => {
            let (name, value) = line.split_once('=').ok_or("neither a value nor anything else known")?;
            let (name, value) = (name.trim(), number(value)?);
            if name == "t" {
                if run.moments.last().is_some_and(|last| last.t >= value) {
                    return Err("moments stand in order of time".into());
                }
                run.moments.push(Moment { t: value, values: vec![] });
            } else {
                let moment = run.moments.last_mut().ok_or("no `t = ` line above")?;
                if moment.values.iter().any(|v| v.0 == name) {
                    return Err("given twice".into());
                }
                moment.values.push((name.to_string(), value, 0.0));
            }
        }
    }
    Ok(())
}

fn run_line(options: &str) -> Result<ReferenceRun, String> {
    let mut run = ReferenceRun::default();
    let mut words = words(options)?.into_iter();
    while let Some(option) = words.next() {
        let value = words.next().ok_or_else(|| format!("{option} has no value"))?;
        match option.as_str() {
            "--set" => run.overrides.push(value),
            "--start" => run.start.push(value),
            "--to" => run.to = Some(number(&value)?),
            _ => return Err(format!("{option} is not known")),
        }
    }
    Ok(run)
}

/// The words of a command line; what stands in double quotes is one.
fn words(line: &str) -> Result<Vec<String>, String> {
    if line.matches('"').count() % 2 == 1 {
        return Err("a quote is not closed".into());
    }
    let parts = line.split('"').enumerate();
    let words = parts.flat_map(|(k, part)| match k % 2 {
        0 => part.split_whitespace().map(str::to_string).collect(),
        _ => vec![part.to_string()],
    });
    Ok(words.collect())
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    number.ok_or_else(|| format!("`{}` is not a number", text.trim()))
}
