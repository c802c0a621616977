//! Bounces that accumulate: their end in finite time, and what follows it.

use super::finishes_cleanly;
use crate::common::{
    NO_SAMPLES, all_close, close, finished, finished_model, loaded, model_text, run_and_notes, run_and_notes_at,
    run_to, times,
};
use zwang::simulate::End;
use zwang::{Budget, Overrides, RunOptions};

/// Impact k of a ball dropped from 1 m with restitution ε is at t₁ + 2 t₁(ε + … + ε^(k−1)); all end at t₁(1 + ε)/(1 − ε).
#[test]
fn a_bouncing_ball_comes_to_rest_in_finite_time() {
    let t1 = (2.0f64 / 9.81).sqrt();
    let impact = |k: i32| t1 + 2.0 * t1 * (1..k).map(|j| 0.8f64.powi(j)).sum::<f64>();
    let end = t1 * 1.8 / 0.2;
    for (t, n, y, ydot) in [
        (1.0, 1, 0.468004452526036311, -1.83699554747396369),
        (2.0, 3, 0.260741728327057197, -0.165869135836471402),
        (3.0, 6, 0.068707460965765722, -0.0153541333847447593),
        (4.0, 19, 0.0000776749914278877753, 0.0505067445274685524),
    ] {
        let run = finished_model("bouncing_ball", t);
        close(run.state().q[0], y, 1e-8);
        close(run.state().qdot[0], ydot, 1e-8);
        let found = times(&run, "impact");
        assert_eq!(found.len(), n, "at t = {t}");
        all_close(&found, &(1..=n as i32).map(impact).collect::<Vec<_>>(), 1e-9);
    }
    let run = finished_model("bouncing_ball", 60.0);
    all_close(&times(&run, "rest"), &[end], 1e-8);
    assert_eq!(times(&run, "rest").len(), 1);
    close(run.state().q[0], 0.0, 1e-12);
    close(run.state().qdot[0], 0.0, 1e-12);
    assert!(run.audit().energy.drift < 1e-8, "{:?}", run.audit().energy);
    close(run.audit().energy.end, 0.0, 1e-10);
}

/// Three boxes on top of each other, dropped from a little height: the floor carries all of them.
#[test]
fn a_stack_comes_to_rest_and_carries_its_weight() {
    let text = "model \"stack\"\ncoordinates y[1..3]\nmass y[1..3]: 2\nforce y[i in 1..3]: -2*9.81\n\
                contact floor: y[1] >= 0 with restitution 0.3\n\
                contact upon[i in 2..3]: y[i] - y[i-1] >= 1 with restitution 0.3\n\
                start y[i in 1..3] = (i - 1) + 0.2*i, y[i in 1..3]' = 0\nrun 5\n\
                output a = lambda(floor)\noutput b = lambda(upon[2])\noutput c = lambda(upon[3])\n";
    let run = run_to(text, &[], 5.0);
    assert_eq!(*run.end(), End::Finished);
    all_close(&run.state().q, &[0.0, 1.0, 2.0], 1e-9);
    all_close(&run.state().qdot, &[0.0, 0.0, 0.0], 1e-12);
    for (k, output) in run.outputs().iter().enumerate() {
        close(output.values.unwrap().last, 9.81 * 2.0 * (3 - k) as f64, 1e-9);
    }
    assert!(run.audit().energy.drift < 1e-8, "{:?}", run.audit().energy);
}

/// A minute later it still lies there.
#[test]
fn a_ball_still_lies_after_a_minute() {
    let text = model_text("bouncing_ball") + "\noutput push = |reaction(floor)|\n";
    let run = run_to(&text, &[], 60.0);
    assert_eq!(*run.end(), End::Finished);
    close(run.state().q[0], 0.0, 1e-14);
    close(run.outputs()[0].values.unwrap().last, 9.81, 1e-12);
    assert!(run.cost().steps < 1000, "{} steps", run.cost().steps);
}

/// A box on four legs that was tipped rocks ever faster and stands again, in finite time.
#[test]
fn a_box_that_rocks_comes_to_stand() {
    let run = finished_model("box_on_four_legs", 1.0);
    close(run.state().q[2], 0.4, 1e-10);
    all_close(&run.state().q[3..], &[0.0, 0.0, 0.0], 1e-10);
    assert!(run.state().qdot.iter().all(|v| v.abs() < 1e-9), "{:?}", run.state().qdot);
    close(run.outputs()[0].values.unwrap().last, 2.0 * 9.81, 1e-8);
    let impacts = times(&run, "impact");
    // feet have their impacts two at a time, after intervals in one proportion
    let at: Vec<f64> = impacts.chunks(2).map(|pair| pair[0]).collect();
    let ratio = |k: usize| (at[k + 2] - at[k + 1]) / (at[k + 1] - at[k]);
    assert!(at.len() > 5, "{impacts:?}");
    close(ratio(1), ratio(2), 2e-2 * ratio(1));
}

/// Between walls that meet at t = 2 an elastic ball becomes faster without end: reported soon, with no gap negative.
#[test]
fn bounces_that_become_ever_faster_are_reported() {
    let text = "model \"squeeze\"\ncoordinates x\nmass x: 1\ncontact a: x >= 0 with restitution 1\n\
                contact b: x <= 1 - t/2 with restitution 1\nstart x = 0.5, x' = 1\nrun 3\n";
    let (found, diagnostics) = run_and_notes(text, &[]);
    assert!(diagnostics.iter().any(|d| d.code == "Z609"), "{diagnostics:#?}");
    assert!(found.state().t < 2.0 && found.state().t > 1.99, "{}", found.state().t);
    assert!(found.cost().steps < 50_000 && found.audit().residuals.iter().all(|(_, r)| *r < 1e-9));
    // bounces that only die out slowly are no such thing: with e = 0.995 they last 2 v/(g (1 − e))
    let ball = "model \"ball\"\ncoordinates y\nmass y: 1\nforce y: -10\ncontact floor: y >= 0 with restitution 0.995\n\
                start y = 0, y' = 1\nrun 60\n";
    close(times(&finished(ball, &[]), "rest")[0], 0.2 / 0.005, 1e-6);
}

/// An elastic ball bounces every two seconds, however long the run is to be: only a budget ends it.
#[test]
fn bounces_at_a_steady_pace_are_not_endless_in_a_long_run() {
    let text = "model \"ball\"\ncoordinates y\nmass y: 1\nforce y: -10\ncontact floor: y >= 0 with restitution 1\n\
                start y = 0, y' = 10\nrun 1e9\n";
    let budget = Budget { events: 12_000, ..Budget::default() };
    let options = RunOptions { keep: NO_SAMPLES, budget, ..RunOptions::default() };
    let run = loaded(text, &Overrides::default()).and_then(|system| system.run(&options)).unwrap();
    assert_eq!(run.end().as_str(), "budget");
    // each impact may change the speed by the tolerance, and with it the length of all later flights
    let n: f64 = 12_000.0;
    close(run.state().t, 2.0 * n, 2.0 * 1e-9 * n * n / 2.0);
}

/// Two balls under 10 m/s², one above the other, dropped from `start`; restitutions of the floor and of the touch, and how heavy
/// the upper is compared with the lower. Between impacts all is known, and bounces that have died out are over once the upper
/// ball rises. The height and speed of the upper ball at the end.
fn bounces_by_formulas(ratio: f64, restitutions: [f64; 2], start: [f64; 2], end: f64) -> [f64; 2] {
    let ([mut a, mut b], mut u, mut v, mut t) = (start, 0.0, 0.0, 0.0);
    loop {
        let floor = (u + f64::sqrt(f64::max(u * u + 20.0 * a, 0.0))) / 10.0;
        let touch = if u > v { (b - a) / (u - v) } else { f64::INFINITY };
        let is_over = f64::abs(u) < 1e-9 && a < 1e-12 && v > 0.0;
        let step = if is_over { end - t } else { floor.min(touch).min(end - t) };
        (a, b) = (a + (u - 5.0 * step) * step, b + (v - 5.0 * step) * step);
        (u, v, t) = (u - 10.0 * step, v - 10.0 * step, t + step);
        if t >= end {
            return [b, v];
        }
        if floor <= touch {
            (a, u) = (0.0, -restitutions[0] * u);
        } else {
            let impulse = (1.0 + restitutions[1]) * (u - v) * ratio / (1.0 + ratio);
            (u, v) = (u - impulse, v + impulse / ratio);
        }
    }
}

/// A ball near the end of its bounces has an impact from above: its impacts follow each other ever faster, and are not over.
#[test]
fn an_impact_near_the_accumulation_point_is_not_the_end() {
    let cases = [(0.9, 1.0, 3.0, 2e-3), (0.9, 0.9, 3.0, 3e-3), (0.8, 1.0, 1.0, 1e-3), (0.8, 1.0, 3.0, 1e-3)];
    for (e, touch, ratio, early) in cases {
        // 0.2 m fall takes 0.2 s, and the bounces end after 0.2 (1 + e)/(1 − e)
        let over: f64 = 0.2 * (1.0 + e) / (1.0 - e);
        let (high, end) = (5.0 * (over - early).powi(2), over + 0.3);
        let text = format!(
            "model \"struck\"\ncoordinates a, b\nmass a: 1\nmass b: {ratio}\nforce a: -10\nforce b: -10*{ratio}\n\
             contact floor: a >= 0 with restitution {e}\ncontact touch: b - a >= 0 with restitution {touch}\n\
             start a = 0.2, b = {high}\nrun {end}\n"
        );
        let (run, _) = run_and_notes_at(&text, 1e-11);
        let [b, v] = bounces_by_formulas(ratio, [e, touch], [0.2, high], end);
        let (found, speed) = (run.state().q[1], run.state().qdot[1]);
        let case = format!("{e} {touch} {ratio} {early}");
        assert!(
            (found - b).abs() < 1e-6 * high && (speed - v).abs() < 1e-6 * (20.0 * high).sqrt(),
            "{case}: {found} {b} {speed} {v}"
        );
        let energy = run.audit().energy;
        assert!(energy.drift.abs() < 1e-8 * high * 10.0 * ratio, "{case}: {energy:?}");
    }
}

/// When two balls in a column, released from 1 m and 2 m, are at rest: from one impact to the next by formulas.
fn column_lies_at(masses: [f64; 2], e: [f64; 2]) -> f64 {
    let (g, [m1, m2], [floor, pair]) = (9.81, masses, e);
    let (mut t, mut low, mut gap, mut v1, mut v2) = (0.0, 1.0, 1.0, 0.0f64, 0.0f64);
    while t == 0.0 || v1.abs() + v2.abs() > 1e-11 {
        let lands = (v1 + (v1 * v1 + 2.0 * g * low).sqrt()) / g;
        let meets = if v2 < v1 { gap / (v1 - v2) } else { f64::INFINITY };
        let dt = f64::min(lands, meets);
        low = if lands < meets { 0.0 } else { low + v1 * dt - 0.5 * g * dt * dt };
        gap = if lands < meets { gap + (v2 - v1) * dt } else { 0.0 };
        (t, v1, v2) = (t + dt, v1 - g * dt, v2 - g * dt);
        if lands < meets {
            v1 *= -floor;
        } else {
            let (mean, apart) = ((m1 * v1 + m2 * v2) / (m1 + m2), pair * (v1 - v2));
            (v1, v2) = (mean - m2 / (m1 + m2) * apart, mean + m1 / (m1 + m2) * apart);
        }
    }
    t
}

/// Impacts of two contacts in turn become ever shorter, also on an elastic floor: both end at the same time.
#[test]
fn a_column_of_balls_comes_to_rest_in_time() {
    let cases = [
        ([1.0, 1.0], [1.0, 0.5]),
        ([1.0, 2.0], [1.0, 0.5]),
        ([1.0, 5.0], [1.0, 0.5]),
        ([1.0, 2.0], [0.5, 0.5]),
        ([1.0, 5.0], [0.8, 0.3]),
    ];
    for (masses, e) in cases {
        let text = format!(
            "model \"column\"\ncoordinates y1, y2\nparticle A at (0, y1) with mass {}\n\
             particle B at (0, y2) with mass {}\ngravity (0, -9.81)\ncontact floor: y1 >= 0 with restitution {}\n\
             contact pair: y2 - y1 >= 0 with restitution {}\nstart y1 = 1, y2 = 2\nrun 4\n",
            masses[0], masses[1], e[0], e[1]
        );
        let run = finishes_cleanly(&text, 1e-9);
        let rests = times(&run, "rest");
        assert_eq!(rests.len(), 2, "{masses:?} {e:?}");
        // four seconds at 1e-9, twice
        rests.iter().for_each(|t| close(*t, column_lies_at(masses, e), 8e-9));
    }
}

/// A box that rocks from foot to foot without sliding keeps (1 − 3/2 sin² α)² of its energy at every impact (Housner), and swings
/// from foot to foot in a time that is an integral. So the time at which it stands is known, whatever the friction, if it is
/// enough.
#[test]
fn a_box_rocks_to_rest_on_feet_that_stick() {
    let (alpha, tilt, g) = (0.4f64, 0.1f64, 9.81f64);
    // 2/3 θ'² = g (cos(α − θ₁) − cos(α − θ)) with θ₁ the largest tilt; θ = θ₁ (1 − s²) takes the zero at θ₁ out
    let quarter = |most: f64| {
        const PARTS: usize = 2000;
        let speed = |s: f64| {
            // cos x − cos y = 2 sin((x + y)/2) sin((y − x)/2)
            let rise = 2.0 * (alpha - most * (1.0 - 0.5 * s * s)).sin() * (0.5 * most * s * s).sin();
            (1.5 * g * rise).sqrt()
        };
        let part = |k: usize| {
            let s = (k as f64 + 0.5) / PARTS as f64;
            2.0 * most * s / speed(s) / PARTS as f64
        };
        (0..PARTS).map(part).sum::<f64>()
    };
    let kept = (1.0 - 1.5 * alpha.sin().powi(2)).powi(2);
    let mut rise = (alpha - tilt).cos() - alpha.cos();
    let mut end = quarter(tilt);
    for _ in 0..120 {
        rise *= kept;
        // cos(α − θ₁) − cos α again, solved for θ₁
        let mut most = rise / alpha.sin();
        for _ in 0..60 {
            most = 2.0 * (0.5 * rise / (alpha - 0.5 * most).sin()).asin();
        }
        end += 2.0 * quarter(most);
    }
    for mu in [1.2, 2.0, 5.0] {
        let text = format!(
            "model \"rocking\"\ncoordinates x, y, a\nparameter R = 1, al = {alpha}, μ = {mu}\nlet w = R*sin(al)\n\
             let h = R*cos(al)\nbody B at (x, y) turned by a with mass 1 and inertia R^2/3\ngravity (0, -{g})\n\
             point L = B.point(-w, -h)\npoint Q = B.point(w, -h)\ncontact l: L.y >= 0 with friction μ and at L\n\
             contact q: Q.y >= 0 with friction μ and at Q\nstart a = -{tilt}, L ~ (-R, 0.2), Q = (0, 0)\nrun 10\n\
             output push = lambda(l) + lambda(q)\n"
        );
        let (found, diagnostics) = run_and_notes_at(&text, 1e-9);
        assert_eq!(*found.end(), End::Finished, "{mu}: {diagnostics:#?}");
        close(*times(&found, "rest").last().unwrap(), end, 1e-6);
        close(found.outputs()[0].values.unwrap().last, g, 1e-9);
        assert!(found.state().qdot.iter().all(|v| v.abs() < 1e-12), "{:?}", found.state());
    }
}

/// A particle in a groove of two planes bounces between them and comes to rest at the bottom, with nothing left.
#[test]
fn bounces_in_a_groove_end() {
    for (e, x) in [(0.5, 0.1), (0.3, -0.2), (0.7, 0.05), (0.0, 0.1)] {
        let text = "model \"groove\"\ncoordinates x, y\nparameter e = 0.5, x0 = 0.1\nparticle P at (x, y) with mass 1\n\
                    gravity (0, -10)\ncontact a: y >= 0.7*x with restitution e\ncontact b: y >= -0.3*x with restitution e\n\
                    start x = x0, y = 1\nrun 30\n";
        let found = finished(text, &[&format!("e={e}"), &format!("x0={x}")]);
        close(found.state().q[0], 0.0, 1e-7);
        close(found.state().q[1], 0.0, 1e-7);
        found.state().qdot.iter().for_each(|v| close(*v, 0.0, 1e-9));
        close(found.audit().energy.impacts, -10.0, 1e-6);
        assert!(found.cost().steps < 20_000, "{:?}", found.cost());
    }
}

/// Impacts of bounces that become as low as the tolerance still follow the geometric series: 2 v/g between two of them, with v =
/// 1, 1/2, 1/4, …
#[test]
fn low_bounces_keep_their_time() {
    let text = "model \"ball\"\ncoordinates y\nmass y: 1\nforce y: -10\ncontact floor: y >= 0 with restitution 0.5\n\
                start y = 0, y' = -2\nrun 1\n";
    let found = finished(text, &[]);
    let impacts = times(&found, "impact");
    assert!(impacts.len() >= 15, "{impacts:?}");
    for (k, t) in impacts.iter().enumerate() {
        close(*t, 0.4 * (1.0 - 0.5f64.powi(k as i32)), 1e-9);
    }
    close(times(&found, "rest")[0], 0.4, 1e-9);
    assert!(found.audit().residuals[0].1 < 1e-15, "{:?}", found.audit().residuals);
    // the impact at the start counts
    close(found.audit().energy.start, 2.0, 1e-12);
    close(found.audit().energy.impacts, -2.0, 1e-9);
}
