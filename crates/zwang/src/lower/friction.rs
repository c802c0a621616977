//! Friction: where it acts, how hard it is pressed there, and how fast the place slides.

use super::constraints::multiplier_latex;
use super::names::Label;
use super::points::Bare;
use super::{Lower, Lowered, Meaning};
use crate::diagnostic::Diagnostic;
use crate::equations::Symbols;
use crate::model::{FrictionLaw, Level, Row};
use crate::syntax::Span;
use crate::syntax::tree::*;
use std::collections::HashMap;
use zwang_expr::Expr;

/// Friction as stated, before the place it acts at is known.
pub(super) struct Draft {
    of: Label,
    holding: Expr,
    sliding: Expr,
    at: Option<Vec<Expr>>,
    slip: Option<Vec<Expr>>,
    span: Span,
}

impl Lower<'_> {
    /// What a statement says about its friction.
    pub(super) fn draft_friction(&mut self, properties: &[Property], of: Label) -> Lowered<()> {
        let find = |name: &str| properties.iter().find(|p| p.name.text == name);
        let Some(friction) = find("friction") else {
            return match properties.iter().find(|p| ["sliding", "at", "slip"].contains(&p.name.text.as_str())) {
                None => Ok(()),
                Some(p) => {
                    let d = Diagnostic::error("Z107", format!("`{}` says how friction acts", p.name.text))
                        .at(p.name.span, "there is no friction here");
                    self.give_up(d.help("write `with friction 0.3` before it"))
                }
            };
        };
        let holding = self.scalar(&friction.value)?.expr;
        let sliding = self.property(properties, "sliding")?.unwrap_or(holding);
        let at = match find("at") {
            None => None,
            Some(p) => {
                let place = self.formula(&p.value)?;
                Some(self.as_vector(place, p.value.span)?.into_iter().map(|q| q.expr).collect())
            }
        };
        let slip = match find("slip") {
            None => None,
            Some(p) => Some(self.formula(&p.value)?.components().into_iter().map(|q| q.expr).collect()),
        };
        self.frictions.push(Draft { of, holding, sliding, at, slip, span: friction.name.span });
        Ok(())
    }

    /// Finds the place, the normal force and the slip of every friction.
    pub(super) fn place_frictions(&mut self) {
        let drafts = std::mem::take(&mut self.frictions);
        if drafts.is_empty() {
            return;
        }
        let spots = if self.n_points == 0 { self.coordinate_spots() } else { self.spots() };
        let is_coordinate = |e: Expr| matches!(self.meaning.get(&e), Some(Meaning::Position(_)));
        let bare = Bare::new(spots, is_coordinate);
        for draft in drafts {
            if let Ok(Some(law)) = self.friction_law(&draft, &bare) {
                self.model.frictions.push(law);
            }
        }
    }

    fn friction_law(&mut self, draft: &Draft, bare: &Bare) -> Lowered<Option<FrictionLaw>> {
        let constraint = self.labelled(draft.of);
        let (name, rows) = (constraint.name.clone(), constraint.rows.clone());
        let [row] = &rows[..] else {
            self.later(format!("friction of `{name}`, which has several rows"), true, draft.span);
            return Ok(None);
        };
        let symbols = Symbols::new(self.model.time, &self.model.coordinates);
        let reaction = self.reaction_parts(&rows, &symbols);
        let place = match &draft.at {
            Some(place) => place.clone(),
            None => match &self.touched(draft.of, &reaction, bare)[..] {
                [spot] => spot.place.clone(),
                several => {
                    let names: Vec<String> = several.iter().map(|s| format!("`{}`", s.name)).collect();
                    let label = match names.len() {
                        0 => "it acts on no particle by name".to_string(),
                        _ => format!("it acts on {}", names.join(", ")),
                    };
                    let d = Diagnostic::error("Z319", format!("it is not clear where `{name}` slides"));
                    return self
                        .give_up(d.at(draft.span, label).help("name the sliding point:   with friction 0.3 and at P"));
                }
            },
        };
        let Some(force) = self.determined_force(&reaction, &place) else {
            let d = Diagnostic::error("Z319", format!("the coordinates do not determine the normal force of `{name}`"));
            return self.give_up(
                d.at(draft.span, "friction is in proportion to it")
                    .help("use coordinates in which the sliding point can also move off the surface"),
            );
        };
        let unit: HashMap<Expr, Expr> = [(row.lambda, Expr::ONE)].into();
        let normal = self.graph.substitute(&force, &unit);
        let squares: Vec<Expr> = normal.iter().map(|n| self.graph.mul(*n, *n)).collect();
        let square = self.graph.sum(&squares);
        let lever = self.graph.sqrt(square);
        let slip = match &draft.slip {
            Some(slip) => slip.clone(),
            None => self.tangential_velocity(&place, &normal, (lever, square)),
        };
        let slip = slip.into_iter().enumerate().map(|(k, expr)| self.slip_row(&name, k, expr)).collect();
        Ok(Some(FrictionLaw {
            constraint: matches!(draft.of, Label::Constraint(_)),
            of: match draft.of {
                Label::Constraint(k) | Label::Contact(k) | Label::Control(k) => k,
            },
            holding: draft.holding,
            sliding: draft.sliding,
            lever,
            slip,
            span: draft.span,
        }))
    }

    /// The velocity of a place along the surface: one number in the plane, the part of the vector off the normal in space.
    fn tangential_velocity(&mut self, place: &[Expr], normal: &[Expr], (lever, square): (Expr, Expr)) -> Vec<Expr> {
        let g = &mut self.graph;
        let velocity: Vec<Expr> = place.iter().map(|p| g.rate(*p).unwrap_or(Expr::ZERO)).collect();
        if let ([nx, ny], [vx, vy]) = (normal, &velocity[..]) {
            let (a, b) = (g.mul(*ny, *vx), g.mul(*nx, *vy));
            let across = g.sub(a, b);
            return vec![g.div(across, lever)];
        }
        let parts: Vec<Expr> = normal.iter().zip(&velocity).map(|(n, v)| g.mul(*n, *v)).collect();
        let along = g.sum(&parts);
        let along = g.div(along, square);
        let off = |(n, v): (&Expr, &Expr)| {
            let part = g.mul(along, *n);
            g.sub(*v, part)
        };
        normal.iter().zip(&velocity).map(off).collect()
    }

    fn slip_row(&mut self, name: &str, k: usize, expr: Expr) -> Row {
        let name = format!("{name}.slip{}", ["", ".y", ".z"].get(k).unwrap_or(&""));
        let lambda = self.graph.symbol(&format!("lambda({name})"), &multiplier_latex(&name));
        Row { name, expr, right: Expr::ZERO, level: Level::Velocity, lambda, dimension: None }
    }
}
