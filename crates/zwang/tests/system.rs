//! A loaded system: cheap to clone, shared between threads, and deciding as a fresh one does.

use std::ops::ControlFlow;

use crate::common::{gallery, model_text};
use zwang::simulate::End;
use zwang::{At, Budget, Error, Keep, LoadOptions, Overrides, Progress, Resource, RunOptions, System, load, load_with};
use zwang_motion::State;

/// What a run leaves, to the bit.
fn bits(run: &zwang::Run) -> Vec<u64> {
    let state = run.state();
    let columns = run.columns().iter().flat_map(|c| &c.values);
    state.q.iter().chain(&state.qdot).chain(columns).map(|x| x.to_bits()).collect()
}

#[test]
fn a_system_is_shared_between_threads() {
    fn is_shared<T: Send + Sync + Clone>() {}
    is_shared::<System>();
    is_shared::<Error>();
}

/// One compiled system, two threads: every pendulum is the one that its own text gives, bit for bit.
#[test]
fn pendulums_of_many_lengths_equal_their_own_runs() {
    const N: usize = 10_000;
    let text = model_text("pendulum");
    let system = load(&text).unwrap();
    let options =
        RunOptions { keep: Keep { samples: false, ..Keep::default() }, tolerance: Some(1e-6), ..RunOptions::to(1.0) };
    let length = |k: usize| 0.2 + 2.8 * k as f64 / N as f64;
    let part = |first: usize| -> Vec<(usize, Vec<u64>)> {
        let run = |k: usize| (k, bits(&system.with("l", length(k)).unwrap().run(&options).unwrap()));
        (first..N).step_by(2).map(run).collect()
    };
    let all: Vec<(usize, Vec<u64>)> = std::thread::scope(|scope| {
        let other = scope.spawn(|| part(1));
        let mut all = part(0);
        all.extend(other.join().unwrap());
        all
    });
    assert_eq!(all.len(), N);
    for (k, found) in &all {
        let overrides = Overrides { set: vec![format!("l={:e}", length(*k))], start: Vec::new() };
        let own = load_with(&text, &LoadOptions { overrides, ..LoadOptions::default() }).unwrap();
        assert_eq!(*found, bits(&own.run(&options).unwrap()), "l = {}", length(*k));
    }
}

/// A system that has run, with other parameters too, decides as a fresh one: machine code, scales and ranks leave no trace.
#[test]
fn a_used_system_decides_as_a_fresh_one() {
    let mut n_compared = 0;
    for (name, text) in gallery() {
        let Ok(used) = load(&text) else { continue };
        let options = RunOptions { keep: Keep { samples: false, ..Keep::default() }, ..RunOptions::to(0.3) };
        if used.run(&options).is_err() {
            continue;
        }
        if let Some(p) = used.parameters().first() {
            let other = used.with(&p.name, 1.1 * used.parameter_values()[0]).unwrap();
            let _ = other.run(&options);
        }
        let fresh = load(&text).unwrap();
        let (again, first) = (used.run(&options).unwrap(), fresh.run(&options).unwrap());
        assert_eq!(bits(&again), bits(&first), "{name}");
        assert_eq!((again.events(), again.cost().steps), (first.events(), first.cost().steps), "{name}");
        n_compared += 1;
    }
    assert!(n_compared > 60, "{n_compared} models");
}

/// Parameters that are given by others follow; `with` agrees with `--set`.
#[test]
fn parameters_that_depend_on_others_follow() {
    let text = "coordinates x\nparameter a = 2, b = 3*a, c = b + 1\nmass x: 1\nforce x: c\nstart x = 0\nrun 1";
    let system = load(text).unwrap();
    assert_eq!(system.parameter_values(), [2.0, 6.0, 7.0]);
    assert_eq!(system.with("a", 4.0).unwrap().parameter_values(), [4.0, 12.0, 13.0]);
    let moved = system.with("a", 4.0).unwrap().run(&RunOptions::default()).unwrap();
    assert!((moved.state().q[0] - 6.5).abs() < 1e-9);
    assert_eq!(system.with("b", 1.0).unwrap().parameter_values(), [2.0, 1.0, 2.0]);
    // what was set stays, whatever is set after it
    let both = system.with("b", 1.0).unwrap().with("a", 9.0).unwrap();
    assert_eq!(both.parameter_values(), [9.0, 1.0, 2.0]);
    assert_eq!(system.with("a", 9.0).unwrap().with("b", 1.0).unwrap().parameter_values(), [9.0, 1.0, 2.0]);
}

#[test]
fn start_values_are_those_that_were_given() {
    let system = load(&model_text("pendulum")).unwrap().start(&[("x", 0.6), ("y", -0.8), ("x'", 1.6)]).unwrap();
    let check = system.check().unwrap();
    assert_eq!((check.state.q[0], check.state.q[1]), (0.6, -0.8));
    // 0.6 x' − 0.8 y' = 0
    assert!((check.state.qdot[1] - 1.2).abs() < 1e-12, "{:?}", check.state);
}

#[test]
fn mistakes_are_values_that_print_themselves() {
    let error = load("coordinates x\nlagrangian x'^2/2 - thata^2\nstart x = 0").err().unwrap();
    let text = error.to_string();
    assert!(text.contains("Z101") && text.contains("line 2") && text.contains("thata"), "{text}");
    let system = load(&model_text("pendulum")).unwrap();
    assert_eq!(system.with("ll", 1.0).err().unwrap().to_string(), "there is no `ll`; did you mean `l`?");
    assert!(matches!(system.with("l", f64::NAN), Err(Error::Request(_))));
    assert!(matches!(system.start(&[("z", 1.0)]), Err(Error::UnknownName { .. })));
    let run = system.run(&RunOptions::to(0.1)).unwrap();
    assert_eq!(run.column("tensio").err().unwrap().to_string(), "there is no `tensio`; did you mean `tension`?");
    assert!(run.state_at(0.05).is_err(), "no dense output was kept");
    assert_eq!(run.column("x'").unwrap().name, "x_dot");
    assert_eq!(format!("{error:?}"), text);
    let far = system.with("l", 100.0).unwrap().check().unwrap();
    assert!(far.notes.iter().any(|d| d.code == "Z109"), "a value outside of its range is reported");
}

/// The dense output agrees with the samples, which lie on the constraints.
#[test]
fn the_state_is_known_at_every_time() {
    let keep = Keep { dense: true, ..Keep::default() };
    let run = load(&model_text("pendulum")).unwrap().run(&RunOptions { keep, ..RunOptions::to(2.0) }).unwrap();
    let (t, x) = (run.column("t").unwrap(), run.column("x").unwrap());
    for (t, x) in t.values.iter().zip(&x.values) {
        let state = run.state_at(*t).unwrap();
        assert!((state.q[0] - x).abs() < 1e-7, "t = {t}: {} {x}", state.q[0]);
    }
    assert!(run.state_at(2.1).is_err() && run.state_at(-0.1).is_err());
}

#[test]
fn a_run_ends_where_its_budget_or_its_monitor_ends() {
    let system = load(&model_text("bouncing_ball")).unwrap();
    let steps = Budget { steps: 5, ..Budget::default() };
    let run = system.run(&RunOptions { budget: steps, ..RunOptions::default() }).unwrap();
    assert_eq!((run.end(), run.cost().steps), (&End::BudgetSpent(Resource::Steps), 5));
    assert_eq!(run.end().as_str(), "budget");
    let events = Budget { events: 3, ..Budget::default() };
    let run = system.run(&RunOptions { budget: events, ..RunOptions::default() }).unwrap();
    assert_eq!((run.end(), run.events().len()), (&End::BudgetSpent(Resource::Events), 3));
    let cells = Budget { cells: 100, ..Budget::default() };
    let error = system.run(&RunOptions { budget: cells, ..RunOptions::default() }).err().unwrap();
    assert!(error.to_string().contains("100 allowed"), "{error}");
    let nodes = LoadOptions { budget: Budget { nodes: 10, ..Budget::default() }, ..LoadOptions::default() };
    assert!(load_with(&model_text("pendulum"), &nodes).is_err());
    let mut stop_at_one = |progress: Progress| match progress.t >= 1.0 {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let run = system.run_with(&RunOptions::default(), &mut stop_at_one).unwrap();
    assert_eq!(run.end(), &End::Cancelled);
    assert!(run.state().t >= 1.0 && run.state().t < 3.0);
}

#[test]
fn options_without_a_meaning_are_refused() {
    let system = load(&model_text("pendulum")).unwrap();
    let wrong = [
        RunOptions::to(-1.0),
        RunOptions::to(f64::NAN),
        RunOptions { tolerance: Some(0.0), ..RunOptions::default() },
        RunOptions { every: Some(0.0), ..RunOptions::default() },
        RunOptions { step: Some(-0.1), ..RunOptions::default() },
    ];
    for options in wrong {
        assert!(matches!(system.run(&options), Err(Error::Request(_))), "{options:?}");
    }
    let off = State { t: 0.0, q: vec![5.0, 7.0], qdot: vec![0.0, 0.0] };
    let too_fast = State { t: 0.0, q: vec![0.6, -0.8], qdot: vec![1.0, 0.0] };
    let on = State { t: 0.0, q: vec![0.6, -0.8], qdot: vec![1.6, 1.2] };
    assert!(system.inspect(At::State(on)).is_ok());
    let wrong =
        [At::Time(-1.0), At::Time(f64::INFINITY), At::State(State::zero(1)), At::State(off), At::State(too_fast)];
    for at in wrong {
        assert!(matches!(system.inspect(at.clone()), Err(Error::Request(_))), "{at:?}");
    }
    assert!(system.with_parameters(&[1.0]).is_err());
}

/// The lines of the README, on a model whose method needs momenta, tell the same as on any other.
#[test]
fn a_symplectic_run_needs_nothing_else() -> Result<(), Error> {
    let system = load(&model_text("pendulum_long"))?;
    let run = system.with("l", 2.0)?.run(&RunOptions::to(20.0))?;
    let (state, angle) = (run.state(), &run.column("angle")?.values);
    let qddot = &system.check()?.snapshot.found.qddot;

    assert_eq!((run.end(), run.method()), (&End::Finished, zwang::Method::Rattle));
    assert!(run.audit().energy.drift.abs() < 1e-2, "{:?}", run.audit().energy);
    assert_eq!(state.t, 20.0);
    // from 10 degrees on a rod of 2 m: at rest at the start, tangential acceleration g sin 10° there
    assert!((angle[0] + 10.0).abs() < 1e-9 && angle.iter().all(|a| a.abs() < 10.0 + 1e-3), "{angle:?}");
    let size = qddot.iter().map(|a| a * a).sum::<f64>().sqrt();
    assert!((size - 9.81 * 10f64.to_radians().sin()).abs() < 1e-12, "{qddot:?}");
    Ok(())
}
