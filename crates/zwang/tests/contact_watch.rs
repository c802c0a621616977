//! What comes and goes while a system rests: loads, pulses and gates, and bounces that end.

mod common;

use common::{attempt, close, finished, times};
use std::f64::consts::PI;

/// A sin ωt against a cone of 5: with A = 5.05 it slips once in every half period, where sin ωt reaches 5/5.05.
#[test]
fn every_slip_of_a_periodic_load_is_met() {
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

/// A load that no formula of time has: a free rotor beside the block, whose angle grows evenly, so that no step is short.
#[test]
fn a_rotor_shakes_a_block_loose_in_every_turn() {
    let text = "model \"rotor\"\ncoordinates x, y, φ\nparticle P at (x, y) with mass 1\nmass φ: 1\ngravity (0, -10)\n\
                force x: 5.05*sin(φ)\nconstraint floor: y = 0 with friction 0.5\nstart x = 0, φ = 0, φ' = 7\nrun 20\n";
    let wanted = (0..).map(|k| ((5.0f64 / 5.05).asin() + PI * f64::from(k)) / 7.0).take_while(|t| *t < 20.0).count();
    assert_eq!(times(&finished(text, &[]), "slip").len(), wanted);
}

/// −10 + 20 exp(−τ²), τ = (t − 5)/w, lifts a mass off the floor from τ = −√ln 2 on; so does a load along the floor.
#[test]
fn short_pulses_are_met() {
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

/// A pulse of any shortness is met where the model states when it begins.
#[test]
fn a_stated_pulse_is_met_however_short() {
    let text = "model \"pulse\"\ncoordinates y\nmass y: 1\nforce y: if t >= 5 then (if t < 5.000001 then 1e6 else -10) else -10\n\
                contact floor: y >= 0\nstart y = 0\nrun 10\n";
    let found = finished(text, &[]);
    close(times(&found, "take-off")[0], 5.0, 1e-12);
    // up with 1 m/s, back after 0.2 s
    close(times(&found, "impact")[0], 5.200001, 1e-6);
}

/// A gate that closes for 10 ms on a particle at rest: 10 exp(−τ²) = 5 where it is met.
#[test]
fn a_gate_does_not_pass_through_what_rests() {
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

/// The extremes of outputs are seen as well: the push between 10 − 4 and 10 + 4.
#[test]
fn outputs_at_rest_are_read_off_as_they_are() {
    let text = "model \"load\"\ncoordinates y\nmass y: 1\nforce y: -10 + 4*sin(11*t)\ncontact floor: y >= 0\n\
                start y = 0\nrun 50\noutput push = lambda(floor)\n";
    let push = finished(text, &[]).outputs[0].values.unwrap();
    close(push.min, 6.0, 1e-6);
    close(push.max, 14.0, 1e-6);
}

/// A particle in a groove of two planes bounces between them and comes to rest at the bottom, with nothing left.
#[test]
fn bounces_in_a_groove_end() {
    for (e, x) in [(0.5, 0.1), (0.3, -0.2), (0.7, 0.05), (0.0, 0.1)] {
        let text = "model \"groove\"\ncoordinates x, y\nparameter e = 0.5, x0 = 0.1\nparticle P at (x, y) with mass 1\n\
                    gravity (0, -10)\ncontact a: y >= 0.7*x with restitution e\ncontact b: y >= -0.3*x with restitution e\n\
                    start x = x0, y = 1\nrun 30\n";
        let found = finished(text, &[&format!("e={e}"), &format!("x0={x}")]);
        close(found.state.q[0], 0.0, 1e-7);
        close(found.state.q[1], 0.0, 1e-7);
        found.state.qdot.iter().for_each(|v| close(*v, 0.0, 1e-9));
        close(found.audit.energy.impacts, -10.0, 1e-6);
        assert!(found.counts.steps < 20_000, "{:?}", found.counts);
    }
}

/// Impacts of bounces that become as low as the tolerance still follow the geometric series: v, v/2, v/4, … from v = 1.
#[test]
fn low_bounces_keep_their_time() {
    let text = "model \"ball\"\ncoordinates y\nmass y: 1\nforce y: -10\ncontact floor: y >= 0 with restitution 0.5\n\
                start y = 0, y' = -2\nrun 1\n";
    let found = finished(text, &[]);
    let impacts = times(&found, "impact");
    for (k, t) in impacts.iter().enumerate() {
        close(*t, 0.4 * (1.0 - 0.5f64.powi(k as i32)), 1e-9);
    }
    close(times(&found, "rest")[0], 0.4, 1e-9);
    assert!(found.audit.residuals[0].1 < 1e-15, "{:?}", found.audit.residuals);
    // the blow at the start counts
    close(found.audit.energy.start, 2.0, 1e-12);
    close(found.audit.energy.impacts, -2.0, 1e-9);
}

/// cos t touches −1 at π and does not enter it: what is less deep than the error of the steps is no impact.
#[test]
fn an_exact_graze_is_no_impact() {
    let text = "model \"graze\"\ncoordinates x\nparameter x0 = 1\nmass x: 1\nforce x: -x\n\
                contact stop: x >= -1 with restitution 0.5\nstart x = x0\nrun 20\n";
    let found = finished(text, &[]);
    assert!(times(&found, "impact").is_empty(), "{:?}", found.events);
    close(found.state.q[0], 20f64.cos(), 1e-8);
    // deeper by 1e-6 it is struck where x0 cos t = −1
    close(times(&finished(text, &["x0=1.000001"]), "impact")[0], (-1.0f64 / 1.000001).acos(), 1e-6);
}

/// Where the law −|N| direction(v) ends at rest it goes back and forth: the run says so instead of going on for ever.
#[test]
fn a_law_of_directions_ends_where_it_sticks() {
    let text = "model \"law\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\nconstraint floor: y = 0\n\
                nonideal P: -0.3*|reaction(floor, P)|*direction(P')\nstart x = 0, x' = 3\nrun 2\n";
    let (found, diagnostics) = attempt(text, &[]);
    let found = found.unwrap();
    assert_eq!(found.ended.as_str(), "sliding");
    close(found.state.t, 1.0, 1e-5);
    close(found.state.q[0], 1.5, 1e-8);
    assert!(diagnostics.iter().any(|d| d.code == "Z606"), "{diagnostics:#?}");
}

/// The same law driven by the push of a contact, in flight and on the floor: x' falls by 0.3·10 per second, only while it touches.
#[test]
fn a_law_may_be_driven_by_a_contact() {
    let text = "model \"law\"\ncoordinates x, y\nparameter h = 0\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                contact floor: y >= 0\nnonideal P: -0.3*|reaction(floor, P)|*direction(P')\n\
                start x = 0, y = h, x' = 3\nrun 0.9\n";
    let slides = |t: f64| 3.0 * t - 1.5 * t * t;
    let found = finished(text, &[]);
    close(found.state.q[0], slides(0.9), 1e-9);
    // falls 0.5 s, then slides
    let found = finished(text, &["h=1.25"]);
    close(found.state.q[0], 1.5 + slides(0.4), 1e-8);
}
