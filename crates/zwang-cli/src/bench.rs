//! `zwang bench`: the cost of a model in time of one processor core and in memory.

use cpu_time::ProcessTime;
use serde_json::{Map, Value, json};
use zwang::simulate::motion;
use zwang::{Check, Evaluator, JitPolicy, RunOptions};
use zwang_expr::Batch;
use zwang_motion::{Dynamics, Elimination, Integrals, MotionError, Outcome, Settings, State};

use crate::arguments::{BenchModel, CodeChoice};
use crate::inputs::OutputFiles;
use crate::source::ModelFile;
use crate::terminal::{Exit, STOPPED, SUCCESS, eprint, fail, print, print_json, report};

/// Shortest duration of each measurement, in seconds.
const PATIENCE: f64 = 0.2;

/// Number of measurements for the median.
const MEASUREMENTS: usize = 9;

/// Number of states whose accelerations are computed together.
const STATES: usize = 4096;

/// The measured costs.
struct Costs {
    coordinates: usize,
    constraints: usize,
    /// Number of instructions of one acceleration.
    nodes: usize,
    derive_seconds: f64,
    compile_seconds: f64,
    acceleration_ns: f64,
    batch_acceleration_ns: Option<f64>,
    run_seconds: Option<f64>,
    simulated: f64,
    evaluations: usize,
    steps: usize,
    solver: String,
    qddot: Vec<f64>,
    end: Option<zwang_motion::State>,
    /// Time of an early end of the run, in seconds; `None` if it was complete.
    stopped_at: Option<f64>,
}

/// Measures a model.
pub fn bench(arguments: &BenchModel) -> Exit {
    let model = &arguments.model;
    let mut file = ModelFile::open_one(model, OutputFiles::default())?;
    let derive_seconds = derivation(&file);
    let system = file.system()?;
    let settings = system.settings().clone();
    let checked = system.check_briefly().or_else(|error| fail(&file.name, &error, model.json))?;
    system.is_computable().or_else(|error| fail(&file.name, &error, model.json))?;
    let mut check = Check::clone(&checked);
    let Some(evaluator) = check.motion_evaluator() else {
        eprint("error: a contact or its friction contains a quantity that this version cannot compute\n");
        return Err(STOPPED);
    };
    (check.system, check.equations) = (evaluator, check.equations.with_contact_rows());
    let options = RunOptions {
        to: arguments.integration.to,
        tolerance: arguments.integration.tolerance,
        method: arguments.integration.method,
        ..RunOptions::default()
    };
    let measured = measure(arguments, &mut check, &options, &settings, derive_seconds);
    let costs = match measured {
        Ok(costs) => costs,
        Err(error) => {
            eprint(&format!("error: {error}\n"));
            return Err(STOPPED);
        }
    };
    if model.json {
        print_json(&Value::Object(as_json(&costs, &check)))?;
    } else {
        report(&file.name, system.source(), &checked.notes);
        print(&as_text(&file.name, &costs))?;
    }
    match costs.stopped_at {
        None => Ok(SUCCESS),
        Some(t) => {
            let t = zwang::quantity::number(t);
            eprint(&format!("the run stopped early, at t = {t}; `zwang run` says why\n"));
            Ok(STOPPED)
        }
    }
}

fn measure(
    arguments: &BenchModel,
    check: &mut Check,
    options: &RunOptions,
    settings: &Settings,
    derive_seconds: f64,
) -> Result<Costs, MotionError> {
    let compile_seconds = compilation(check, options, settings)?;
    let jit = match arguments.code {
        CodeChoice::Best => JitPolicy::Optimized,
        CodeChoice::Quick => JitPolicy::Immediate,
        CodeChoice::None => JitPolicy::Never,
    };
    fresh(check, jit);
    let mut moving = motion(check, options, settings)?;
    let qddot = moving.acceleration()?.to_vec();
    let acceleration_ns = 1e9 * seconds_of(|| moving.acceleration().is_ok());
    let solver = moving.solver();
    let batch_acceleration_ns = check.system.explicit_program().map(|(program, inputs)| {
        let State { t, q, qdot } = &check.state;
        let inputs = [&[*t], q.as_slice(), qdot, &inputs[1 + 2 * q.len()..]].concat();
        batch(program, &inputs)
    });
    let straight = check.system.explicit_program().map(|(program, _)| program.len());
    let solver = match straight {
        Some(length) => format!("{}, {}", solver.as_str(), count(length, "instruction")),
        None => solver.as_str().to_string(),
    };
    let mut costs = Costs {
        coordinates: check.state.q.len(),
        constraints: check.system.size().rows,
        nodes: straight.unwrap_or_else(|| check.system.n_instructions()),
        derive_seconds,
        compile_seconds,
        acceleration_ns,
        batch_acceleration_ns,
        run_seconds: None,
        simulated: 0.0,
        evaluations: 0,
        steps: 0,
        solver,
        qddot,
        end: None,
        stopped_at: None,
    };
    if !arguments.no_run {
        let start = check.state.t;
        let mut moving = motion(check, options, settings)?;
        while moving.advance() {}
        let (end, counts) = (moving.state(), moving.counts());
        costs.stopped_at = (moving.outcome() != Some(&Outcome::End)).then_some(end.t);
        costs.simulated = end.t - start;
        (costs.evaluations, costs.steps, costs.end) = (counts.evaluations, counts.steps, Some(end));
        let mut run = || motion(check, options, settings).map(|mut moving| while moving.advance() {});
        costs.run_seconds = Some(median(repeated(|| seconds_once(|| run().is_ok()))));
    }
    Ok(costs)
}

/// Seconds from the text to the equations.
fn derivation(file: &ModelFile) -> f64 {
    median(repeated(|| seconds_once(|| file.workspace.derive().is_ok())))
}

/// Seconds from the equations to the machine code of the accelerations.
fn compilation(check: &mut Check, options: &RunOptions, settings: &Settings) -> Result<f64, MotionError> {
    // a motion is set up once to find the independent rows
    fresh(check, JitPolicy::Never);
    let mut rows: Vec<usize> = Vec::new();
    motion(check, options, settings)?;
    rows.extend(check.system.explicit_rows().unwrap_or(&[]));
    let has_explicit = check.system.explicit_program().is_some();
    let mut y = [check.state.q.as_slice(), &check.state.qdot].concat();
    y.resize(y.len() + check.system.n_integrals(), 0.0);
    let mut rate = y.clone();
    let mut given = check.system.allocate();
    Ok(median(repeated(|| {
        seconds_once(|| {
            let Some(mut system) = Evaluator::compile(&mut check.equations, false, JitPolicy::Immediate) else {
                return false;
            };
            if !has_explicit {
                return system.fill(&check.state, &mut given).is_ok();
            }
            system.compile_motion(&mut check.equations);
            system.prepare(&rows, &vec![1.0; rows.len()], &vec![1.0; check.equations.asked.len()])
                && system.explicit_rate(check.state.t, &y, &mut rate).is_some()
        })
    })))
}

/// Compiles the system again.
fn fresh(check: &mut Check, jit: JitPolicy) {
    if let Some(mut system) = Evaluator::compile(&mut check.equations, true, jit) {
        system.compile_motion(&mut check.equations);
        check.system = system;
    }
}

/// Nanoseconds per state if many accelerations are computed together, at states close to each other.
fn batch(program: &zwang_expr::Program, inputs: &[f64]) -> f64 {
    let mut batch = Batch::new(program);
    let mut all: Vec<f64> = Vec::with_capacity(inputs.len() * STATES);
    for x in inputs {
        all.extend((0..STATES).map(|k| x * (1.0 + 1e-9 * k as f64)));
    }
    let mut outputs = vec![0.0; program.n_outputs() * STATES];
    let call = || {
        batch.run(STATES, &all, &mut outputs);
        true
    };
    1e9 * seconds_of(call) / STATES as f64
}

/// Seconds of one call, averaged over many.
fn seconds_of(mut call: impl FnMut() -> bool) -> f64 {
    let mut n_calls = 1;
    let mut many = |n: usize| seconds_once(|| (0..n).all(|_| call()));
    while many(n_calls) < PATIENCE / MEASUREMENTS as f64 && n_calls < 1 << 30 {
        n_calls *= 2;
    }
    median((0..MEASUREMENTS).map(|_| many(n_calls) / n_calls as f64).collect())
}

/// Repeats a measurement until enough time has gone into it.
fn repeated(mut measure: impl FnMut() -> f64) -> Vec<f64> {
    let clock = ProcessTime::now();
    let mut times = Vec::new();
    while times.is_empty() || times.len() < 1000 && clock.elapsed().as_secs_f64() < PATIENCE {
        times.push(measure());
    }
    times
}

fn seconds_once(call: impl FnOnce() -> bool) -> f64 {
    let clock = ProcessTime::now();
    std::hint::black_box(call());
    clock.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The peak memory of the process so far, in bytes, if the operating system reports it.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

fn as_json(costs: &Costs, check: &Check) -> Map<String, Value> {
    let names: Vec<&str> = check.equations.model.coordinates.iter().map(|c| c.name.as_str()).collect();
    let by_name = |values: &[f64]| -> Value {
        names.iter().zip(values).map(|(name, x)| (name.to_string(), json!(x))).collect::<Map<_, _>>().into()
    };
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.into(), value);
    put("coordinates", json!(costs.coordinates));
    put("constraints", json!(costs.constraints));
    put("nodes", json!(costs.nodes));
    put("derive_seconds", json!(costs.derive_seconds));
    put("compile_seconds", json!(costs.compile_seconds));
    put("acceleration_ns", json!(costs.acceleration_ns));
    put("batch_acceleration_ns", json!(costs.batch_acceleration_ns));
    put("run_seconds", json!(costs.run_seconds));
    put("evaluations", json!(costs.evaluations));
    put("steps", json!(costs.steps));
    put("peak_bytes", json!(peak_bytes()));
    put("solver", json!(costs.solver));
    put("qddot", by_name(&costs.qddot));
    if let Some(end) = &costs.end {
        put("outcome", json!(if costs.stopped_at.is_some() { "stopped" } else { "finished" }));
        put("t", json!(end.t));
        put("q", by_name(&end.q));
        put("qdot", by_name(&end.qdot));
    }
    object
}

fn as_text(file: &str, costs: &Costs) -> String {
    let (coordinates, rows) = (count(costs.coordinates, "coordinate"), count(costs.constraints, "constraint row"));
    let mut out = format!("{file}  {coordinates}, {rows}\n");
    let mut line = |name: &str, value: String| out.push_str(&format!("  {name:<22} {value}\n"));
    line("derivation", duration(costs.derive_seconds));
    line("machine code", format!("{}   {}", duration(costs.compile_seconds), count(costs.nodes, "instruction")));
    line("one acceleration", format!("{}   {}", duration(1e-9 * costs.acceleration_ns), costs.solver));
    if let Some(ns) = costs.batch_acceleration_ns {
        line("  of many at once", duration(1e-9 * ns));
    }
    if let Some(seconds) = costs.run_seconds {
        if costs.simulated > 0.0 {
            line("one simulated second", duration(seconds / costs.simulated));
        }
        let run = format!("{}   {} steps, {} evaluations", duration(seconds), costs.steps, costs.evaluations);
        line("the whole run", run);
    }
    if let Some(bytes) = peak_bytes() {
        line("memory", format!("{:.1} MB", bytes as f64 / 1e6));
    }
    out
}

/// A count with its noun.
fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Three digits and a unit of time.
fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (1e9 * s, "ns"),
        s if s < 1e-3 => (1e6 * s, "µs"),
        s if s < 1.0 => (1e3 * s, "ms"),
        s => (s, "s"),
    };
    let digits = (2 - value.max(1.0).log10().floor() as i32).clamp(0, 2) as usize;
    format!("{value:.digits$} {unit}")
}
