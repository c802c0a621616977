//! Events: a condition on the state, and the parameter or velocity that changes when the condition becomes true.

use crate::diagnostic::Diagnostic;
use crate::lower::names::NamedObject;
use crate::lower::{Lower, Lowering, Meaning};
use crate::model::{Change, Derived, When};
use crate::syntax::Span;
use crate::syntax::tree::*;
use zwang_expr::{Comparison, Expr};

impl Lower<'_> {
    pub(super) fn when(
        &mut self,
        condition: &Formula,
        target: &Target,
        primes: u32,
        value: &Formula,
        span: Span,
    ) -> Lowering<()> {
        let holds = self.margin(condition);
        let member = self.one_member(target)?;
        let (key, primes) = self.undotted_key(&member, &target.name.text, primes);
        let changed = self.named(key.clone(), &member.shown, target.span)?;
        let change = match (self.names.objects.get(&key), primes) {
            (Some(&NamedObject::Parameter(k)), 0) => Change::Parameter(k),
            (Some(&NamedObject::Coordinate(k)), 1) => Change::Velocity(k),
            _ => {
                let d = Diagnostic::error("Z107", "an event changes a parameter or a velocity");
                return self.report(d.at(target.span, "neither of them").help("when t >= 2 s: k = 0"));
            }
        };
        let changed = self.primed(changed, primes, target.span)?;
        let (changed, new) = (self.as_scalar(changed, target.span)?, self.scalar(value)?);
        if new.expr != Expr::ZERO {
            self.same_dimension((&changed.dim, target.span), (&new.dim, value.span), "an event does not fit")?;
        }
        self.known_at_a_state(new.expr, "the new value of an event", value.span)?;
        let name = self.written(condition.span);
        let (condition, is_strict) = holds?;
        self.model.whens.push(When { name, condition, is_strict, change, value: new.expr, span });
        Ok(())
    }

    /// g with g ≥ 0 if and only if the condition holds: `x <= 1` gives 1 − x; and `true` if it has to be g > 0: `x < 1`.
    fn margin(&mut self, condition: &Formula) -> Lowering<(Expr, bool)> {
        let (comparison, left, right) = self.comparison(condition)?;
        let margin = match comparison {
            Comparison::Greater | Comparison::GreaterOrEqual => self.graph.sub(left, right),
            Comparison::Less | Comparison::LessOrEqual => self.graph.sub(right, left),
        };
        self.known_at_a_state(margin, "the condition of an event", condition.span)?;
        Ok((margin, matches!(comparison, Comparison::Greater | Comparison::Less)))
    }

    /// `true` if t, positions, velocities and parameters determine a symbol, perhaps through an energy.
    fn is_known_at_a_state(&self, symbol: Expr) -> bool {
        use Derived::{Energy, Kinetic, Momentum, Potential};
        let by_energy = matches!(self.model.derived.get(&symbol), Some(Energy | Kinetic | Potential | Momentum(_)));
        by_energy || self.is_state(symbol)
    }

    /// `true` if a symbol is t, a position, a velocity or a parameter.
    pub(super) fn is_state(&self, symbol: Expr) -> bool {
        use Meaning::{Parameter, Position, Velocity};
        let meaning = self.meaning.get(&symbol);
        symbol == self.model.time || matches!(meaning, Some(Position(_) | Velocity | Parameter(_)))
    }

    /// Rejects quantities that only the motion determines: accelerations, reactions, work.
    fn known_at_a_state(&mut self, expr: Expr, place: &str, span: Span) -> Lowering<()> {
        let strange = self.graph.symbols(expr).into_iter().find(|s| !self.is_known_at_a_state(*s));
        let Some(symbol) = strange else { return Ok(()) };
        let name = self.graph.name(symbol).to_string();
        let what = match self.dims.rows.contains_key(&symbol) {
            true => format!("a reaction cannot stand in {place}: it contains `{name}`"),
            false => format!("`{name}` cannot stand in {place}"),
        };
        let d = Diagnostic::error("Z404", what).at(span, "not known from positions and velocities alone");
        self.report(d.help("coordinates, velocities, t, parameters, energies and momenta can stand here"))
    }
}
