//! What a command may use: `--budget`, and the watchman who measures time and memory.

use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cpu_time::ProcessTime;
use serde_json::json;
use zwang::{Budget, Resource};

use crate::terminal::{STOPPED, eprint, print_json};
use crate::time_argument::time;

/// CommandLimits as one `--budget` states them; `None` means as usual.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CommandLimits {
    /// Processor time, in seconds.
    pub seconds: Option<f64>,
    /// Bytes of memory.
    pub bytes: Option<u64>,
    parts: Option<u64>,
    steps: Option<u64>,
    events: Option<u64>,
    cells: Option<u64>,
}

/// Units of memory; powers of ten, and of two with an i.
const BYTES: [(&str, u64); 9] = [
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

impl FromStr for CommandLimits {
    type Err = String;

    fn from_str(text: &str) -> Result<CommandLimits, String> {
        let mut limits = CommandLimits::default();
        for entry in text.split(',') {
            let Some((name, value)) = entry.split_once('=') else {
                limits.seconds = Some(time(entry)?);
                continue;
            };
            let value = value.trim();
            let place = match name.trim() {
                "time" => {
                    limits.seconds = Some(time(value)?);
                    continue;
                }
                "memory" => {
                    limits.bytes = Some(memory(value)?);
                    continue;
                }
                "parts" => &mut limits.parts,
                "steps" => &mut limits.steps,
                "events" => &mut limits.events,
                "cells" => &mut limits.cells,
                other => {
                    return Err(format!(
                        "`{other}` is not counted; type a time, or some of time, memory, parts, steps, events and cells"
                    ));
                }
            };
            *place = Some(count(value).ok_or_else(|| format!("`{value}` is no number of at least 1, such as 1e6"))?);
        }
        Ok(limits)
    }
}

fn count(text: &str) -> Option<u64> {
    let value: f64 = text.parse().ok()?;
    // beyond 2^63 every limit is none
    (value >= 1.0 && value.is_finite()).then_some(value as u64)
}

fn memory(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E')).unwrap_or(text.len());
    let (number, unit) = (text[..split].trim(), &text[split..]);
    let factor = BYTES.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor as f64);
    let value = number.parse::<f64>().ok().zip(factor).map(|(number, factor)| number * factor);
    match value.filter(|bytes| *bytes >= 1.0 && bytes.is_finite()) {
        Some(bytes) => Ok(bytes as u64),
        None => Err(format!("`{text}` is no memory; type a number with B, kB, MB or GB, such as 500MB")),
    }
}

impl CommandLimits {
    /// All limits of a command line; the last one of each kind counts.
    pub fn merged(all: &[CommandLimits]) -> CommandLimits {
        all.iter().fold(CommandLimits::default(), |sum, next| CommandLimits {
            seconds: next.seconds.or(sum.seconds),
            bytes: next.bytes.or(sum.bytes),
            parts: next.parts.or(sum.parts),
            steps: next.steps.or(sum.steps),
            events: next.events.or(sum.events),
            cells: next.cells.or(sum.cells),
        })
    }

    /// True if the number of cells is stated.
    pub fn has_cells(&self) -> bool {
        self.cells.is_some()
    }

    /// What is counted.
    pub fn counted(&self) -> Budget {
        let usual = Budget::default();
        Budget {
            nodes: self.parts.unwrap_or(usual.nodes),
            bytes: self.bytes.unwrap_or(usual.bytes),
            steps: self.steps.unwrap_or(usual.steps),
            events: self.events.unwrap_or(usual.events),
            cells: self.cells.unwrap_or(usual.cells),
        }
    }
}

/// Time between two measurements.
const INTERVAL: Duration = Duration::from_millis(10);

/// Processor time beyond the budget, as a part of it and in seconds, after which a command that does not end in order is ended.
const GRACE: (f64, f64) = (0.1, 0.5);

/// The part of the memory budget beyond which a command that does not end in order is ended.
const MEMORY_GRACE: f64 = 1.25;

/// Measures processor time and memory on a thread of its own. A run is asked to end and keeps its results; work that does not
/// listen, as a derivation, is ended with a message.
pub struct Watchman {
    spent: Arc<AtomicU8>,
    is_done: Arc<Mutex<bool>>,
}

/// What the watchman has found, for the monitor of a run.
#[derive(Clone, Default)]
pub struct SpentResource(Arc<AtomicU8>);

impl SpentResource {
    /// What ran out.
    pub fn get(&self) -> Option<Resource> {
        match self.0.load(Ordering::Relaxed) {
            1 => Some(Resource::Time),
            2 => Some(Resource::Memory),
            _ => None,
        }
    }
}

impl Watchman {
    /// Begins to measure; without a limit on time or memory there is no thread.
    pub fn new(limits: &CommandLimits, as_json: bool) -> Watchman {
        let watchman = Watchman { spent: Arc::default(), is_done: Arc::default() };
        let CommandLimits { seconds, bytes, .. } = *limits;
        if seconds.is_some() || bytes.is_some() {
            let (spent, is_done) = (Arc::clone(&watchman.spent), Arc::clone(&watchman.is_done));
            // a system without threads has no limit on time and memory; what is counted stays limited
            let _ = std::thread::Builder::new().spawn(move || watch(seconds, bytes, as_json, &spent, &is_done));
        }
        watchman
    }

    /// What has run out, now and later.
    pub fn spent(&self) -> SpentResource {
        SpentResource(Arc::clone(&self.spent))
    }

    /// Ends the measurement: results are written whatever that takes.
    pub fn dismiss(&self) {
        if let Ok(mut is_done) = self.is_done.lock() {
            *is_done = true;
        }
    }
}

fn watch(seconds: Option<f64>, bytes: Option<u64>, as_json: bool, spent: &AtomicU8, is_done: &Mutex<bool>) {
    loop {
        std::thread::sleep(INTERVAL);
        let Ok(is_done) = is_done.lock() else { return };
        if *is_done {
            return;
        }
        let used = ProcessTime::now().as_duration().as_secs_f64();
        if let Some(limit) = seconds.filter(|limit| used > *limit) {
            spent.store(1, Ordering::Relaxed);
            if used > limit + (GRACE.0 * limit).max(GRACE.1) {
                end(as_json, &format!("the budget of {limit} s of processor time was spent before there was a result"));
            }
        }
        if let Some((used, limit)) = resident_bytes().zip(bytes).filter(|(used, limit)| used > limit) {
            spent.store(2, Ordering::Relaxed);
            if used as f64 > MEMORY_GRACE * limit as f64 {
                end(as_json, &format!("the budget of {limit} bytes of memory was spent before there was a result"));
            }
        }
    }
}

/// Ends the program, which has nothing to write yet.
fn end(as_json: bool, message: &str) -> ! {
    if as_json {
        let _ = print_json(&json!({
            "outcome": "budget",
            "diagnostics": [{ "code": "Z620", "severity": "error", "message": message, "source": "command line" }],
        }));
    }
    eprint(&format!("error: {message}\n"));
    std::process::exit(STOPPED.into())
}

/// The memory that the program occupies, where the system tells it.
fn resident_bytes() -> Option<u64> {
    const MEMORY_PAGE: u64 = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split_whitespace().nth(1)?.parse::<u64>().ok().map(|pages| pages * MEMORY_PAGE)
}
