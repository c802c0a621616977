//! Parts of formulas with names of their own, and what a formula needs of them.

use std::collections::{HashMap, HashSet};

use zwang::equations::Equations;
use zwang::{ClosedForm, Part};
use zwang_expr::{Expr, Graph};

/// All parts, each after those it uses.
pub(super) struct Parts {
    pub list: Vec<Part>,
    at: HashMap<Expr, usize>,
}

impl Parts {
    /// The parts of the equations, then those of the closed form.
    pub fn new(equations: &Equations, closed: Option<&ClosedForm>) -> Parts {
        let own = closed.map_or(&[][..], |closed| &closed.parts[..]);
        let new = own.iter().filter(|part| !equations.parts.contains(part));
        let list: Vec<Part> = equations.parts.iter().chain(new).cloned().collect();
        let at = list.iter().enumerate().map(|(k, part)| (part.symbol, k)).collect();
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
                open.push(self.list[k].value);
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
