//! Outputs, and the curves of plots under the names the user wrote.

use crate::lower::dimensions::Dim;
use crate::lower::names::{Member, NamedObject};
use crate::lower::value::{Quantity, Value};
use crate::lower::{Lower, Lowering};
use crate::model::{Output, Plot};
use crate::syntax::Span;
use crate::syntax::tree::*;
use crate::units::{Dimension, Unit};

/// A named quantity; its dimension is determined when the whole model is known.
pub(super) struct Shown {
    name: String,
    quantity: Quantity,
    unit: Option<Unit>,
}

/// The curves of one `plot`, the quantity on its horizontal axis, and the position of the statement.
pub(super) struct Curves {
    curves: Vec<Shown>,
    versus: Option<Shown>,
    span: Span,
}

impl Lower<'_> {
    pub(super) fn output(&mut self, member: &Member, formula: &Formula, unit: Option<&(Unit, Span)>) -> Lowering<()> {
        let value = self.definition(&member.key, formula.span)?;
        let shown = self.components_shown(&member.shown, value, unit.map(|(unit, _)| unit.clone()));
        for Shown { quantity, .. } in shown.iter().filter(|_| unit.is_some()) {
            let (unit, unit_span) = unit.expect("looked at above");
            let wanted = Dim::from(unit.dimension);
            self.same_dimension((&quantity.dim, formula.span), (&wanted, *unit_span), "an output and its unit differ")?;
        }
        self.outputs.extend(shown);
        Ok(())
    }

    /// One quantity for each component of a value.
    fn components_shown(&self, name: &str, value: Value, unit: Option<Unit>) -> Vec<Shown> {
        let suffixes = self.component_names(&value);
        let named = suffixes.into_iter().zip(value.components());
        named
            .map(|(suffix, quantity)| Shown { name: format!("{name}{suffix}"), quantity, unit: unit.clone() })
            .collect()
    }

    fn component_names(&self, value: &Value) -> Vec<String> {
        match value {
            Value::Scalar(_) => vec![String::new()],
            Value::Vector(v) => (0..v.len()).map(|k| format!(".{}", ["x", "y", "z"][k])).collect(),
            Value::Generalized(g) => g.iter().map(|(k, _)| format!(".{}", self.model.coordinates[*k].name)).collect(),
        }
    }

    pub(super) fn plot(&mut self, values: &[Formula], versus: Option<&Formula>, span: Span) -> Lowering<()> {
        let curves: Vec<Lowering<Vec<Shown>>> = values.iter().map(|f| self.curves(f)).collect();
        let versus = versus.map(|f| self.versus(f)).transpose()?.flatten();
        let curves = curves.into_iter().collect::<Lowering<Vec<_>>>()?.into_iter().flatten().collect();
        self.plots.push(Curves { curves, versus, span });
        Ok(())
    }

    /// The curves of one item: one, one for each component, or those of a whole family.
    fn curves(&mut self, formula: &Formula) -> Lowering<Vec<Shown>> {
        let members = match self.family(formula) {
            Some(members) => members,
            None => {
                let unit = match self.key_of(formula)? {
                    Some((key, _)) => self.output_unit(&key),
                    None => None,
                };
                let value = self.formula(formula)?;
                return Ok(self.components_shown(&self.written(formula.span), value, unit));
            }
        };
        let mut curves = Vec::new();
        for (key, shown) in members {
            let value = self.definition(&key, formula.span)?;
            curves.extend(self.components_shown(&shown, value, self.output_unit(&key)));
        }
        Ok(curves)
    }

    /// The quantity on the horizontal axis, or `None` for the time.
    fn versus(&mut self, formula: &Formula) -> Lowering<Option<Shown>> {
        let unit = self.key_of(formula)?.and_then(|(key, _)| self.output_unit(&key));
        let quantity = self.scalar(formula)?;
        let name = self.written(formula.span);
        Ok((quantity.expr != self.model.time).then_some(Shown { name, quantity, unit }))
    }

    /// The unit of an output, or `None`.
    fn output_unit(&self, key: &str) -> Option<Unit> {
        let Some(NamedObject::Definition { statement, .. }) = self.names.objects.get(key) else { return None };
        match &self.tree.statements[*statement].kind {
            StatementKind::Output { unit, .. } => unit.as_ref().map(|(unit, _)| unit.clone()),
            _ => None,
        }
    }

    /// The text at a span, on one line and without comments.
    pub(super) fn written(&self, span: Span) -> String {
        let text = self.text.get(span.start..span.end).unwrap_or_default();
        let words = text.lines().flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace());
        words.collect::<Vec<_>>().join(" ")
    }

    /// Adds outputs and plots to the model, after all dimensions have been determined.
    pub(super) fn settle_shown(&mut self) {
        let (outputs, plots) = (std::mem::take(&mut self.outputs), std::mem::take(&mut self.plots));
        self.model.outputs = outputs.into_iter().map(|shown| self.settled(shown)).collect();
        self.model.plots = plots
            .into_iter()
            .map(|Curves { curves, versus, span }| Plot {
                curves: curves.into_iter().map(|shown| self.settled(shown)).collect(),
                versus: versus.map(|shown| self.settled(shown)),
                span,
            })
            .collect();
    }

    fn settled(&self, shown: Shown) -> Output {
        let Shown { name, quantity, unit } = shown;
        Output { name, expr: quantity.expr, unit, dimension: self.shown_dimension(&quantity.dim) }
    }

    /// The dimension as far as it is known; `None` in a model of pure numbers.
    fn shown_dimension(&self, dim: &Dim) -> Option<Dimension> {
        self.dimensions.known(dim).filter(|_| self.tree.has_units)
    }
}
