//! States of first order: coordinates without mass that a row on velocities determines.

use crate::common::{close, finished};

/// (θ, ω, p) of θ'' = -p sin θ, p' = ω sin θ - p after 5 s, by the classical method in 100,000 steps: x = cos θ, y = sin θ.
fn by_hand(start: [f64; 3]) -> [f64; 3] {
    let rate = |[angle, speed, p]: [f64; 3]| [speed, -p * angle.sin(), speed * angle.sin() - p];
    let add = |y: [f64; 3], h: f64, k: [f64; 3]| [y[0] + h * k[0], y[1] + h * k[1], y[2] + h * k[2]];
    let (mut y, h) = (start, 5e-5);
    for _ in 0..100_000 {
        let k1 = rate(y);
        let k2 = rate(add(y, h / 2.0, k1));
        let k3 = rate(add(y, h / 2.0, k2));
        let k4 = rate(add(y, h, k3));
        for (k, h) in [(k1, h / 6.0), (k2, h / 3.0), (k3, h / 3.0), (k4, h / 6.0)] {
            y = add(y, h, k);
        }
    }
    y
}

/// A particle on a circle, pushed by a pressure that follows its motion; s is the unit of the pressure.
fn on_a_circle(unit: &str, p: &str) -> String {
    format!(
        "model \"state\"\ncoordinates x, y, p\nlet s = {unit}\nmass x, y: 1\nforce x: p/s\nconstraint pin: x^2 + y^2 = 1\n\
         constraint c: p' = -s*x' - p\nstart x = 0.6, y = 0.8, p = {p}*{unit}, x' = 0.4, y' = -0.3\nrun 5\n"
    )
}

#[test]
fn a_state_of_first_order_moves_beside_a_position_constraint() {
    for (p, value) in [("0.3", 0.3), ("0", 0.0)] {
        let [angle, _, pressure] = by_hand([0.8f64.atan2(0.6), -0.5, value]);
        for unit in ["1", "1e9", "1e-9", "3e5"] {
            let run = finished(&on_a_circle(unit, p), &[]);
            let q = &run.state().q;
            let size: f64 = unit.parse().unwrap();
            for (found, wanted) in [(q[0], angle.cos()), (q[1], angle.sin()), (q[2] / size, pressure)] {
                close(found, wanted, 3e-9);
            }
        }
    }
}

/// The steps and the digits are the same in any unit of the state.
#[test]
fn the_unit_of_a_state_does_not_change_the_motion() {
    // powers of two, with which nothing rounds otherwise
    let runs = ["1", "1073741824", "1/1073741824"].map(|unit| finished(&on_a_circle(unit, "0.3"), &[]));
    for run in &runs[1..] {
        assert_eq!(run.state().q[..2], runs[0].state().q[..2]);
        assert_eq!(run.cost().steps, runs[0].cost().steps);
    }
}
