//! The start: the values of quantities, exact or approximate.

use crate::diagnostic::Diagnostic;
use crate::lower::names::{Member, NamedObject};
use crate::lower::value::Value;
use crate::lower::{Lower, Lowering, Meaning};
use crate::model::{Coordinate, InitialValue};
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
                match &initial.left {
                    InitialSide::Quantity { target, primes } => {
                        self.each_member(target, |lower, member| lower.initial(member, (target, *primes), initial));
                    }
                    InitialSide::Formula(formula) => {
                        let _ = self.initial_formula(formula, initial);
                    }
                }
            }
        }
    }

    /// A formula of positions, or one that is linear in velocities.
    fn initial_formula(&mut self, formula: &Formula, initial: &tree::Initial) -> Lowering<()> {
        let quantity = self.formula(formula)?;
        let value = self.formula(&initial.value)?;
        let shown = self.written(formula.span);
        self.initial_values(quantity, value, (&shown, formula.span), initial)
    }

    fn initial(&mut self, member: &Member, (target, primes): (&Target, u32), initial: &tree::Initial) -> Lowering<()> {
        let (key, primes) = self.undotted_key(member, &target.name.text, primes);
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
            self.initial_of(&key, (&member.shown, target), primes, value.clone(), initial)?;
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
        (shown, target): (&str, &Target),
        primes: u32,
        value: Value,
        initial: &tree::Initial,
    ) -> Lowering<()> {
        let mut shown = shown.to_string();
        match self.names.objects.get(key) {
            Some(&NamedObject::Coordinate(k)) => shown.clone_from(&self.model.coordinates[k].name),
            Some(NamedObject::Parameter(_)) => {
                let d = Diagnostic::error("Z205", format!("`{shown}` is a parameter and has no start"));
                return self
                    .report(d.at(initial.span, "not a coordinate").help(format!("change its value: --set {shown}=…")));
            }
            _ => {}
        }
        // `B.omega` is a member, not a name
        let quantity = match key.contains('.') && !self.names.objects.contains_key(key) {
            true => self.formula(&as_formula(target))?,
            false => self.named(key.to_string(), &shown, target.span)?,
        };
        let quantity = self.primed(quantity, primes, target.span)?;
        shown.push_str(&"'".repeat(primes as usize));
        self.initial_values(quantity, value, (&shown, target.span), initial)
    }

    /// One equation for each component.
    fn initial_values(
        &mut self,
        quantity: Value,
        value: Value,
        (shown, own): (&str, Span),
        initial: &tree::Initial,
    ) -> Lowering<()> {
        let is_vector = matches!(quantity, Value::Vector(_));
        let (quantities, values) = (quantity.components(), value.components());
        if quantities.len() != values.len() {
            let message = format!("`{shown}` has {} components, its start value {}", quantities.len(), values.len());
            return self.report(Diagnostic::error("Z106", message).at(initial.value.span, "must match"));
        }
        let bare = shown.trim_end_matches('\'');
        for (k, (quantity, value)) in quantities.into_iter().zip(values).enumerate() {
            let given = initial.value.span;
            // zero without a unit fits any dimension
            if value.expr != Expr::ZERO || self.dimensions.known(&value.dim).is_some() {
                self.same_dimension((&quantity.dim, own), (&value.dim, given), "a start value does not fit")?;
            }
            self.check_constant(value.expr, given)?;
            self.check_computable(quantity.expr, own)?;
            let component = if is_vector { [".x", ".y", ".z"][k] } else { "" };
            let is_velocity = self.is_initial_velocity(quantity.expr, shown, own)?;
            let symbol = |c: &Coordinate| if is_velocity { c.qdot } else { c.q };
            let coordinate = self.model.coordinates.iter().position(|c| symbol(c) == quantity.expr);
            let entry = InitialValue {
                quantity: quantity.expr,
                coordinate: coordinate.filter(|_| !is_vector),
                is_velocity,
                exact: initial.exact,
                value: value.expr,
                name: format!("{bare}{component}{}", &shown[bare.len()..]),
                span: initial.span,
                is_override: initial.replaces,
            };
            self.add_initial(entry, initial.replaces)?;
        }
        Ok(())
    }

    /// `true` for a quantity that is linear in velocities, `false` for one of positions; reports any other.
    fn is_initial_velocity(&mut self, quantity: Expr, shown: &str, span: Span) -> Lowering<bool> {
        let symbols = self.graph.symbols(quantity);
        let has = |lower: &Self, wanted: fn(&Meaning) -> bool| {
            symbols.iter().any(|s| lower.meaning.get(s).is_some_and(wanted))
        };
        if has(self, |m| *m == Meaning::Acceleration) {
            let d = Diagnostic::error("Z205", "an acceleration cannot be given at the start");
            return self.report(d.at(span, "follows from positions and velocities"));
        }
        if !has(self, |m| *m == Meaning::Velocity) {
            if has(self, |m| matches!(m, Meaning::Position(_))) {
                return Ok(false);
            }
            let d = Diagnostic::error("Z205", format!("`{shown}` contains no coordinate and has no start"));
            return self.report(d.at(span, "positions and velocities have a start"));
        }
        let velocities: Vec<Expr> =
            symbols.iter().copied().filter(|s| self.meaning.get(s) == Some(&Meaning::Velocity)).collect();
        let slopes = self.graph.gradient_in(quantity, |s| velocities.contains(&s));
        let slopes: Vec<Expr> = slopes.into_iter().map(|(_, slope)| slope).collect();
        if self.graph.symbols_of(&slopes).iter().any(|s| velocities.contains(s)) {
            let d = Diagnostic::error("Z205", format!("`{shown}` is not linear in the velocities"));
            let d = d.at(span, "several velocities may have this value");
            return self.report(d.help("give components, such as   P' = (1, 0)   or velocities of coordinates"));
        }
        Ok(true)
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

/// A target without a range as a formula, its members behind dots.
fn as_formula(target: &Target) -> Formula {
    let (span, written) = (target.span, |text: &str| Name { text: text.to_string(), span: target.span });
    let mut words = target.name.text.split('.');
    let first = words.next().unwrap_or_default();
    let indices: Vec<Formula> = target.indices.iter().filter_map(one_index).collect();
    let kind = match indices.is_empty() {
        true => FormulaKind::Name(first.to_string()),
        false => FormulaKind::Indexed(written(first), indices),
    };
    words.fold(Formula { span, kind }, |of, member| Formula {
        span,
        kind: FormulaKind::Member(Box::new(of), written(member), None),
    })
}

/// A single index; a range is counted by its variable.
fn one_index(index: &Index) -> Option<Formula> {
    match index {
        Index::One(formula) => Some(formula.clone()),
        Index::Range(Some(name), ..) => Some(Formula { span: name.span, kind: FormulaKind::Name(name.text.clone()) }),
        Index::Range(None, ..) => None,
    }
}
