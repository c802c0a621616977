//! Controls: their targets, driven coordinates, error dynamics, weights and limits.

use crate::diagnostic::Diagnostic;
use crate::lower::{Dim, Lower, Lowering, Meaning, Quantity};
use crate::model::{Constraint, Control, Level};
use crate::syntax::tree::*;
use zwang_expr::Expr;

impl Lower<'_> {
    /// A control with its properties.
    pub(super) fn control(
        &mut self,
        stated: Constraint,
        using: &[Target],
        properties: &[Property],
    ) -> Lowering<Control> {
        self.known_properties(properties, &["settling", "damping", "weight", "limit"])?;
        let property = |name: &str| properties.iter().find(|p| p.name.text == name);
        let using = self.driven(using)?;
        let n = self.model.coordinates.len();
        let driven = if using.is_empty() { (0..n).collect() } else { using.clone() };
        // report every mistake, not only the first
        let settles = property("settling").is_some();
        let settling = property("settling").map(|p| self.settling(&stated, p)).transpose();
        let damping = property("damping").map(|p| self.damping(&stated, p, settles)).transpose();
        let weight = property("weight").map(|p| self.weight(p, driven.len())).transpose();
        let limit = property("limit").map(|p| self.limit(p, &driven)).transpose();
        let (settling, damping, weight, limit) = (settling?, damping?, weight?, limit?);
        Ok(Control {
            stated,
            using,
            settling,
            damping: damping.unwrap_or(Expr::ONE),
            weight: weight.unwrap_or_default(),
            limit: limit.unwrap_or_default(),
        })
    }

    /// The coordinates that `using` names, without repetition.
    fn driven(&mut self, using: &[Target]) -> Lowering<Vec<usize>> {
        let mut driven = Vec::new();
        for target in using {
            let Some(coordinates) = self.coordinates_of(target) else {
                let message = format!("`{}` is not a coordinate, so it cannot be driven", target.name.text);
                return self.report(Diagnostic::error("Z107", message).at(target.span, "not a coordinate"));
            };
            for k in coordinates {
                if driven.contains(&k) {
                    let message = format!("`{}` is named twice", self.model.coordinates[k].name);
                    return self.report(Diagnostic::error("Z104", message).at(target.span, "named again"));
                }
                driven.push(k);
            }
        }
        Ok(driven)
    }

    /// τ, a positive time; requires a target for positions or velocities, which can settle.
    fn settling(&mut self, stated: &Constraint, property: &Property) -> Lowering<Expr> {
        if stated.rows.iter().any(|row| row.level == Level::Acceleration) {
            let message = format!("`{}` asks for an acceleration, which has no error that could settle", stated.name);
            let d = Diagnostic::error("Z704", message).at(property.name.span, "nothing to settle");
            return self.report(d.help("ask for a position or a velocity, or write the law of the error yourself"));
        }
        self.positive_time(&property.value, "a settling time is", "with settling 0.2 s")
    }

    /// ζ, a positive number; requires a settling time and a target for positions.
    fn damping(&mut self, stated: &Constraint, property: &Property, settles: bool) -> Lowering<Expr> {
        let value = self.constant(&property.value)?;
        self.pure_number(&value.dim, property.value.span, "`damping`")?;
        if !settles {
            let d = Diagnostic::error("Z704", "`damping` belongs to `settling`, which is not given");
            return self.report(d.at(property.name.span, "damps nothing").help("with settling 0.2 s and damping 0.7"));
        }
        if stated.rows.iter().all(|row| row.level != Level::Position) {
            let message = format!("`{}` asks for a velocity, whose error settles without swinging", stated.name);
            let d = Diagnostic::error("Z704", message).at(property.name.span, "damps nothing");
            return self.report(d.help("leave `damping` out: the error falls as exp(-t/τ), with τ the settling time"));
        }
        if !self.is_positive(value.expr) {
            let d = Diagnostic::error("Z109", "a damping is a positive number").at(property.value.span, "not positive");
            return self.report(d.help("1 settles without swinging, less swings"));
        }
        Ok(value.expr)
    }

    /// W for k coordinates: one number for all, one for each, or a symmetric matrix.
    fn weight(&mut self, property: &Property, k: usize) -> Lowering<Vec<Expr>> {
        let span = property.value.span;
        let parts: Vec<Expr> = match &property.value.kind {
            FormulaKind::Matrix(rows) if rows.len() == k && k > 1 && rows.iter().all(|row| row.len() == k) => {
                return self.weight_matrix(rows, property);
            }
            FormulaKind::Matrix(rows) if rows.len() == 1 => {
                rows[0].iter().map(|f| Ok(self.scalar(f)?.expr)).collect::<Lowering<_>>()?
            }
            FormulaKind::Matrix(_) => Vec::new(),
            _ => self.entries(&property.value)?.iter().map(|q| q.expr).collect(),
        };
        let parts = if parts.len() == 1 { vec![parts[0]; k] } else { parts };
        if parts.len() != k {
            let message = format!("a weight for {k} driven coordinates has {k} entries, or one for all");
            let d = Diagnostic::error("Z704", message).at(span, "wrong size");
            return self.report(d.help("with weight (1, 4)   or   with weight [2, 1; 1, 3]"));
        }
        self.of_a_state(&parts, property)?;
        for (i, &part) in parts.iter().enumerate() {
            if self.graph.symbols(part).iter().all(|s| self.parameter_of(*s).is_some()) && !self.is_positive(part) {
                let d = Diagnostic::error("Z704", format!("entry {} of the weight is not positive", i + 1));
                return self.report(d.at(span, "not a metric").help("give positive numbers"));
            }
        }
        Ok((0..k * k).map(|at| if at % (k + 1) == 0 { parts[at / k] } else { Expr::ZERO }).collect())
    }

    fn weight_matrix(&mut self, rows: &[Vec<Formula>], property: &Property) -> Lowering<Vec<Expr>> {
        let k = rows.len();
        let mut entries = Vec::with_capacity(k * k);
        for formula in rows.iter().flatten() {
            entries.push(self.scalar(formula)?.expr);
        }
        for at in 0..k * k {
            if !self.same(entries[at], entries[at % k * k + at / k]) {
                let message = format!("the weight is not symmetric at entry {},{}", at / k + 1, at % k + 1);
                return self.report(Diagnostic::error("Z704", message).at(property.value.span, "not symmetric"));
            }
        }
        self.of_a_state(&entries, property)?;
        Ok(entries)
    }

    /// A list with one entry per driven coordinate; it may be longer than a vector.
    fn entries(&mut self, list: &Formula) -> Lowering<Vec<Quantity>> {
        match &list.kind {
            FormulaKind::Vector(parts) => parts.iter().map(|part| self.scalar(part)).collect(),
            _ => Ok(self.formula(list)?.components()),
        }
    }

    /// Requires that a weight depends on quantities of a state only.
    fn of_a_state(&mut self, exprs: &[Expr], property: &Property) -> Lowering<()> {
        let known =
            |s: &Expr| *s == self.model.time || !matches!(self.meaning.get(s), None | Some(Meaning::Acceleration));
        if self.graph.symbols_of(exprs).iter().all(known) {
            return Ok(());
        }
        let message = format!("`{}` contains more than positions, velocities and time", property.name.text);
        self.report(Diagnostic::error("Z704", message).at(property.value.span, "not known when the force is found"))
    }

    /// The largest force on each driven coordinate: one for all of them, or one for each.
    fn limit(&mut self, property: &Property, driven: &[usize]) -> Lowering<Vec<Expr>> {
        let span = property.value.span;
        let parts = self.entries(&property.value)?;
        let parts = if parts.len() == 1 { vec![parts[0].clone(); driven.len()] } else { parts };
        if parts.len() != driven.len() {
            let message =
                format!("a limit for {} driven coordinates has as many entries, or one for all", driven.len());
            return self.report(Diagnostic::error("Z704", message).at(span, "wrong size"));
        }
        for (part, &k) in parts.iter().zip(driven) {
            let force: Dim = self.dims.energy.times(&self.dims.coordinates[k], -1.0);
            let because = format!("a limit is a force on `{}`", self.model.coordinates[k].name);
            self.same_dimension((&force, property.name.span), (&part.dim, span), &because)?;
            self.check_constant(part.expr, span)?;
            if !self.is_positive(part.expr) {
                let d = Diagnostic::error("Z109", "a limit is a positive force").at(span, "not positive");
                return self.report(d.help("with limit 20 N*m"));
            }
        }
        Ok(parts.iter().map(|q| q.expr).collect())
    }

    /// Z704: limits of several controls on one coordinate, of which the smallest counts.
    pub(super) fn limits_fit(&mut self) {
        let n = self.model.coordinates.len();
        let mut first: Vec<Option<(usize, Expr)>> = vec![None; n];
        let mut differing = Vec::new();
        for (at, control) in self.model.controls.iter().enumerate() {
            for (k, &limit) in control.driven(n).into_iter().zip(&control.limit) {
                match first[k] {
                    None => first[k] = Some((at, limit)),
                    Some((other, before)) if before != limit => differing.push((k, other, at)),
                    Some(_) => {}
                }
            }
        }
        for (k, other, at) in differing {
            let controls = &self.model.controls;
            let (a, b) = (&controls[other].stated, &controls[at].stated);
            let name = &self.model.coordinates[k].name;
            let message = format!("the force on `{name}` has two limits, of `{}` and of `{}`", a.name, b.name);
            let d = Diagnostic::warning("Z704", message).at(b.span, "bounds it again").and_at(a.span, "bounds it");
            let d = d.with_note(
                "there is one force on a coordinate, whichever control asks for it: the smaller limit counts",
            );
            self.diagnostics.push(d.help("state a limit once for each coordinate"));
        }
    }

    /// Z704: either every control has a weight or none, and no coordinate has two weights.
    pub(super) fn weights_fit(&mut self) {
        let n = self.model.coordinates.len();
        let controls = &self.model.controls;
        let Some(first) = controls.iter().find(|c| !c.weight.is_empty()) else { return };
        let bare = controls.iter().find(|c| c.weight.is_empty());
        let mut seen = vec![false; n];
        let again = controls
            .iter()
            .filter(|c| !c.weight.is_empty())
            .find(|c| c.driven(n).into_iter().any(|k| std::mem::replace(&mut seen[k], true)));
        let (span, message) = match (bare, again) {
            (Some(bare), _) => {
                let (a, b) = (&first.stated.name, &bare.stated.name);
                (
                    bare.stated.span,
                    format!("`{a}` has a weight and `{b}` has none, so that they cannot share the force"),
                )
            }
            (None, Some(again)) => {
                (again.stated.span, format!("`{}` weighs a force that another control weighs too", again.stated.name))
            }
            (None, None) => return,
        };
        let d = Diagnostic::error("Z704", message).at(span, "the forces of all controls are found together");
        self.diagnostics.push(d.help("give every control a weight for coordinates of its own, or none"));
    }
}
