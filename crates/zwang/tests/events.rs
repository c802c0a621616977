//! Events of `when` that follow each other: accumulation, conditions at the start, chains at one instant, and long runs.

use crate::common::{attempt, attempt_to, close, finished, times};

const BALL: &str = "model \"ball\"\ncoordinates y\nparameter e = 0.8, h = 0\nlagrangian y'^2/2 - 9.81*y\n\
                    when y <= h: y' = -e*y'\nstart y = h + 1\nrun 200\n";

/// The bounces of a ball end at T (1 + e)/(1 - e), T being the time of the first fall: the run ends there and never passes.
#[test]
fn bounces_by_an_event_end_where_they_accumulate() {
    for (e, h) in [("0.8", "0"), ("0.8", "5"), ("0.3", "0"), ("0.95", "-3"), ("0.5", "1e6")] {
        let (run, notes) = attempt(BALL, &[&format!("e={e}"), &format!("h={h}")]);
        let run = run.unwrap();
        let (e, h): (f64, f64) = (e.parse().unwrap(), h.parse().unwrap());
        let end = (2.0f64 / 9.81).sqrt() * (1.0 + e) / (1.0 - e);
        assert_eq!(run.end().as_str(), "accumulation", "{e} {h}");
        // bounces lower than the rounding of y are not resolved: √(8 h ε/g) (1 + e)/(1 - e) of the time is left
        let left = 10.0 * (8.0 * h.abs() * 1e-15f64 / 9.81).sqrt() / (1.0 - e);
        close(run.state().t, end, 1e-8 + left);
        close(run.state().q[0], h, 1e-9 * (1.0 + h.abs()));
        assert!(notes.iter().any(|d| d.code == "Z616" && d.message.contains("accumulates")), "{notes:#?}");
    }
}

/// Without loss the ball bounces for ever: nothing accumulates, and the energy stays.
#[test]
fn bounces_without_loss_do_not_accumulate() {
    let run = finished(BALL, &["e=1"]);
    close(run.state().qdot[0].powi(2) / 2.0 + 9.81 * run.state().q[0], 9.81, 1e-7);
}

/// A condition that stays true after its change lets the motion pass: x' = 0 at x = 1, then on by the force.
#[test]
fn a_condition_that_stays_true_triggers_once() {
    let run = finished(
        "model \"stop\"\ncoordinates x\nmass x: 1\nforce x: 1\nwhen x >= 1: x' = 0\nstart x = 0\nrun 3\n",
        &[],
    );
    let left = 3.0 - 2f64.sqrt();
    close(run.state().q[0], 1.0 + left * left / 2.0, 1e-9);
    assert_eq!(times(&run, "when").len(), 1);
}

/// `x > 0: x' = -1` beside `x < 0: x' = 1`: once x leaves zero no motion satisfies both, and no event is dropped.
#[test]
fn events_that_undo_each_other_end_the_run() {
    let text = "model \"both\"\ncoordinates x\nmass x: 1\nwhen x > c: x' = -1\nwhen x < c: x' = 1\nparameter c = 0\n\
                start x = c - 1, x' = 1\nrun 3\n";
    for c in ["0", "5", "1e6"] {
        let (run, notes) = attempt(text, &[&format!("c={c}")]);
        let run = run.unwrap();
        assert_eq!(run.end().as_str(), "accumulation");
        // x >= c - 1 starts in `x < c`, which holds already: x' = 1, and reaches c after one second
        close(run.state().t, 1.0, 1e-8);
        assert!(notes.iter().any(|d| d.code == "Z616" && d.message.contains("`x > c` and `x < c`")), "{notes:#?}");
    }
    // at rest at zero neither condition becomes true
    let run = finished(&text.replace("x = c - 1, x' = 1", "x = c, x' = 0"), &[]);
    assert_eq!((run.state().q[0], times(&run, "when").len()), (0.0, 0));
}

/// A strict condition does not hold at zero; it becomes true right after.
#[test]
fn a_strict_condition_becomes_true_right_after_the_start() {
    let text = "model \"strict\"\ncoordinates x\nparameter k = 0\nmass x: 1\nforce x: k\nwhen x SIGN 0: k = 2\n\
                start x = 0, x' = V\nrun 1\n";
    let of = |sign: &str, v: &str| finished(&text.replace("SIGN", sign).replace('V', v), &[]);
    close(of(">", "1").state().q[0], 2.0, 1e-9);
    close(of(">", "0").state().q[0], 0.0, 0.0);
    close(of(">=", "0").state().q[0], 1.0, 1e-9);
    close(of(">", "-1").state().q[0], -1.0, 1e-9);
}

/// A change that makes another condition true triggers it at the same instant: x' turns at t = 1, and with it k.
#[test]
fn a_jump_that_makes_a_condition_true_triggers_it() {
    let text = "model \"chain\"\ncoordinates x, y\nparameter k = 0\nmass x, y: 1\nforce y: k\nwhen x >= 1: x' = -1\n\
                when x' < 0: k = 1\nstart x = 0, x' = 1, y = 0\nrun 3\n";
    let run = finished(text, &[]);
    close(run.state().q[0], -1.0, 1e-9);
    close(run.state().q[1], 2.0, 1e-9);
    let found = times(&run, "when");
    assert!(found.len() == 2 && found.iter().all(|t| (t - 1.0).abs() < 1e-12), "{found:?}");
}

/// Switches and turns that are far apart are no sliding, however long the run is to be; what goes to and fro within rounding is.
#[test]
fn the_length_of_a_run_does_not_decide_that_it_slides() {
    let bang = "model \"bang\"\ncoordinates x\nmass x: 1\nforce x: -sign(x)\nstart x = 1\nrun 1e6\n";
    let budget = |text: &str| {
        let options = zwang::RunOptions {
            budget: zwang::Budget { steps: 40_000, ..zwang::Budget::default() },
            ..zwang::RunOptions::default()
        };
        crate::common::run_as(text, &zwang::Overrides::default(), &options).0.unwrap()
    };
    assert_eq!(budget(bang).end().as_str(), "budget");
    let pendulum = crate::common::model_text("pendulum").replace("run 10 s", "run 1e9 s");
    let run = budget(&pendulum);
    assert_eq!(run.end().as_str(), "budget");
    assert!(run.state().t > 1000.0);
    for to in [20.0, 2e6] {
        let law = "model \"law\"\ncoordinates x\nmass x: 1\nforce x: -sign(x') - x\nstart x = 2.5\nrun 20\n";
        let (run, _) = attempt_to(law, &[], to);
        let run = run.unwrap();
        assert_eq!(run.end().as_str(), "sliding");
        close(run.state().t, std::f64::consts::PI, 1e-7);
    }
}
