//! Monitor of a request: the user's Ctrl-C and, on a terminal, the progress.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use zwang::{Monitor, Progress, Resource, Stage};

use crate::budget::SpentResource;

/// A run shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// Time between two updates of the bar.
const REFRESH: Duration = Duration::from_millis(100);

/// Number of ticks of the whole bar.
const TICKS: u64 = 10_000;

/// The monitor of a request that takes no time.
pub fn unwatched(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A progress bar on a terminal; Ctrl-C ends the run in good order.
pub struct ProgressBar {
    stop: Arc<AtomicBool>,
    spent: SpentResource,
    began: Instant,
    shown: Instant,
    bar: Option<indicatif::ProgressBar>,
    has_bar: bool,
    /// Beginning of each run and of its integration, on the clock.
    runs: Vec<(Instant, Option<Instant>)>,
}

impl ProgressBar {
    /// Creates the bar of a run that ends where something is spent. From now on the first Ctrl-C ends the run, the second one the
    /// program.
    pub fn new(spent: SpentResource) -> ProgressBar {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // without a handler Ctrl-C ends the program, as by default
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop));
            let _ = flag::register(signal, Arc::clone(&stop));
        }
        let began = Instant::now();
        let has_bar = std::io::stderr().is_terminal();
        ProgressBar { stop, spent, began, shown: began, bar: None, has_bar, runs: Vec::new() }
    }

    /// Removes the bar. Returns the seconds of each run before its integration and since then.
    pub fn finish(self) -> Vec<(f64, f64)> {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        let ends = self.runs.iter().skip(1).map(|(began, _)| *began).chain([Instant::now()]);
        let seconds = |((began, moved), end): (&(Instant, Option<Instant>), Instant)| {
            let moved = moved.unwrap_or(end);
            ((moved - *began).as_secs_f64(), (end - moved).as_secs_f64())
        };
        self.runs.iter().zip(ends).map(seconds).collect()
    }
}

impl Monitor for ProgressBar {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        match (progress.stage, self.runs.last_mut()) {
            (Stage::Compile, None) => self.runs.push((self.began, None)),
            (Stage::Compile, Some(_)) => self.runs.push((Instant::now(), None)),
            (_, Some((_, moved))) => {
                moved.get_or_insert_with(Instant::now);
            }
            _ => {}
        }
        if self.has_bar && self.shown.elapsed() > REFRESH && self.began.elapsed() > PATIENCE {
            self.shown = Instant::now();
            let began = self.began;
            let bar = self.bar.get_or_insert_with(|| bar(began));
            bar.set_position((progress.fraction * TICKS as f64) as u64);
            bar.set_message(format!("t = {}", zwang::quantity::rounded(progress.t, 4)));
        }
        match self.stop.load(Ordering::Relaxed) || self.spent.get().is_some() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn spent(&self) -> Option<Resource> {
        self.spent.get()
    }
}

fn bar(began: Instant) -> indicatif::ProgressBar {
    let bar = indicatif::ProgressBar::with_draw_target(Some(TICKS), ProgressDrawTarget::stderr())
        .with_elapsed(began.elapsed());
    let style = ProgressStyle::with_template("  {bar:30} {percent:>3} %  {msg}  {eta} left");
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
