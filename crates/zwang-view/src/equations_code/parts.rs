//! Parts of formulas with names of their own, and what a formula needs of them.

use std::collections::{HashMap, HashSet};

use zwang::ClosedForm;
use zwang::equations::Equations;
use zwang_expr::{Expr, Graph};

use super::quantity::Quantity;

/// Longest formula written without naming what it uses twice, in nodes: about twelve lines.
const LONGEST_WHOLE: usize = 1000;

/// A part: a symbol with its formula, or a subexpression that stands for itself.
pub(super) struct Part {
    pub key: Expr,
    /// In the model's syntax.
    pub name: String,
    pub meaning: String,
    pub value: Expr,
}

/// All parts, each after those it uses.
pub(super) struct Parts {
    pub list: Vec<Part>,
    at: HashMap<Expr, usize>,
}

impl Parts {
    pub fn new(equations: &Equations, _closed: Option<&ClosedForm>, quantities: &[Quantity]) -> Parts {
        let graph = &equations.model.graph;
        let mut list = Vec::new();
        let long: Vec<Expr> = quantities
            .iter()
            .flat_map(Quantity::values)
            .filter(|e| graph.text_limited(*e, LONGEST_WHOLE).is_none())
            .collect();
        for (k, e) in shared(graph, &long).into_iter().enumerate() {
            list.push(Part { key: e, name: format!("k{}", k + 1), meaning: String::new(), value: e });
        }
        let at = list.iter().enumerate().map(|(k, part)| (part.key, k)).collect();
        Parts { list, at }
    }

    /// The symbols that expressions contain, and the parts they use, in order; symbols of parts are not among the symbols.
    pub fn needed(&self, graph: &Graph, exprs: &[Expr]) -> Needed {
        let (mut parts, mut symbols) = (HashSet::new(), HashSet::new());
        let (mut seen, mut open) = (HashSet::new(), exprs.to_vec());
        while let Some(e) = open.pop() {
            if !seen.insert(e) {
                continue;
            }
            if let Some(&k) = self.at.get(&e) {
                parts.insert(k);
                let value = self.list[k].value;
                match value == e {
                    true => open.extend(graph.node(e).operands().iter()),
                    false => open.push(value),
                }
            } else if graph.is_symbol(e) {
                symbols.insert(e);
            } else {
                open.extend(graph.node(e).operands().iter());
            }
        }
        let mut parts: Vec<usize> = parts.into_iter().collect();
        parts.sort_unstable();
        Needed { parts, symbols }
    }
}

/// What formulas are made of.
pub(super) struct Needed {
    pub parts: Vec<usize>,
    pub symbols: HashSet<Expr>,
}

/// What is used more than once and is not small, in an order of evaluation.
fn shared(graph: &Graph, exprs: &[Expr]) -> Vec<Expr> {
    /// Shorter ones are read faster where they stand.
    const SMALL: usize = 4;
    let mut used: HashMap<Expr, usize> = HashMap::new();
    let (mut seen, mut open) = (HashSet::new(), exprs.to_vec());
    while let Some(e) = open.pop() {
        if seen.insert(e) {
            for &operand in graph.node(e).operands().iter() {
                *used.entry(operand).or_insert(0) += 1;
                open.push(operand);
            }
        }
    }
    let often = |(e, n): (Expr, usize)| (n > 1 && graph.size(e) > SMALL).then_some(e);
    let mut shared: Vec<Expr> = used.into_iter().filter_map(often).collect();
    shared.sort();
    shared
}
