//! The places of points, particles and bodies, and the places that a constraint refers to.

use crate::lower::value::Value;
use crate::lower::{Lower, Lowering, Meaning};
use crate::syntax::Span;
use crate::syntax::tree::*;
use crate::{
    limits,
    lower::names::{Labelled, NamedObject, is_place},
};
use rustc_hash::{FxHashMap, FxHashSet};
use zwang_expr::Expr;

/// The kind of an object with a place.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum SpotKind {
    Point,
    Particle,
    Body,
}

/// An object with a place.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// Canonical spelling; empty for a place without a name.
    pub(super) key: String,
    pub(super) name: String,
    pub(super) place: Vec<Expr>,
    pub(super) kind: SpotKind,
}

/// The places that a constraint refers to, and the ends of its rod.
#[derive(Clone, Debug, Default)]
pub(super) struct Sketch {
    pub(super) points: Vec<Spot>,
    pub(super) ends: Option<(Vec<Expr>, Vec<Expr>)>,
}

/// The objects whose components are coordinates themselves, and the object to which each coordinate belongs.
#[derive(Default)]
pub(super) struct Bare {
    pub(super) spots: Vec<Spot>,
    pub(super) of: FxHashMap<Expr, usize>,
}

impl Bare {
    /// Keeps the objects whose coordinates do not belong to an earlier one.
    pub(super) fn new(spots: Vec<Spot>, is_coordinate: impl Fn(Expr) -> bool) -> Bare {
        let mut bare = Bare::default();
        for spot in spots {
            let distinct = spot.place.iter().enumerate().all(|(k, e)| !spot.place[..k].contains(e));
            if distinct && spot.place.iter().all(|e| is_coordinate(*e) && !bare.of.contains_key(e)) {
                bare.of.extend(spot.place.iter().map(|e| (*e, bare.spots.len())));
                bare.spots.push(spot);
            }
        }
        bare
    }
}

impl Lower<'_> {
    /// `true` if the model is small enough for rods and forces.
    pub(super) fn has_rods(&self) -> bool {
        self.n_points <= limits::SKETCHED_POINTS
            && self.model.constraints.len() <= 4 * limits::SKETCHED_POINTS
            && self.model.coordinates.len() <= 8 * limits::SKETCHED_POINTS
    }

    /// All points, particles and bodies, in the order of the text.
    pub(super) fn spots(&mut self) -> Vec<Spot> {
        let mut spots = Vec::new();
        for statement in &self.tree.statements {
            let (StatementKind::Point { target, .. }
            | StatementKind::Particle { target, .. }
            | StatementKind::Body { target, .. }) = &statement.kind
            else {
                continue;
            };
            let Ok(members) = self.members(target) else { continue };
            for member in members {
                spots.extend(self.spot(&member.key, &member.shown, target.span).ok().flatten());
            }
        }
        spots
    }

    /// The point, particle or body of a name; `None` if the name denotes something else.
    pub(super) fn spot(&mut self, key: &str, shown: &str, span: Span) -> Lowering<Option<Spot>> {
        let Some(NamedObject::Definition { statement, .. }) = self.names.objects.get(key) else { return Ok(None) };
        let kind = match &self.tree.statements[*statement].kind {
            StatementKind::Particle { .. } => SpotKind::Particle,
            StatementKind::Body { .. } => SpotKind::Body,
            kind if is_place(kind) => SpotKind::Point,
            _ => return Ok(None),
        };
        let Value::Vector(parts) = self.definition(key, span)? else { return Ok(None) };
        let place = parts.into_iter().map(|q| q.expr).collect();
        Ok(Some(Spot { key: key.to_string(), name: shown.to_string(), place, kind }))
    }

    /// The points (x, y) or (x, y, z) of coordinates with these names, also x1, y1 or x[1], y[1].
    pub(super) fn coordinate_spots(&self) -> Vec<Spot> {
        let by_name: FxHashMap<&str, Expr> = self.model.coordinates.iter().map(|c| (c.name.as_str(), c.q)).collect();
        let mut spots = Vec::new();
        for c in &self.model.coordinates {
            let Some(rest) = c.name.strip_prefix('x') else { continue };
            if rest.starts_with(char::is_alphabetic) {
                continue;
            }
            let names = ["x", "y", "z"].map(|axis| format!("{axis}{rest}"));
            let place: Vec<Expr> = names.iter().map_while(|name| by_name.get(name.as_str()).copied()).collect();
            if place.len() > 1 {
                let name = format!("({})", names[..place.len()].join(", "));
                spots.push(Spot { key: String::new(), name, place, kind: SpotKind::Particle });
            }
        }
        spots
    }

    /// Records the points that a constraint refers to.
    pub(super) fn sketch(&mut self, label: Labelled, sides: [&Formula; 2]) {
        if self.n_points == 0 || !self.has_rods() {
            return;
        }
        let points = self.points_in(&sides);
        let ends = match &points[..] {
            [p, q] => Some((p.place.clone(), q.place.clone())),
            [p] => sides.into_iter().find_map(|side| self.anchored(&p.place, side)),
            _ => None,
        };
        self.sketches.insert(label, Sketch { points, ends });
    }

    /// The distinct points named in formulas, directly or by definitions. Points under a sum over an index are skipped;
    /// the list is empty if the formulas have more than `SEARCHED_SUBFORMULAS` parts.
    fn points_in(&mut self, formulas: &[&Formula]) -> Vec<Spot> {
        let tree = self.tree;
        let (mut open, mut seen, mut points) = (formulas.to_vec(), FxHashSet::default(), Vec::<Spot>::new());
        for _ in 0..limits::SEARCHED_SUBFORMULAS {
            let Some(formula) = open.pop() else { return points };
            let spot = match &formula.kind {
                FormulaKind::SumOver(..) => None,
                FormulaKind::Name(_) | FormulaKind::Indexed(..) => {
                    let Ok(Some((key, shown))) = self.key_of(formula) else { continue };
                    if let Some(NamedObject::Definition { statement, indices }) = self.names.objects.get(&key)
                        && let StatementKind::Let { value, .. } = &tree.statements[*statement].kind
                        && indices.is_empty()
                        && seen.insert(*statement)
                    {
                        open.push(value);
                    }
                    self.spot(&key, &shown, formula.span).ok().flatten()
                }
                FormulaKind::Member(of, name, arguments) if matches!(self.body_key(of), Ok(Some(_))) => {
                    match (name.text.as_str(), arguments) {
                        ("point", Some(_)) => self.place_of(formula).ok(),
                        (_, None) if name.text != "omega" && name.text != "ω" => {
                            open.push(of);
                            None
                        }
                        _ => None,
                    }
                }
                _ => {
                    open.extend(formula.parts());
                    None
                }
            };
            points.extend(spot.filter(|spot| points.iter().all(|p| p.place != spot.place)));
        }
        Vec::new()
    }

    /// The place that a formula denotes, without a name of its own.
    pub(super) fn place_of(&mut self, formula: &Formula) -> Lowering<Spot> {
        let value = self.formula(formula)?;
        let place = self.as_vector(value, formula.span)?.into_iter().map(|q| q.expr).collect();
        Ok(Spot { key: String::new(), name: self.written(formula.span), place, kind: SpotKind::Point })
    }

    /// For `|P|` or `|P - a|`, perhaps squared: the place a, which no coordinate moves, and P.
    fn anchored(&mut self, place: &[Expr], side: &Formula) -> Option<(Vec<Expr>, Vec<Expr>)> {
        let side = match &side.kind {
            FormulaKind::Power(base, _) => base,
            _ => side,
        };
        let FormulaKind::Length(inner) = &side.kind else { return None };
        let arm = self.formula(inner).ok()?.components();
        if arm.len() != place.len() {
            return None;
        }
        let arm: Vec<Expr> = arm.into_iter().map(|q| q.expr).collect();
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for (&p, &a) in place.iter().zip(&arm) {
            from.push(self.graph.sub(p, a));
            to.push(self.graph.add(p, a));
        }
        let is_fixed = |e: &[Expr]| self.graph.symbols_of(e).iter().all(|s| self.is_unmoved(*s));
        [from, to].into_iter().find(|e| is_fixed(e)).map(|anchor| (anchor, place.to_vec()))
    }

    /// `true` if the symbol does not depend on coordinates.
    fn is_unmoved(&self, symbol: Expr) -> bool {
        symbol == self.model.time || matches!(self.meaning.get(&symbol), Some(Meaning::Parameter(_)))
    }
}
