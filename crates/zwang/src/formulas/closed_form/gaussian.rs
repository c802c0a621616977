//! The Gaussian G = (q̈ − a)ᵀM(q̈ − a): a sum of products whose factors are often multiples of each other.

use zwang_expr::{Expr, Graph};

use crate::formulas::closed_form::ClosedForm;

/// G in the shortest form found: eᵀλ if constraints are ideal and there are no controls, otherwise the product of all
/// forces with q̈ − a, with squares for products of multiples or without; `None` if `short` finds neither.
pub(super) fn gaussian(
    g: &mut Graph,
    form: &ClosedForm,
    mut short: impl FnMut(&mut Graph, Expr) -> Option<Expr>,
) -> Option<Expr> {
    let pairs = by_rows(form).or_else(|| by_coordinates(g, form))?;
    let squares = with_squares(g, &pairs, &mut short);
    // the square of one quantity has no shorter form
    if pairs.len() == 1 && squares.is_some() {
        return squares;
    }
    let products: Vec<Expr> = pairs.iter().map(|(x, y)| g.mul(*x, *y)).collect();
    let sum = g.sum(&products);
    [short(g, sum), squares].into_iter().flatten().min_by_key(|e| g.cost(*e))
}

/// Pairs of factors of which one is a multiple of the other.
type Pairs = Vec<(Expr, Expr)>;

/// e and λ of each row; `None` if other forces act too, or e is not known.
fn by_rows(form: &ClosedForm) -> Option<Pairs> {
    let is_ideal = form.nonideal_force.is_empty() && form.control.is_empty();
    let pairs = form.gap.iter().zip(&form.multipliers).map(|((_, e), (_, lambda))| (*e, *lambda));
    (is_ideal && !form.gap.is_empty()).then(|| without_zeros(pairs.collect()))
}

/// The force Qc + u of each coordinate, nonideal forces in Qc, and its effect q̈ − a; `None` if a is not known.
fn by_coordinates(g: &mut Graph, form: &ClosedForm) -> Option<Pairs> {
    let mut pairs = Pairs::new();
    for (k, acceleration) in form.accelerations.iter().enumerate() {
        let forces = [&form.constraint_force, &form.nonideal_force, &form.control];
        let acting: Vec<Expr> = forces.iter().filter_map(|force| force.get(k)).copied().collect();
        let change = g.sub(*acceleration, *form.free.get(k)?);
        pairs.push((g.sum(&acting), change));
    }
    Some(without_zeros(pairs))
}

fn without_zeros(mut pairs: Pairs) -> Pairs {
    pairs.retain(|(x, y)| *x != Expr::ZERO && *y != Expr::ZERO);
    pairs
}

/// Σ x y with r x² for x y, r = y/x, if that is shorter, and terms with the same r combined; `None` if it is never
/// shorter.
fn with_squares(
    g: &mut Graph,
    pairs: &[(Expr, Expr)],
    short: &mut impl FnMut(&mut Graph, Expr) -> Option<Expr>,
) -> Option<Expr> {
    let mut groups: Vec<(Expr, Expr)> = Vec::new();
    let mut has_squares = false;
    for &(x, y) in pairs {
        let product = g.mul(x, y);
        let square = square(g, x, y, short).filter(|(_, _, cost)| *cost < g.cost(product));
        has_squares |= square.is_some();
        let (ratio, factor) = square.map_or((Expr::ONE, product), |(ratio, square, _)| (ratio, square));
        match groups.iter_mut().find(|(known, _)| *known == ratio) {
            Some((_, sum)) => *sum = g.add(*sum, factor),
            None => groups.push((ratio, factor)),
        }
    }
    let terms: Vec<Expr> = groups.into_iter().map(|(ratio, sum)| g.mul(ratio, sum)).collect();
    has_squares.then(|| g.sum(&terms))
}

/// x y as r x², or as y² over r, whichever is shorter: the factor, the square and the cost of their product.
fn square(
    g: &mut Graph,
    x: Expr,
    y: Expr,
    short: &mut impl FnMut(&mut Graph, Expr) -> Option<Expr>,
) -> Option<(Expr, Expr, u64)> {
    let ratio = g.div(y, x);
    let ratio = short(g, ratio)?;
    let ways = [(ratio, x), (g.div(Expr::ONE, ratio), y)].map(|(factor, root)| {
        let square = g.powi(root, 2);
        let product = g.mul(factor, square);
        (factor, square, g.cost(product))
    });
    ways.into_iter().min_by_key(|(_, _, cost)| *cost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwang_expr::{Algebra, Limits};

    /// The closed form of a model, its graph, and its first parameter.
    fn solved(text: &str) -> (Graph, ClosedForm, Expr) {
        let derived = crate::derive(text, &Default::default()).expect("the model is right");
        let mut equations = derived.equations.printed();
        let form = crate::formulas::closed_form::closed_form(&mut equations).expect("a small system");
        let first = equations.model.parameters[0].symbol;
        (equations.model.graph, form, first)
    }

    #[track_caller]
    fn assert_equal(g: &mut Graph, x: Expr, y: Expr) {
        let difference = g.sub(x, y);
        let zero = Algebra::new(g, &[difference], Limits::default()).is_zero(g, difference);
        assert_eq!(zero, Some(true), "{} and {}", g.text(x), g.text(y));
    }

    #[test]
    fn one_control_force_works_in_its_own_square() {
        // J θ'' = −k θ + u, so q̈ − a = u/J
        let (mut g, form, inertia) = solved(
            "coordinates θ\nparameter J = 2, k = 3\nmass θ: J\nforce θ: -k*θ\ncontrol c: θ = sin(t) with settling 0.5\n\
             start θ = 0.1",
        );
        let gaussian = form.gaussian.expect("a control acts");
        let square = g.powi(form.control[0], 2);
        let wanted = g.div(square, inertia);
        assert_equal(&mut g, gaussian, wanted);
        assert!(g.cost(gaussian) <= g.cost(wanted), "{}", g.text(gaussian));
    }

    #[test]
    fn one_constraint_works_in_the_square_of_its_multiplier() {
        // S = A M⁻¹Aᵀ for A = (1, 0) is 1/(M + m sin²θ), and G = S λ²
        let (mut g, form, _) = solved(
            "coordinates x, θ\nparameter M = 3, m = 1, l = 2, g = 9.81\n\
             lagrangian M/2*x'^2 + m/2*(x'^2 + 2*l*x'*θ'*cos(θ) + l^2*θ'^2) + m*g*l*cos(θ)\n\
             constraint c: x = 0.2*sin(t)\nstart x = 0, θ = 0.3, x' = 0.2",
        );
        let gaussian = form.gaussian.expect("a constraint acts");
        let (_, lambda) = form.multipliers[0];
        let (_, e) = form.gap[0];
        let product = g.mul(e, lambda);
        assert_equal(&mut g, gaussian, product);
        assert!(g.cost(gaussian) + 10 < g.cost(product), "{}", g.text(gaussian));
    }

    #[test]
    fn independent_rows_add_their_squares() {
        // two directions of one particle: G = m (e₁² + e₂²)
        let (mut g, form, m) = solved(
            "coordinates x, y\nparameter m = 2, k = 3, c = 1\nmass x: m\nmass y: m\nforce x: -k*x\nforce y: -c*y'\n\
             constraint first: x = sin(t)\nconstraint second: y = t^3\nstart x = 0, y = 0",
        );
        let gaussian = form.gaussian.expect("constraints act");
        let squares: Vec<Expr> = form.gap.iter().map(|(_, e)| g.powi(*e, 2)).collect();
        let sum = g.sum(&squares);
        let wanted = g.mul(m, sum);
        assert_equal(&mut g, gaussian, wanted);
        assert!(g.cost(gaussian) <= g.cost(wanted), "{}", g.text(gaussian));
    }
}
