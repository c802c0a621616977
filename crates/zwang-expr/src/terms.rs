//! Sums and products flattened for printing: like terms are merged, powers are collected, signs come first.

use crate::graph::{Graph, flag};
use crate::node::{Expr, Function, Node};
use crate::number::Number;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The longest plain decimal, in digits; beyond it, an exponent is easier to read.
const MAX_PLAIN_DIGITS: i64 = 9;

/// The largest number of zeros at the end of a long integer or after the point of a small decimal.
const MAX_PLAIN_ZEROS: i64 = 4;

/// Denominators up to this power of two are written as divisions: m/2 rather than 0.5*m.
const MAX_BINARY_DENOMINATOR: i64 = 64;

/// The largest number of terms of a sum inside a product that is tested for merging into one term.
const MAX_LONE_TERMS: usize = 8;

/// Names that stand for whole subexpressions.
pub(crate) type Names = HashMap<Expr, String>;

/// The largest size of a composite factor that is sorted by its text, in nodes.
const MAX_KEY: usize = 100;

/// The names by which subexpressions are written, and the sort keys of factors and terms.
pub(crate) struct Style<'a> {
    pub names: &'a Names,
    /// memo of the sort keys
    keys: RefCell<FxHashMap<Expr, Rc<str>>>,
}

impl<'a> Style<'a> {
    pub fn new(names: &'a Names) -> Style<'a> {
        Style { names, keys: RefCell::default() }
    }

    /// The full text of an expression as its sort key; empty if it is long.
    fn key(&self, graph: &Graph, e: Expr) -> Rc<str> {
        if let Some(key) = self.keys.borrow().get(&e) {
            return key.clone();
        }
        let names = Names::new();
        let plain = Style { names: &names, keys: RefCell::new(self.keys.take()) };
        let key: Rc<str> = graph.write_text(e, &plain, MAX_KEY).unwrap_or_default().into();
        self.keys.replace(plain.keys.into_inner());
        self.keys.borrow_mut().insert(e, key.clone());
        key
    }
}

/// coefficient Π base^exponent.
#[derive(Clone)]
pub(crate) struct SumTerm {
    pub coefficient: Number,
    pub factors: Vec<(Expr, Number)>,
    /// the expression of the term; sorts terms that are too long to be compared as text
    pub place: Expr,
}

/// A term in the form in which it is written: ± above / below.
pub(crate) struct Quotient {
    pub negative: bool,
    pub above: Vec<Item>,
    pub below: Vec<Item>,
}

/// A factor of the numerator or denominator.
pub(crate) enum Item {
    /// a number, already as text
    Number(String),
    /// base^exponent with exponent > 0
    Power(Expr, Number),
}

/// The terms of `e` in the order in which they are written, without a leading minus if that can be avoided.
pub(crate) fn terms(graph: &Graph, e: Expr, style: &Style) -> Vec<SumTerm> {
    // a number is one term, however long it is
    if let Some(number) = graph.number(e).filter(|number| !number.is_zero()) {
        return vec![SumTerm { coefficient: number.clone(), factors: Vec::new(), place: e }];
    }
    let mut terms = flat_sum(graph, e, style);
    terms.retain(|term| counts(graph, term));
    if terms.len() > 1 {
        terms = merge_like(graph, terms);
        merge_squares(graph, &mut terms);
        terms.sort_by_cached_key(|term| (term.factors.is_empty(), term_key(graph, term, style), term.place));
        if let Some(first) = terms.iter().position(|term| !term.coefficient.is_negative()) {
            terms[..=first].rotate_right(1);
        }
    }
    terms
}

/// Splits sums and negated sums into terms.
fn flat_sum(graph: &Graph, e: Expr, style: &Style) -> Vec<SumTerm> {
    summands(graph, e, style).map(|(x, negative)| flat_product(graph, x, negative, style)).collect()
}

/// The summands of `e`, with `true` for those that are subtracted.
fn summands(graph: &Graph, e: Expr, style: &Style) -> impl Iterator<Item = (Expr, bool)> {
    let mut stack = vec![(e, false)];
    std::iter::from_fn(move || {
        while let Some((x, negative)) = stack.pop() {
            match graph.node(x) {
                _ if style.names.contains_key(&x) => return Some((x, negative)),
                Node::Add(a, b) => stack.extend([(b, negative), (a, negative)]),
                Node::Mul(Expr::MINUS_ONE, y) => stack.push((y, !negative)),
                _ => return Some((x, negative)),
            }
        }
        None
    })
}

/// A product as powers; a factor that is a sum and merges into one term is multiplied out.
fn flat_product(graph: &Graph, e: Expr, negative: bool, style: &Style) -> SumTerm {
    let mut term = powers(graph, e, negative, style);
    let mut factors = Vec::with_capacity(term.factors.len());
    for (base, n) in term.factors {
        let lone = if n.is_integer() { lone_term(graph, base, style) } else { None };
        match lone
            .and_then(|lone| lone.to_power(&n))
            .and_then(|lone| Some((lone.coefficient.mul(&term.coefficient)?, lone)))
        {
            Some((coefficient, lone)) => {
                term.coefficient = coefficient;
                factors.extend(lone.factors);
            }
            None => factors.push((base, n)),
        }
    }
    term.factors = collect_powers(graph, factors, style);
    term
}

/// The only term of a short sum if merging leaves at most one, otherwise `None`.
fn lone_term(graph: &Graph, e: Expr, style: &Style) -> Option<SumTerm> {
    if style.names.contains_key(&e) || !matches!(graph.node(e), Node::Add(..)) {
        return None;
    }
    let short: Vec<_> = summands(graph, e, style).take(MAX_LONE_TERMS + 1).collect();
    if short.len() > MAX_LONE_TERMS {
        return None;
    }
    let mut terms = short.into_iter().map(|(x, negative)| powers(graph, x, negative, style)).collect();
    terms = merge_like(graph, terms);
    merge_squares(graph, &mut terms);
    // all terms may have cancelled
    let zero = SumTerm { coefficient: Number::ZERO, factors: Vec::new(), place: e };
    terms.pop().map_or(Some(zero), Some).filter(|_| terms.is_empty())
}

/// Splits products and integer powers of products into powers.
fn powers(graph: &Graph, e: Expr, negative: bool, style: &Style) -> SumTerm {
    let mut coefficient = if negative { Number::MINUS_ONE } else { Number::ONE };
    let mut factors = Vec::new();
    let mut stack = vec![(e, Number::ONE)];
    while let Some((x, n)) = stack.pop() {
        match graph.node(x) {
            _ if style.names.contains_key(&x) => factors.push((x, n)),
            Node::Mul(a, b) if n.is_integer() => stack.extend([(b, n.clone()), (a, n)]),
            Node::Pow(u, k) if n.is_integer() => match graph.number(k).and_then(|k| k.mul(&n)) {
                Some(k) => stack.push((u, k)),
                None => factors.push((x, n)),
            },
            Node::Number(id) => match graph.number_at(id).pow(&n).and_then(|c| c.mul(&coefficient)) {
                Some(c) => coefficient = c,
                None => factors.push((x, n)),
            },
            _ => factors.push((x, n)),
        }
    }
    SumTerm { coefficient, factors: collect_powers(graph, factors, style), place: e }
}

/// Sorts factors into reading order and adds the exponents of equal bases.
fn collect_powers(graph: &Graph, mut factors: Vec<(Expr, Number)>, style: &Style) -> Vec<(Expr, Number)> {
    factors.sort_by_cached_key(|&(base, _)| (rank(graph, base), written_key(graph, base, style), base));
    let mut collected: Vec<(Expr, Number)> = Vec::with_capacity(factors.len());
    for (base, n) in factors {
        match collected.last_mut() {
            Some((last, m)) if *last == base && !is_singular(graph, base) => match m.add(&n) {
                Some(sum) => *m = sum,
                None => collected.push((base, n)),
            },
            _ => collected.push((base, n)),
        }
    }
    collected.retain(|(_, n)| !n.is_zero());
    collected
}

/// The sort key of a composite factor: its own text, so that the order does not depend on the history of the graph.
fn written_key(graph: &Graph, base: Expr, style: &Style) -> Rc<str> {
    match rank(graph, base) {
        0..=2 => Rc::from(""),
        _ => style.key(graph, base),
    }
}

/// The sort key of a term of a sum: the text of its factors, for the same reason.
fn term_key(graph: &Graph, term: &SumTerm, style: &Style) -> String {
    let factor = |(base, n): &(Expr, Number)| format!("{}^{n}", style.key(graph, *base));
    term.factors.iter().map(factor).collect::<Vec<_>>().join("*")
}

/// The sort rank of a factor: constants of the motion first, then other symbols, functions and sums.
fn rank(graph: &Graph, base: Expr) -> u8 {
    match graph.node(base) {
        Node::Number(_) | Node::Pi => 0,
        Node::Symbol(id) if graph.symbols[id.0 as usize].rate == Some(Expr::ZERO) => 1,
        Node::Symbol(_) => 2,
        Node::Apply(..) | Node::Apply2(..) | Node::Look(..) => 3,
        _ => 4,
    }
}

fn is_singular(graph: &Graph, base: Expr) -> bool {
    base == Expr::ZERO || graph.has(base, flag::SINGULAR)
}

/// c x + d x = (c + d) x.
pub(crate) fn merge_like(graph: &Graph, terms: Vec<SumTerm>) -> Vec<SumTerm> {
    let mut merged: Vec<SumTerm> = Vec::with_capacity(terms.len());
    let mut places: FxHashMap<Vec<(Expr, Number)>, usize> = FxHashMap::default();
    for term in terms {
        let singular = term.factors.iter().any(|&(base, _)| is_singular(graph, base));
        let Some(&at) = places.get(&term.factors).filter(|_| !singular) else {
            places.insert(term.factors.clone(), merged.len());
            merged.push(term);
            continue;
        };
        match merged[at].coefficient.add(&term.coefficient) {
            Some(sum) => merged[at].coefficient = sum,
            None => merged.push(term),
        }
    }
    merged.retain(|term| counts(graph, term));
    merged
}

/// `true` if a term is not zero or may be non-finite.
fn counts(graph: &Graph, term: &SumTerm) -> bool {
    !term.coefficient.is_zero() || term.factors.iter().any(|&(x, _)| is_singular(graph, x))
}

/// x sin²u + x cos²u = x.
pub(crate) fn merge_squares(graph: &Graph, terms: &mut Vec<SumTerm>) {
    let mut cosines: FxHashMap<(Vec<(Expr, Number)>, Expr), usize> = FxHashMap::default();
    for (k, term) in terms.iter().enumerate() {
        for (at, u) in squares_of(graph, term, Function::Cos) {
            cosines.insert((without(&term.factors, at), u), k);
        }
    }
    if cosines.is_empty() {
        return;
    }
    let mut gone = vec![false; terms.len()];
    for k in 0..terms.len() {
        for (at, u) in squares_of(graph, &terms[k], Function::Sin) {
            let rest = without(&terms[k].factors, at);
            let Some(&other) = cosines.get(&(rest.clone(), u)) else {
                continue;
            };
            if !gone[other] && terms[other].coefficient == terms[k].coefficient {
                terms[k].factors = rest;
                gone[other] = true;
                break;
            }
        }
    }
    if gone.contains(&true) {
        let kept = terms.drain(..).zip(gone).filter(|(_, gone)| !gone).map(|(term, _)| term).collect();
        *terms = merge_like(graph, kept);
    }
}

/// The indices of the factors f(u)², with their u.
fn squares_of(graph: &Graph, term: &SumTerm, f: Function) -> Vec<(usize, Expr)> {
    let square = |&(base, ref n): &(Expr, Number)| match graph.node(base) {
        Node::Apply(g, u) if g == f && n.to_i64() == Some(2) => Some(u),
        _ => None,
    };
    term.factors.iter().enumerate().filter_map(|(k, factor)| Some((k, square(factor)?))).collect()
}

fn without(factors: &[(Expr, Number)], at: usize) -> Vec<(Expr, Number)> {
    [&factors[..at], &factors[at + 1..]].concat()
}

impl SumTerm {
    /// The term to an integer power.
    fn to_power(&self, n: &Number) -> Option<SumTerm> {
        let power = |(base, k): &(Expr, Number)| Some((*base, k.mul(n)?));
        let factors = self.factors.iter().map(power).collect::<Option<_>>()?;
        Some(SumTerm { coefficient: self.coefficient.pow(n)?, factors, place: self.place })
    }

    /// The term as a fraction.
    pub fn quotient(self) -> Quotient {
        let negative = self.coefficient.is_negative();
        let size = self.coefficient.abs();
        let (mut above, mut below) = (Vec::new(), Vec::new());
        if self.factors.is_empty() {
            let (numerator, denominator) = number_parts(&size);
            above.push(Item::Number(numerator));
            below.extend(denominator.map(Item::Number));
            return Quotient { negative, above, below };
        }
        // (x + y)/(5 r) rather than 0.2 (x + y)/r
        let has_below = self.factors.iter().any(|(_, n)| n.is_negative());
        let (numerator, denominator) = match size.to_small() {
            Some((n, d)) if has_below && d > 1 && n.max(d) <= MAX_BINARY_DENOMINATOR => {
                (n.to_string(), Some(d.to_string()))
            }
            _ => coefficient_parts(&size),
        };
        let has_above = self.factors.iter().any(|(_, n)| !n.is_negative());
        if numerator != "1" || !has_above {
            above.push(Item::Number(numerator));
        }
        below.extend(denominator.map(Item::Number));
        for (base, n) in self.factors {
            let side = if n.is_negative() { &mut below } else { &mut above };
            side.push(Item::Power(base, n.abs()));
        }
        Quotient { negative, above, below }
    }
}

/// A number ≥ 0 as a decimal, or as numerator and denominator.
fn number_parts(size: &Number) -> (String, Option<String>) {
    match decimal(size) {
        Some(text) => (text, None),
        None => (size.numerator().to_string(), Some(size.denominator().to_string())),
    }
}

/// A coefficient ≥ 0 as a decimal, or as numerator and denominator for halves, quarters, one fifth and the like.
fn coefficient_parts(size: &Number) -> (String, Option<String>) {
    match size.to_small() {
        Some((n, d)) if d > 1 && (d <= MAX_BINARY_DENOMINATOR && d.count_ones() == 1 || n == 1 && d < 10) => {
            (n.to_string(), Some(d.to_string()))
        }
        _ => number_parts(size),
    }
}

/// The exact decimal of a number ≥ 0, with an exponent if that is much shorter; `None` if the decimal does not
/// terminate.
pub(crate) fn decimal(value: &Number) -> Option<String> {
    let (digits, scale) = value.decimal_digits()?;
    let len = digits.len() as i64;
    // value = digits 10⁻ˢᶜᵃˡᵉ
    if scale <= 0 && (len - scale <= MAX_PLAIN_DIGITS || scale >= -MAX_PLAIN_ZEROS) {
        return Some(format!("{digits}{}", "0".repeat(-scale as usize)));
    }
    if scale > 0 && scale < len {
        let (whole, fraction) = digits.split_at((len - scale) as usize);
        return Some(format!("{whole}.{fraction}"));
    }
    if scale > 0 && scale <= MAX_PLAIN_DIGITS.min(len + MAX_PLAIN_ZEROS) {
        return Some(format!("0.{}{digits}", "0".repeat((scale - len) as usize)));
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    Some(format!("{first}{point}{rest}e{}", len - 1 - scale))
}

/// The number of nodes of `e` written as a tree, saturating at `u64::MAX`.
pub(crate) fn written_size(graph: &Graph, e: Expr, names: &Names) -> u64 {
    let mut sizes: FxHashMap<Expr, u64> = FxHashMap::default();
    let mut stack = vec![(e, false)];
    while let Some((x, operands_done)) = stack.pop() {
        let operands = graph.node(x).operands();
        if operands_done {
            let size = operands.iter().fold(1u64, |sum, y| sum.saturating_add(sizes[y]));
            sizes.insert(x, size);
        } else if names.contains_key(&x) {
            sizes.insert(x, 1);
        } else if !sizes.contains_key(&x) {
            stack.push((x, true));
            stack.extend(operands.iter().map(|&y| (y, false)));
        }
    }
    sizes[&e]
}
