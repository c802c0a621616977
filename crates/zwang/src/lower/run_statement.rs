//! Nonideal laws, runs and sweeps.

use crate::diagnostic::Diagnostic;
use crate::lower::{Lower, Lowering};
use crate::model::{Derived, Load, METHODS, RunStatement};
use crate::syntax::Span;
use crate::syntax::name::nearest;
use crate::syntax::tree::*;
use crate::units::Dimension;
use zwang_expr::Expr;

impl Lower<'_> {
    /// Lowers nonideal laws, outputs, plots, runs and sweeps.
    pub(super) fn requests(&mut self) {
        for statement in &self.tree.statements {
            let span = statement.span;
            let _ = match &statement.kind {
                StatementKind::Nonideal { target, value } => {
                    self.states_law = true;
                    let done = self.nonideal(target, value);
                    self.states_law = false;
                    done
                }
                StatementKind::Output { target, value, unit } => {
                    self.each_member(target, |lower, m| lower.output(m, value, unit.as_ref()));
                    Ok(())
                }
                StatementKind::Plot { values, versus } => self.plot(values, versus.as_ref(), span),
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

    /// A contribution to C; it may use the multipliers, but no quantity that requires the motion.
    fn nonideal(&mut self, target: &Target, formula: &Formula) -> Lowering<()> {
        let loads = self.loads(false, target, formula)?;
        for load in &loads {
            let parts = match load {
                Load::Coordinate(_, part) => vec![*part],
                Load::Point(_, parts) | Load::Torque(_, parts) => parts.clone(),
            };
            let needs_motion = |s: &Expr| {
                use Derived::{Control, ControlPower, ControlWork, Gaussian, Power, Undetermined, Work};
                let of_control =
                    matches!(self.model.derived.get(s), Some(Control(_) | ControlPower(_) | ControlWork(_)));
                of_control || matches!(self.model.derived.get(s), Some(Gaussian | Work(_) | Power(_) | Undetermined))
            };
            if let Some(symbol) = self.graph.symbols_of(&parts).into_iter().find(needs_motion) {
                let name = self.graph.name(symbol).to_string();
                let d = Diagnostic::error("Z404", format!("`{name}` cannot stand in a nonideal law"));
                let d = d.at(formula.span, "not known before the force that this law gives");
                return self.report(d.help("`reaction(c)` and `lambda(c)` can: they are those of the ideal part"));
            }
        }
        self.model.nonideal.extend(loads);
        Ok(())
    }

    fn run(&mut self, duration: &Formula, properties: &[Property]) -> Lowering<()> {
        self.known_properties(properties, &["tolerance", "method", "step"])?;
        let value_of = |name: &str| properties.iter().find(|p| p.name.text == name).map(|p| &p.value);
        let run = RunStatement {
            duration: self.positive_time(duration, "a run lasts", "run 10 s")?,
            tolerance: value_of("tolerance").map(|f| self.tolerance(f)).transpose()?,
            method: value_of("method").map(|f| self.method(f)).transpose()?,
            step: value_of("step")
                .map(|f| self.positive_time(f, "a step lasts", "run 10 s with step 0.01 s"))
                .transpose()?,
        };
        self.model.run = Some(run);
        Ok(())
    }

    /// A positive constant time, in seconds.
    pub(super) fn positive_time(&mut self, formula: &Formula, what: &str, form: &str) -> Lowering<Expr> {
        let value = self.constant(formula)?;
        // a duration in seconds is allowed in a model of pure numbers, but one in metres is a mistake
        match self.dimensions.known(&value.dim) {
            Some(dimension) if !dimension.same(Dimension::SECOND) && !dimension.same(Dimension::NONE) => {
                let d = Diagnostic::error("Z501", format!("{what} a time, not {dimension}"));
                return self.report(d.at(formula.span, dimension.to_string()).help(form));
            }
            None if self.tree.has_units => {
                self.same_dimension((&value.dim, formula.span), (&Dimension::SECOND.into(), formula.span), "a time")?;
            }
            _ => {}
        }
        if !self.is_positive(value.expr) {
            let d = Diagnostic::error("Z109", format!("{what} a positive time"));
            return self.report(d.at(formula.span, "not positive").help(form));
        }
        Ok(value.expr)
    }

    fn tolerance(&mut self, formula: &Formula) -> Lowering<Expr> {
        let value = self.constant(formula)?.expr;
        if !self.is_positive(value) {
            let d = Diagnostic::error("Z109", "a tolerance is a positive number").at(formula.span, "not positive");
            return self.report(d.help("run 10 s with tolerance 1e-9"));
        }
        Ok(value)
    }

    /// `true` if a constant is positive and finite.
    pub(super) fn is_positive(&self, constant: Expr) -> bool {
        let value = self.model.constants_in(&self.graph, &[constant])[0];
        value > 0.0 && value.is_finite()
    }

    /// The method of a `run`, as a word or in quotes.
    fn method(&mut self, formula: &Formula) -> Lowering<(String, Span)> {
        let (FormulaKind::Name(word) | FormulaKind::Text(word)) = &formula.kind else {
            return Err(crate::lower::Reported);
        };
        if METHODS.contains(&word.as_str()) {
            return Ok((word.clone(), formula.span));
        }
        let d = Diagnostic::error("Z107", format!("`{word}` is not a method")).at(formula.span, "not known");
        let d = match nearest(word, METHODS.into_iter()) {
            Some(near) => d.did_you_mean(near),
            None => d,
        };
        self.report(d.help(format!("the methods are {}", METHODS.join(", "))))
    }

    fn sweep(&mut self, target: &Target, range: &SweepRange, properties: &[Property], span: Span) -> Lowering<()> {
        self.known_properties(properties, &["samples", "seed"])?;
        let member = self.one_member(target)?;
        let value = self.named(member.key.clone(), &member.shown, target.span)?;
        let swept = self.as_scalar(value, target.span)?;
        if !self.graph.symbols(swept.expr).iter().all(|s| self.parameter_of(*s).is_some()) {
            let d = Diagnostic::error("Z107", format!("`{}` is not a parameter, so it cannot be swept", member.shown));
            return self.report(d.at(target.span, "not a parameter").help("sweep a parameter or a constant"));
        }
        let values: Vec<&Formula> = match range {
            SweepRange::Steps(parts) => {
                let [low, high, steps] = &**parts;
                if self.integer(steps)? < 1 {
                    let d = Diagnostic::error("Z109", "a sweep has at least one step").at(steps.span, "no steps");
                    return self.report(d.help("sweep l from 0.5 m to 2 m in 50 steps"));
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
}
