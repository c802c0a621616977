//! Names for intermediate quantities, given while formulas are built.

use std::collections::{HashMap, HashSet};

use rustc_hash::{FxHashMap, FxHashSet};
use zwang_expr::{Algebra, Expr, Graph, Limits};

use crate::model::Model;
use crate::syntax::name::dotted;
use crate::{formulas::closed_form::Part, limits};

/// The work on the formula of one part, in operations on terms: a few milliseconds.
const LIMITS: Limits = Limits { terms: 200, work: 10_000, total: 10_000 };

/// Expressions with the parts substituted, which may refer to earlier ones.
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

/// The index of a part in text and in LaTeX.
#[derive(Clone, Debug)]
pub(crate) struct PartLabel {
    text: String,
    latex: String,
}

impl PartLabel {
    /// The label of a coordinate, a row or any other named item: `x[0]`, `roll.x`.
    pub fn new(name: &str, latex: String) -> PartLabel {
        let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        PartLabel { text: words.join("_"), latex }
    }

    /// Makes the texts of labels distinct, such as those of `x[1]` and `x_1`.
    pub fn distinct(mut labels: Vec<PartLabel>) -> Vec<PartLabel> {
        for k in 1..labels.len() {
            while labels[..k].iter().any(|other| other.text == labels[k].text) {
                labels[k].text.push('_');
            }
        }
        labels
    }
}

/// The parts recorded so far.
pub(crate) struct PartRecorder {
    pub parts: Vec<Part>,
    taken: HashSet<String>,
    by_value: HashMap<Expr, Expr>,
    patience: u64,
}

impl PartRecorder {
    /// No parts yet; the names of the model and of these parts are taken.
    pub fn new(model: &Model, parts: &[Part]) -> PartRecorder {
        let coordinates = model.coordinates.iter().map(|c| c.name.clone());
        let parameters = model.parameters.iter().map(|p| p.name.clone());
        let drawn = model.scene.iter().map(|d| d.name.clone());
        let taken = coordinates.chain(parameters).chain(drawn).chain(parts.iter().map(|p| p.name.clone())).collect();
        PartRecorder { parts: Vec::new(), taken, by_value: HashMap::new(), patience: limits::SHORTENED_SYMBOLS }
    }

    /// The expression for a quantity in later formulas: its shortest form, or a name if that is long.
    pub fn keep(&mut self, graph: &mut Graph, letter: &str, labels: &[&PartLabel], meaning: &str, value: Expr) -> Expr {
        let value = self.short(graph, value);
        self.name(graph, letter, labels, meaning, value, limits::SHORT_QUANTITY)
    }

    /// The expression for a quantity that is not shortened: a name, or the value itself if it has at most `limit`
    /// symbols.
    pub fn name(
        &mut self,
        graph: &mut Graph,
        letter: &str,
        labels: &[&PartLabel],
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
        let latex = match (letter, &indices[..]) {
            ("acc", [coordinate]) => dotted(coordinate, "\\ddot"),
            _ => format!("{}_{{{}}}", latex_of(letter), indices.join(",\\,")),
        };
        let symbol = graph.symbol(&name, &latex);
        self.by_value.insert(value, symbol);
        self.parts.push(Part { symbol, name, meaning: meaning.to_string(), value });
        symbol
    }

    /// An unused name.
    fn free_name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut k = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}_n{k}");
            k += 1;
        }
        name
    }

    /// Removes unused parts, and substitutes short parts that are used once.
    pub fn tidy(&mut self, graph: &mut Graph, results: &mut [&mut Expr]) {
        let n_parts = self.parts.len();
        let values = self.parts.iter().map(|part| part.value).chain(results.iter().map(|e| **e));
        let mut lines: Vec<MeasuredFormula> = values.map(|e| MeasuredFormula::new(graph, e)).collect();
        let mut is_left_out = vec![false; n_parts];
        // from the last: a part is used by later ones only
        for k in (0..n_parts).rev() {
            let symbol = self.parts[k].symbol;
            let users = |line: &MeasuredFormula| line.uses.get(&symbol).copied().unwrap_or(0);
            let times = lines[k + 1..].iter().fold(0u64, |sum, line| sum.saturating_add(users(line)));
            let user = lines[k + 1..].iter().position(|line| users(line) > 0).map(|at| at + k + 1);
            match user {
                None => {}
                Some(user) if times == 1 && lines[k].cost.saturating_add(lines[user].cost) <= limits::LONGEST_LINE => {
                    let known = HashMap::from([(symbol, lines[k].value)]);
                    let whole = graph.substitute(&[lines[user].value], &known)[0];
                    let whole = self.short(graph, whole);
                    lines[user] = MeasuredFormula::new(graph, whole);
                }
                Some(_) => continue,
            }
            is_left_out[k] = true;
            lines[k].uses.clear();
        }
        for (part, line) in self.parts.iter_mut().zip(&lines) {
            part.value = line.value;
        }
        results.iter_mut().zip(&lines[n_parts..]).for_each(|(e, line)| **e = line.value);
        let mut left_out = is_left_out.iter();
        self.parts.retain(|_| !left_out.next().copied().unwrap_or(false));
    }

    /// The shortest form that is found quickly, as long as the total work allows.
    pub fn short(&mut self, graph: &mut Graph, e: Expr) -> Expr {
        let cost = graph.cost(e);
        match self.patience.checked_sub(cost.max(1)).filter(|_| cost <= limits::SHORTENED_FORMULA) {
            Some(left) => {
                self.patience = left;
                short(graph, e)
            }
            None => e,
        }
    }
}

/// A formula, its length, and the number of occurrences of each symbol.
struct MeasuredFormula {
    value: Expr,
    cost: u64,
    uses: FxHashMap<Expr, u64>,
}

impl MeasuredFormula {
    fn new(graph: &Graph, value: Expr) -> MeasuredFormula {
        let mut uses = graph.occurrences(&[value], &FxHashSet::default());
        uses.retain(|e, _| graph.is_symbol(*e));
        MeasuredFormula { value, cost: graph.cost(value), uses }
    }
}

/// The letter of a part as LaTeX.
fn latex_of(letter: &str) -> &str {
    match letter {
        "lambda" => "\\lambda",
        "mu" => "\\mu",
        "Qc" => "Q^{c}",
        "Qi" => "Q^{i}",
        "Qn" => "Q^{n}",
        "MA" => "\\tilde M",
        "QA" => "\\tilde Q",
        other => other,
    }
}

/// The shortest form that is found quickly.
fn short(graph: &mut Graph, e: Expr) -> Expr {
    Algebra::new(graph, &[e], LIMITS).shortest(graph, e).unwrap_or(e)
}
