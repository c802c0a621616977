//! Many states at once are the same bits as one by one.

use crate::executor::{N_INPUTS, check, config, inputs, picks, program};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::HashSet;
use zwang_expr::{Batch, Expr, Function, Function2, Graph, Operation, Program};

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn batch_is_bit_equal_to_the_interpreter(picks in picks(150), n_states in 1usize..200, seed: u64) {
        let program = program(&picks);
        let inputs = inputs(n_states, seed);
        let mut batch = Batch::new(&program);
        check(&program, n_states, &inputs, |n, inputs, outputs| batch.run(n, inputs, outputs));
    }
}

fn random_programs(n: usize, longest: usize) -> Vec<Program> {
    let mut runner = TestRunner::new(config(1));
    let one = |runner: &mut TestRunner| picks(longest).new_tree(runner).expect("nothing is filtered").current();
    (0..n).map(|_| program(&one(&mut runner))).collect()
}

/// Every number of states, with the same batch one after the other.
#[test]
fn any_number_of_states_fits() {
    for program in random_programs(3, 300) {
        let mut batch = Batch::new(&program);
        for n_states in (0..200).rev() {
            let inputs = inputs(n_states, 7919 + n_states as u64);
            check(&program, n_states, &inputs, |n, inputs, outputs| batch.run(n, inputs, outputs));
        }
    }
}

#[test]
fn random_programs_use_every_operation() {
    let programs = random_programs(200, 150);
    let used: HashSet<Operation> = programs.iter().flat_map(|p| p.instructions()).map(|i| i.operation).collect();
    let functions = Function::ALL.map(Operation::Apply);
    let functions2 = Function2::ALL.map(Operation::Apply2);
    use Operation::*;
    for operation in [Add, Sub, Mul, Div, Neg, Pow, Select].iter().chain(&functions).chain(&functions2) {
        assert!(used.contains(operation), "{operation:?}");
    }
    assert!(used.iter().any(|operation| matches!(operation, Compare(_))));
}

/// A program without instructions, outputs that are inputs or constants, and a program without outputs.
#[test]
fn programs_without_work_run() {
    let mut g = Graph::new();
    let symbols: Vec<Expr> = (0..N_INPUTS).map(|k| g.symbol(&format!("x{k}"), "x")).collect();
    let outputs = [symbols[3], Expr::HALF, symbols[3], Expr::ONE];
    for outputs in [&outputs[..], &[]] {
        let program = Program::new(&g, &symbols, outputs).unwrap();
        let inputs = inputs(70, 1);
        check(&program, 70, &inputs, |n, inputs, outputs| Batch::new(&program).run(n, inputs, outputs));
    }
}
