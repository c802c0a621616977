//! Whether an expression is zero: proved by exact algebra, refuted by one certified number, or not decided.
//!
//! Floating values alone decide nothing here. *Zero* is what the algebra proves: rational functions with sin² + cos² = 1, √p² = p and
//! e^(a+b) = e^a e^b, modulo constraints by division. *Not zero* is one interval without zero, at a state that is certified to
//! satisfy the constraints. States are aimed at where the atoms of the expression act, so that a step or a bump far from the start
//! is found, however narrow. Between the two stands *not decided*.

mod certificate;
mod region;
mod states;

use std::collections::HashMap;

use zwang_expr::{Algebra, Expr, Graph, Interval, Limits, Node, Number, Program};

pub(crate) use crate::equations::zero::region::{Region, Witness};
use crate::equations::zero::states::AimedStates;
use crate::{limits, random::scattered, tolerance};

/// The decision whether an expression is zero at all states of a region.
#[derive(Clone, Debug)]
pub(crate) enum Sign {
    /// Proved.
    Zero,
    /// One certified number shows that it is not.
    NotZero(Witness),
    /// Neither.
    NotDecided(Tried),
}

/// The states at which an expression could not be told from zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tried {
    /// Their number.
    pub(crate) n_states: usize,
    /// An atom at whose argument some of them were aimed: `tanh(20*(t - 3))`.
    pub(crate) atom: Option<String>,
}

impl Tried {
    /// `zero at 12 states, also where `tanh(…)` acts, but no identity was found`.
    pub(crate) fn text(&self) -> String {
        let aimed = self.atom.as_ref().map_or(String::new(), |atom| format!(", also where `{atom}` acts"));
        let states = if self.n_states == 1 { "state" } else { "states" };
        format!("zero at {} {states}{aimed}, but no identity was found", self.n_states)
    }
}

/// The limits of one proof: it must cost less than the answer is worth.
const PROOF: Limits = Limits { terms: 1000, work: 30_000, total: 75_000 };

/// `true` if it is proved that an expression is zero for all values of its symbols.
pub(crate) fn is_zero(graph: &Graph, e: Expr) -> bool {
    is_zero_on(graph, e, &[])
}

/// `true` if it is proved that an expression is zero wherever some others are.
pub(crate) fn is_zero_on(graph: &Graph, e: Expr, zeros: &[Expr]) -> bool {
    // a product is zero with one of its factors
    let (mut factors, mut open) = (Vec::new(), vec![e]);
    while let Some(e) = open.pop() {
        match graph.node(e) {
            Node::Mul(a, b) => open.extend([a, b]),
            _ => factors.push(e),
        }
    }
    let may_vanish = |e: Expr| match graph.node(e) {
        Node::Number(_) | Node::Pi => false,
        Node::Symbol(_) => !zeros.is_empty(),
        _ => !zeros.is_empty() || !has_value_apart(graph, e),
    };
    factors.into_iter().any(|e| e == Expr::ZERO || may_vanish(e) && is_proved(graph, e, zeros))
}

/// `true` if the value at some scattered point is certainly not zero, so that no proof need be tried.
fn has_value_apart(graph: &Graph, e: Expr) -> bool {
    let symbols = graph.symbols(e);
    let Ok(program) = Program::new(graph, &symbols, &[e]) else { return false };
    let (mut work, mut value) = (program.enclosure_workspace(), [Interval::WHOLE]);
    (1..4).any(|k| {
        let inputs: Vec<Interval> = (0..symbols.len()).map(|j| Interval::point(0.4 + scattered(j, k))).collect();
        program.enclose(&inputs, &mut work, &mut value);
        !value[0].contains(0.0)
    })
}

/// `true` if the exact algebra proves that an expression is zero wherever some others are.
fn is_proved(graph: &Graph, e: Expr, zeros: &[Expr]) -> bool {
    let all = [&[e], zeros].concat();
    if graph.size(e) > limits::PROOF_NODES {
        return false;
    }
    let (mut part, all) = graph.part(&all);
    let all = solved_symbols(&mut part, all);
    let (e, zeros) = (all[0], &all[1..]);
    if e == Expr::ZERO {
        return true;
    }
    let mut algebra = Algebra::for_proofs(&mut part, &all, PROOF);
    let found = match zeros.is_empty() {
        true => algebra.is_zero(&mut part, e),
        false => algebra.vanishes_on(&mut part, e, zeros),
    };
    found == Some(true)
}

/// The expressions with those symbols put in that the others, all of them zero, give as sums of terms: y = l cos θ. Inside functions
/// the algebra cannot do that.
fn solved_symbols(graph: &mut Graph, mut all: Vec<Expr>) -> Vec<Expr> {
    let mut k = 1;
    while k < all.len() {
        let Some((symbol, value)) = solved(graph, all[k]) else {
            k += 1;
            continue;
        };
        all.remove(k);
        all = graph.substitute(&all, &HashMap::from([(symbol, value)]));
        let first = all[0];
        all = std::iter::once(first).chain(all[1..].iter().copied().filter(|e| *e != Expr::ZERO)).collect();
        k = 1;
        if all.iter().any(|e| graph.size(*e) > limits::PROOF_NODES) {
            break;
        }
    }
    all
}

/// A symbol that a zero contains in one term only, times a number, and its value.
fn solved(graph: &mut Graph, zero: Expr) -> Option<(Expr, Expr)> {
    if graph.size(zero) > limits::SOLVED_NODES {
        return None;
    }
    for symbol in graph.symbols(zero).into_iter().rev() {
        let slope = graph.derivative(zero, symbol);
        let is_number = graph.number(slope).is_some_and(|x| !x.is_zero());
        let term = graph.mul(slope, symbol);
        let rest = graph.sub(zero, term);
        // a step has zero slope: the symbol must be gone from the rest
        if is_number && graph.symbols(rest).binary_search(&symbol).is_err() {
            let quotient = graph.div(rest, slope);
            return Some((symbol, graph.neg(quotient)));
        }
    }
    None
}

/// Decides whether an expression is zero at all states of a region.
///
/// A value far above the terms that cancel in it answers at once; then the algebra is asked, with parameters as symbols and with
/// their values; then any certified number counts.
pub(crate) fn sign(graph: &Graph, e: Expr, region: &Region) -> Sign {
    decided(graph, e, region, limits::WITNESSES_COMPARED)
}

fn decided(graph: &Graph, e: Expr, region: &Region, n_compared: usize) -> Sign {
    if e == Expr::ZERO {
        return Sign::Zero;
    }
    let mut states = AimedStates::new(graph, &[e], region);
    let best = states.largest_witness(n_compared);
    if let Some((witness, share)) = &best
        && *share > tolerance::CLEAR_VALUE
    {
        return Sign::NotZero(witness.clone());
    }
    if is_zero_in(graph, e, region) {
        return Sign::Zero;
    }
    match best {
        Some((witness, _)) => Sign::NotZero(witness),
        None => Sign::NotDecided(states.tried()),
    }
}

/// The same with the first witness instead of the largest of several.
pub(crate) fn quick_sign(graph: &Graph, e: Expr, region: &Region) -> Sign {
    decided(graph, e, region, 1)
}

/// `true` if it is proved that an expression is zero on the constraints of a region, for the values of its parameters.
pub(crate) fn is_zero_in(graph: &Graph, e: Expr, region: &Region) -> bool {
    if is_zero(graph, e) {
        return true;
    }
    let wanted = [&[e], &region.zeros[..]].concat();
    let (mut part, all) = graph.part(&wanted);
    let symbols: HashMap<Expr, Expr> = graph.symbols_of(&wanted).into_iter().zip(part.symbols_of(&all)).collect();
    let mut values = HashMap::new();
    for (symbol, value) in &region.fixed {
        let Some(&symbol) = symbols.get(symbol) else { continue };
        let Some(size) = Number::from_decimal(&format!("{:e}", value.abs())) else { return false };
        let number = part.exact(if *value < 0.0 { size.neg() } else { size });
        values.insert(symbol, number);
    }
    if part.len() > limits::PROOF_NODES {
        return false;
    }
    let all = part.substitute(&all, &values);
    let zeros: Vec<Expr> = all[1..].iter().copied().filter(|zero| *zero != Expr::ZERO).collect();
    is_zero(&part, all[0]) || !zeros.is_empty() && is_zero_on(&part, all[0], &zeros)
}

/// States of a region at which some expressions act, as values of its free symbols, in the order of `region.free`.
pub(crate) fn aimed_states(graph: &Graph, exprs: &[Expr], region: &Region) -> Vec<Vec<f64>> {
    AimedStates::new(graph, exprs, region).all_values(region)
}

/// Values of expressions at a few scattered points, without the points at which one of them is not finite.
pub(crate) fn samples(graph: &Graph, expressions: &[Expr]) -> Vec<Vec<f64>> {
    let mut symbols: Vec<Expr> = expressions.iter().flat_map(|e| graph.symbols(*e)).collect();
    symbols.sort_unstable();
    symbols.dedup();
    let Ok(program) = Program::new(graph, &symbols, expressions) else { return Vec::new() };
    let (mut work, mut values) = (program.workspace(), vec![0.0; expressions.len()]);
    let mut at = |k: usize| {
        let inputs: Vec<f64> = (0..symbols.len()).map(|j| 0.4 + scattered(j, k)).collect();
        program.run(&inputs, &mut work, &mut values);
        values.clone()
    };
    (1..4).map(&mut at).filter(|values| values.iter().all(|v| v.is_finite())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwang_expr::Function;

    /// x, y, t and the decision on an expression of them, at times from 0 to 6.
    fn check(build: impl FnOnce(&mut Graph, [Expr; 3]) -> (Expr, Vec<Expr>)) -> Sign {
        let mut graph = Graph::new();
        let symbols = ["x", "y", "t"].map(|name| graph.symbol(name, name));
        let (e, zeros) = build(&mut graph, symbols);
        let [x, y, t] = symbols;
        let region = Region::new(vec![(x, 0.0, 8.0), (y, 0.0, 8.0)], Some((t, 0.0, 6.0)), zeros);
        sign(&graph, e, &region)
    }

    /// tanh(a (u − b)).
    fn step(g: &mut Graph, u: Expr, a: i64, b: &str) -> Expr {
        let (a, b) = (g.integer(a), g.decimal(b).expect("a decimal"));
        let shifted = g.sub(u, b);
        let scaled = g.mul(a, shifted);
        g.apply(Function::Tanh, scaled)
    }

    fn circle(g: &mut Graph, x: Expr, y: Expr) -> Expr {
        let (a, b) = (g.powi(x, 2), g.powi(y, 2));
        let sum = g.add(a, b);
        g.sub(sum, Expr::ONE)
    }

    #[test]
    fn a_step_far_from_the_start_is_not_zero() {
        let found = check(|g, [_, _, t]| {
            let tanh = step(g, t, 20, "3");
            (g.derivative(tanh, t), Vec::new())
        });
        let Sign::NotZero(witness) = found else { panic!("{found:?}") };
        assert!(witness.value.abs() > 1.0 && !witness.is_beyond, "{witness:?}");
    }

    /// 1 + tanh(20 (t − 30)) is 1e-453 within the run.
    #[test]
    fn what_acts_after_the_run_is_told_as_such() {
        let found = check(|g, [_, _, t]| {
            let tanh = step(g, t, 20, "30");
            (g.add(Expr::ONE, tanh), Vec::new())
        });
        let Sign::NotZero(witness) = found else { panic!("{found:?}") };
        assert!(witness.is_beyond, "{witness:?}");
    }

    #[test]
    fn a_product_that_vanishes_on_the_circle_is_zero() {
        let found = check(|g, [x, y, _]| {
            let (circle, tanh) = (circle(g, x, y), step(g, x, 20, "3"));
            (g.mul(circle, tanh), vec![circle])
        });
        assert!(matches!(found, Sign::Zero), "{found:?}");
    }

    #[test]
    fn a_witness_on_the_circle_satisfies_its_equation() {
        let found = check(|g, [x, y, _]| {
            let (circle, tanh) = (circle(g, x, y), step(g, x, 50, "0.9"));
            let sum = g.add(Expr::ONE, tanh);
            (g.mul(sum, y), vec![circle])
        });
        let Sign::NotZero(witness) = found else { panic!("{found:?}") };
        let [x, y] = [witness.at[0].1, witness.at[1].1];
        // the state stands for a box around it that contains a point of the circle
        assert!((x * x + y * y - 1.0).abs() < 1e-10, "{witness:?}");
    }

    #[test]
    fn identities_of_inverse_functions_are_not_decided() {
        let found = check(|g, [x, _, _]| {
            let square = g.powi(x, 2);
            let x = g.add(square, Expr::ONE);
            let inverse = g.div(Expr::ONE, x);
            let (a, b) = (g.apply(Function::Atan, x), g.apply(Function::Atan, inverse));
            let (sum, pi) = (g.add(a, b), g.pi());
            let right = g.mul(Expr::HALF, pi);
            (g.sub(sum, right), Vec::new())
        });
        let Sign::NotDecided(tried) = found else { panic!("{found:?}") };
        assert!(tried.n_states > 3 && tried.text().contains("1/(x^2 + 1)"), "{tried:?}");
    }
}
