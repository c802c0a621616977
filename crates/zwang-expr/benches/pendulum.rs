//! Time to derive, to compile and to evaluate the equations of the planar pendulum.

mod equations;

use equations::{Pendulum, derive, time};
use zwang_expr::Program;

fn main() {
    println!("{:>5} {:>12} {:>12} {:>12} {:>9} {:>13}", "n", "derive", "compile", "evaluate", "nodes", "instructions");
    for n in [1, 2, 5, 10, 20, 50, 100, 200] {
        let runs = if n <= 20 { 50 } else { 10 };
        let derived = time(runs, || derive(n));
        let Pendulum { graph, inputs, outputs } = derive(n);
        let compiled = time(runs, || Program::new(&graph, &inputs, &outputs));
        let program = Program::new(&graph, &inputs, &outputs).expect("all symbols are inputs");
        let values: Vec<f64> = (0..inputs.len()).map(|k| 1.0 + 0.1 * k as f64).collect();
        let (mut workspace, mut results) = (program.workspace(), vec![0.0; outputs.len()]);
        let evaluated = time(runs, || program.run(&values, &mut workspace, &mut results));
        let size = graph.len();
        println!("{n:>5} {derived:>12.2?} {compiled:>12.2?} {evaluated:>12.2?} {size:>9} {:>13}", program.len());
    }
}
