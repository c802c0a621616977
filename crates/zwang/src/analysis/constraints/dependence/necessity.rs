//! The constraints that the motion needs, and those that could be left out.

use zwang_motion::{Dependence, Matrix, Settings, dependence};

use crate::equations::{ConstraintRow, Equations};
use crate::model::{Level, Model};
use crate::{analysis::constraints::dependence::Dependencies, limits};

/// The constraints that the motion needs, and those that could be left out.
#[derive(Clone, Debug, Default)]
pub struct Necessity {
    /// For each constraint `true` if the motion changes without it; `None` if no other states were found.
    pub essential: Vec<Option<bool>>,
    /// A set of constraints that could be left out together, later ones first.
    pub removable: Vec<usize>,
}

/// The constraints that could be left out, each alone and together, at this state and at the states of general rank.
///
/// Rows R can be left out if the rank stays the same, which holds if the null vectors y, Aᵀy = 0, take every value on
/// R. A constraint that vanishes here is not decided: its row does not show its effect nearby.
pub fn necessity(equations: &Equations, found: &Dependencies, settings: &Settings) -> Necessity {
    let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); equations.model.constraints.len()];
    equations.rows.iter().enumerate().for_each(|(k, row)| rows_of[row.constraint].push(k));
    let mut states = found.general();
    if !found.there.is_empty() {
        states.push(&found.here);
    }
    let (m, rank) = (equations.rows.len(), found.here.rank);
    // a position that cannot be left decides alone
    let is_decided = !found.there.is_empty() || rank == m || is_fixed(equations, rank) || found.is_proved();
    let known = found.ranks.is_none() && is_decided;
    let loose: Vec<NullVectors> = states.iter().map(|d| loose_parts(d, &found.usual, m)).collect();
    let withheld = withheld(equations, found);
    let is_open = |rows: &[usize]| rows.iter().any(|k| found.here.vanished.contains(k) || withheld[*k]);
    let can_all_go = |rows: &[usize]| loose.iter().all(|loose| can_go(loose, rows, settings));
    let judge = |rows: &Vec<usize>| (known && !is_open(rows)).then(|| !can_all_go(rows));
    let essential: Vec<Option<bool>> = rows_of.iter().map(judge).collect();
    let alone: Vec<usize> =
        (0..rows_of.len()).filter(|c| essential[*c] == Some(false) && !rows_of[*c].is_empty()).collect();
    let given_by_others = |d: &Dependence, k: &usize| {
        d.vanished.contains(k) || d.dependent.binary_search_by_key(k, |(row, _)| *row).is_ok()
    };
    let goes = |c: &usize| states.iter().all(|d| rows_of[*c].iter().all(|k| given_by_others(d, k)));
    let mut removable: Vec<usize> = alone.iter().copied().filter(goes).collect();
    // the row that comes out as dependent may differ from state to state: then each is also tried in turn
    if alone.len() <= limits::CONSTRAINTS_TRIED {
        let mut gone: Vec<usize> = removable.iter().flat_map(|c| rows_of[*c].clone()).collect();
        for &c in alone.iter().rev() {
            if removable.contains(&c) {
                continue;
            }
            let together: Vec<usize> = gone.iter().chain(&rows_of[c]).copied().collect();
            if can_all_go(&together) {
                gone = together;
                removable.push(c);
            }
        }
        removable.sort_unstable();
    }
    Necessity { essential, removable }
}

/// `true` if the constraints allow this position only, at all times.
pub(crate) fn is_fixed(equations: &Equations, rank: usize) -> bool {
    let Model { graph, time, .. } = &equations.model;
    let is_still = |row: &ConstraintRow| row.level == Level::Position && !graph.symbols(row.residual).contains(time);
    rank == equations.model.n_coordinates() && equations.rows.iter().all(is_still)
}

/// Rows that are not decided: their share of a force enters a nonideal law, their formula may change, or the dependence ends.
fn withheld(equations: &Equations, found: &Dependencies) -> Vec<bool> {
    let graph = &equations.model.graph;
    let asked = graph.symbols_of(&equations.nonideal_force);
    let is_asked = |k: usize| {
        let row = &equations.rows[k];
        asked.contains(&row.lambda) || equations.model.constraints[row.constraint].friction.is_some()
    };
    let mut withheld = vec![false; equations.rows.len()];
    let ends = |k: usize| found.redundant.iter().any(|r| r.ends_at.is_some() && r.row == equations.rows[k].name);
    for (row, terms) in &found.here.dependent {
        let family: Vec<usize> = terms.iter().map(|(k, _)| *k).chain([*row]).collect();
        let may_change = !found.is_proved() && family.iter().any(|k| found.changing.binary_search(k).is_ok());
        if may_change || ends(*row) || family.iter().any(|k| is_asked(*k)) {
            family.iter().for_each(|k| withheld[*k] = true);
        }
    }
    withheld
}

/// For each row the null vectors y, Aᵀy = 0, in which it takes part, by index, with its entry.
type NullVectors = Vec<Vec<(usize, f64)>>;

/// The null vectors with rows in units of their reference sizes, each scaled to a largest entry of one.
fn loose_parts(d: &Dependence, usual: &[f64], m: usize) -> NullVectors {
    let size = |k: usize| usual.get(k).copied().filter(|s| *s > 0.0).unwrap_or(1.0);
    let mut parts = vec![Vec::new(); m];
    for (at, (row, terms)) in d.dependent.iter().enumerate() {
        let y: Vec<(usize, f64)> =
            [(*row, size(*row))].into_iter().chain(terms.iter().map(|(k, c)| (*k, -c * size(*k)))).collect();
        let largest = y.iter().fold(0.0_f64, |top, (_, y)| top.max(y.abs()));
        y.into_iter().for_each(|(k, y)| parts[k].push((at, y / largest)));
    }
    for (at, row) in d.vanished.iter().enumerate() {
        parts[*row].push((d.dependent.len() + at, 1.0));
    }
    parts
}

fn can_go(loose: &[Vec<(usize, f64)>], rows: &[usize], settings: &Settings) -> bool {
    let mut used: Vec<usize> = rows.iter().flat_map(|k| loose[*k].iter().map(|(at, _)| *at)).collect();
    used.sort_unstable();
    used.dedup();
    if used.len() < rows.len() {
        return false;
    }
    let mut dense = vec![0.0; rows.len() * used.len()];
    for (i, k) in rows.iter().enumerate() {
        for (at, y) in &loose[*k] {
            let column = used.binary_search(at).unwrap_or(0);
            dense[i * used.len() + column] = *y;
        }
    }
    dependence(&Matrix::from_dense(rows.len(), used.len(), &dense), settings).is_ok_and(|d| d.rank == rows.len())
}
