//! Names for intermediate quantities, given while formulas are built.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxHashSet;
use zwang_expr::{Algebra, Expr, Graph, Limits};

use super::Part;
use crate::model::Model;

/// What is as short as this needs no name, in symbols: `2*x/m`.
const SHORT: u64 = 7;

/// What is used once and not longer than this stands where it is used.
const SHORT_ONCE: u64 = 40;

/// Work on the formula of one part, in operations on terms: a few milliseconds.
const LIMITS: Limits = Limits { terms: 300, work: 20_000, total: 20_000 };

/// Formulas longer than this are left as they are.
const LONGEST_SHORTENED: u64 = 600;

/// Expressions with the parts put in, which may refer to earlier ones.
pub(crate) fn expanded(graph: &mut Graph, parts: &[Part], exprs: &[Expr]) -> Vec<Expr> {
    if parts.is_empty() {
        return exprs.to_vec();
    }
    let mut known: HashMap<Expr, Expr> = HashMap::new();
    for part in parts {
        let value = graph.substitute(&[part.value], &known)[0];
        known.insert(part.symbol, value);
    }
    graph.substitute(exprs, &known)
}

/// How an index of a part is written.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    text: String,
    latex: String,
}

impl Label {
    /// Of a coordinate, a row or anything else with a name: `x[0]`, `roll.x`.
    pub fn new(name: &str, latex: String) -> Label {
        let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        Label { text: words.join("_"), latex }
    }
}

/// The parts so far.
pub(crate) struct Recorder {
    pub parts: Vec<Part>,
    taken: HashSet<String>,
    by_value: HashMap<Expr, Expr>,
}

impl Recorder {
    /// No parts yet; names of the model and of these parts are taken.
    pub fn new(model: &Model, parts: &[Part]) -> Recorder {
        let coordinates = model.coordinates.iter().map(|c| c.name.clone());
        let parameters = model.parameters.iter().map(|p| p.name.clone());
        let drawn = model.scene.iter().map(|d| d.name.clone());
        let taken = coordinates.chain(parameters).chain(drawn).chain(parts.iter().map(|p| p.name.clone())).collect();
        Recorder { parts: Vec::new(), taken, by_value: HashMap::new() }
    }

    /// What stands for a quantity in what follows: its shortest form, or a name if that is long.
    pub fn keep(&mut self, graph: &mut Graph, letter: &str, labels: &[&Label], meaning: &str, value: Expr) -> Expr {
        let value = short(graph, value);
        self.name(graph, letter, labels, meaning, value, SHORT)
    }

    /// The same for a quantity that is written as it is, unless it is no longer than `limit`.
    pub fn name(
        &mut self,
        graph: &mut Graph,
        letter: &str,
        labels: &[&Label],
        meaning: &str,
        value: Expr,
        limit: u64,
    ) -> Expr {
        if graph.cost(value) <= limit {
            return value;
        }
        if let Some(known) = self.by_value.get(&value) {
            return *known;
        }
        let words: Vec<&str> = std::iter::once(letter).chain(labels.iter().map(|l| l.text.as_str())).collect();
        let name = self.free_name(&words.join("_"));
        let indices: Vec<&str> = labels.iter().map(|l| l.latex.as_str()).collect();
        let symbol = graph.symbol(&name, &format!("{letter}_{{{}}}", indices.join(",\\,")));
        self.by_value.insert(value, symbol);
        self.parts.push(Part { symbol, name, meaning: meaning.to_string(), value });
        symbol
    }

    /// A name that nothing has yet.
    fn free_name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut k = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}_n{k}");
            k += 1;
        }
        name
    }

    /// Leaves out what is not used, and puts in what is used once and is short.
    pub fn tidy(&mut self, graph: &mut Graph, results: &mut [&mut Expr]) {
        loop {
            let roots: Vec<Expr> = self.parts.iter().map(|part| part.value).chain(results.iter().map(|e| **e)).collect();
            let uses = graph.occurrences(&roots, &FxHashSet::default());
            let times = |part: &Part| uses.get(&part.symbol).copied().unwrap_or(0);
            self.parts.retain(|part| times(part) > 0);
            let is_put_in = |part: &Part| times(part) == 1 && graph.cost(part.value) <= SHORT_ONCE;
            // one at a time: a part that is put in may use another
            let Some(at) = self.parts.iter().rposition(is_put_in) else { return };
            let part = self.parts.remove(at);
            let known = HashMap::from([(part.symbol, part.value)]);
            let put_in = |e: &mut Expr, graph: &mut Graph| {
                if graph.symbols(*e).contains(&part.symbol) {
                    let whole = graph.substitute(&[*e], &known)[0];
                    *e = short(graph, whole);
                }
            };
            self.parts.iter_mut().for_each(|part| put_in(&mut part.value, graph));
            results.iter_mut().for_each(|e| put_in(e, graph));
        }
    }
}

/// The shortest form that is found quickly.
pub(crate) fn short(graph: &mut Graph, e: Expr) -> Expr {
    if graph.cost(e) > LONGEST_SHORTENED {
        return e;
    }
    Algebra::new(graph, &[e], LIMITS).shortest(graph, e).unwrap_or(e)
}
