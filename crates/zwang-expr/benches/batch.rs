//! Nanoseconds per instruction and state, one state after the other and many at once, and per pair of sine and cosine.

mod equations;

use equations::{Pendulum, derive, time};
use zwang_expr::trig::{sin_cos, sin_cos_many};
use zwang_expr::{Batch, Program};

/// Runs of which the shortest counts.
const RUNS: usize = 200;

/// Arguments of each measurement of sine and cosine: a multiple of all sizes.
const N_ARGUMENTS: usize = 960;

fn main() {
    states();
    turns();
}

fn states() {
    let counts = [1, 8, 16, 64, 1024];
    print!("{:>5} {:>13} {:>10}", "n", "instructions", "run");
    counts.iter().for_each(|n_states| print!(" {n_states:>9}"));
    println!(" states");
    for n in [1, 2, 5, 10, 20, 50] {
        let Pendulum { graph, inputs, outputs } = derive(n);
        let program = Program::new(&graph, &inputs, &outputs).expect("all symbols are inputs");
        let (mut workspace, mut results) = (program.workspace(), vec![0.0; outputs.len()]);
        let values: Vec<f64> = (0..inputs.len()).map(|k| 1.0 + 0.1 * k as f64).collect();
        let each = time(RUNS, || (0..16).for_each(|_| program.run(&values, &mut workspace, &mut results)));
        print!("{n:>5} {:>13} {:>10.3}", program.len(), each.as_nanos() as f64 / 16.0 / program.len() as f64);

        let mut batch = Batch::new(&program);
        for n_states in counts {
            let values: Vec<f64> = (0..inputs.len() * n_states).map(|k| 1.0 + (k % 997) as f64 * 0.003).collect();
            let mut results = vec![0.0; outputs.len() * n_states];
            let runs = if n_states * program.len() > 1_000_000 { 10 } else { RUNS };
            let each = time(runs, || (0..4).for_each(|_| batch.run(n_states, &values, &mut results)));
            print!(" {:>9.3}", each.as_nanos() as f64 / (4 * n_states * program.len()) as f64);
        }
        println!();
    }
}

fn turns() {
    println!("{:>14} {:>5} {:>9}", "pairs", "size", "each");
    pairs("std", 1, |x, sin, cos| (sin[0], cos[0]) = x[0].sin_cos());
    pairs("sin_cos", 1, |x, sin, cos| (sin[0], cos[0]) = sin_cos(x[0]));
    for size in [1, 2, 3, 4, 8, 20, 64] {
        pairs("sin_cos_many", size, sin_cos_many);
    }
}

fn pairs(name: &str, size: usize, work: impl Fn(&[f64], &mut [f64], &mut [f64])) {
    let x: Vec<f64> = (0..N_ARGUMENTS).map(|k| 10.0 * (0.7 * k as f64).sin()).collect();
    let (mut sin, mut cos) = (x.clone(), x.clone());
    let each = time(RUNS, || {
        for ((x, sin), cos) in x.chunks_exact(size).zip(sin.chunks_exact_mut(size)).zip(cos.chunks_exact_mut(size)) {
            work(x, sin, cos);
        }
    });
    println!("{name:>14} {size:>5} {:>9.2}", each.as_nanos() as f64 / N_ARGUMENTS as f64);
}
