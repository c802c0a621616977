//! Looks after a run: the user's Ctrl-C and, on a terminal, how far it has come.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// A run shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// Time between two looks of the bar.
const REFRESH: Duration = Duration::from_millis(100);

/// Ticks of the whole bar.
const TICKS: u64 = 10_000;

/// Asked after every step whether to go on.
pub struct Watch {
    stop: Arc<AtomicBool>,
    began: Instant,
    shown: Instant,
    bar: Option<ProgressBar>,
    has_bar: bool,
    end: f64,
}

impl Watch {
    /// From now on the first Ctrl-C ends the run, the second one the program.
    pub fn new(end: f64) -> Watch {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // without a handler Ctrl-C ends the program, as ever
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop));
            let _ = flag::register(signal, Arc::clone(&stop));
        }
        let began = Instant::now();
        Watch { stop, began, shown: began, bar: None, has_bar: std::io::stderr().is_terminal(), end }
    }

    /// Whether to go on from this time of the motion.
    pub fn goes_on(&mut self, t: f64) -> bool {
        if self.has_bar && self.shown.elapsed() > REFRESH && self.began.elapsed() > PATIENCE {
            self.shown = Instant::now();
            let began = self.began;
            let bar = self.bar.get_or_insert_with(|| bar(began));
            bar.set_position((t / self.end * TICKS as f64) as u64);
            bar.set_message(format!(
                "t = {} of {}",
                zwang::quantity::rounded(t, 4),
                zwang::quantity::rounded(self.end, 4)
            ));
        }
        !self.stop.load(Ordering::Relaxed)
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(began: Instant) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(TICKS), ProgressDrawTarget::stderr()).with_elapsed(began.elapsed());
    let style = ProgressStyle::with_template("  {bar:30} {percent:>3} %  {msg}  {eta} left");
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
