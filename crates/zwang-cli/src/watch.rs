//! Monitor of a run: the user's Ctrl-C and, on a terminal, the progress.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use zwang::{Monitor, Progress, Stage};

/// A run shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// Time between two updates of the bar.
const REFRESH: Duration = Duration::from_millis(100);

/// Number of ticks of the whole bar.
const TICKS: u64 = 10_000;

/// A progress bar on a terminal; Ctrl-C ends the run in good order.
pub struct ProgressBar {
    stop: Arc<AtomicBool>,
    began: Instant,
    shown: Instant,
    bar: Option<indicatif::ProgressBar>,
    has_bar: bool,
    /// Start of the integration, on the clock.
    moved: Option<Instant>,
}

impl ProgressBar {
    /// Creates the bar. From now on the first Ctrl-C ends the run, the second one the program.
    pub fn new() -> ProgressBar {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // without a handler Ctrl-C ends the program, as by default
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop));
            let _ = flag::register(signal, Arc::clone(&stop));
        }
        let began = Instant::now();
        ProgressBar { stop, began, shown: began, bar: None, has_bar: std::io::stderr().is_terminal(), moved: None }
    }

    /// Restarts the measurement of time.
    pub fn restart(&mut self) {
        (self.began, self.moved) = (Instant::now(), None);
    }

    /// Seconds before the integration, and since its start.
    pub fn seconds(&self) -> (f64, f64) {
        let moved = self.moved.unwrap_or_else(Instant::now);
        ((moved - self.began).as_secs_f64(), moved.elapsed().as_secs_f64())
    }

    /// Removes the bar.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Monitor for ProgressBar {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        if progress.stage == Stage::Move {
            self.moved.get_or_insert_with(Instant::now);
        }
        if self.has_bar && self.shown.elapsed() > REFRESH && self.began.elapsed() > PATIENCE {
            self.shown = Instant::now();
            let began = self.began;
            let bar = self.bar.get_or_insert_with(|| bar(began));
            bar.set_position((progress.fraction * TICKS as f64) as u64);
            bar.set_message(format!("t = {}", zwang::quantity::rounded(progress.t, 4)));
        }
        match self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
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
