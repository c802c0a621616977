//! Location of events: loads, pulses, gates, corners and grazes while contacts are open or closed.

use std::f64::consts::PI;

use super::{BALL, codes};
use crate::common::{all_close, close, finished, run_and_notes, run_to, times};

/// Free flight takes steps as long as the run; the impact on an obstacle much thinner than they are is located nevertheless.
#[test]
fn a_thin_obstacle_is_not_passed_through() {
    let text = "model \"peg\"\ncoordinates x, y\nmass x, y: 1\ncontact peg: (x - 7)^2 + y^2 >= 0.001^2 with restitution 1\n\
                start x = 0, y = 0, x' = 1, y' = 0\nrun 10\n";
    let run = run_to(text, &[], 10.0);
    all_close(&times(&run, "impact"), &[6.999], 1e-9);
    close(run.state().qdot[0], -1.0, 1e-9);
    close(run.state().q[0], 6.999 - 3.001, 1e-8);
}

/// Two balls and an event at the same instant; and two that are a hair apart.
#[test]
fn events_at_the_same_instant_all_occur() {
    let text = "model \"two\"\ncoordinates a, b\nmass a, b: 1\nparameter k = 1\nforce a: -10\nforce b: -10*k\n\
                contact left: a >= 0 with restitution 0.5\ncontact right: b >= 0 with restitution 0.5\n\
                when t >= 1: k = 2\nstart a = 5, b = 5\nrun 1.5\n";
    let found = run_to(text, &[], 1.5);
    // up with 5, and from then on the right one is pulled twice as much: back after 0.5 s
    all_close(&times(&found, "impact"), &[1.0, 1.0, 1.5], 1e-12);
    all_close(&times(&found, "when"), &[1.0], 1e-12);
    all_close(&found.state().q, &[5.0 * 0.5 - 5.0 * 0.25, 0.0], 1e-9);
    for hair in [1e-13, 1e-10, 1e-7] {
        let found = run_to(&text.replace("b = 5\n", &format!("b = {}\n", 5.0 + hair)), &[], 1.2);
        all_close(&times(&found, "impact"), &[1.0, 1.0], 1e-6);
        close(found.state().q[0], 5.0 * 0.2 - 5.0 * 0.04, 1e-9);
        close(found.state().q[1], 5.0 * 0.2 - 10.0 * 0.04, 1e-6);
    }
}

/// A particle that passes a peg: it passes by a hair, or is deflected by the angle that a mirror gives.
#[test]
fn grazing_is_an_impact_only_where_it_enters() {
    let text = "model \"peg\"\ncoordinates x, y\nparameter b = 1\nmass x, y: 1\n\
                contact peg: x^2 + y^2 >= 1 with restitution 1\nstart x = -5, y = b, x' = 1, y' = 0\nrun 10\n";
    for over in [1e-4, 1e-8, 1e-12, 0.0] {
        let found = run_to(text, &[&format!("b={:.17}", 1.0 + over)], 10.0);
        assert!(times(&found, "impact").is_empty(), "missed by {over}");
        all_close(&found.state().q, &[5.0, 1.0 + over], 1e-10);
    }
    for under in [1e-2f64, 1e-4, 1e-6, 1e-8] {
        let b = 1.0 - under;
        let found = run_to(text, &[&format!("b={b:.17}")], 10.0);
        assert_eq!(times(&found, "impact").len(), 1, "hit by {under}");
        // the normal at the point of impact is (−√(1 − b²), b)
        let (n, v) = ([-(1.0 - b * b).sqrt(), b], found.state().qdot.clone());
        all_close(&v, &[1.0 - 2.0 * n[0] * n[0], -2.0 * n[0] * n[1]], 1e-7);
        close(v[0].hypot(v[1]), 1.0, 1e-12);
    }
}

/// A ball thrown up a ramp that just touches a ceiling: grazed from below at the top of its flight.
#[test]
fn a_ceiling_is_touched_at_the_top_of_a_flight() {
    let text = "model \"ceiling\"\ncoordinates y\nparameter top = 1.25\nmass y: 1\nforce y: -10\n\
                contact ceiling: top >= y with restitution 0.5\ncontact floor: y >= 0\nstart y = 0, y' = 5\nrun 1.2\n";
    for (top, n_hits) in [("top=1.2500001", 0), ("top=1.2499999", 1), ("top=1.2", 1)] {
        let found = run_to(text, &[top], 1.2);
        let hits = found.events().iter().filter(|e| e.name == "ceiling" && e.kind.as_str() == "impact").count();
        assert_eq!(hits, n_hits, "{top}");
        close(found.state().q[0], 0.0, 1e-12);
        let arrival = found.events().iter().find(|e| e.name == "floor" && e.kind.as_str() == "impact").unwrap().t;
        let h: f64 = top[4..].parse().unwrap();
        let wanted = if n_hits == 0 {
            1.0
        } else {
            // up with 5, speed w at the ceiling, back with w/2
            let w = (25.0 - 20.0 * h).sqrt();
            (5.0 - w) / 10.0 + (-w / 2.0 + (w * w / 4.0 + 20.0 * h).sqrt()) / 10.0
        };
        close(arrival, wanted, 1e-8);
    }
}

/// A floor that rises with slope k from x = 1 on; it is reached at t = 0.2 with 5 m/s.
const BENT: &str = "model \"bent\"\ncoordinates x, y\nparameter e = 0, k = 0.5\nparticle P at (x, y) with mass 1\n\
                    gravity (0, -10)\ncontact floor: y >= (if x < 1 then 0*x else k*(x - 1)) with restitution e\n\
                    start x = 0, y = 0, x' = 5\nrun 1\n";

/// What runs into a slope keeps the velocity along it, v·τ, and gives back e times the one across: v − (1 + e)(v·n) n.
#[test]
fn running_into_a_corner_is_an_impact() {
    for (e, k) in [(0.0, 0.5), (0.0, 2.0), (0.5, 0.5), (1.0, 0.5), (1.0, 2.0)] {
        let found = finished(BENT, &[&format!("e={e}"), &format!("k={k}")]);
        assert_eq!(times(&found, "impact")[0], times(&found, "switch")[0]);
        close(times(&found, "impact")[0], 0.2, 1e-9);
        let size = f64::hypot(1.0, k);
        let across = -5.0 * k / size;
        let lost = 0.5 * across * across * (1.0 - e * e);
        // up to the first touch after it, the energy is known
        let early = finished(&BENT.replace("run 1", "run 0.25"), &[&format!("e={e}"), &format!("k={k}")]);
        close(early.audit().energy.impacts, -lost, 1e-9);
        let (vx, vy) = (5.0 + (1.0 + e) * across * k / size, -(1.0 + e) * across / size);
        let g = if e == 0.0 { -10.0 * k / (size * size) } else { 0.0 };
        let fall = if e == 0.0 { -10.0 * k * k / (size * size) } else { -10.0 };
        close(early.state().q[0], 1.0 + vx * 0.05 + 0.5 * g * 0.0025, 1e-9);
        close(early.state().q[1], vy * 0.05 + 0.5 * fall * 0.0025, 1e-9);
    }
}

/// Where the floor falls away it flies: y = −5τ² meets −k·5τ after τ = k.
#[test]
fn a_particle_takes_off_at_a_corner() {
    for k in [0.3, 0.5, 0.7] {
        let found = finished(BENT, &[&format!("k={}", -k)]);
        close(times(&found, "take-off")[0], 0.2, 1e-9);
        close(times(&found, "impact")[0], 0.2 + k, 1e-9);
        assert!(found.audit().residuals.iter().all(|(_, r)| *r < 1e-9), "{:?}", found.audit().residuals);
    }
    // a step down is left as well; a step up stands in the way
    let step = BENT.replace("k*(x - 1)", "k");
    close(times(&finished(&step, &["k=-0.2"]), "impact")[0], 0.2 + 0.2, 1e-9);
    assert!(run_and_notes(&step, &["k=0.2"]).1.iter().any(|d| d.code == "Z607"));
}

/// 5 m fall takes 1 s, the whole run: the impact occurs there, and 5 m/s come back.
#[test]
fn an_impact_at_the_very_end_occurs() {
    let (found, _) = run_and_notes(
        &format!("{BALL}contact c: y >= 0 with restitution 0.5\nstart y = 5\nrun 1\noutput v = y'\n"),
        &[],
    );
    assert_eq!(found.events().len(), 1);
    close(found.events()[0].t, 1.0, 1e-12);
    close(found.state().qdot[0], 5.0, 1e-9);
    close(found.outputs()[0].values.unwrap().last, 5.0, 1e-9);
    close(found.audit().energy.impacts, -37.5, 1e-8);
}

/// Where a gap has no value the run ends there, x = 0 at t = ½, and not a step before.
#[test]
fn a_gap_without_a_value_ends_the_run_where_it_begins() {
    let text = "model \"gap\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                contact floor: y >= sqrt(x)\nstart x = 1, y = 3, x' = -2\nrun 5\n";
    let (found, diagnostics) = run_and_notes(text, &[]);
    assert_eq!((found.end().as_str(), codes(&diagnostics)), ("failed", vec!["Z402"]), "{diagnostics:#?}");
    close(found.state().t, 0.5, 1e-9);
}

/// A sin ωt against a cone of 5: with A = 5.05 it slips once in every half period, where sin ωt reaches 5/5.05.
#[test]
fn every_slip_of_a_periodic_load_is_located() {
    let text = "model \"load\"\ncoordinates x, y\nparameter A = 5.05, w = 3\nparticle P at (x, y) with mass 1\n\
                gravity (0, -10)\nforce x: A*sin(w*t)\nconstraint floor: y = 0 with friction 0.5\nstart x = 0\nrun 50\n";
    for w in [0.7f64, 3.0, 7.0, 40.0, 300.0] {
        let found = finished(text, &[&format!("w={w}")]);
        let slips = times(&found, "slip");
        let first = (5.0f64 / 5.05).asin();
        let wanted: Vec<f64> = (0..).map(|k| (first + PI * f64::from(k)) / w).take_while(|t| *t < 50.0).collect();
        assert_eq!(slips.len(), wanted.len(), "w = {w}");
        slips.iter().zip(&wanted).for_each(|(t, wanted)| close(*t, *wanted, 1e-9));
    }
    // inside the cone it never slips
    assert!(times(&finished(text, &["A=4.999"]), "slip").is_empty());
}

/// A load that no formula of time has: a free rotor next to the block, whose angle grows evenly, so that no step is short.
#[test]
fn a_rotor_shakes_a_block_loose_in_every_turn() {
    let text = "model \"rotor\"\ncoordinates x, y, φ\nparticle P at (x, y) with mass 1\nmass φ: 1\ngravity (0, -10)\n\
                force x: 5.05*sin(φ)\nconstraint floor: y = 0 with friction 0.5\nstart x = 0, φ = 0, φ' = 7\nrun 20\n";
    let wanted = (0..).map(|k| ((5.0f64 / 5.05).asin() + PI * f64::from(k)) / 7.0).take_while(|t| *t < 20.0).count();
    assert_eq!(times(&finished(text, &[]), "slip").len(), wanted);
}

/// −10 + 20 exp(−τ²), τ = (t − 5)/w, lifts a mass off the floor from τ = −√ln 2 on; so does a load along the floor.
#[test]
fn short_pulses_are_located() {
    for width in [0.3, 0.1, 0.03, 0.01] {
        let lift = "model \"pulse\"\ncoordinates y\nparameter w = 1\nmass y: 1\nforce y: -10 + 20*exp(-((t - 5)/w)^2)\n\
                    contact floor: y >= 0\nstart y = 0\nrun 10\n";
        let found = finished(lift, &[&format!("w={width}")]);
        assert_eq!(times(&found, "take-off").len(), 1, "w = {width}");
        close(times(&found, "take-off")[0], 5.0 - width * 2f64.ln().sqrt(), 1e-9);
        let slip = "model \"pulse\"\ncoordinates x, y\nparameter w = 1\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                    force x: 6*exp(-((t - 5)/w)^2)\nconstraint floor: y = 0 with friction 0.5\nstart x = 0\nrun 10\n";
        let found = finished(slip, &[&format!("w={width}")]);
        assert_eq!(times(&found, "slip").len(), 1, "w = {width}");
        close(times(&found, "slip")[0], 5.0 - width * 1.2f64.ln().sqrt(), 1e-9);
    }
}

/// A pulse of any shortness is located if the model states when it begins.
#[test]
fn a_stated_pulse_is_located_however_short() {
    let text = "model \"pulse\"\ncoordinates y\nmass y: 1\nforce y: if t >= 5 then (if t < 5.000001 then 1e6 else -10) else -10\n\
                contact floor: y >= 0\nstart y = 0\nrun 10\n";
    let found = finished(text, &[]);
    close(times(&found, "take-off")[0], 5.0, 1e-12);
    // up with 1 m/s, back after 0.2 s
    close(times(&found, "impact")[0], 5.200001, 1e-6);
}

/// A gate that closes for 10 ms on a particle at rest: 10 exp(−τ²) = 5 where the impact occurs.
#[test]
fn a_gate_does_not_pass_through_a_body_at_rest() {
    let text = "model \"gate\"\ncoordinates x\nmass x: 1\ncontact gate: x <= 5 - 10*exp(-((t - 5)/0.01)^2)\n\
                start x = 0\nrun 10\n";
    close(times(&finished(text, &[]), "impact")[0], 5.0 - 0.01 * 2f64.ln().sqrt(), 1e-9);
}

/// A floor that shakes with more than g: the mass takes off once in every period.
#[test]
fn a_shaken_floor_throws_in_every_period() {
    let text = "model \"shaker\"\ncoordinates y\nparameter w = 7\nmass y: 1\nforce y: -10\n\
                contact floor: y >= 10.3*sin(w*t)/w^2\nstart y = 0, y' = 10.3/w\nrun 30\n";
    let found = finished(text, &[]);
    // the floor falls away where 10.3 sin wt = 10; thrown so gently the mass is back within the period
    let wanted = (0..).map(|k| ((10.0f64 / 10.3).asin() + 2.0 * PI * f64::from(k)) / 7.0).take_while(|t| *t < 30.0);
    let wanted: Vec<f64> = wanted.collect();
    let found = times(&found, "take-off");
    assert_eq!(found.len(), wanted.len());
    found.iter().zip(&wanted).for_each(|(t, wanted)| close(*t, *wanted, 1e-8));
}

/// The extremes of outputs are seen as well: the normal force between 10 − 4 and 10 + 4.
#[test]
fn extremes_of_outputs_at_rest_are_found() {
    let text = "model \"load\"\ncoordinates y\nmass y: 1\nforce y: -10 + 4*sin(11*t)\ncontact floor: y >= 0\n\
                start y = 0\nrun 50\noutput push = lambda(floor)\n";
    let push = finished(text, &[]).outputs()[0].values.unwrap();
    close(push.min, 6.0, 1e-6);
    close(push.max, 14.0, 1e-6);
}

/// cos t touches −1 at π and does not enter it: what is less deep than the error of the steps is no impact.
#[test]
fn an_exact_graze_is_no_impact() {
    let text = "model \"graze\"\ncoordinates x\nparameter x0 = 1\nmass x: 1\nforce x: -x\n\
                contact stop: x >= -1 with restitution 0.5\nstart x = x0\nrun 20\n";
    let found = finished(text, &[]);
    assert!(times(&found, "impact").is_empty(), "{:?}", found.events());
    close(found.state().q[0], 20f64.cos(), 1e-8);
    // deeper by 1e-6 it is struck where x0 cos t = −1
    close(times(&finished(text, &["x0=1.000001"]), "impact")[0], (-1.0f64 / 1.000001).acos(), 1e-6);
}
