//! No step passes over what a formula does, however narrow; and what cannot be followed is reported.

use crate::common::{NO_SAMPLES, run_as};
use std::ops::{Add, Mul, Neg, Sub};
use zwang::diagnostic::Diagnostics;
use zwang::{Overrides, Run, RunOptions};

fn run_with(text: &str, options: RunOptions) -> (Run, Diagnostics) {
    let options = RunOptions { keep: NO_SAMPLES, ..options };
    let (run, notes) = run_as(text, &Overrides::default(), &options);
    (run.unwrap_or_else(|| panic!("{text}\n{notes:#?}")), notes)
}

fn run(text: &str) -> Run {
    run_with(text, RunOptions::default()).0
}

/// A point of mass 1 on a line, with more lines of the model.
fn point(lines: &str) -> String {
    format!("coordinates x\nmass x: 1\n{lines}\nrun 10")
}

#[track_caller]
fn meets(run: &Run, x: f64, v: f64, error: f64) {
    let state = run.state();
    let off = (state.q[0] - x).abs().max((state.qdot[0] - v).abs());
    assert!(run.state().t == 10.0 && off <= error, "x = {}, x' = {}: off by {off:e}", state.q[0], state.qdot[0]);
}

/// A force of 20 for 0.2: x' = 4 and x = 4 (10 − 5.2) at the end.
#[test]
fn a_window_between_two_steps_is_not_passed_over() {
    let window = |start: &str, w: f64| {
        point(&format!("force x: 10*(tanh((t-5.1)/{w:?}) - tanh((t-5.3)/{w:?}))\nstart x = {start}, x' = {start}"))
    };
    for w in [0.1, 1e-3, 1e-5, 1e-7] {
        meets(&run(&window("1", w)), 30.2, 5.0, 3e-7);
    }
    let plain = point("force x: 10*(tanh((t-5.1)/0.001) - tanh((t-5.3)/0.001))\nstart x = 0");
    for method in [zwang_motion::Method::Auto, zwang_motion::Method::Order5, zwang_motion::Method::Stiff] {
        let options = RunOptions { method: Some(method), tolerance: Some(1e-7), ..RunOptions::default() };
        meets(&run_with(&plain, options).0, 19.2, 4.0, 1e-4);
    }
    meets(&run(&plain), 19.2, 4.0, 1e-7);
}

/// A force exp(−u²)/w of any width gives the impulse √π.
#[test]
fn pulses_of_any_width_give_their_impulse() {
    let impulse = std::f64::consts::PI.sqrt();
    for w in [0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7] {
        let text = point(&format!("force x: exp(-((t-5.123)/{w:?})^2)/{w:?}\nstart x = 1, x' = 1"));
        let found = run(&text);
        meets(&found, 11.0 + impulse * (10.0 - 5.123), 1.0 + impulse, 3e-7);
        assert!(found.cost().cut_for_formulas > 0 || w > 0.01);
    }
}

/// A barrier of twice the energy turns the point back with the speed it came with.
#[test]
fn barriers_turn_back_what_they_should() {
    for w in [1e-1, 1e-2, 1e-4, 1e-6] {
        let found = run(&point(&format!("potential exp(-((x-5.123)/{w:?})^2)\nstart x = 0, x' = 1")));
        assert!((found.state().qdot[0] + 1.0).abs() < 1e-6, "width {w}: {:?}", found.state());
    }
    let wall = run(&point("potential 1e-36/(x-5.123)^12\nstart x = 0, x' = 1"));
    assert!((wall.state().qdot[0] + 1.0).abs() < 1e-6, "{:?}", wall.state());
}

/// The integral of f over the line, f being negligible beyond ten.
fn integral(f: impl Fn(f64) -> f64) -> f64 {
    // the trapezoidal rule converges exponentially here
    let h = 0.01;
    (-1000..=1000).map(|k| h * f(f64::from(k) * h)).sum()
}

/// On a road y = f(x) without forces the speed along it stays 1, so the bump costs its extra length; a mass m(x) moves with 1/√m.
#[test]
fn roads_and_masses_with_narrow_peaks_take_their_time() {
    for w in [0.1, 1e-3] {
        let road = format!(
            "coordinates x, y\nmass x, y: 1\nconstraint c: y = 0.1*exp(-((x-5.123)/{w:?})^2)\nstart x = 0, x' = 1\nrun 10"
        );
        let extra = integral(|u: f64| (0.2 * u * (-u * u).exp()).hypot(w) - w);
        meets(&run(&road), 10.0 - extra, 1.0, 3e-7);
    }
    for w in [1e-2, 1e-5] {
        let mass = format!("coordinates x\nmass x: 1 + 3*exp(-((x-5.123)/{w:?})^2)\nstart x = 0, x' = 1\nrun 10");
        let extra = integral(|u: f64| w * ((1.0 + 3.0 * (-u * u).exp()).sqrt() - 1.0));
        meets(&run(&mass), 10.0 - extra, 1.0, 3e-7);
    }
}

/// The mean of the cosine of 0.05 exp(−u²) and the like: the second integral of 1000 sin(t + f) by quadrature.
#[test]
fn small_bumps_inside_and_on_large_terms_are_not_passed_over() {
    let (c, w) = (5.123, 1e-4);
    let factor = point("force x: 1000*sin(t)*(1+0.01*exp(-((t-5.123)/1e-4)^2))\nstart x = 0");
    let kick = integral(|u| 1000.0 * (c + w * u).sin() * 0.01 * (-u * u).exp() * w);
    let smooth = (1000.0 * (10.0 - 10f64.sin()), 1000.0 * (1.0 - 10f64.cos()));
    meets(&run(&factor), smooth.0 + kick * (10.0 - c), smooth.1 + kick, 1e-4);
    let inside = point("force x: 1000*sin(t+0.05*exp(-((t-5.123)/1e-4)^2))\nstart x = 0");
    let kick = integral(|u| 1000.0 * ((c + w * u + 0.05 * (-u * u).exp()).sin() - (c + w * u).sin()) * w);
    meets(&run(&inside), smooth.0 + kick * (10.0 - c), smooth.1 + kick, 1e-4);
    assert!(kick.abs() > 1e-3);
}

/// Far from its bump a formula costs nothing: the steps are those without it.
#[test]
fn a_bump_that_is_not_reached_costs_no_step() {
    let with = run(&point("potential x^2/2 + exp(-((x-3)/0.01)^2)\nstart x = 1").replace("run 10", "run 50"));
    let without = run(&point("potential x^2/2\nstart x = 1").replace("run 10", "run 50"));
    let (with, without) = (with.cost(), without.cost());
    assert_eq!((with.steps, with.rejected, with.evaluations), (without.steps, without.rejected, without.evaluations));
    assert_eq!(with.cut_for_formulas, 0);
}

/// Every symbol of the argument stands several times; what is left of it is (x − 5.123)².
#[test]
fn arguments_in_which_symbols_repeat_are_bounded() {
    let text = "coordinates x, y\nmass x, y: 1\npotential exp(-((x-y)^2+2*x*y-x^2-y^2+(x-5.123)^2)*1e4)\n\
                start x = 0, y = 0, x' = 1, y' = 0.3\nrun 10";
    let found = run(text);
    assert!((found.state().qdot[0] + 1.0).abs() < 1e-5, "{:?}", found.state());
}

/// Widths near the rounding of the time end the run with the function by name.
#[test]
fn functions_that_cannot_be_followed_are_named() {
    for (force, name) in
        [("1/(t-5)", "x"), ("1e11*exp(-((t-5.123)/1e-12)^2)", "exp("), ("1e17*exp(-((t-5.123)/1e-17)^2)", "exp(")]
    {
        let (found, notes) = run_with(&point(&format!("force x: {force}\nstart x = 1, x' = 1")), RunOptions::default());
        assert!(found.state().t < 5.2 && found.end().as_str() == "step-too-small", "{force}: {:?}", found.end());
        let message = notes.iter().find(|d| d.code == "Z604").unwrap_or_else(|| panic!("{force}: {notes:#?}"));
        assert!(format!("{message:?}").contains(name), "{message:#?}");
    }
}

#[test]
fn a_pole_ends_the_run_before_it() {
    let (found, notes) = run_with(&point("force x: 1/(t-5)\nstart x = 1, x' = 1"), RunOptions::default());
    assert!(found.state().t < 5.0 && notes.iter().any(|d| d.code == "Z604"), "{:?}\n{notes:#?}", found.state());
}

/// Steps of one length are not cut: the run says what they pass over.
#[test]
fn fixed_steps_report_what_they_pass_over() {
    let rattle =
        |step| RunOptions { method: Some(zwang_motion::Method::Rattle), step: Some(step), ..RunOptions::default() };
    let text = point("potential exp(-((x-5.123)/0.01)^2)\nstart x = 0, x' = 1");
    let (_, notes) = run_with(&text, rattle(0.1));
    assert!(notes.iter().any(|d| d.code == "Z619"), "{notes:#?}");
    let (found, notes) = run_with(&text, rattle(1e-4));
    assert!(notes.iter().all(|d| d.code != "Z619"), "{notes:#?}");
    assert!((found.state().qdot[0] + 1.0).abs() < 1e-3);
}

/// A value with its derivative.
#[derive(Clone, Copy)]
struct Dual(f64, f64);

impl Dual {
    fn map(self, value: f64, slope: f64) -> Dual {
        Dual(value, slope * self.1)
    }
    fn exp(self) -> Dual {
        self.map(self.0.exp(), self.0.exp())
    }
    fn tanh(self) -> Dual {
        self.map(self.0.tanh(), 1.0 - self.0.tanh().powi(2))
    }
    fn atan(self) -> Dual {
        self.map(self.0.atan(), 1.0 / (1.0 + self.0 * self.0))
    }
    fn powi(self, n: i32) -> Dual {
        self.map(self.0.powi(n), f64::from(n) * self.0.powi(n - 1))
    }
    fn plus(self, x: f64) -> Dual {
        Dual(self.0 + x, self.1)
    }
    fn times(self, x: f64) -> Dual {
        Dual(self.0 * x, self.1 * x)
    }
}

impl Add for Dual {
    type Output = Dual;
    fn add(self, other: Dual) -> Dual {
        Dual(self.0 + other.0, self.1 + other.1)
    }
}

impl Sub for Dual {
    type Output = Dual;
    fn sub(self, other: Dual) -> Dual {
        self + -other
    }
}

impl Neg for Dual {
    type Output = Dual;
    fn neg(self) -> Dual {
        Dual(-self.0, -self.1)
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, other: Dual) -> Dual {
        Dual(self.0 * other.0, self.0 * other.1 + self.1 * other.0)
    }
}

/// Shapes of pulses in u, as text and as functions of their own.
type Shape = (&'static str, fn(Dual) -> Dual);
const SHAPES: [Shape; 11] = [
    ("exp(-(U)^2)", |u| (-(u * u)).exp()),
    ("exp(-(U)^4)", |u| (-u.powi(4)).exp()),
    ("1/sqrt(1+(U)^2)^5", |u| {
        let root = u.powi(2).plus(1.0);
        root.map(root.0.powf(-2.5), -2.5 * root.0.powf(-3.5))
    }),
    ("1/(1+(U)^8)", |u| u.powi(8).plus(1.0).powi(-1)),
    ("(tanh(U+2)-tanh(U-2))/2", |u| (u.plus(2.0).tanh() - u.plus(-2.0).tanh()).times(0.5)),
    ("exp(-(U)^2)*sin(5*(U))", |u| (-(u * u)).exp() * u.map((5.0 * u.0).sin(), 5.0 * (5.0 * u.0).cos())),
    ("exp(-(U)^2)*(U)", |u| (-(u * u)).exp() * u),
    ("1/(1+(U)^2)^3", |u| u.powi(2).plus(1.0).powi(-3)),
    ("(atan(U+1)-atan(U-1))/2", |u| (u.plus(1.0).atan() - u.plus(-1.0).atan()).times(0.5)),
    ("tanh(3*exp(-(U)^2))", |u| (-(u * u)).exp().times(3.0).tanh()),
    ("cos(U)*exp(-tanh(U)^2*300)", |u| u.map(u.0.cos(), -u.0.sin()) * (-(u.tanh().powi(2)).times(300.0)).exp()),
];

/// Where a pulse acts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Time,
    Place,
    Speed,
}

struct Pulse {
    kind: Kind,
    shape: usize,
    width: f64,
    centre: f64,
    size: f64,
    /// 0: free; 1: 0.3 cos x; 2: x²/2.
    base: usize,
    start: (f64, f64),
    run: f64,
}

impl Pulse {
    fn random(seed: u64) -> Pulse {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..20).for_each(|_| _ = next());
        let kind = [Kind::Time, Kind::Place, Kind::Speed][(3.0 * next()) as usize];
        let base = if kind == Kind::Speed { 2 } else { (3.0 * next()) as usize };
        let (start, run) = match (kind, base) {
            (Kind::Speed, _) => ((-4.0, 0.5), 1.4),
            (_, 0) => ((0.0, 1.0), 10.0),
            (_, 1) => ((0.0, 1.2), 10.0),
            _ => ((0.0, 10.0), 1.4),
        };
        let centre = if kind == Kind::Time { run * (0.2 + 0.6 * next()) } else { 1.5 + 2.0 * next() };
        let width = run * 10f64.powf(-6.0 + 5.0 * next());
        let size = match kind {
            Kind::Time => (0.1 + 2.9 * next()) / width,
            Kind::Place => [-0.3, 0.2, 2.0][(3.0 * next()) as usize],
            Kind::Speed => -[0.5, 0.9, 0.99][(3.0 * next()) as usize],
        };
        let round = |x: f64| (x * 1e5).round() / 1e5;
        Pulse { kind, shape: (11.0 * next()) as usize % 11, width, centre: round(centre), size, base, start, run }
    }

    fn text(&self) -> String {
        let symbol = match self.kind {
            Kind::Time => "t",
            Kind::Place => "x",
            Kind::Speed => "x'",
        };
        let u = format!("({symbol}-{:?})/{:?}", self.centre, self.width);
        let shape = format!("{:?}*({})", self.size, SHAPES[self.shape].0.replace('U', &u));
        let base = ["0*x", "0.3*cos(x)", "x^2/2"][self.base];
        let (place, force) = match self.kind {
            Kind::Place => (format!("{base} + {shape}"), "0".to_string()),
            _ => (base.to_string(), shape),
        };
        let (x, v) = self.start;
        format!(
            "coordinates x\nmass x: 1\npotential {place}\nforce x: {force}\nstart x = {x:?}, x' = {v:?}\nrun {:?}",
            self.run
        )
    }

    fn acceleration(&self, t: f64, x: f64, v: f64) -> f64 {
        let at = [t, x, v][self.kind as usize];
        let pulse = SHAPES[self.shape].1(Dual((at - self.centre) / self.width, 1.0 / self.width));
        let base = [0.0, 0.3 * x.sin(), -x][self.base];
        base + self.size * if self.kind == Kind::Place { -pulse.1 } else { pulse.0 }
    }

    /// The end by classical Runge-Kutta steps that know where the pulse is: this part of the time to it.
    fn truth(&self, part: f64) -> (f64, f64) {
        let f = |t: f64, x: f64, v: f64| (v, self.acceleration(t, x, v));
        let (mut t, mut x, mut v) = (0.0, self.start.0, self.start.1);
        while t < self.run {
            let a = self.acceleration(t, x, v);
            let away = ([t, x, v][self.kind as usize] - self.centre).abs() + 0.5 * self.width;
            let time = match self.kind {
                Kind::Time => away,
                Kind::Place => away / (v.abs() + (2.0 * away * a.abs()).sqrt()),
                Kind::Speed => away / (a.abs() + x.abs() + 1.0),
            };
            let h = (part * time.min(1.0)).min(self.run - t);
            let k1 = (v, a);
            let k2 = f(t + 0.5 * h, x + 0.5 * h * k1.0, v + 0.5 * h * k1.1);
            let k3 = f(t + 0.5 * h, x + 0.5 * h * k2.0, v + 0.5 * h * k2.1);
            let k4 = f(t + h, x + h * k3.0, v + h * k3.1);
            x += h / 6.0 * (k1.0 + 2.0 * (k2.0 + k3.0) + k4.0);
            v += h / 6.0 * (k1.1 + 2.0 * (k2.1 + k3.1) + k4.1);
            t = if h == self.run - t { self.run } else { t + h };
        }
        (x, v)
    }
}

/// Pulses of random shape, place and width, down to 1e-6 of the run: the error is at most a hundred tolerances, or the run says
/// that it ended.
#[test]
fn random_pulses_are_not_passed_over() {
    let n: u64 = std::env::var("ZWANG_PULSES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let (mut compared, mut ended, mut cut) = (0, 0, 0);
    for seed in 1..=n {
        let pulse = Pulse::random(seed);
        let tolerance = if seed % 2 == 0 { 1e-6 } else { 1e-8 };
        let ((x, v), coarse) = (pulse.truth(0.01), pulse.truth(0.02));
        // Richardson's extrapolation for order four
        let (x, v) = (x + (x - coarse.0) / 15.0, v + (v - coarse.1) / 15.0);
        let size = (1.0 + x.abs()).max(pulse.run * v.abs());
        let doubt = (x - coarse.0).abs().max(pulse.run * (v - coarse.1).abs()) / size;
        if doubt.is_nan() || doubt >= 3.0 * tolerance {
            continue;
        }
        let text = pulse.text();
        let (found, _) = run_with(&text, RunOptions { tolerance: Some(tolerance), ..RunOptions::default() });
        cut += u64::from(found.cost().cut_for_formulas > 0);
        if found.state().t < pulse.run {
            ended += 1;
            continue;
        }
        let (q, qdot) = (found.state().q[0], found.state().qdot[0]);
        let error = (q - x).abs().max(pulse.run * (qdot - v).abs()) / size;
        // a place or speed is known to rounding only, relative to the width
        let limit = (100.0 * tolerance).max(1e-14 / pulse.width);
        assert!(error < limit, "pulse {seed}: error {error:e} at {tolerance:e}, x = {q} instead of {x}\n{text}");
        compared += 1;
    }
    assert!(compared > 2 * n / 3, "{compared} of {n} compared");
    assert!(ended <= n / 100 && cut > n / 4, "{ended} ended, {cut} cut");
}
