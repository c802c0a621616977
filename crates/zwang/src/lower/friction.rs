//! Friction: the sliding point, its normal force, and its slip velocity.

use crate::equations::Symbols;
use crate::equations::zero::{is_zero, samples};
use crate::lower::constraints::multiplier_latex;
use crate::lower::names::Labelled;
use crate::lower::points::Bare;
use crate::lower::{Lower, Lowering, Meaning};
use crate::model::{FrictionLaw, Level, Row};
use crate::syntax::Span;
use crate::syntax::tree::*;
use crate::{diagnostic::Diagnostic, tolerance};
use std::collections::HashMap;
use zwang_expr::{Expr, Graph};

/// Friction as stated, before its sliding point is determined.
pub(super) struct Draft {
    of: Labelled,
    static_mu: Expr,
    kinetic_mu: Expr,
    at: Option<Vec<Expr>>,
    slip: Option<Vec<Expr>>,
    span: Span,
    slip_span: Span,
}

impl Lower<'_> {
    /// Lowers the friction properties of a statement.
    pub(super) fn draft_friction(&mut self, properties: &[Property], of: Labelled) -> Lowering<()> {
        let find = |name: &str| properties.iter().find(|p| p.name.text == name);
        let Some(friction) = find("friction") else {
            return match properties.iter().find(|p| ["sliding", "at", "slip"].contains(&p.name.text.as_str())) {
                None => Ok(()),
                Some(p) => {
                    let d = Diagnostic::error("Z107", format!("`{}` is a property of friction", p.name.text))
                        .at(p.name.span, "there is no friction here");
                    self.report(d.help("write `with friction 0.3` before it"))
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
        let span = friction.name.span;
        let slip_span = find("slip").map_or(span, |p| p.value.span);
        self.frictions.push(Draft { of, static_mu: holding, kinetic_mu: sliding, at, slip, span, slip_span });
        Ok(())
    }

    /// Determines the sliding point, the normal force and the slip of every friction.
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

    /// Contacts and friction together with a control are not computed: the least force would depend on the contact
    /// mode.
    pub(super) fn contacts_beside_controls(&mut self) {
        if self.model.controls.is_empty() {
            return;
        }
        let contacts = self.model.contacts.iter().map(|c| (format!("contact `{}` beside a control", c.name), c.span));
        let frictions =
            self.model.frictions.iter().filter(|law| law.constraint).map(|law| {
                (format!("friction of `{}` beside a control", self.model.constraints[law.of].name), law.span)
            });
        let beside: Vec<_> = contacts.chain(frictions).collect();
        for (what, span) in beside {
            self.later(what, true, span);
        }
    }

    fn friction_law(&mut self, draft: &Draft, bare: &Bare) -> Lowering<Option<FrictionLaw>> {
        let constraint = self.labelled(draft.of);
        let (name, rows) = (constraint.name.clone(), constraint.rows.clone());
        let is_contact = matches!(draft.of, Labelled::Contact(_));
        if rows.len() > 1 && is_contact {
            let d = Diagnostic::error("Z319", format!("contact `{name}` states several gaps, and friction needs one"));
            return self.report(
                d.at(draft.span, "which of them presses here?")
                    .help("state one contact for each gap, with its friction"),
            );
        }
        self.mind_slip(draft, &name)?;
        let symbols = Symbols::new(self.model.time, &self.model.coordinates);
        let reaction = self.reaction_parts(&rows, &symbols);
        let place = self.sliding_place(draft, &name, &reaction, bare)?;
        if draft.slip.is_none() {
            self.mind_moving_surface(draft, &name, &reaction, (&place, bare))?;
            self.mind_driven_surface(draft, &name, &rows)?;
        }
        let force = self.normal_force(draft, &name, &reaction, (&place, &rows, bare))?;
        let forces: Vec<Vec<Expr>> = rows.iter().map(|row| self.force_of(&force, &rows, row)).collect();
        let slip = match &draft.slip {
            Some(slip) => self.without_normal(slip, &place, &forces),
            None => match self.tangential_velocity(&place, &forces) {
                Some(slip) => slip,
                None => {
                    let d = Diagnostic::error("Z319", format!("`{name}` leaves its point no way to slide"));
                    return self.report(
                        d.at(draft.span, "friction acts where something slides")
                            .help("leave the friction out, or state the slip:   with friction 0.3 and slip x' - u"),
                    );
                }
            },
        };
        let slip = slip.into_iter().enumerate().map(|(k, expr)| self.slip_row(&name, k, expr)).collect();
        Ok(Some(FrictionLaw {
            constraint: matches!(draft.of, Labelled::Constraint(_)),
            of: match draft.of {
                Labelled::Constraint(k) | Labelled::Contact(k) | Labelled::Control(k) => k,
            },
            static_mu: draft.static_mu,
            kinetic_mu: draft.kinetic_mu,
            forces,
            slip,
            span: draft.span,
        }))
    }

    /// The sliding point: the one that is named, or the only particle that the constraint acts on.
    fn sliding_place(
        &mut self,
        draft: &Draft,
        name: &str,
        reaction: &[(usize, Expr)],
        bare: &Bare,
    ) -> Lowering<Vec<Expr>> {
        if let Some(place) = &draft.at {
            return Ok(place.clone());
        }
        let touched = self.touched(draft.of, reaction, bare);
        if let [spot] = &touched[..] {
            return Ok(spot.place.clone());
        }
        let names: Vec<String> = touched.iter().map(|s| format!("`{}`", s.name)).collect();
        let label = match names.len() {
            0 => "it acts on no particle by name".to_string(),
            _ => format!("it acts on {}", names.join(", ")),
        };
        let help = match names.is_empty() {
            true => "name the sliding point, as `point C = (x, y - r)`:   with friction 0.3 and at C",
            false => {
                "name the sliding point, and, if what it slides on moves as well, how fast it slides there:   \
                 with friction 0.3 and at P and slip x2' - x1'"
            }
        };
        let d = Diagnostic::error("Z319", format!("it is not clear where `{name}` slides"));
        self.report(d.at(draft.span, label).help(help))
    }

    /// The normal force of the constraint at a place, in terms of the multipliers of its rows.
    fn normal_force(
        &mut self,
        draft: &Draft,
        name: &str,
        reaction: &[(usize, Expr)],
        (place, rows, bare): (&[Expr], &[Row], &Bare),
    ) -> Lowering<Vec<Expr>> {
        if draft.slip.is_some()
            && self.wanders(place)
            && let Some(force) = self.distance_force(reaction, rows, bare)
        {
            return Ok(force);
        }
        if let Some(force) = self.determined_force(reaction, place) {
            self.mind_work(draft, name, reaction, (place, &force))?;
            return Ok(force);
        }
        // a guide that leaves the place a single direction does not contribute to the normal force
        if draft.slip.is_some()
            && let Some(force) = self.guided_force(reaction, place)
        {
            return Ok(force);
        }
        let d = Diagnostic::error("Z319", format!("the coordinates do not determine the normal force of `{name}`"));
        let help = match draft.slip {
            Some(_) => "name a point that moves off the surface as the gap opens:   and at C",
            None => {
                "use coordinates in which the sliding point can move off the surface and along it, or, if it moves off, \
                 state how fast it slides:   and slip x'"
            }
        };
        self.report(d.at(draft.span, "friction is in proportion to it").help(help))
    }

    /// A stated slip is a velocity: it must depend linearly on the velocities.
    fn mind_slip(&mut self, draft: &Draft, name: &str) -> Lowering<()> {
        let velocities: Vec<Expr> = self.model.coordinates.iter().map(|c| c.qdot).collect();
        let g = &mut self.graph;
        let mut moving = draft.slip.is_none();
        let mut is_linear = true;
        for &slip in draft.slip.iter().flatten() {
            for &v in &velocities {
                let by = g.derivative(slip, v);
                if by == Expr::ZERO || is_zero(g, by) {
                    continue;
                }
                moving = true;
                let curved = |w: &Expr, g: &mut Graph| {
                    let second = g.derivative(by, *w);
                    !is_zero(g, second)
                };
                is_linear &= !velocities.iter().any(|w| curved(w, g));
            }
        }
        let (message, label) = match (moving, is_linear) {
            (true, true) => return Ok(()),
            (false, _) => (format!("no velocity changes the slip of `{name}`"), "friction could not act on anything"),
            (true, false) => (format!("the slip of `{name}` is not linear in the velocities"), "not a velocity"),
        };
        let d = Diagnostic::error("Z319", message).at(draft.slip_span, label);
        self.report(d.help("state the velocity at which the point slides on the other:   and slip x2' - x1'"))
    }

    /// Unless the slip is stated, the surface must be at rest: every coordinate that changes the gap has to move the
    /// place.
    fn mind_moving_surface(
        &mut self,
        draft: &Draft,
        name: &str,
        reaction: &[(usize, Expr)],
        (place, bare): (&[Expr], &Bare),
    ) -> Lowering<()> {
        let jacobian = self.jacobian(place);
        let moves = |q: Expr| jacobian.iter().flatten().any(|(of, _)| *of == q);
        let coordinate = |k: usize| &self.model.coordinates[k];
        let other = reaction.iter().find(|(k, part)| !moves(coordinate(*k).q) && !is_zero(&self.graph, *part));
        let Some(other) = other.map(|(k, _)| coordinate(*k)) else { return Ok(()) };
        let spot = |q: &Expr| bare.of.get(q).map(|&k| bare.spots[k].name.clone());
        let own = place.iter().find_map(|e| bare.of.get(e)).map(|&k| bare.spots[k].name.clone());
        let slip = match (own, spot(&other.q)) {
            (Some(own), Some(other)) => format!("and slip {own}' - {other}'"),
            _ => "and slip x2' - x1'".to_string(),
        };
        let d =
            Diagnostic::error("Z319", format!("`{name}` does not state the velocity of the surface that it slides on"))
                .at(draft.span, format!("`{}` changes the gap and does not move the sliding point", other.name))
                .help(format!("state how fast the point slides on the other:   {slip}"));
        self.report(d)
    }

    /// A surface that moves with time has a velocity that its equation does not state: at most its part along the normal follows.
    /// For a plane that keeps its direction the rest is taken as zero, with a note; elsewhere the slip has to be stated.
    fn mind_driven_surface(&mut self, draft: &Draft, name: &str, rows: &[Row]) -> Lowering<()> {
        let time = self.model.time;
        let positions: Vec<Expr> = self.model.coordinates.iter().map(|c| c.q).collect();
        let (mut is_driven, mut is_plane) = (false, true);
        for row in rows {
            let rate = self.graph.gradient_in(row.expr, |s| s == time);
            is_driven |= rate.iter().any(|(_, rate)| !is_zero(&self.graph, *rate));
            for (_, part) in self.graph.gradient_in(row.expr, |s| positions.contains(&s)) {
                let changes = self.graph.gradient_in(part, |s| s == time || positions.contains(&s));
                is_plane &= changes.iter().all(|(_, change)| is_zero(&self.graph, *change));
            }
        }
        if !is_driven {
            return Ok(());
        }
        let help = "state the velocity of the point relative to the surface:   \
                    with friction 0.3 and slip P' - (-Ω*y, Ω*x, 0)";
        if is_plane {
            let d = Diagnostic::note(
                "Z319",
                format!("`{name}` moves with time: its surface is taken to move along its normal only"),
            )
            .at(draft.span, "friction acts against the whole tangential velocity")
            .help("if it also moves along itself, state the slip:   with friction 0.3 and slip x' - u");
            self.diagnostics.push(d);
            return Ok(());
        }
        let d =
            Diagnostic::error("Z319", format!("`{name}` moves with time, and does not say how fast its surface moves"))
                .at(draft.span, "friction acts against the velocity relative to the surface")
                .help(help);
        self.report(d)
    }

    /// A force at the place must do the work of the constraint for all coordinates that move the place. In relative
    /// coordinates it does not, because it also acts on the other body.
    fn mind_work(
        &mut self,
        draft: &Draft,
        name: &str,
        reaction: &[(usize, Expr)],
        (place, force): (&[Expr], &[Expr]),
    ) -> Lowering<()> {
        let jacobian = self.jacobian(place);
        let (wrong, is_felt) = self.missed_work(reaction, &jacobian, force, false);
        let label = match wrong {
            Some(k) => format!("a force there would move `{}` as well", self.model.coordinates[k].name),
            None if !is_felt => "the normal force does not act there".to_string(),
            None => return Ok(()),
        };
        let d = Diagnostic::error("Z319", format!("no force at the sliding point does what `{name}` does"));
        self.report(d.at(draft.span, label).help(
            "name the place relative to what it slides on, which is moved by the coordinates in the gap:   and at B - A",
        ))
    }

    /// The first coordinate, among those that move a place or among all, along which a force there does not do the work
    /// of a constraint; and `true` if that force is not zero. The test is numerical, because equal formulas may look
    /// different.
    fn missed_work(
        &self,
        reaction: &[(usize, Expr)],
        jacobian: &[Vec<(Expr, Expr)>],
        force: &[Expr],
        of_all: bool,
    ) -> (Option<usize>, bool) {
        let coordinates = self.model.coordinates.iter().enumerate();
        let of = |row: &Vec<(Expr, Expr)>, q: Expr| row.iter().find(|(s, _)| *s == q).map_or(Expr::ZERO, |(_, d)| *d);
        let moved = |q: Expr| of_all || jacobian.iter().flatten().any(|(s, _)| *s == q);
        let looked_at: Vec<usize> = coordinates.filter(|(_, c)| moved(c.q)).map(|(k, _)| k).collect();
        let needed = |k: usize| reaction.iter().find(|(of, _)| *of == k).map_or(Expr::ZERO, |(_, part)| *part);
        let mut outputs = force.to_vec();
        for &k in &looked_at {
            outputs.push(needed(k));
            outputs.extend(jacobian.iter().map(|row| of(row, self.model.coordinates[k].q)));
        }
        let samples = samples(&self.graph, &outputs);
        let (mut wrong, mut is_felt) = (None, samples.is_empty());
        for values in samples {
            let (force, works) = values.split_at(force.len());
            let size = force.iter().map(|f| f * f).sum::<f64>().sqrt();
            let top = works.chunks_exact(1 + force.len()).fold(0.0, |top: f64, of| top.max(of[0].abs()));
            is_felt |= size > tolerance::ELIMINATED * top;
            for (&k, of) in looked_at.iter().zip(works.chunks_exact(1 + force.len())) {
                let done: f64 = of[1..].iter().zip(force).map(|(j, f)| j * f).sum();
                let arm = of[1..].iter().fold(0.0, |top: f64, j| top.max(j.abs()));
                if (done - of[0]).abs() > tolerance::ELIMINATED * (arm * size + of[0].abs()) {
                    wrong = wrong.or(Some(k));
                }
            }
        }
        (wrong, is_felt)
    }

    /// `true` if the Jacobian of a place depends on the coordinates, or if no coordinate moves one of its components:
    /// the point at which a wheel touches an edge is at rest while they touch.
    fn wanders(&mut self, place: &[Expr]) -> bool {
        let jacobian = self.jacobian(place);
        let is_position = |s: &Expr| matches!(self.meaning.get(s), Some(Meaning::Position(_)));
        let varies = |(_, by): &(Expr, Expr)| self.graph.symbols(*by).iter().any(is_position);
        jacobian.iter().any(Vec::is_empty) || jacobian.iter().flatten().any(varies)
    }

    /// The force on a particle or body whose coordinates are those of its place, if the gap grows with its distance
    /// from the surface at unit rate: the multiplier is then the force.
    fn distance_force(&mut self, reaction: &[(usize, Expr)], rows: &[Row], bare: &Bare) -> Option<Vec<Expr>> {
        let [row] = rows else { return None };
        let mut of: Vec<usize> =
            reaction.iter().filter_map(|(k, _)| bare.of.get(&self.model.coordinates[*k].q).copied()).collect();
        of.dedup();
        for spot in of {
            let Some(force) = self.determined_force(reaction, &bare.spots[spot].place) else { continue };
            let g = &mut self.graph;
            let (square, wanted) = (dot(g, &force, &force), g.mul(row.lambda, row.lambda));
            let difference = g.sub(square, wanted);
            if difference == Expr::ZERO || is_zero(g, difference) {
                return Some(force);
            }
        }
        None
    }

    /// The force at a place that the coordinates cannot move in every direction: the component along the directions in
    /// which they do, if it does the work of the constraint.
    fn guided_force(&mut self, reaction: &[(usize, Expr)], place: &[Expr]) -> Option<Vec<Expr>> {
        let jacobian = self.jacobian(place);
        let mut moving: Vec<Expr> = jacobian.iter().flatten().map(|(q, _)| *q).collect();
        moving.sort_unstable();
        moving.dedup();
        if moving.len() < jacobian.iter().filter(|row| !row.is_empty()).count() {
            return None;
        }
        let force: Vec<Expr> =
            self.force_at(reaction, &jacobian).into_iter().map(|part| part.unwrap_or(Expr::ZERO)).collect();
        self.missed_work(reaction, &jacobian, &force, true).0.is_none().then_some(force)
    }

    /// The force of one row alone, with unit multiplier.
    fn force_of(&mut self, force: &[Expr], rows: &[Row], row: &Row) -> Vec<Expr> {
        let alone = |r: &Row| (r.lambda, if r.lambda == row.lambda { Expr::ONE } else { Expr::ZERO });
        let alone: HashMap<Expr, Expr> = rows.iter().map(alone).collect();
        self.graph.substitute(force, &alone)
    }

    /// The velocity of a place orthogonal to the normals: a scalar in the plane and along a curve, a vector on a
    /// surface in space; `None` if the place cannot slide.
    fn tangential_velocity(&mut self, place: &[Expr], normals: &[Vec<Expr>]) -> Option<Vec<Expr>> {
        let velocity: Vec<Expr> = place.iter().map(|p| self.graph.rate(*p).unwrap_or(Expr::ZERO)).collect();
        self.along_surface(&velocity, normals)
    }

    /// Removes the normal component of a stated slip. A slip stated as a velocity may have one if the gap opens or the
    /// surface moves.
    fn without_normal(&mut self, slip: &[Expr], place: &[Expr], normals: &[Vec<Expr>]) -> Vec<Expr> {
        if slip.len() != place.len() {
            return slip.to_vec();
        }
        let g = &mut self.graph;
        let is_along = |normal: &Vec<Expr>| {
            let off = dot(g, normal, slip);
            off == Expr::ZERO || is_zero(g, off)
        };
        if normals.iter().all(is_along) {
            return slip.to_vec();
        }
        self.along_surface(slip, normals).unwrap_or_else(|| slip.to_vec())
    }

    /// The component of a velocity orthogonal to the normals.
    fn along_surface(&mut self, velocity: &[Expr], normals: &[Vec<Expr>]) -> Option<Vec<Expr>> {
        let g = &mut self.graph;
        match (normals, velocity) {
            ([normal], [vx, vy]) => {
                let across = cross2(g, normal, &[*vx, *vy]);
                let across = g.neg(across);
                Some(vec![part_along(g, across, normal)])
            }
            ([normal], [_, _, _]) => {
                let (along, square) = (dot(g, normal, velocity), dot(g, normal, normal));
                let along = g.div(along, square);
                let off = |(n, v): (&Expr, &Expr)| {
                    let part = g.mul(along, *n);
                    g.sub(*v, part)
                };
                Some(normal.iter().zip(velocity).map(off).collect())
            }
            ([one, two], [_, _, _]) => {
                let tangent = cross3(g, one, two);
                let along = dot(g, &tangent, velocity);
                Some(vec![part_along(g, along, &tangent)])
            }
            _ => None,
        }
    }

    fn slip_row(&mut self, name: &str, k: usize, expr: Expr) -> Row {
        let name = format!("{name}.slip{}", ["", ".y", ".z"].get(k).unwrap_or(&""));
        let lambda = self.graph.symbol(&format!("lambda({name})"), &multiplier_latex(&name));
        Row { name, expr, right: Expr::ZERO, level: Level::Velocity, lambda, dimension: None }
    }
}

fn dot(g: &mut Graph, x: &[Expr], y: &[Expr]) -> Expr {
    let parts: Vec<Expr> = x.iter().zip(y).map(|(x, y)| g.mul(*x, *y)).collect();
    g.sum(&parts)
}

/// x₀ y₁ − x₁ y₀.
fn cross2(g: &mut Graph, x: &[Expr], y: &[Expr]) -> Expr {
    let (a, b) = (g.mul(x[0], y[1]), g.mul(x[1], y[0]));
    g.sub(a, b)
}

fn cross3(g: &mut Graph, x: &[Expr], y: &[Expr]) -> Vec<Expr> {
    let pair = |v: &[Expr], k: usize| [v[(k + 1) % 3], v[(k + 2) % 3]];
    (0..3).map(|k| cross2(g, &pair(x, k), &pair(y, k))).collect()
}

/// A product with a vector, divided by the length of the vector.
fn part_along(g: &mut Graph, product: Expr, of: &[Expr]) -> Expr {
    let square = dot(g, of, of);
    let length = g.sqrt(square);
    g.div(product, length)
}
