//! Energies and forces: particles, bodies, Lagrangians, masses, loads.

use crate::diagnostic::Diagnostic;
use crate::equations::zero::is_zero;
use crate::lower::names::Member;
use crate::lower::value::{Quantity, Value};
use crate::lower::{Lower, Lowering, Meaning};
use crate::model::Load;
use crate::syntax::Span;
use crate::syntax::name::canonical;
use crate::syntax::tree::*;
use zwang_expr::Expr;

/// The object that a force acts on.
enum ForceTarget {
    Coordinates(Vec<usize>),
    Point(Vec<Quantity>),
}

impl Lower<'_> {
    /// Lowers all statements that contribute to L or to the applied forces.
    pub(super) fn mechanics(&mut self) {
        let gravity = self.gravity();
        self.model.gravity = gravity.iter().flat_map(|(field, _)| field).map(|g| g.expr).collect();
        for statement in &self.tree.statements {
            let _ = match &statement.kind {
                StatementKind::Particle { target, at, properties } => {
                    self.each_member(target, |lower, m| lower.particle(m, at, properties, &gravity, target.span));
                    Ok(())
                }
                StatementKind::Body { target, at, turned, properties } => {
                    self.each_member(target, |lower, m| {
                        lower.particle(m, at, properties, &gravity, target.span)?;
                        let Some(inertia) = properties.iter().find(|p| p.name.text == "inertia") else {
                            let d = Diagnostic::error("Z107", format!("body `{}` has no inertia", m.shown));
                            let d = d.at(target.span, "no moment of inertia given");
                            return lower.report(
                                d.help("add   and inertia I   (0 for a massless frame), or make it a particle"),
                            );
                        };
                        lower.body_energy(m, turned, &inertia.value, target.span)
                    });
                    Ok(())
                }
                StatementKind::Energy { kind, name, value } => self.energy(*kind, name.as_ref(), value),
                StatementKind::Mass { targets, value } => self.mass(targets, value),
                StatementKind::MassMatrix(matrix) => self.mass_matrix(matrix),
                StatementKind::Force { is_torque, targets, value } => {
                    targets.iter().try_for_each(|target| self.force(*is_torque, target, value))
                }
                _ => Ok(()),
            };
        }
    }

    /// The sum of all gravity statements, with its position in the text.
    fn gravity(&mut self) -> Option<(Vec<Quantity>, Span)> {
        let mut total: Option<(Value, Span)> = None;
        for statement in &self.tree.statements {
            let StatementKind::Gravity(formula) = &statement.kind else { continue };
            let Ok(value) = self.formula(formula) else { continue };
            total = match total {
                None => Some((value, formula.span)),
                Some((sum, span)) => self.added(sum, value, (span, formula.span)).ok().map(|v| (v, span)),
            };
        }
        let (value, span) = total?;
        Some((self.as_vector(value, span).ok()?, span))
    }

    /// T = ½ m |P'|² and, under gravity, V = −m g·P.
    fn particle(
        &mut self,
        member: &Member,
        at: &Formula,
        properties: &[Property],
        gravity: &Option<(Vec<Quantity>, Span)>,
        span: Span,
    ) -> Lowering<()> {
        self.known_properties(properties, &["mass", "inertia"])?;
        let Some(mass) = properties.iter().find(|p| p.name.text == "mass") else {
            let shown = &member.shown;
            let d = Diagnostic::error("Z107", format!("`{shown}` has no mass")).at(span, "no mass given");
            return self.report(d.help("add   with mass m   or make it a point:   point P = (x, y)"));
        };
        let mass_value = self.scalar(&mass.value)?;
        let place = self.definition(&member.key, at.span)?;
        let place = self.as_vector(place, at.span)?;
        let length = self.common_dimension(&place, at.span)?;

        // [E] = [m][P]²/[t]²
        let speed = length.times(&self.dims.time, -1.0);
        self.energy_over(&speed.power(2.0), span, (&mass_value.dim, mass.value.span), "a mass does not fit")?;
        let velocity = self.primed(Value::Vector(place.clone()), 1, at.span)?.components();
        let squares: Vec<Expr> = velocity.iter().map(|v| self.graph.powi(v.expr, 2)).collect();
        let sum = self.graph.sum(&squares);
        let half = self.graph.rational(1, 2);
        let kinetic = self.graph.product(&[half, mass_value.expr, sum]);
        self.model.kinetic = self.graph.add(self.model.kinetic, kinetic);

        let Some((field, field_span)) = gravity else { return Ok(()) };
        if field.len() != place.len() {
            let (n, k) = (place.len(), field.len());
            let message = format!("`{}` has {n} components, gravity has {k}", member.shown);
            return self.report(Diagnostic::error("Z106", message).at(*field_span, "must match the places"));
        }
        let mut terms = Vec::new();
        for (g, p) in field.iter().zip(&place).filter(|(g, _)| g.expr != Expr::ZERO) {
            let moment = mass_value.dim.times(&p.dim, 1.0);
            self.energy_over(&moment, span, (&g.dim, *field_span), "gravity does not fit")?;
            terms.push(self.graph.product(&[Expr::MINUS_ONE, mass_value.expr, g.expr, p.expr]));
        }
        let weight = self.graph.sum(&terms);
        self.model.potential = self.graph.add(self.model.potential, weight);
        Ok(())
    }

    fn energy(&mut self, kind: EnergyKind, name: Option<&Name>, formula: &Formula) -> Lowering<()> {
        let value = match name {
            Some(name) => self.definition(&canonical(&name.text), name.span)?,
            None => self.formula(formula)?,
        };
        let Quantity { expr, dim } = self.as_scalar(value, formula.span)?;
        self.no_accelerations(expr, formula.span)?;
        let per = if kind == EnergyKind::Dissipation { -1.0 } else { 0.0 };
        let energy = self.dims.energy.times(&self.dims.time, per);
        self.same_dimension((&energy, formula.span), (&dim, formula.span), "energies of different units")?;
        let sum = match kind {
            EnergyKind::Lagrangian => &mut self.model.lagrangian,
            EnergyKind::Kinetic => &mut self.model.kinetic,
            EnergyKind::Potential => &mut self.model.potential,
            EnergyKind::Dissipation => &mut self.model.dissipation,
        };
        *sum = self.graph.add(*sum, expr);
        self.model.energy_span.get_or_insert(formula.span);
        Ok(())
    }

    fn no_accelerations(&mut self, expr: Expr, span: Span) -> Lowering<()> {
        let found = self.graph.symbols(expr).into_iter().find(|s| self.meaning.get(s) == Some(&Meaning::Acceleration));
        let Some(symbol) = found else { return Ok(()) };
        let name = self.graph.name(symbol).to_string();
        self.report(
            Diagnostic::error("Z404", format!("the acceleration `{name}` cannot stand here"))
                .at(span, format!("contains `{name}`"))
                .help(
                    "energies and forces contain positions, velocities and time; constraints may contain accelerations",
                ),
        )
    }

    fn mass(&mut self, targets: &[Target], formula: &Formula) -> Lowering<()> {
        for target in targets {
            if target.indices.iter().any(|i| matches!(i, Index::Range(Some(_), ..))) {
                self.each_member(target, |lower, member| lower.mass(&[single(target, member)], formula));
                continue;
            }
            let Some(coordinates) = self.coordinates_of(target) else {
                let name = &target.name.text;
                if self.names.unknown.contains(&canonical(name)) {
                    return Err(crate::lower::Reported);
                }
                let d =
                    Diagnostic::error("Z107", format!("`{name}` is not a coordinate, so it can have no mass this way"));
                return self.report(d.at(target.span, "not a coordinate").help("particle P at (x, y) with mass m"));
            };
            let value = self.scalar(formula)?;
            for k in coordinates {
                // [E] = [m][q]²/[t]²
                let speed = self.dims.coordinates[k].times(&self.dims.time, -1.0);
                self.energy_over(&speed.power(2.0), target.span, (&value.dim, formula.span), "a mass does not fit")?;
                self.add_kinetic(k, k, value.expr);
            }
        }
        self.model.energy_span.get_or_insert(formula.span);
        Ok(())
    }

    /// Adds ½ M q̇ᵢ q̇ⱼ to T.
    fn add_kinetic(&mut self, i: usize, j: usize, mass: Expr) {
        let half = self.graph.rational(1, 2);
        let (v, w) = (self.model.coordinates[i].qdot, self.model.coordinates[j].qdot);
        let term = self.graph.product(&[half, mass, v, w]);
        self.model.kinetic = self.graph.add(self.model.kinetic, term);
    }

    fn mass_matrix(&mut self, formula: &Formula) -> Lowering<()> {
        let n = self.model.coordinates.len();
        let FormulaKind::Matrix(rows) = &formula.kind else {
            let d = Diagnostic::error("Z107", "the mass matrix is written as rows between brackets");
            return self.report(d.at(formula.span, "not a matrix").help("mass matrix = [a, b; b, c]"));
        };
        if rows.len() != n || rows.iter().any(|r| r.len() != n) {
            let d =
                Diagnostic::error("Z107", format!("the mass matrix must be {n} by {n}, one row for each coordinate"));
            return self.report(d.at(formula.span, "wrong size"));
        }
        let mut entries = Vec::new();
        for row in rows {
            entries.push(row.iter().map(|e| self.scalar(e)).collect::<Lowering<Vec<_>>>()?);
        }
        for i in 0..n {
            for j in 0..n {
                let (a, b) = (&entries[i][j], &entries[j][i]);
                if !self.same(a.expr, b.expr) {
                    let (r, c) = (i + 1, j + 1);
                    let message = format!("the mass matrix is not symmetric: entry {r},{c} and entry {c},{r} differ");
                    let d = Diagnostic::error("Z403", message).at(rows[i][j].span, format!("entry {r},{c}"));
                    return self.report(d.and_at(rows[j][i].span, format!("entry {c},{r}")));
                }
                if a.expr == Expr::ZERO {
                    continue;
                }
                let pair = self.dims.coordinates[i].times(&self.dims.coordinates[j], 1.0).times(&self.dims.time, -2.0);
                self.energy_over(&pair, formula.span, (&a.dim.clone(), rows[i][j].span), "a mass does not fit")?;
                self.add_kinetic(i, j, entries[i][j].expr);
            }
        }
        self.model.energy_span.get_or_insert(formula.span);
        Ok(())
    }

    /// `true` if two expressions are equal, even if they are written differently.
    pub(super) fn same(&mut self, a: Expr, b: Expr) -> bool {
        let difference = self.graph.sub(a, b);
        is_zero(&self.graph, difference)
    }

    fn place(&mut self, target: &Target) -> Lowering<ForceTarget> {
        if let Some(coordinates) = self.coordinates_of(target) {
            return Ok(ForceTarget::Coordinates(coordinates));
        }
        let member = self.one_member(target)?;
        let value = self.named(member.key, &member.shown, target.span)?;
        match value {
            Value::Vector(parts) => Ok(ForceTarget::Point(parts)),
            other => self.report(
                Diagnostic::error("Z106", format!("`{}` is {}, not a coordinate or point", member.shown, other.word()))
                    .at(target.span, "a force acts on a coordinate, a point or a body"),
            ),
        }
    }

    pub(super) fn one_member(&mut self, target: &Target) -> Lowering<Member> {
        let mut members = self.members(target)?;
        match members.len() {
            1 => Ok(members.remove(0)),
            n => self.report(
                Diagnostic::error("Z109", format!("this names {n} things; one is expected"))
                    .at(target.span, "one only"),
            ),
        }
    }

    /// The loads on all members of a force's target; a range is lowered with its index bound.
    fn force(&mut self, is_torque: bool, target: &Target, value: &Formula) -> Lowering<()> {
        let loads = self.loads(is_torque, target, value)?;
        self.model.forces.extend(loads);
        Ok(())
    }

    pub(super) fn loads(&mut self, is_torque: bool, target: &Target, formula: &Formula) -> Lowering<Vec<Load>> {
        let mut loads = Vec::new();
        let ranged = target.indices.iter().any(|i| matches!(i, Index::Range(..)));
        if !ranged {
            return self.load(is_torque, target, formula).map(|l| loads.into_iter().chain(l).collect());
        }
        let members = self.members(target)?;
        for member in members {
            let one = single(target, &member);
            let bound = self.bound(&member);
            let before = std::mem::replace(&mut self.locals, bound);
            let result = self.load(is_torque, &one, formula);
            self.locals = before;
            loads.extend(result?);
        }
        Ok(loads)
    }

    fn load(&mut self, is_torque: bool, target: &Target, formula: &Formula) -> Lowering<Vec<Load>> {
        if is_torque {
            let name = Formula { span: target.span, kind: target_formula(target) };
            if let Some(key) = self.body_key(&name)? {
                return self.torque(&key, formula, target.span).map(|l| vec![l]);
            }
        }
        match self.place(target)? {
            ForceTarget::Coordinates(coordinates) => {
                let Quantity { expr, dim } = self.scalar(formula)?;
                self.no_accelerations(expr, formula.span)?;
                for &k in coordinates.iter().filter(|_| expr != Expr::ZERO) {
                    let own = self.dims.coordinates[k].clone();
                    self.energy_over(&own, target.span, (&dim, formula.span), "a force does not fit its coordinate")?;
                }
                Ok(coordinates.into_iter().map(|k| Load::Coordinate(k, expr)).collect())
            }
            ForceTarget::Point(_) if is_torque => {
                let d = Diagnostic::error("Z107", "a torque acts on a body or on an angle, not on a point");
                self.report(d.at(target.span, "a point"))
            }
            ForceTarget::Point(place) => {
                let value = self.formula(formula)?;
                let force = self.as_vector(value, formula.span)?;
                if force.len() != place.len() {
                    let message = format!("a force of {} components at a point of {}", force.len(), place.len());
                    return self.report(Diagnostic::error("Z106", message).at(formula.span, "must match"));
                }
                for (f, p) in force.iter().zip(&place).filter(|(f, p)| f.expr != Expr::ZERO && p.expr != Expr::ZERO) {
                    self.no_accelerations(f.expr, formula.span)?;
                    self.energy_over(&p.dim, target.span, (&f.dim, formula.span), "a force does not fit its point")?;
                }
                let exprs = |v: Vec<Quantity>| v.into_iter().map(|q| q.expr).collect();
                Ok(vec![Load::Point(exprs(place), exprs(force))])
            }
        }
    }

    fn torque(&mut self, key: &str, formula: &Formula, span: Span) -> Lowering<Load> {
        let frame = self.frame(key, span)?;
        let omega = frame.omega();
        let torque = self.formula(formula)?.components();
        if torque.len() != omega.len() {
            let message = format!("the torque has {} components, {} expected", torque.len(), omega.len());
            return self
                .report(Diagnostic::error("Z106", message).at(formula.span, "space axes; a scalar in the plane"));
        }
        for part in torque.iter().filter(|q| q.expr != Expr::ZERO) {
            self.no_accelerations(part.expr, formula.span)?;
            self.same_dimension(
                (&self.dims.energy.clone(), span),
                (&part.dim, formula.span),
                "a torque is an energy per angle",
            )?;
        }
        Ok(Load::Torque(omega, torque.into_iter().map(|q| q.expr).collect()))
    }
}

/// One member of a target as a target of its own.
fn single(target: &Target, member: &Member) -> Target {
    let number = |k: &i64| match k {
        0.. => FormulaKind::Number(k.to_string()),
        _ => {
            FormulaKind::Negative(Box::new(Formula { span: target.span, kind: FormulaKind::Number((-k).to_string()) }))
        }
    };
    let index = |k: &i64| Index::One(Formula { span: target.span, kind: number(k) });
    let indices = member.indices.iter().map(index).collect();
    Target { name: target.name.clone(), indices, span: target.span }
}

/// A target as a formula, for a lookup.
fn target_formula(target: &Target) -> FormulaKind {
    let index = |i: &Index| match i {
        Index::One(formula) => Some(formula.clone()),
        Index::Range(..) => None,
    };
    match target.indices.iter().map(index).collect::<Option<Vec<_>>>() {
        Some(indices) if !indices.is_empty() => FormulaKind::Indexed(target.name.clone(), indices),
        _ => FormulaKind::Name(target.name.text.clone()),
    }
}
