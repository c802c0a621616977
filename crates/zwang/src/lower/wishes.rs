//! What is wished of the motion: nonideal laws, outputs, plots, runs, sweeps and events.

use super::dimensions::Dim;
use super::names::{Entry, Member};
use super::value::Value;
use super::{Lower, Lowered};
use crate::diagnostic::Diagnostic;
use crate::model::{Derived, Load, Output, Run};
use crate::syntax::Span;
use crate::syntax::name::canonical;
use crate::syntax::tree::*;
use crate::units::Dimension;
use zwang_expr::Expr;

impl Lower<'_> {
    /// Nonideal laws, outputs, plots and all that is wished of the motion.
    pub(super) fn wishes(&mut self) {
        for statement in &self.tree.statements {
            let span = statement.span;
            let _ = match &statement.kind {
                StatementKind::Nonideal { target, value } => self.nonideal(target, value),
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

    /// A contribution to C; it may use the multipliers, but nothing that needs the motion.
    fn nonideal(&mut self, target: &Target, formula: &Formula) -> Lowered<()> {
        let loads = self.loads(false, target, formula)?;
        for load in &loads {
            let parts = match load {
                Load::Coordinate(_, part) => vec![*part],
                Load::Point(_, parts) | Load::Torque(_, parts) => parts.clone(),
            };
            let needs_motion = |s: &Expr| {
                use Derived::{Control, Gaussian, Power, Undetermined, Work};
                matches!(self.model.derived.get(s), Some(Gaussian | Work(_) | Power(_) | Control(_) | Undetermined))
            };
            if let Some(symbol) = self.graph.symbols_of(&parts).into_iter().find(needs_motion) {
                let name = self.graph.name(symbol).to_string();
                let d = Diagnostic::error("Z404", format!("`{name}` cannot stand in a nonideal law"));
                let d = d.at(formula.span, "not known before the force that this law gives");
                return self.give_up(d.help("`reaction(c)` and `lambda(c)` can: they are those of the ideal part"));
            }
        }
        self.model.nonideal.extend(loads);
        Ok(())
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
        if let FormulaKind::Name(name) = &formula.kind
            && self.families.contains_key(&canonical(name))
        {
            return Ok(());
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
        if let Some(dimension) = self.dimensions.known(&value.dim)
            && !dimension.same(Dimension::SECOND)
            && !dimension.same(Dimension::NONE)
        {
            let d = Diagnostic::error("Z501", format!("a run lasts a time, not {dimension}"));
            return self.give_up(d.at(duration.span, dimension.to_string()).help("run 10 s"));
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
            SweepRange::Steps(parts) => {
                let [low, high, steps] = &**parts;
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
