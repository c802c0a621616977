//! The equations in their shortest printed form; the computed equations are unchanged.

use std::collections::HashMap;

use rustc_hash::FxHashMap;
use zwang_expr::{Algebra, Expr, Graph, Limits};

use crate::formulas::closed_form::{PartLabel, PartRecorder};
use crate::{
    equations::{ConstraintRow, Equations, SparseRow},
    limits,
};

/// The work on one group of formulas, in operations on terms of polynomials: a formula that takes longer is too long to
/// be read.
pub(crate) const LIMITS: Limits = Limits { terms: 2000, work: 400_000, total: 1_200_000 };

impl Equations {
    /// The equations for print: every expression in the shortest form found, without entries that are zero.
    ///
    /// A formula that takes too long to shorten is left unchanged. If formulas remain too long to be read, their common
    /// parts get names, [`Equations::parts`]. Values are the same up to rounding.
    pub fn printed(&self) -> Equations {
        let mut printed = self.clone();
        let exprs = printed.shown();
        let mut algebra = Algebra::new(&mut printed.model.graph, &exprs, LIMITS);
        let mut is_whole = true;
        printed.change_shown(|graph, e, _| match algebra.shortest(graph, *e) {
            Some(short) => *e = short,
            None => is_whole = false,
        });
        let graph = &printed.model.graph;
        if printed.shown().iter().all(|e| graph.cost(*e) <= limits::LONGEST_FORMULA) {
            return printed;
        }
        let mut derived = Equations { model: printed.model.clone(), ..self.clone() };
        printed.share();
        // common parts are lost if some formulas are shortened and others are not
        if !is_whole {
            derived.share();
            if derived.cost().saturating_mul(100) < printed.cost().saturating_mul(limits::COMMON_PARTS_PERCENT) {
                return derived;
            }
        }
        printed
    }

    /// Names the common parts of the formulas that are worth a name.
    fn share(&mut self) {
        let mut all = self.shown();
        all.sort_unstable();
        all.dedup();
        let common = self.model.graph.worth_naming(&all, limits::NAME_SAVINGS, limits::NAMES_IN_FORMULAS);
        let common = self.model.graph.cut(&all, &common, limits::LONGEST_FORMULA);
        let users = self.users(&common);
        let common = grouped(&self.model.graph, &common, &users);
        let mut recorder = PartRecorder::new(&self.model, &[]);
        let graph = &mut self.model.graph;
        let mut known: HashMap<Expr, Expr> = HashMap::new();
        for (k, part) in common.iter().enumerate() {
            let value = graph.substitute(&[*part], &known)[0];
            let value = recorder.short(graph, value);
            let label = PartLabel::new(&(k + 1).to_string(), (k + 1).to_string());
            let symbol = recorder.name(graph, "c", &[&label], &users[part], value, 0);
            known.insert(*part, symbol);
        }
        self.parts = std::mem::take(&mut recorder.parts);
        let mut shorter: FxHashMap<Expr, Expr> = FxHashMap::default();
        self.change_shown(|graph, e, _| {
            let shared = graph.substitute(&[*e], &known)[0];
            *e = *shorter.entry(shared).or_insert_with(|| recorder.short(graph, shared));
        });
    }

    /// The formulas that contain each part: "common to M and Q".
    fn users(&mut self, parts: &[Expr]) -> FxHashMap<Expr, String> {
        let mut formulas: Vec<(Expr, &'static str)> = Vec::new();
        self.change_shown(|_, e, letter| {
            if !formulas.contains(&(*e, letter)) {
                formulas.push((*e, letter));
            }
        });
        let mut users: FxHashMap<Expr, Vec<&'static str>> = FxHashMap::default();
        for (e, letter) in formulas {
            let below = self.model.graph.occurrences(&[e], &Default::default());
            for part in parts.iter().filter(|part| below.contains_key(part)) {
                users.entry(*part).or_default().push(letter);
            }
        }
        let listed = |letters: &Vec<&'static str>| {
            let mut distinct: Vec<&str> = Vec::new();
            letters.iter().for_each(|letter| distinct.extend((!distinct.contains(letter)).then_some(*letter)));
            match (&distinct[..], letters.len()) {
                ([only], 1) => format!("part of {only}"),
                ([only], _) => format!("common to several entries of {only}"),
                ([most @ .., last], _) => format!("common to {} and {last}", most.join(", ")),
                ([], _) => String::new(),
            }
        };
        parts.iter().map(|part| (*part, users.get(part).map(listed).unwrap_or_default())).collect()
    }

    /// The number of symbols to read.
    fn cost(&self) -> u64 {
        let graph = &self.model.graph;
        let all = self.shown().into_iter().chain(self.parts.iter().map(|part| part.value));
        all.fold(0, |sum, e| sum.saturating_add(graph.cost(e)).saturating_add(2))
    }

    /// Any expressions of the model, each in the shortest form found.
    pub fn shortest(&mut self, exprs: &[Expr]) -> Vec<Expr> {
        let graph = &mut self.model.graph;
        let short = graph.shortest(exprs, LIMITS);
        short.into_iter().zip(exprs).map(|(short, e)| short.unwrap_or(*e)).collect()
    }

    /// All expressions that are printed.
    fn shown(&self) -> Vec<Expr> {
        let rows = self.rows.iter().chain(self.asked.iter().map(|asked| &asked.row));
        let entries =
            self.mass_matrix.iter().chain(rows.clone().map(|row| &row.coefficients)).flatten().map(|(_, e)| *e);
        let others = self.momentum.iter().chain(&self.given_force).chain(&self.nonideal_force).copied();
        entries.chain(others).chain(rows.map(|row| row.rhs)).chain([self.kinetic, self.potential]).collect()
    }

    /// Changes all printed expressions, each with the letter of its matrix or vector; entries that become zero are left
    /// out.
    fn change_shown(&mut self, mut change: impl FnMut(&mut Graph, &mut Expr, &'static str)) {
        let graph = &mut self.model.graph;
        let mut change_row = |graph: &mut Graph, row: &mut SparseRow, letter| {
            row.iter_mut().for_each(|(_, e)| change(graph, e, letter));
            row.retain(|(_, e)| *e != Expr::ZERO);
        };
        self.mass_matrix.iter_mut().for_each(|row| change_row(graph, row, "M"));
        let mut change_constraint = |graph: &mut Graph, row: &mut ConstraintRow, [a, b]: [&'static str; 2]| {
            change_row(graph, &mut row.coefficients, a);
            let mut rhs = vec![(0, row.rhs)];
            change_row(graph, &mut rhs, b);
            row.rhs = rhs.first().map_or(Expr::ZERO, |(_, e)| *e);
        };
        self.rows.iter_mut().for_each(|row| change_constraint(graph, row, ["A", "b"]));
        self.asked.iter_mut().for_each(|asked| change_constraint(graph, &mut asked.row, ["A_c", "b_c"]));
        // T and V separately, as usual in mechanics
        change(graph, &mut self.kinetic, "L");
        change(graph, &mut self.potential, "L");
        self.momentum.iter_mut().for_each(|e| change(graph, e, "p"));
        self.given_force.iter_mut().for_each(|e| change(graph, e, "Q"));
        self.nonideal_force.iter_mut().for_each(|e| change(graph, e, "C"));
        self.lagrangian = graph.sub(self.kinetic, self.potential);
    }
}

/// Parts with the same users next to each other, as far as their dependences allow.
fn grouped(graph: &Graph, parts: &[Expr], users: &FxHashMap<Expr, String>) -> Vec<Expr> {
    let needs: Vec<FxHashMap<Expr, u64>> =
        parts.iter().map(|e| graph.occurrences(&[*e], &Default::default())).collect();
    let (mut open, mut order): (Vec<usize>, Vec<Expr>) = ((0..parts.len()).collect(), Vec::new());
    while !open.is_empty() {
        let is_ready = |k: &&usize| open.iter().all(|j| j == *k || !needs[**k].contains_key(&parts[*j]));
        let like_last = |k: &&usize| order.last().is_some_and(|last| users[last] == users[&parts[**k]]);
        let ready = || open.iter().filter(is_ready);
        // the oldest is always ready: operands are older than the expressions that contain them
        let next = ready().find(like_last).or_else(|| ready().next()).copied().unwrap_or(open[0]);
        open.retain(|k| *k != next);
        order.push(parts[next]);
    }
    order
}
