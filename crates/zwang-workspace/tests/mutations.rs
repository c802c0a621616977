//! Models, tables and paths changed by dice, through the targets of the fuzzer: no panic, no hang, no memory beyond the budget.
//!
//! `scripts/mutate SECONDS` continues the same sequence for longer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

use crate::bodies;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Number of inputs in a test run.
const INPUTS: u64 = 150;

/// The longest input, in bytes.
const LONGEST: usize = 2_000;

/// The processor time of one input that counts as a hang, in seconds.
const HANG: f64 = 10.0;

/// The largest resident memory, in bytes.
const MEMORY: u64 = 2_000_000_000;

/// Numbers at the edges of what a double and a formula bear.
const NUMBERS: [&str; 18] = [
    "0",
    "1",
    "-1",
    "1e308",
    "1e-308",
    "1e15",
    "1e-15",
    "5e-324",
    "1e400",
    "0.1",
    "1/3",
    "pi",
    "2^0.5",
    "1e9",
    "300",
    "(-1)^0.5",
    "1e6*t",
    "tanh(1e4*t)",
];

/// SplitMix64: the same dice on every machine.
struct Dice(u64);

impl Dice {
    fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.throw() % n.max(1) as u64) as usize
    }

    fn of<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len())]
    }
}

fn files(folder: &str, extension: &str) -> Vec<String> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(Path::new(ROOT).join(folder)).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == extension));
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).filter(|text| text.len() <= LONGEST).collect()
}

fn dictionary() -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(ROOT).join("fuzz/zwang.dict")).unwrap();
    let word =
        |line: &str| Some(line.split_once('"')?.1.strip_suffix('"')?.replace("\\\"", "\"").replace("\\\\", "\\"));
    text.lines().filter_map(word).collect()
}

/// Pieces of a text: words, numbers, and single other characters.
fn pieces(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        out.push(&rest[..end]);
        rest = &rest[end..];
    }
    out
}

/// A text with a few changes.
fn mutated(dice: &mut Dice, texts: &[String], words: &[String]) -> String {
    const HIDDEN: [&str; 6] = ["\0", "\u{202e}", "\u{1b}[2J", "\r", "\u{2028}", "ξ"];
    let mut text = dice.of(texts).clone();
    for _ in 0..1 + dice.below(4) {
        let mut parts: Vec<String> = pieces(&text).into_iter().map(String::from).collect();
        let at = dice.below(parts.len());
        let is_number = |part: &String| part.starts_with(|c: char| c.is_ascii_digit());
        match dice.below(9) {
            0 if !parts.is_empty() => {
                let end = (at + 1 + dice.below(6)).min(parts.len());
                parts.drain(at..end);
            }
            1 => parts.insert(at, dice.of(words).clone()),
            2 => parts.insert(at, dice.of(&HIDDEN).to_string()),
            3 if !parts.is_empty() => parts[at] = dice.of(words).clone(),
            4 if !parts.is_empty() => {
                let other = dice.below(parts.len());
                parts.swap(at, other);
            }
            5..=6 => {
                let numbers: Vec<usize> = (0..parts.len()).filter(|&k| is_number(&parts[k])).collect();
                if !numbers.is_empty() {
                    parts[*dice.of(&numbers)] = dice.of(&NUMBERS).to_string();
                }
            }
            7 => {
                // the lines of two models
                let other = dice.of(texts);
                let mut lines: Vec<&str> = text.lines().chain(other.lines().take(1 + dice.below(8))).collect();
                let line = dice.below(lines.len());
                let moved = lines.remove(line);
                lines.insert(dice.below(lines.len()), moved);
                parts = vec![lines.join("\n")];
            }
            _ => {
                let lines: Vec<&str> = text.lines().collect();
                let doubled = dice.of(&lines).to_string();
                parts.insert(0, format!("{doubled}\n"));
            }
        }
        text = parts.concat();
    }
    let end = (0..=LONGEST.min(text.len())).rev().find(|&k| text.is_char_boundary(k)).unwrap_or(0);
    text.truncate(end);
    text
}

/// The resident memory, where the system tells it.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    4096 * text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0)
}

/// The input at work, and the processor time at which it began.
type AtWork = Arc<Mutex<Option<(String, f64)>>>;

fn processor_seconds() -> f64 {
    ProcessTime::now().as_duration().as_secs_f64()
}

/// Ends the program where an input takes too long or too much, with the input left in a file.
fn guard(at_work: &AtWork, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
        let Some((input, began)) = at_work.lock().unwrap().clone() else { continue };
        let (seconds, bytes) = (processor_seconds() - began, resident());
        if seconds > HANG || bytes > MEMORY {
            let path = keep(&input);
            eprintln!("an input took {seconds:.1} s and {bytes} bytes: {}\n{input}", path.display());
            std::process::abort();
        }
    }
}

/// Writes a failed input.
fn keep(input: &str) -> PathBuf {
    let folder = Path::new(ROOT).join("target/mutations");
    std::fs::create_dir_all(&folder).unwrap();
    let hash =
        input.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
    let path = folder.join(format!("{hash:016x}"));
    std::fs::write(&path, input).unwrap();
    path
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn mutations_end_in_answers() {
    let seconds = number("ZWANG_MUTATE_SECONDS");
    let seed = number("ZWANG_MUTATE_SEED").unwrap_or(0);
    let (models, words) = (files("models", "zw"), dictionary());
    let tables = vec![
        "t, f\n0, 1\n0.5, 2\n1, 1\n2, 0\n".to_string(),
        "t [s]; x [mm]; y [m]\n0;1;0\n1;1;0\n2;1;0\n3;1;0\n".into(),
    ];
    let (at_work, is_over) = (AtWork::default(), Arc::new(AtomicBool::new(false)));
    let watch = std::thread::spawn({
        let (at_work, is_over) = (Arc::clone(&at_work), Arc::clone(&is_over));
        move || guard(&at_work, &is_over)
    });
    let began = Instant::now();
    let mut failed = Vec::new();
    let mut n = 0;
    while seconds.map_or(n < INPUTS, |s| began.elapsed().as_secs() < s) {
        let mut dice = Dice(seed.wrapping_mul(1 << 32) + n);
        let is_data = n % 4 == 3;
        let input = mutated(&mut dice, if is_data { &tables } else { &models }, &words);
        *at_work.lock().unwrap() = Some((input.clone(), processor_seconds()));
        let body = [bodies::run, bodies::export, bodies::run, bodies::data][(n % 4) as usize];
        if catch_unwind(AssertUnwindSafe(|| body(&input))).is_err() {
            failed.push(keep(&input));
        }
        *at_work.lock().unwrap() = None;
        n += 1;
    }
    is_over.store(true, Ordering::Relaxed);
    watch.join().unwrap();
    eprintln!("{n} inputs, {} failed", failed.len());
    assert!(failed.is_empty(), "{failed:?}");
}
