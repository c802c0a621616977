//! The time from the text of a model to its equations, to programs, and of a check: `cargo bench -p zwang`.

use std::time::Instant;
use zwang::{Derivation, Evaluator, LoadOptions, derive};

/// A planar pendulum of n links in angles.
fn links(n: usize) -> String {
    format!(
        "let n = {n}\ncoordinates θ[1..n]\nparameter m = 1 kg, l = 1 m, g = 9.81 m/s^2\npoint P[0] = (0, 0)\n\
         particle P[i in 1..n] at P[i-1] + l*(sin(θ[i]), -cos(θ[i])) with mass m\ngravity (0, -g)\n\
         start θ[i in 1..n] = 0.5\n"
    )
}

/// A chain of n masses in Cartesian coordinates.
fn chain(n: usize) -> String {
    format!(
        "let n = {n}\ncoordinates x[1..n], y[1..n]\nparameter m = 50 gram, l = 5 cm, g = 9.81 m/s^2\n\
         point P[0] = (0, 0)\nparticle P[i in 1..n] at (x[i], y[i]) with mass m\ngravity (0, -g)\n\
         constraint link[i in 1..n]: |P[i] - P[i-1]| = l\nstart P[i in 1..n] = (i*l, 0)\n"
    )
}

/// The shortest of several runs, in milliseconds.
fn milliseconds(n_runs: usize, mut work: impl FnMut()) -> f64 {
    let one = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..n_runs).map(one).fold(f64::INFINITY, f64::min)
}

fn main() {
    println!("{:<28}{:>12}{:>12}{:>12}", "model (ms)", "derive", "compile", "check");
    let options = LoadOptions::default();
    let models = [2, 10, 20, 100].map(|n| (format!("pendulum, {n} links"), links(n)));
    let chains = [100, 2000].map(|n| (format!("chain, {n} masses"), chain(n)));
    for (name, text) in models.into_iter().chain(chains) {
        let n_runs = if text.contains("2000") { 3 } else { 15 };
        let mut derived: Vec<Derivation> = Vec::new();
        let derivation = milliseconds(n_runs, || derived.push(derive(&text, &options).unwrap()));
        let mut systems: Vec<_> = derived.iter().map(|d| d.clone().compile(&options).unwrap()).collect();
        let compile = milliseconds(n_runs, || {
            drop(Evaluator::compile(&mut derived.pop().unwrap().equations, false, zwang::JitPolicy::Never))
        });
        let check = milliseconds(n_runs, || drop(systems.pop().unwrap().check().unwrap()));
        println!("{name:<28}{derivation:>12.3}{compile:>12.3}{check:>12.3}");
    }
}
