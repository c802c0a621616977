//! The start: the values of quantities, exact or approximate.

use crate::diagnostic::Diagnostic;
use crate::lower::names::{Member, NamedObject};
use crate::lower::value::Value;
use crate::lower::{Lower, Lowering, Meaning};
use crate::model::InitialValue;
use crate::syntax::Span;
use crate::syntax::name::undotted;
use crate::syntax::tree::{self, *};
use zwang_expr::Expr;

impl Lower<'_> {
    /// Lowers the equations of the start; their units also determine the dimensions of coordinates.
    pub(super) fn start(&mut self) {
        for statement in &self.tree.statements {
            let StatementKind::Start(list) = &statement.kind else { continue };
            // entries of the command line come last, and messages refer to them
            let is_override = list.iter().any(|i| i.replaces);
            if self.model.start_span.is_none() || is_override {
                self.model.start_span = Some(statement.span);
            }
            for initial in list {
                self.each_member(&initial.target, |lower, member| lower.initial(member, initial));
            }
        }
    }

    fn initial(&mut self, member: &Member, initial: &tree::Initial) -> Lowering<()> {
        let (key, primes) = self.undotted_key(member, &initial.target.name.text, initial.primes);
        if primes > 1 {
            let d = Diagnostic::error("Z205", "an acceleration cannot be given at the start");
            return self.report(d.at(initial.span, "follows from positions and velocities"));
        }
        let value = self.formula(&initial.value)?;
        // a whole family at once
        let keys = match self.names.families.get(&key) {
            Some(members) if !self.names.objects.contains_key(&key) => members.clone(),
            _ => vec![key],
        };
        for key in keys {
            self.initial_of(&key, &member.shown, primes, value.clone(), initial)?;
        }
        Ok(())
    }

    /// The key and primes of a target; dots above a letter are primes unless a name is spelled with them.
    pub(super) fn undotted_key(&self, member: &Member, written: &str, primes: u32) -> (String, u32) {
        let key = &member.key;
        if !self.names.objects.contains_key(key)
            && !self.names.families.contains_key(key)
            && let Some((bare, dots)) = undotted(written)
        {
            return (bare + key.find('[').map_or("", |k| &key[k..]), primes + dots);
        }
        (key.clone(), primes)
    }

    fn initial_of(
        &mut self,
        key: &str,
        shown: &str,
        primes: u32,
        value: Value,
        initial: &tree::Initial,
    ) -> Lowering<()> {
        let coordinate = match self.names.objects.get(key) {
            Some(&NamedObject::Coordinate(k)) => Some(k),
            Some(NamedObject::Parameter(_)) => {
                let d = Diagnostic::error("Z205", format!("`{shown}` is a parameter and has no start"));
                return self
                    .report(d.at(initial.span, "not a coordinate").help(format!("change its value: --set {shown}=…")));
            }
            _ => None,
        };
        let quantity = self.named(key.to_string(), shown, initial.target.span)?;
        let quantity = self.primed(quantity, primes, initial.target.span)?;
        let is_vector = matches!(quantity, Value::Vector(_));
        let (quantities, values) = (quantity.components(), value.components());
        if quantities.len() != values.len() {
            let message = format!("`{shown}` has {} components, its start value {}", quantities.len(), values.len());
            return self.report(Diagnostic::error("Z106", message).at(initial.value.span, "must match"));
        }
        for (k, (quantity, value)) in quantities.into_iter().zip(values).enumerate() {
            let (own, given) = (initial.target.span, initial.value.span);
            // zero without a unit fits any dimension
            if value.expr != Expr::ZERO || self.dimensions.known(&value.dim).is_some() {
                self.same_dimension((&quantity.dim, own), (&value.dim, given), "a start value does not fit")?;
            }
            self.check_constant(value.expr, given)?;
            self.check_computable(quantity.expr, own)?;
            let component = if is_vector { [".x", ".y", ".z"][k] } else { "" };
            let base = coordinate.map_or(shown.to_string(), |c| self.model.coordinates[c].name.clone());
            let name = format!("{base}{component}{}", "'".repeat(primes as usize));
            let entry = InitialValue {
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

    /// Rejects a start equation that contains a quantity this version does not compute.
    fn check_computable(&mut self, quantity: Expr, span: Span) -> Lowering<()> {
        let known = |s: &Expr| *s == self.model.time || self.meaning.get(s).is_some_and(|m| *m != Meaning::Other);
        let Some(symbol) = self.graph.symbols(quantity).into_iter().find(|s| !known(s)) else { return Ok(()) };
        let name = self.graph.name(symbol).to_string();
        self.report(
            Diagnostic::error("Z901", format!("not yet: a start that depends on `{name}`"))
                .at(span, "understood, but not computed by this version")
                .help("give the coordinates themselves"),
        )
    }

    pub(super) fn check_constant(&mut self, value: Expr, span: Span) -> Lowering<()> {
        let Some(symbol) = self.graph.symbols(value).into_iter().find(|s| self.parameter_of(*s).is_none()) else {
            return Ok(());
        };
        let name = self.graph.name(symbol).to_string();
        self.report(
            Diagnostic::error("Z110", format!("`{name}` is not a constant"))
                .at(span, "only numbers and parameters can stand here")
                .help(format!("give the number that `{name}` has; in a start it may also be left out")),
        )
    }

    fn add_initial(&mut self, entry: InitialValue, replaces: bool) -> Lowering<()> {
        let same = self.start_entries.get(&entry.quantity).copied();
        if let Some(k) = same.filter(|k| replaces && !self.model.start[*k].is_override) {
            self.model.start[k] = entry;
            return Ok(());
        }
        if let Some(first) = same.map(|k| &self.model.start[k]) {
            let d = Diagnostic::error("Z204", format!("`{}` is given twice in the start", entry.name));
            let d = d.at(entry.span, "given again here").and_at(first.span, "given here");
            return self.report(d.help("keep one of them"));
        }
        self.start_entries.insert(entry.quantity, self.model.start.len());
        self.model.start.push(entry);
        Ok(())
    }
}
