//! Statements to the parts of a model: energies, forces, constraints, the start, and what to show.

use super::dimensions::Dim;
use super::names::{Entry, Label, Member, family_of};
use super::value::{Quantity, Value};
use super::{Lower, Lowered, Meaning};
use crate::diagnostic::Diagnostic;
use crate::model::{Constraint, Initial, Level, Load, Output, Row, Run};
use crate::syntax::Span;
use crate::syntax::name::{canonical, undotted};
use crate::syntax::tree::{self, *};
use crate::units::Dimension;
use zwang_expr::{Expr, Program};

/// What a force acts on.
enum Place {
    Coordinates(Vec<usize>),
    Point(Vec<Quantity>),
}

impl Lower<'_> {
    // ---- energies and forces ----

    /// Everything that adds to L or to the applied forces.
    pub(super) fn mechanics(&mut self) {
        let gravity = self.gravity();
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
                            return lower.give_up(
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

    /// The sum of all gravity statements, each with its place.
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
    ) -> Lowered<()> {
        self.known_properties(properties, &["mass", "inertia"])?;
        let Some(mass) = properties.iter().find(|p| p.name.text == "mass") else {
            let shown = &member.shown;
            let d = Diagnostic::error("Z107", format!("`{shown}` has no mass")).at(span, "no mass given");
            return self.give_up(d.help("add   with mass m   or make it a point:   point P = (x, y)"));
        };
        let mass_value = self.scalar(&mass.value)?;
        let place = self.definition(&member.key, at.span)?;
        let place = self.as_vector(place, at.span)?;
        let length = self.common_dimension(&place, at.span)?;

        // [E] = [m][P]²/[t]²
        let speed = length.times(&self.time_dim, -1.0);
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
            return self.give_up(Diagnostic::error("Z106", message).at(*field_span, "must match the places"));
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

    fn energy(&mut self, kind: EnergyKind, name: Option<&Name>, formula: &Formula) -> Lowered<()> {
        let value = match name {
            Some(name) => self.definition(&canonical(&name.text), name.span)?,
            None => self.formula(formula)?,
        };
        let Quantity { expr, dim } = self.as_scalar(value, formula.span)?;
        self.no_accelerations(expr, formula.span)?;
        let per = if kind == EnergyKind::Dissipation { -1.0 } else { 0.0 };
        let energy = self.energy_dim.times(&self.time_dim, per);
        self.same_dimension((&energy, formula.span), (&dim, formula.span), "energies of different units")?;
        let sum = match kind {
            EnergyKind::Lagrangian => &mut self.model.lagrangian,
            EnergyKind::Kinetic => &mut self.model.kinetic,
            EnergyKind::Potential => &mut self.model.potential,
            EnergyKind::Dissipation => &mut self.model.dissipation,
        };
        *sum = self.graph.add(*sum, expr);
        self.model.energy_spans.push(formula.span);
        Ok(())
    }

    fn no_accelerations(&mut self, expr: Expr, span: Span) -> Lowered<()> {
        let found = self.graph.symbols(expr).into_iter().find(|s| self.meaning.get(s) == Some(&Meaning::Acceleration));
        let Some(symbol) = found else { return Ok(()) };
        let name = self.graph.name(symbol).to_string();
        self.give_up(
            Diagnostic::error("Z404", format!("the acceleration `{name}` cannot stand here"))
                .at(span, format!("contains `{name}`"))
                .help(
                    "energies and forces contain positions, velocities and time; constraints may contain accelerations",
                ),
        )
    }

    fn mass(&mut self, targets: &[Target], formula: &Formula) -> Lowered<()> {
        for target in targets {
            if target.indices.iter().any(|i| matches!(i, Index::Range(Some(_), ..))) {
                self.each_member(target, |lower, member| lower.mass(&[single(target, member)], formula));
                continue;
            }
            let Some(coordinates) = self.coordinates_of(target) else {
                let name = &target.name.text;
                if self.unknown.contains(&canonical(name)) {
                    return Err(super::Abandoned);
                }
                let d =
                    Diagnostic::error("Z107", format!("`{name}` is not a coordinate, so it can have no mass this way"));
                return self.give_up(d.at(target.span, "not a coordinate").help("particle P at (x, y) with mass m"));
            };
            let value = self.scalar(formula)?;
            for k in coordinates {
                // [E] = [m][q]²/[t]²
                let speed = self.coordinate_dims[k].times(&self.time_dim, -1.0);
                self.energy_over(&speed.power(2.0), target.span, (&value.dim, formula.span), "a mass does not fit")?;
                self.add_kinetic(k, k, value.expr);
            }
        }
        self.model.energy_spans.push(formula.span);
        Ok(())
    }

    /// Adds ½ M q̇ᵢ q̇ⱼ to T.
    fn add_kinetic(&mut self, i: usize, j: usize, mass: Expr) {
        let half = self.graph.rational(1, 2);
        let (v, w) = (self.model.coordinates[i].qdot, self.model.coordinates[j].qdot);
        let term = self.graph.product(&[half, mass, v, w]);
        self.model.kinetic = self.graph.add(self.model.kinetic, term);
    }

    fn mass_matrix(&mut self, formula: &Formula) -> Lowered<()> {
        let n = self.model.coordinates.len();
        let FormulaKind::Matrix(rows) = &formula.kind else {
            let d = Diagnostic::error("Z107", "the mass matrix is written as rows between brackets");
            return self.give_up(d.at(formula.span, "not a matrix").help("mass matrix = [a, b; b, c]"));
        };
        if rows.len() != n || rows.iter().any(|r| r.len() != n) {
            let d =
                Diagnostic::error("Z107", format!("the mass matrix must be {n} by {n}, one row for each coordinate"));
            return self.give_up(d.at(formula.span, "wrong size"));
        }
        let mut entries = Vec::new();
        for row in rows {
            entries.push(row.iter().map(|e| self.scalar(e)).collect::<Lowered<Vec<_>>>()?);
        }
        for i in 0..n {
            for j in 0..n {
                let (a, b) = (&entries[i][j], &entries[j][i]);
                if a.expr != b.expr && !self.equal_at_random(a.expr, b.expr) {
                    let (r, c) = (i + 1, j + 1);
                    let message = format!("the mass matrix is not symmetric: entry {r},{c} and entry {c},{r} differ");
                    let d = Diagnostic::error("Z403", message).at(rows[i][j].span, format!("entry {r},{c}"));
                    return self.give_up(d.and_at(rows[j][i].span, format!("entry {c},{r}")));
                }
                if a.expr == Expr::ZERO {
                    continue;
                }
                let pair = self.coordinate_dims[i].times(&self.coordinate_dims[j], 1.0).times(&self.time_dim, -2.0);
                self.energy_over(&pair, formula.span, (&a.dim.clone(), rows[i][j].span), "a mass does not fit")?;
                self.add_kinetic(i, j, entries[i][j].expr);
            }
        }
        self.model.energy_spans.push(formula.span);
        Ok(())
    }

    /// Whether two expressions have the same value at a few arbitrary states.
    pub(super) fn equal_at_random(&self, a: Expr, b: Expr) -> bool {
        let symbols = self.graph.symbols_of(&[a, b]);
        let Ok(program) = Program::new(&self.graph, &symbols, &[a, b]) else { return false };
        let mut work = program.workspace();
        (1..4).all(|k| {
            let inputs: Vec<f64> = (0..symbols.len()).map(|j| 0.3 + ((7 * j + 5 * k) as f64).sin().abs()).collect();
            let mut out = [0.0; 2];
            program.run(&inputs, &mut work, &mut out);
            (out[0] - out[1]).abs() <= 1e-12 * (out[0].abs() + out[1].abs())
        })
    }

    fn place(&mut self, target: &Target) -> Lowered<Place> {
        if let Some(coordinates) = self.coordinates_of(target) {
            return Ok(Place::Coordinates(coordinates));
        }
        let member = self.one_member(target)?;
        let value = self.named(member.key, &member.shown, target.span)?;
        match value {
            Value::Vector(parts) => Ok(Place::Point(parts)),
            other => self.give_up(
                Diagnostic::error("Z106", format!("`{}` is {}, not a coordinate or point", member.shown, other.word()))
                    .at(target.span, "a force acts on a coordinate, a point or a body"),
            ),
        }
    }

    fn one_member(&mut self, target: &Target) -> Lowered<Member> {
        let mut members = self.members(target)?;
        match members.len() {
            1 => Ok(members.remove(0)),
            n => self.give_up(
                Diagnostic::error("Z109", format!("this names {n} things; one is expected"))
                    .at(target.span, "one only"),
            ),
        }
    }

    /// The members of a force's target; a range is worked through with its index bound.
    fn force(&mut self, is_torque: bool, target: &Target, value: &Formula) -> Lowered<()> {
        let loads = self.loads(is_torque, target, value)?;
        self.model.forces.extend(loads);
        Ok(())
    }

    fn loads(&mut self, is_torque: bool, target: &Target, formula: &Formula) -> Lowered<Vec<Load>> {
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

    fn load(&mut self, is_torque: bool, target: &Target, formula: &Formula) -> Lowered<Vec<Load>> {
        if is_torque {
            let name = Formula { span: target.span, kind: target_formula(target) };
            if let Some(key) = self.body_key(&name)? {
                return self.torque(&key, formula, target.span).map(|l| vec![l]);
            }
        }
        match self.place(target)? {
            Place::Coordinates(coordinates) => {
                let Quantity { expr, dim } = self.scalar(formula)?;
                self.no_accelerations(expr, formula.span)?;
                for &k in coordinates.iter().filter(|_| expr != Expr::ZERO) {
                    let own = self.coordinate_dims[k].clone();
                    self.energy_over(&own, target.span, (&dim, formula.span), "a force does not fit its coordinate")?;
                }
                Ok(coordinates.into_iter().map(|k| Load::Coordinate(k, expr)).collect())
            }
            Place::Point(_) if is_torque => {
                let d = Diagnostic::error("Z107", "a torque acts on a body or on an angle, not on a point");
                self.give_up(d.at(target.span, "a point"))
            }
            Place::Point(place) => {
                let value = self.formula(formula)?;
                let force = self.as_vector(value, formula.span)?;
                if force.len() != place.len() {
                    let message = format!("a force of {} components at a point of {}", force.len(), place.len());
                    return self.give_up(Diagnostic::error("Z106", message).at(formula.span, "must match"));
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

    fn torque(&mut self, key: &str, formula: &Formula, span: Span) -> Lowered<Load> {
        let frame = self.frame(key, span)?;
        let omega = frame.omega();
        let torque = self.formula(formula)?.components();
        if torque.len() != omega.len() {
            let message = format!("the torque has {} components, {} expected", torque.len(), omega.len());
            return self
                .give_up(Diagnostic::error("Z106", message).at(formula.span, "space axes; a scalar in the plane"));
        }
        for part in torque.iter().filter(|q| q.expr != Expr::ZERO) {
            self.no_accelerations(part.expr, formula.span)?;
            self.same_dimension(
                (&self.energy_dim.clone(), span),
                (&part.dim, formula.span),
                "a torque is an energy per angle",
            )?;
        }
        Ok(Load::Torque(omega, torque.into_iter().map(|q| q.expr).collect()))
    }

    // ---- constraints ----

    /// Constraints, contacts and controls, each with its rows and multipliers.
    pub(super) fn constraints(&mut self) {
        for statement in &self.tree.statements {
            let span = statement.span;
            match &statement.kind {
                StatementKind::Constraint { label, left, right, properties } => {
                    let friction = properties.iter().find(|p| p.name.text == "friction").map(|p| p.name.span);
                    self.stated(label.as_ref(), span, |lower, name, key| {
                        lower.known_properties(properties, &["friction", "sliding", "at", "slip"])?;
                        let c = lower.equality(name, left, right, friction)?;
                        lower.check_properties(properties)?;
                        if let Some(friction) = friction {
                            lower.later(format!("friction of `{}`", c.name), true, friction);
                        }
                        lower.labels.insert(key, Label::Constraint(lower.model.constraints.len()));
                        lower.model.constraints.push(c);
                        Ok(())
                    });
                }
                StatementKind::Contact { label, left, right, properties } => {
                    self.stated(label.as_ref(), span, |lower, name, key| {
                        lower.known_properties(properties, &["restitution", "friction", "sliding", "at", "slip"])?;
                        let c = lower.equality(name, left, right, None)?;
                        lower.check_properties(properties)?;
                        lower.later(format!("contact `{}`", c.name), true, span);
                        lower.labels.insert(key, Label::Contact(lower.model.contacts.len()));
                        lower.model.contacts.push(c);
                        Ok(())
                    });
                }
                StatementKind::Control { label, left, right, using, properties } => {
                    self.stated(label.as_ref(), span, |lower, name, key| {
                        lower.known_properties(properties, &["settling", "damping", "weight", "limit"])?;
                        let c = lower.equality(name, left, right, None)?;
                        lower.check_properties(properties)?;
                        let driven = lower.driven(using)?;
                        lower.later(format!("control `{}`", c.name), true, span);
                        lower.labels.insert(key, Label::Control(lower.model.controls.len()));
                        lower.model.controls.push((c, driven));
                        Ok(())
                    });
                }
                _ => {}
            }
        }
        self.rows_ready = true;
    }

    fn driven(&mut self, using: &[Target]) -> Lowered<Vec<usize>> {
        let mut driven = Vec::new();
        for target in using {
            match self.coordinates_of(target) {
                Some(coordinates) => driven.extend(coordinates),
                None => {
                    let d = Diagnostic::error(
                        "Z107",
                        format!("`{}` is not a coordinate, so it cannot be driven", target.name.text),
                    );
                    return self.give_up(d.at(target.span, "not a coordinate"));
                }
            }
        }
        Ok(driven)
    }

    /// Works through the members of a label, or once under a name of its own.
    fn stated(
        &mut self,
        label: Option<&Target>,
        span: Span,
        mut work: impl FnMut(&mut Self, String, String) -> Lowered<()>,
    ) {
        let Some(label) = label else {
            let name = (1..).map(|k| format!("c{k}")).find(|n| !self.labels.contains_key(n)).expect("a free name");
            let _ = work(self, name.clone(), name);
            return;
        };
        self.each_member(label, |lower, member| {
            if let Some(first) = lower.labels.get(&member.key).copied() {
                let first = lower.labelled(first).span;
                let d = Diagnostic::error("Z104", format!("two constraints are called `{}`", member.shown));
                let d = d.at(label.span, "named again here").and_at(first, "the first one");
                return lower.give_up(d.help("choose another label"));
            }
            if !member.indices.is_empty() {
                lower.label_families.entry(family_of(&member.key)).or_default().push(member.key.clone());
            }
            lower.spend(span)?;
            let result = work(lower, member.shown.clone(), member.key.clone());
            if result.is_err() {
                lower.failed_labels.insert(member.key.clone());
            }
            result
        });
    }

    /// left − right, one row per component.
    fn equality(
        &mut self,
        name: String,
        left: &Formula,
        right: &Formula,
        friction: Option<Span>,
    ) -> Lowered<Constraint> {
        let span = left.span.to(right.span);
        let (a, b) = (self.formula(left)?, self.formula(right)?);
        // (x, y) = 0 is read component by component
        let b = match (&a, b) {
            (Value::Vector(parts), Value::Scalar(q)) if q.expr == Expr::ZERO => Value::Vector(vec![q; parts.len()]),
            (_, b) => b,
        };
        if std::mem::discriminant(&a) != std::mem::discriminant(&b) || matches!(a, Value::Generalized(_)) {
            let d = Diagnostic::error("Z106", format!("`{name}` sets {} equal to {}", a.word(), b.word()));
            return self.give_up(d.at(right.span, b.word()).and_at(left.span, a.word()));
        }
        let (a, b) = (a.components(), b.components());
        if a.len() != b.len() {
            let d = Diagnostic::error(
                "Z106",
                format!("`{name}` compares vectors of {} and {} components", a.len(), b.len()),
            );
            return self.give_up(d.at(span, "must match"));
        }
        let n = a.len();
        let mut rows = Vec::new();
        for (k, (a, b)) in a.into_iter().zip(b).enumerate() {
            let row_name = if n == 1 { name.clone() } else { format!("{name}.{}", ["x", "y", "z"][k]) };
            if a.expr != Expr::ZERO && b.expr != Expr::ZERO {
                self.same_dimension((&a.dim, left.span), (&b.dim, right.span), "an equation between different things")?;
            }
            let expr = self.graph.sub(a.expr, b.expr);
            let dim = if a.expr == Expr::ZERO { b.dim } else { a.dim };
            let level = self.level(&row_name, expr, (a.expr, b.expr), left, right)?;
            let lambda =
                self.graph.symbol(&format!("lambda({row_name})"), &format!("\\lambda_{{\\mathrm{{{row_name}}}}}"));
            self.row_dims.insert(lambda, dim);
            rows.push(Row { name: row_name, expr, level, lambda, dimension: None });
        }
        Ok(Constraint { name, rows, span, friction })
    }

    /// What a row contains; a row without coordinates or with squared accelerations is a mistake.
    fn level(
        &mut self,
        name: &str,
        expr: Expr,
        sides: (Expr, Expr),
        left: &Formula,
        right: &Formula,
    ) -> Lowered<Level> {
        let symbols = self.graph.symbols(expr);
        let has = |meaning: fn(&Meaning) -> bool| symbols.iter().any(|s| self.meaning.get(s).is_some_and(meaning));
        let span = left.span.to(right.span);
        if has(|m| *m == Meaning::Acceleration) {
            let is_acceleration = |s: &Expr| self.meaning.get(s) == Some(&Meaning::Acceleration);
            let wanted: Vec<Expr> = symbols.iter().copied().filter(is_acceleration).collect();
            let gradient = self.graph.gradient_in(expr, |s| wanted.contains(&s));
            let coefficients: Vec<Expr> = gradient.iter().map(|(_, d)| *d).collect();
            if self.graph.symbols_of(&coefficients).iter().any(|s| wanted.contains(s)) {
                let d = Diagnostic::error("Z304", format!("constraint `{name}` is not linear in the accelerations"));
                return self
                    .give_up(d.at(span, "accelerations must appear linearly").help(
                        "a constraint on positions or velocities may be nonlinear; the engine differentiates it",
                    ));
            }
            self.diagnostics.push(
                Diagnostic::warning("Z303", format!("constraint `{name}` fixes an acceleration only"))
                    .at(span, "nothing corrects positions and velocities if they drift")
                    .help("for a prescribed motion write the position as a function of t"),
            );
            return Ok(Level::Acceleration);
        }
        if has(|m| *m == Meaning::Velocity) {
            return Ok(Level::Velocity);
        }
        if has(|m| matches!(m, Meaning::Position(_))) {
            return Ok(Level::Position);
        }
        self.no_coordinate(name, sides, left, right)
    }

    fn no_coordinate<T>(&mut self, name: &str, sides: (Expr, Expr), left: &Formula, right: &Formula) -> Lowered<T> {
        let span = left.span.to(right.span);
        let values = self.model.constants_in(&self.graph, &[sides.0, sides.1]);
        let (a, b) = (values[0], values[1]);
        if self.graph.symbols_of(&[sides.0, sides.1]).iter().any(|s| self.parameter_of(*s).is_none()) {
            return self.give_up(
                Diagnostic::error("Z302", format!("constraint `{name}` holds whatever the coordinates are"))
                    .at(span, "both sides are the same, so it constrains nothing")
                    .help("leave it out, or correct one side"),
            );
        }
        let verdict = if !(a.is_finite() && b.is_finite()) {
            "no coordinate can make it true or false".to_string()
        } else if (a - b).abs() <= 1e-12 * (a.abs() + b.abs()) {
            format!("both sides are {a} (in SI units), so it is simply true")
        } else {
            format!("{a} against {b} (in SI units), so it is simply false, by {}", (a - b).abs())
        };
        self.give_up(
            Diagnostic::error("Z302", format!("constraint `{name}` contains no coordinate"))
                .at(span, verdict)
                .help("if one parameter should follow another, give it that value:   parameter l = 2*r")
                .help("if it is simply true, leave it out"),
        )
    }

    /// Only these properties make sense here.
    fn known_properties(&mut self, properties: &[Property], known: &[&'static str]) -> Lowered<()> {
        for (k, property) in properties.iter().enumerate() {
            let name = &property.name.text;
            if properties[..k].iter().any(|p| p.name.text == *name) {
                let d =
                    Diagnostic::error("Z104", format!("`{name}` is given twice")).at(property.name.span, "given again");
                return self.give_up(d.help("keep one of them"));
            }
            if !known.contains(&name.as_str()) {
                let d = Diagnostic::error("Z107", format!("`{name}` is not a property of this statement"))
                    .at(property.name.span, "not known here");
                let d = match crate::syntax::name::nearest(name, known.iter().copied()) {
                    Some(near) => d.help(format!("did you mean `{near}`?")),
                    None => d.help(format!("properties here: {}", known.join(", "))),
                };
                return self.give_up(d);
            }
        }
        Ok(())
    }

    /// Works out the values of properties, so that their mistakes are found.
    fn check_properties(&mut self, properties: &[Property]) -> Lowered<()> {
        for property in properties {
            let Property { name, value } = property;
            let pure = matches!(name.text.as_str(), "friction" | "sliding" | "restitution" | "damping");
            if matches!(value.kind, FormulaKind::Text(_) | FormulaKind::Matrix(_)) {
                continue;
            }
            match self.formula(value)? {
                Value::Scalar(q) if pure => self.pure_number(&q.dim, value.span, &format!("`{}`", name.text))?,
                Value::Scalar(q) if name.text == "settling" => {
                    let time = self.time_dim.clone();
                    self.same_dimension((&time, name.span), (&q.dim, value.span), "a settling time is a time")?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    // ---- the start ----

    /// The equations of the start; their units also tell what the coordinates measure.
    pub(super) fn start(&mut self) {
        for statement in &self.tree.statements {
            let StatementKind::Start(list) = &statement.kind else { continue };
            let span =
                self.model.start_span.map_or(statement.span, |_| self.model.start_span.unwrap_or(statement.span));
            self.model.start_span = Some(span);
            for initial in list {
                self.each_member(&initial.target, |lower, member| lower.initial(member, initial));
            }
        }
    }

    fn initial(&mut self, member: &Member, initial: &tree::Initial) -> Lowered<()> {
        let (mut key, mut primes) = (member.key.clone(), initial.primes);
        if !self.entries.contains_key(&key) && !self.families.contains_key(&key) {
            if let Some((bare, dots)) = undotted(&initial.target.name.text) {
                key = bare + member.key.find('[').map_or("", |k| &member.key[k..]);
                primes += dots;
            }
        }
        if primes > 1 {
            let d = Diagnostic::error("Z205", "an acceleration cannot be given at the start");
            return self.give_up(d.at(initial.span, "follows from positions and velocities"));
        }
        let value = self.formula(&initial.value)?;
        // a whole family at once
        let keys = match self.families.get(&key) {
            Some(members) if !self.entries.contains_key(&key) => members.clone(),
            _ => vec![key],
        };
        for key in keys {
            self.initial_of(&key, &member.shown, primes, value.clone(), initial)?;
        }
        Ok(())
    }

    fn initial_of(
        &mut self,
        key: &str,
        shown: &str,
        primes: u32,
        value: Value,
        initial: &tree::Initial,
    ) -> Lowered<()> {
        let coordinate = match self.entries.get(key) {
            Some(&Entry::Coordinate(k)) => Some(k),
            Some(Entry::Parameter(_)) => {
                let d = Diagnostic::error("Z205", format!("`{shown}` is a parameter and has no start"));
                return self.give_up(
                    d.at(initial.span, "not a coordinate").help(format!("change its value: --set {shown}=…")),
                );
            }
            _ => None,
        };
        let quantity = self.named(key.to_string(), shown, initial.target.span)?;
        let quantity = self.primed(quantity, primes, initial.target.span)?;
        let is_vector = matches!(quantity, Value::Vector(_));
        let (quantities, values) = (quantity.components(), value.components());
        if quantities.len() != values.len() {
            let message = format!("`{shown}` has {} components, its start value {}", quantities.len(), values.len());
            return self.give_up(Diagnostic::error("Z106", message).at(initial.value.span, "must match"));
        }
        for (k, (quantity, value)) in quantities.into_iter().zip(values).enumerate() {
            let (own, given) = (initial.target.span, initial.value.span);
            if value.expr != Expr::ZERO {
                self.same_dimension((&quantity.dim, own), (&value.dim, given), "a start value does not fit")?;
            }
            self.check_constant(value.expr, given)?;
            let component = if is_vector { [".x", ".y", ".z"][k] } else { "" };
            let base = coordinate.map_or(shown.to_string(), |c| self.model.coordinates[c].name.clone());
            let name = format!("{base}{component}{}", "'".repeat(primes as usize));
            let entry = Initial {
                quantity: quantity.expr,
                coordinate,
                is_velocity: primes == 1,
                exact: initial.exact,
                value: value.expr,
                name,
                span: initial.span,
                is_override: initial.replaces,
            };
            self.add_initial(entry, initial.replaces)?;
        }
        Ok(())
    }

    fn check_constant(&mut self, value: Expr, span: Span) -> Lowered<()> {
        let Some(symbol) = self.graph.symbols(value).into_iter().find(|s| self.parameter_of(*s).is_none()) else {
            return Ok(());
        };
        let name = self.graph.name(symbol).to_string();
        self.give_up(
            Diagnostic::error("Z110", format!("`{name}` is not a constant"))
                .at(span, "a start value is made of numbers and parameters")
                .help(format!("give the number, or leave this entry out and let the constraints decide `{name}`")),
        )
    }

    fn add_initial(&mut self, entry: Initial, replaces: bool) -> Lowered<()> {
        let same = self.start_entries.get(&entry.quantity).copied();
        if let Some(k) = same.filter(|k| replaces && !self.model.start[*k].is_override) {
            self.model.start[k] = entry;
            return Ok(());
        }
        if let Some(first) = same.map(|k| &self.model.start[k]) {
            let d = Diagnostic::error("Z204", format!("`{}` is given twice in the start", entry.name));
            let d = d.at(entry.span, "given again here").and_at(first.span, "given here");
            return self.give_up(d.help("keep one of them"));
        }
        self.start_entries.insert(entry.quantity, self.model.start.len());
        self.model.start.push(entry);
        Ok(())
    }

    // ---- what to do with it ----

    /// Nonideal laws, outputs, plots and all that is wished of the motion.
    pub(super) fn wishes(&mut self) {
        for statement in &self.tree.statements {
            let span = statement.span;
            let _ = match &statement.kind {
                StatementKind::Nonideal { target, value } => {
                    self.loads(false, target, value).map(|loads| self.model.nonideal.extend(loads))
                }
                StatementKind::Output { target, value, unit } => {
                    self.each_member(target, |lower, m| lower.output(m, value, unit.as_ref()));
                    Ok(())
                }
                StatementKind::Plot { values, versus } => values.iter().chain(versus).try_for_each(|f| self.shown(f)),
                StatementKind::Animate(items) => {
                    self.later("`animate`".into(), false, span);
                    items.iter().try_for_each(|f| self.animated(f))
                }
                StatementKind::Run { duration, properties } => self.run(duration, properties),
                StatementKind::Sweep { target, range, properties } => self.sweep(target, range, properties, span),
                StatementKind::When { condition, target, primes, value } => {
                    self.when(condition, target, *primes, value, span)
                }
                StatementKind::Import { path, .. } => {
                    self.later(format!("import of \"{path}\""), true, span);
                    Ok(())
                }
                _ => Ok(()),
            };
        }
    }

    fn output(&mut self, member: &Member, formula: &Formula, unit: Option<&(crate::units::Unit, Span)>) -> Lowered<()> {
        let value = self.definition(&member.key, formula.span)?;
        let names = self.component_names(&value);
        for (suffix, quantity) in names.into_iter().zip(value.components()) {
            if let Some((unit, unit_span)) = unit {
                let wanted = Dim::from(unit.dimension);
                self.same_dimension(
                    (&quantity.dim, formula.span),
                    (&wanted, *unit_span),
                    "an output and its unit differ",
                )?;
            }
            let name = format!("{}{suffix}", member.shown);
            self.model.outputs.push(Output { name, expr: quantity.expr, unit: unit.map(|(u, _)| u.clone()) });
        }
        Ok(())
    }

    fn component_names(&self, value: &Value) -> Vec<String> {
        match value {
            Value::Scalar(_) => vec![String::new()],
            Value::Vector(v) => (0..v.len()).map(|k| format!(".{}", ["x", "y", "z"][k])).collect(),
            Value::Generalized(g) => g.iter().map(|(k, _)| format!(".{}", self.model.coordinates[*k].name)).collect(),
        }
    }

    /// Something to plot: a formula or a whole family.
    fn shown(&mut self, formula: &Formula) -> Lowered<()> {
        if let FormulaKind::Name(name) = &formula.kind {
            if self.families.contains_key(&canonical(name)) {
                return Ok(());
            }
        }
        self.formula(formula).map(|_| ())
    }

    /// Something to draw: a point, a body, a constraint, or the trace of a point.
    fn animated(&mut self, formula: &Formula) -> Lowered<()> {
        match &formula.kind {
            FormulaKind::Call(name, arguments) if name.text == "trace" => {
                arguments.iter().try_for_each(|a| self.shown(a))
            }
            FormulaKind::Name(name) | FormulaKind::Indexed(Name { text: name, .. }, _) => {
                let key = canonical(name);
                let is_label = self.labels.contains_key(&key) || self.label_families.contains_key(&key);
                if is_label { Ok(()) } else { self.shown(formula) }
            }
            _ => self.shown(formula),
        }
    }

    fn run(&mut self, duration: &Formula, properties: &[Property]) -> Lowered<()> {
        self.known_properties(properties, &["tolerance", "method", "step"])?;
        let value = self.constant(duration)?;
        // a run in seconds says nothing of a model in pure numbers, but a run in metres is a slip
        if let Some(dimension) = self.dimensions.known(&value.dim) {
            if !dimension.same(Dimension::SECOND) && !dimension.same(Dimension::NONE) {
                let d = Diagnostic::error("Z501", format!("a run lasts a time, not {dimension}"));
                return self.give_up(d.at(duration.span, dimension.to_string()).help("run 10 s"));
            }
        }
        let tolerance = properties.iter().find(|p| p.name.text == "tolerance");
        let tolerance = tolerance.map(|p| self.constant(&p.value)).transpose()?.map(|q| q.expr);
        let all: Vec<Expr> = std::iter::once(value.expr).chain(tolerance).collect();
        if self.model.constants_in(&self.graph, &all).iter().any(|x| *x <= 0.0) {
            let d = Diagnostic::error("Z109", "a run lasts a positive time, with a positive tolerance");
            return self.give_up(d.at(duration.span, "not positive").help("run 10 s with tolerance 1e-9"));
        }
        self.model.run = Some(Run { duration: value.expr, tolerance });
        Ok(())
    }

    fn sweep(&mut self, target: &Target, range: &SweepRange, properties: &[Property], span: Span) -> Lowered<()> {
        self.known_properties(properties, &["samples", "seed"])?;
        let member = self.one_member(target)?;
        let value = self.named(member.key.clone(), &member.shown, target.span)?;
        let swept = self.as_scalar(value, target.span)?;
        if !self.graph.symbols(swept.expr).iter().all(|s| self.parameter_of(*s).is_some()) {
            let d = Diagnostic::error("Z107", format!("`{}` is not a parameter, so it cannot be swept", member.shown));
            return self.give_up(d.at(target.span, "not a parameter").help("sweep a parameter or a constant"));
        }
        let values: Vec<&Formula> = match range {
            SweepRange::Steps(low, high, steps) => {
                if self.integer(steps)? < 1 {
                    let d = Diagnostic::error("Z109", "a sweep has at least one step").at(steps.span, "no steps");
                    return self.give_up(d.help("sweep l from 0.5 m to 2 m in 50 steps"));
                }
                vec![low, high]
            }
            SweepRange::Over(values) | SweepRange::Random(_, values) => values.iter().collect(),
        };
        for formula in values {
            let value = self.constant(formula)?;
            self.same_dimension((&swept.dim, target.span), (&value.dim, formula.span), "a sweep does not fit")?;
        }
        self.later(format!("sweep of `{}`", member.shown), false, span);
        Ok(())
    }

    fn when(&mut self, condition: &Formula, target: &Target, primes: u32, value: &Formula, span: Span) -> Lowered<()> {
        self.comparison(condition)?;
        let member = self.one_member(target)?;
        let changed = self.named(member.key.clone(), &member.shown, target.span)?;
        let is_parameter = matches!(self.entries.get(&member.key), Some(Entry::Parameter(_)));
        let is_velocity = primes == 1 && matches!(self.entries.get(&member.key), Some(Entry::Coordinate(_)));
        if !is_parameter && !is_velocity {
            let d = Diagnostic::error("Z107", "an event changes a parameter or a velocity");
            return self.give_up(d.at(target.span, "neither of them"));
        }
        let changed = self.primed(changed, primes, target.span)?;
        let (changed, value_of) = (self.as_scalar(changed, target.span)?, self.scalar(value)?);
        if value_of.expr != Expr::ZERO {
            self.same_dimension((&changed.dim, target.span), (&value_of.dim, value.span), "an event does not fit")?;
        }
        self.later(format!("the event that changes `{}`", member.shown), true, span);
        Ok(())
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

/// A target as a formula, to look it up.
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
