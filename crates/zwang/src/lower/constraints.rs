//! Constraints, contacts and controls: equalities with their rows, levels and multipliers.

use crate::lower::names::{Labelled, family_of};
use crate::lower::value::Value;
use crate::lower::{Lower, Lowering, Meaning};
use crate::model::{Constraint, Level, Row};
use crate::syntax::Span;
use crate::syntax::name::canonical;
use crate::syntax::tree::*;
use crate::{diagnostic::Diagnostic, tolerance};
use zwang_expr::Expr;

impl Lower<'_> {
    /// Constraints, contacts and controls, each with its rows and multipliers.
    pub(super) fn constraints(&mut self) {
        let labels = self.tree.statements.iter().filter_map(|s| match &s.kind {
            StatementKind::Constraint { label, .. }
            | StatementKind::Contact { label, .. }
            | StatementKind::Control { label, .. } => label.as_ref().map(|l| canonical(&l.name.text)),
            _ => None,
        });
        self.labels.given = labels.collect();
        for statement in &self.tree.statements {
            let span = statement.span;
            match &statement.kind {
                StatementKind::Constraint { label, left, right, properties } => {
                    let friction = properties.iter().find(|p| p.name.text == "friction").map(|p| p.name.span);
                    self.stated(label.as_ref(), span, |lower, name, key| {
                        lower.known_properties(properties, &["friction", "sliding", "at", "slip"])?;
                        let c = lower.equality(("constraint", name), left, right, friction)?;
                        lower.check_properties(properties)?;
                        let label = Labelled::Constraint(lower.model.constraints.len());
                        lower.draft_friction(properties, label)?;
                        lower.labels.known.insert(key, label);
                        lower.sketch(label, [left, right]);
                        lower.model.constraints.push(c);
                        Ok(())
                    });
                }
                StatementKind::Contact { label, left, right, properties } => {
                    let friction = properties.iter().find(|p| p.name.text == "friction").map(|p| p.name.span);
                    self.stated(label.as_ref(), span, |lower, name, key| {
                        lower.known_properties(properties, &["restitution", "friction", "sliding", "at", "slip"])?;
                        let c = lower.equality(("contact", name), left, right, friction)?;
                        lower.check_properties(properties)?;
                        let restitution = lower.property(properties, "restitution")?.unwrap_or(Expr::ZERO);
                        if c.rows.iter().any(|row| row.level != Level::Position) {
                            let message = format!("contact `{}` is between velocities, not positions", c.name);
                            let d = Diagnostic::error("Z321", message).at(c.span, "states no gap");
                            let help = "state the gap itself, as in   contact floor: y >= 0   ; what acts with a velocity is a force";
                            return lower.report(d.help(help));
                        }
                        lower.model.restitutions.push(restitution);
                        let label = Labelled::Contact(lower.model.contacts.len());
                        lower.draft_friction(properties, label)?;
                        lower.labels.known.insert(key, label);
                        lower.sketch(label, [left, right]);
                        lower.model.contacts.push(c);
                        Ok(())
                    });
                }
                StatementKind::Control { label, left, right, using, properties } => {
                    self.stated(label.as_ref(), span, |lower, name, key| {
                        let stated = lower.equality(("control", name), left, right, None)?;
                        let control = lower.control(stated, using, properties)?;
                        let label = Labelled::Control(lower.model.controls.len());
                        lower.labels.known.insert(key, label);
                        lower.sketch(label, [left, right]);
                        lower.model.controls.push(control);
                        Ok(())
                    });
                }
                _ => {}
            }
        }
        self.weights_fit();
        self.limits_fit();
        self.rows_ready = true;
    }

    /// Calls `work` for the members of a label, or once with a generated name.
    fn stated(
        &mut self,
        label: Option<&Target>,
        span: Span,
        mut work: impl FnMut(&mut Self, String, String) -> Lowering<()>,
    ) {
        let Some(label) = label else {
            let name = loop {
                self.labels.n_unlabelled += 1;
                let name = format!("c{}", self.labels.n_unlabelled);
                if !self.labels.known.contains_key(&name) && !self.labels.given.contains(&name) {
                    break name;
                }
            };
            let _ = work(self, name.clone(), name);
            return;
        };
        self.each_member(label, |lower, member| {
            if let Some(first) = lower.labels.known.get(&member.key).copied() {
                let word = match first {
                    Labelled::Constraint(_) => "a constraint",
                    Labelled::Contact(_) => "a contact",
                    Labelled::Control(_) => "a control",
                };
                let first = lower.labelled(first).span;
                let d = Diagnostic::error("Z104", format!("`{}` is the name of {word} already", member.shown));
                let d = d.at(label.span, "named again here").and_at(first, "the first one");
                return lower.report(d.help("choose another label"));
            }
            if !member.indices.is_empty() {
                lower.labels.families.entry(family_of(&member.key)).or_default().push(member.key.clone());
            }
            lower.spend(span)?;
            let result = work(lower, member.shown.clone(), member.key.clone());
            if result.is_err() {
                lower.labels.failed.insert(member.key.clone());
            }
            result
        });
    }

    /// left − right, one row per component.
    fn equality(
        &mut self,
        (word, name): (&'static str, String),
        left: &Formula,
        right: &Formula,
        friction: Option<Span>,
    ) -> Lowering<Constraint> {
        let span = left.span.to(right.span);
        let (a, b) = (self.formula(left)?, self.formula(right)?);
        // (x, y) = 0 holds for each component
        let b = match (&a, b) {
            (Value::Vector(parts), Value::Scalar(q)) if q.expr == Expr::ZERO => Value::Vector(vec![q; parts.len()]),
            (_, b) => b,
        };
        if std::mem::discriminant(&a) != std::mem::discriminant(&b) || matches!(a, Value::Generalized(_)) {
            let d = Diagnostic::error("Z106", format!("`{name}` sets {} equal to {}", a.word(), b.word()));
            return self.report(d.at(right.span, b.word()).and_at(left.span, a.word()));
        }
        let (a, b) = (a.components(), b.components());
        if a.len() != b.len() {
            let d = Diagnostic::error(
                "Z106",
                format!("`{name}` compares vectors of {} and {} components", a.len(), b.len()),
            );
            return self.report(d.at(span, "must match"));
        }
        let n = a.len();
        let (mut rows, mut empty) = (Vec::new(), Vec::new());
        for (k, (a, b)) in a.into_iter().zip(b).enumerate() {
            let row_name = if n == 1 { name.clone() } else { format!("{name}.{}", ["x", "y", "z"][k]) };
            if a.expr != Expr::ZERO && b.expr != Expr::ZERO {
                self.same_dimension((&a.dim, left.span), (&b.dim, right.span), "an equation between different things")?;
            }
            let expr = self.graph.sub(a.expr, b.expr);
            if n > 1 && self.is_always_zero(expr) {
                empty.push(["x", "y", "z"][k]);
                continue;
            }
            let dim = if a.expr == Expr::ZERO { b.dim } else { a.dim };
            let level = self.level((word, &row_name), expr, (a.expr, b.expr), left, right)?;
            let lambda = self.graph.symbol(&format!("lambda({row_name})"), &multiplier_latex(&row_name));
            self.dims.rows.insert(lambda, dim);
            rows.push(Row { name: row_name, expr, right: b.expr, level, lambda, dimension: None });
        }
        self.report_empty((word, &name), &empty, n, span)?;
        Ok(Constraint { name, rows, n_components: n, span, friction })
    }

    /// `true` if an expression is zero as it stands, or a constant that rounds to zero.
    fn is_always_zero(&self, expr: Expr) -> bool {
        expr == Expr::ZERO || self.graph.constant_value(expr) == Some(0.0)
    }

    /// Z302: components of a vector equation that hold whatever the coordinates are; the others are kept.
    fn report_empty(
        &mut self,
        (word, name): (&str, &str),
        empty: &[&str],
        n_components: usize,
        span: Span,
    ) -> Lowering<()> {
        let (noun, verb, they) = match empty.len() {
            0 => return Ok(()),
            1 => ("component", "holds", "it says"),
            _ => ("components", "hold", "they say"),
        };
        if empty.len() == n_components {
            let d = Diagnostic::error("Z302", format!("{word} `{name}` holds whatever the coordinates are"));
            let d = d.at(span, "both sides are the same, so it says nothing");
            return self.report(d.help("leave it out, or correct one side"));
        }
        let names: Vec<String> = empty.iter().map(|axis| format!("`{axis}`")).collect();
        let message = format!("{noun} {} of {word} `{name}` {verb} whatever the coordinates are", names.join(" and "));
        let d = Diagnostic::note("Z302", message).at(span, format!("{they} nothing; the rest is kept"));
        self.diagnostics.push(d.help("nothing needs to be done if both sides are meant to be the same there"));
        Ok(())
    }

    /// The level of a row; a row without coordinates or with squared accelerations is reported.
    fn level(
        &mut self,
        (word, name): (&str, &str),
        expr: Expr,
        sides: (Expr, Expr),
        left: &Formula,
        right: &Formula,
    ) -> Lowering<Level> {
        let symbols = self.graph.symbols(expr);
        let has = |meaning: fn(&Meaning) -> bool| symbols.iter().any(|s| self.meaning.get(s).is_some_and(meaning));
        let span = left.span.to(right.span);
        if has(|m| *m == Meaning::Acceleration) {
            let is_acceleration = |s: &Expr| self.meaning.get(s) == Some(&Meaning::Acceleration);
            let wanted: Vec<Expr> = symbols.iter().copied().filter(is_acceleration).collect();
            let gradient = self.graph.gradient_in(expr, |s| wanted.contains(&s));
            let coefficients: Vec<Expr> = gradient.iter().map(|(_, d)| *d).collect();
            if self.graph.symbols_of(&coefficients).iter().any(|s| wanted.contains(s)) {
                let d = Diagnostic::error("Z304", format!("{word} `{name}` is not linear in the accelerations"));
                return self.report(d.at(span, "accelerations must appear linearly").help(format!(
                    "a {word} on positions or velocities may be nonlinear; the engine differentiates it"
                )));
            }
            self.diagnostics.push(
                Diagnostic::warning("Z303", format!("{word} `{name}` fixes an acceleration only"))
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
        self.no_coordinate((word, name), sides, left, right)
    }

    fn no_coordinate<T>(
        &mut self,
        (word, name): (&str, &str),
        sides: (Expr, Expr),
        left: &Formula,
        right: &Formula,
    ) -> Lowering<T> {
        let span = left.span.to(right.span);
        let values = self.model.constants_in(&self.graph, &[sides.0, sides.1]);
        let (a, b) = (values[0], values[1]);
        if self.graph.symbols_of(&[sides.0, sides.1]).iter().any(|s| self.parameter_of(*s).is_none()) {
            let d = match sides.0 == sides.1 {
                true => Diagnostic::error("Z302", format!("{word} `{name}` holds whatever the coordinates are"))
                    .at(span, "both sides are the same, so it restricts nothing"),
                false => Diagnostic::error("Z302", format!("{word} `{name}` contains no coordinate"))
                    .at(span, "no motion can make it true or false"),
            };
            return self.report(d.help("leave it out, or correct one side"));
        }
        let verdict = if !(a.is_finite() && b.is_finite()) {
            "no coordinate can make it true or false".to_string()
        } else if (a - b).abs() <= tolerance::ROUNDING * (a.abs() + b.abs()) {
            format!("both sides are {a} (in SI units), so it is simply true")
        } else {
            format!("{a} against {b} (in SI units), so it is simply false, by {}", (a - b).abs())
        };
        self.report(
            Diagnostic::error("Z302", format!("{word} `{name}` contains no coordinate"))
                .at(span, verdict)
                .help("if one parameter should follow another, give it that value:   parameter l = 2*r")
                .help("if it is simply true, leave it out"),
        )
    }

    /// Reports properties that are not in `known` and properties given twice.
    pub(super) fn known_properties(&mut self, properties: &[Property], known: &[&'static str]) -> Lowering<()> {
        for (k, property) in properties.iter().enumerate() {
            let name = &property.name.text;
            if properties[..k].iter().any(|p| p.name.text == *name) {
                let d =
                    Diagnostic::error("Z104", format!("`{name}` is given twice")).at(property.name.span, "given again");
                return self.report(d.help("keep one of them"));
            }
            if !known.contains(&name.as_str()) {
                let d = Diagnostic::error("Z107", format!("`{name}` is not a property of this statement"))
                    .at(property.name.span, "not known here");
                let d = match crate::syntax::name::nearest(name, known.iter().copied()) {
                    Some(near) => d.did_you_mean(near),
                    None => d.help(format!("properties here: {}", known.join(", "))),
                };
                return self.report(d);
            }
        }
        Ok(())
    }

    /// The value of a scalar property, or `None` if it is not given.
    pub(super) fn property(&mut self, properties: &[Property], name: &str) -> Lowering<Option<Expr>> {
        let Some(property) = properties.iter().find(|p| p.name.text == name) else { return Ok(None) };
        Ok(Some(self.scalar(&property.value)?.expr))
    }

    /// Evaluates the values of properties, so that their mistakes are found.
    fn check_properties(&mut self, properties: &[Property]) -> Lowering<()> {
        for property in properties {
            let Property { name, value } = property;
            let pure = matches!(name.text.as_str(), "friction" | "sliding" | "restitution" | "damping");
            if matches!(value.kind, FormulaKind::Text(_) | FormulaKind::Matrix(_)) {
                continue;
            }
            match self.formula(value)? {
                Value::Scalar(q) if pure => self.pure_number(&q.dim, value.span, &format!("`{}`", name.text))?,
                Value::Scalar(q) if name.text == "settling" => {
                    let time = self.dims.time.clone();
                    self.same_dimension((&time, name.span), (&q.dim, value.span), "a settling time is a time")?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The multiplier of a row as LaTeX: its name upright, with reserved characters escaped.
pub(super) fn multiplier_latex(row: &str) -> String {
    let escaped = row.replace('_', "\\_");
    format!("\\lambda_{{\\text{{{escaped}}}}}")
}
