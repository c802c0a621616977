//! Inference of dimensions from the use of quantities; only a contradiction is an error.
//!
//! Every coordinate, every parameter without a unit, the time and every number without a unit has an unknown dimension.
//! A sum or an equation requires two equal dimensions, which is a linear equation between exponents.

use crate::units::Dimension;
use crate::{syntax::Span, tolerance};

/// A dimension as far as it is known: a product of base units and of unknown dimensions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dim {
    base: Dimension,
    unknowns: Vec<(u32, f64)>,
}

impl Dim {
    /// The dimension of self · other^power.
    pub fn times(&self, other: &Dim, power: f64) -> Dim {
        let mut unknowns = self.unknowns.clone();
        for &(u, e) in &other.unknowns {
            match unknowns.iter_mut().find(|(v, _)| *v == u) {
                Some((_, sum)) => *sum += e * power,
                None => unknowns.push((u, e * power)),
            }
        }
        unknowns.retain(|(_, e)| e.abs() > tolerance::EXPONENT && e.is_finite());
        Dim { base: self.base.times(other.base, power), unknowns }
    }

    /// The dimension of self^power.
    pub fn power(&self, power: f64) -> Dim {
        Dim::default().times(self, power)
    }
}

impl From<Dimension> for Dim {
    fn from(base: Dimension) -> Dim {
        Dim { base, unknowns: Vec::new() }
    }
}

/// An unknown dimension: its owner, and its solution as far as it is known.
struct Unknown {
    /// The user's name; `None` for a number without a unit.
    name: Option<String>,
    /// The inferred dimension, and the position in the text that determined it.
    solution: Option<(Dim, Span)>,
}

/// Two dimensions that should be equal but are not.
#[derive(Clone, Debug)]
pub struct DimensionClash {
    /// The first dimension, as shown to the user.
    pub left: String,
    /// The second dimension, as shown to the user.
    pub right: String,
    /// Names whose dimensions are relevant: name, dimension, and the position that determined it.
    pub reasons: Vec<(String, String, Span)>,
}

/// All unknown dimensions of a model with their solutions.
#[derive(Default)]
pub struct Dimensions {
    unknowns: Vec<Unknown>,
    /// Every number of the text with its dimension.
    #[cfg(test)]
    pub numbers: Vec<(Span, Dim)>,
}

impl Dimensions {
    /// A new unknown dimension; `None` for a number without a unit.
    pub fn unknown(&mut self, name: Option<&str>) -> Dim {
        self.unknowns.push(Unknown { name: name.map(str::to_string), solution: None });
        Dim { base: Dimension::NONE, unknowns: vec![(self.unknowns.len() as u32 - 1, 1.0)] }
    }

    /// The dimension of a number: that of its unit; without a unit it fits any.
    pub fn number(&mut self, unit: Option<Dimension>, _span: Span) -> Dim {
        let dim = unit.map_or_else(|| self.unknown(None), Dim::from);
        #[cfg(test)]
        self.numbers.push((_span, dim.clone()));
        dim
    }

    /// The dimension with all known solutions substituted.
    pub fn resolved(&self, dim: &Dim) -> Dim {
        let mut dim = dim.clone();
        let solved = |dim: &Dim| {
            dim.unknowns.iter().find_map(|&(u, e)| Some((u, e, self.unknowns[u as usize].solution.as_ref()?)))
        };
        while let Some((u, e, (solution, _))) = solved(&dim) {
            dim.unknowns.retain(|(v, _)| *v != u);
            dim = dim.times(solution, e);
        }
        dim
    }

    /// The dimension in base units, or `None` unless it is fully known.
    pub fn known(&self, dim: &Dim) -> Option<Dimension> {
        let dim = self.resolved(dim);
        dim.unknowns.is_empty().then_some(dim.base)
    }

    /// The dimension in base units, with unknown dimensions taken as pure numbers.
    #[cfg(test)]
    pub fn base(&self, dim: &Dim) -> Dimension {
        self.resolved(dim).base
    }

    /// `true` if the dimension is a power of time alone; `time` is the dimension of t.
    pub fn is_power_of_time(&self, dim: &Dim, time: &Dim) -> bool {
        let (dim, time) = (self.resolved(dim), self.resolved(time));
        let exponent = dim.base.0[2] + dim.unknowns.iter().map(|(_, e)| e).sum::<f64>();
        let rest = dim.times(&time, if time.unknowns.is_empty() { -dim.base.0[2] } else { -exponent });
        rest.unknowns.is_empty() && rest.base.same(Dimension::NONE)
    }

    /// Makes two dimensions equal; `span` is the position in the text that requires it.
    pub fn unify(&mut self, left: &Dim, right: &Dim, span: Span) -> Result<(), Box<DimensionClash>> {
        let difference = self.resolved(&left.times(right, -1.0));
        // solve for numbers without a unit first, then for the most recent unknown
        let weight = |u: u32| (self.unknowns[u as usize].name.is_none(), u);
        match difference.unknowns.iter().copied().max_by_key(|(u, _)| weight(*u)) {
            Some((u, e)) => {
                let mut rest = difference;
                rest.unknowns.retain(|(v, _)| *v != u);
                self.unknowns[u as usize].solution = Some((rest.power(-1.0 / e), span));
                Ok(())
            }
            None if difference.base.same(Dimension::NONE) => Ok(()),
            None => Err(Box::new(self.clash(left, right))),
        }
    }

    fn clash(&self, left: &Dim, right: &Dim) -> DimensionClash {
        let mut reasons = Vec::new();
        for &(u, _) in left.unknowns.iter().chain(&right.unknowns) {
            let unknown = &self.unknowns[u as usize];
            if let (Some(name), Some((solution, span))) = (&unknown.name, &unknown.solution) {
                let shown = self.show(solution);
                if !reasons.iter().any(|(n, _, _)| n == name) {
                    reasons.push((name.clone(), shown, self.origin(solution).unwrap_or(*span)));
                }
            }
        }
        DimensionClash { left: self.show(left), right: self.show(right), reasons }
    }

    /// The position that determined the only unknown of a dimension, or `None`.
    fn origin(&self, dim: &Dim) -> Option<Span> {
        let [(u, _)] = dim.unknowns[..] else { return None };
        let (solution, span) = self.unknowns[u as usize].solution.as_ref()?;
        Some(self.origin(solution).unwrap_or(*span))
    }

    /// The dimension for the user: base units, and `[x]` for an unknown dimension of x.
    pub fn show(&self, dim: &Dim) -> String {
        let dim = self.resolved(dim);
        let mut text = dim.base.to_string();
        for (u, e) in &dim.unknowns {
            let name = self.unknowns[*u as usize].name.as_deref().unwrap_or("a number");
            let power = if (e - 1.0).abs() < tolerance::EXPONENT { String::new() } else { format!("^{e}") };
            text = if text == "1" { format!("[{name}]{power}") } else { format!("{text}·[{name}]{power}") };
        }
        match dim.base.word() {
            Some(word) if dim.unknowns.is_empty() && text == "1" => word.to_string(),
            Some(word) if dim.unknowns.is_empty() => format!("{text} ({word})"),
            _ => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units;

    #[test]
    fn an_equation_fixes_an_unknown_and_a_second_one_contradicts() {
        let mut dimensions = Dimensions::default();
        let x = dimensions.unknown(Some("x"));
        let metre = Dim::from(units::find("m").unwrap().dimension);
        let span = Span::new(3, 4);
        dimensions.unify(&x.power(2.0), &metre.power(2.0), span).unwrap();
        assert!(dimensions.known(&x).unwrap().same(units::find("m").unwrap().dimension));
        let clash = dimensions.unify(&x, &Dim::from(Dimension::SECOND), span).unwrap_err();
        assert_eq!(clash.reasons.len(), 1);
        assert_eq!(clash.reasons[0].0, "x");
    }

    #[test]
    fn a_bare_number_fits_anything_and_teaches_nothing() {
        let mut dimensions = Dimensions::default();
        let (x, y) = (dimensions.unknown(Some("x")), dimensions.unknown(Some("y")));
        let two = dimensions.unknown(None);
        dimensions.unify(&x.times(&two, 1.0), &y, Span::default()).unwrap();
        assert!(dimensions.known(&x).is_none());
        assert!(dimensions.known(&y).is_none());
    }
}
