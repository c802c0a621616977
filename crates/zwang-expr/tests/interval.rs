//! Intervals: bounds hold at every point, grow with the interval, and are never NaN.

use crate::executor::{N_INPUTS, config, picks, program};
use proptest::prelude::*;
use zwang_expr::{Comparison, Function, Function2, Graph, Interval, Program, Table};

/// Bounds of all outputs over a box.
fn bounds(program: &Program, input: &[Interval]) -> Vec<Interval> {
    let mut outputs = vec![Interval::ZERO; program.n_outputs()];
    program.enclose(input, &mut program.enclosure_workspace(), &mut outputs);
    outputs
}

/// A centre and a width over many orders of magnitude, and places in the interval.
fn sides() -> impl Strategy<Value = Vec<(f64, f64, [f64; 4])>> {
    let side = (-3.0..3.0f64, -12.0..1.5f64, prop::array::uniform4(0.0..=1.0f64));
    prop::collection::vec(side.prop_map(|(x, w, at)| (x, 10f64.powf(w), at)), N_INPUTS)
}

fn is_ordered(x: &Interval) -> bool {
    x.lo() <= x.hi() && x.lo() < f64::INFINITY && x.hi() > f64::NEG_INFINITY
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn bounds_hold_at_every_point(picks in picks(24), sides in sides()) {
        let program = program(&picks);
        let input: Vec<Interval> = sides.iter().map(|(x, w, _)| Interval::new(*x, x + w)).collect();
        let outputs = bounds(&program, &input);
        prop_assert!(outputs.iter().all(is_ordered), "{outputs:?}");
        let (mut workspace, mut values) = (program.workspace(), vec![0.0; program.n_outputs()]);
        for k in 0..4 {
            let point: Vec<f64> =
                sides.iter().zip(&input).map(|((x, w, at), side)| (x + at[k] * w).min(side.hi())).collect();
            if program.first_non_finite(&point, &mut workspace).is_some() {
                continue;
            }
            program.run(&point, &mut workspace, &mut values);
            for (value, bound) in values.iter().zip(&outputs) {
                prop_assert!(bound.contains(*value), "{value:e} outside {bound:?} at {point:?}");
            }
        }
    }

    #[test]
    fn bounds_of_a_part_lie_in_those_of_the_whole(picks in picks(24), sides in sides()) {
        let program = program(&picks);
        let whole: Vec<Interval> = sides.iter().map(|(x, w, _)| Interval::new(*x, x + w)).collect();
        let part: Vec<Interval> = sides
            .iter()
            .zip(&whole)
            .map(|((x, w, at), all)| Interval::new((x + at[0] * w).min(all.hi()), (x + at[1] * w).min(all.hi())))
            .collect();
        for (inner, outer) in bounds(&program, &part).iter().zip(bounds(&program, &whole)) {
            // functions of the system's library are not monotone to the last bit
            let slack = 1e-9 * outer.magnitude().min(1e300);
            prop_assert!(inner.lo() >= outer.lo() - slack && inner.hi() <= outer.hi() + slack, "{inner:?} {outer:?}");
        }
    }

    /// A point is bounded to rounding: bounds are not only wide enough but narrow.
    #[test]
    fn functions_of_points_are_bounded_to_rounding(x in -20.0..20.0f64, y in -3.0..3.0f64) {
        for f in Function::ALL {
            let (value, bound) = (zwang_expr::real::apply(f, x), Interval::point(x).apply(f));
            if value.is_nan() || value.is_infinite() {
                prop_assert_eq!(bound, Interval::WHOLE);
            } else if f != Function::Tan {
                prop_assert!(bound.contains(value) && bound.width() <= 1e-14 * value.abs() + 1e-300, "{} {:?}", f.name(), bound);
            }
        }
        let angle = Interval::point(y).apply2(Function2::Atan2, Interval::point(x));
        prop_assert!(angle.contains(y.atan2(x)) && angle.width() < 1e-14);
    }
}

fn interval(lo: f64, hi: f64) -> Interval {
    Interval::new(lo, hi)
}

fn meets(found: Interval, lo: f64, hi: f64) {
    let near = |x: f64, y: f64| x == y || (x - y).abs() <= 1e-14 * y.abs().max(1e-290);
    assert!(near(found.lo(), lo) && near(found.hi(), hi), "{found:?} instead of [{lo}, {hi}]");
    assert!(found.lo() <= lo && hi <= found.hi(), "{found:?} does not contain [{lo}, {hi}]");
}

#[test]
fn ranges_of_functions_have_their_extremes() {
    use Function::*;
    let apply = |f, lo, hi| interval(lo, hi).apply(f);
    meets(apply(Sin, 1.0, 2.0), 1f64.sin(), 1.0);
    meets(apply(Sin, 4.0, 5.0), -1.0, 4f64.sin());
    meets(apply(Sin, -100.0, 100.0), -1.0, 1.0);
    meets(apply(Sin, 1e15, 1e15), -1.0, 1.0);
    meets(apply(Cos, -0.5, 1.0), 1f64.cos(), 1.0);
    meets(apply(Cos, 3.0, 3.5), -1.0, 3.5f64.cos());
    meets(apply(Tan, -1.0, 1.0), -1f64.tan(), 1f64.tan());
    assert_eq!(apply(Tan, 1.0, 2.0), Interval::WHOLE);
    meets(apply(Cosh, -1.0, 2.0), 1.0, 2f64.cosh());
    meets(apply(Abs, -1.0, 2.0), 0.0, 2.0);
    meets(apply(Sign, -1.0, 2.0), -1.0, 1.0);
    meets(apply(Exp, f64::NEG_INFINITY, 0.0), 0.0, 1.0);
    meets(apply(Tanh, f64::NEG_INFINITY, f64::INFINITY), -1.0, 1.0);
    meets(apply(Acos, -1.0, 1.0), 0.0, std::f64::consts::PI);
    meets(interval(-1.0, 3.0).square(), 0.0, 9.0);
}

#[test]
fn powers_have_the_range_of_their_exponent() {
    let power = |lo, hi, n: f64| interval(lo, hi).power(Interval::point(n));
    meets(power(-2.0, 1.0, 4.0), 0.0, 16.0);
    meets(power(-2.0, 1.0, 3.0), -8.0, 1.0);
    meets(power(2.0, 4.0, -2.0), 1.0 / 16.0, 0.25);
    meets(power(-4.0, -2.0, -3.0), -0.125, -1.0 / 64.0);
    meets(power(0.0, 8.0, 1.0 / 3.0), 0.0, 2.0);
    meets(interval(0.5, 2.0).power(interval(-1.0, 3.0)), 0.125, 8.0);
    for (lo, hi, n) in [(-1.0, 1.0, -2.0), (0.0, 1.0, -1.5), (-1.0, 1.0, 0.3), (0.0, 1.0, f64::NAN)] {
        assert_eq!(power(lo, hi, n), Interval::WHOLE, "[{lo}, {hi}]^{n}");
    }
}

#[test]
fn undefined_operations_bound_nothing() {
    let zero = interval(-1.0, 1.0);
    assert_eq!(Interval::point(1.0).quotient(zero), Interval::WHOLE);
    assert_eq!(Interval::point(0.0).quotient(interval(0.0, 1.0)), Interval::WHOLE);
    assert_eq!(zero.apply(Function::Log), Interval::WHOLE);
    assert_eq!(zero.apply(Function::Sqrt), Interval::WHOLE);
    assert_eq!(interval(0.0, 1.5).apply(Function::Asin), Interval::WHOLE);
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Interval::point(x), Interval::WHOLE);
        assert_eq!(Interval::new(x, x), Interval::WHOLE);
    }
    assert_eq!(zero.widened(f64::NAN), Interval::WHOLE);
}

#[test]
fn infinite_ends_never_make_nan() {
    let inf = f64::INFINITY;
    let sides = [
        Interval::WHOLE,
        Interval::ZERO,
        interval(0.0, inf),
        interval(-inf, 0.0),
        interval(1.0, inf),
        interval(-inf, -1.0),
        interval(-1.0, f64::MAX),
        interval(f64::MAX, inf),
        interval(-inf, -f64::MAX),
    ];
    for a in sides {
        for b in sides {
            let two = Function2::ALL.map(|f| a.apply2(f, b));
            let compared = Comparison::ALL.map(|comparison| a.compare(comparison, b));
            let of_two = [a + b, a - b, a * b, a.quotient(b), a.power(b), a.hull(b), b.select(a, b)];
            assert!(of_two.iter().chain(&two).chain(&compared).all(is_ordered), "{a:?} {b:?}: {of_two:?} {two:?}");
        }
        let of_one = Function::ALL.map(|f| a.apply(f));
        assert!(of_one.iter().chain(&[a.square(), -a]).all(is_ordered), "{a:?}: {of_one:?}");
        assert!(a.middle().is_finite() && a.contains(a.middle()));
    }
    assert_eq!(interval(1.0, inf) * Interval::ZERO, Interval::ZERO);
}

#[test]
fn angles_jump_on_the_negative_axis_only() {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    let angle = |y: (f64, f64), x: (f64, f64)| interval(y.0, y.1).apply2(Function2::Atan2, interval(x.0, x.1));
    meets(angle((-1.0, 1.0), (1.0, 1.0)), -FRAC_PI_4, FRAC_PI_4);
    meets(angle((1.0, 1.0), (-1.0, 0.0)), FRAC_PI_2, 3.0 * FRAC_PI_4);
    meets(angle((0.0, 1.0), (-1.0, -1.0)), 3.0 * FRAC_PI_4, PI);
    for (y, x) in [((-1.0, 0.0), (-1.0, -1.0)), ((-1.0, 1.0), (-2.0, -1.0)), ((0.0, 0.0), (0.0, 1.0))] {
        assert!(angle(y, x).contains(PI) && angle(y, x).contains(-PI), "{y:?} {x:?}");
    }
}

#[test]
fn comparisons_and_choices_know_what_they_decide() {
    let mut g = Graph::new();
    let x = g.symbol("x", "x");
    let (two, five) = (g.integer(2), g.integer(5));
    let square = g.powi(x, 2);
    let e = g.select(Comparison::Less, x, two, square, five);
    let program = Program::new(&g, &[x], &[e]).unwrap();
    meets(bounds(&program, &[interval(-1.0, 1.5)])[0], 0.0, 2.25);
    meets(bounds(&program, &[interval(2.0, 3.0)])[0], 5.0, 5.0);
    meets(bounds(&program, &[interval(1.0, 3.0)])[0], 1.0, 9.0);
}

#[test]
fn tables_are_bounded_piece_by_piece() {
    let x: Vec<f64> = (0..40).map(|k| 0.1 * f64::from(k)).collect();
    let y: Vec<f64> = x.iter().map(|x| (3.0 * x).sin() + 0.1 * x).collect();
    let table = Table::new("wave", "", &x, &y).unwrap();
    for (lo, hi) in [(0.0, 3.9), (0.31, 0.33), (1.0, 1.0), (0.55, 2.75)] {
        let bound = interval(lo, hi).look(&table);
        let values: Vec<f64> =
            (0..=1000).map(|k| table.value((lo + (hi - lo) * f64::from(k) / 1000.0).min(hi))).collect();
        let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(l, m), v| (l.min(*v), m.max(*v)));
        assert!(values.iter().all(|value| bound.contains(*value)), "{bound:?} [{lo}, {hi}]");
        assert!(bound.width() <= 1.5 * (most - least) + 1e-12, "{bound:?} instead of [{least}, {most}]");
    }
    assert_eq!(interval(-0.5, 1.0).look(&table), Interval::WHOLE);
    assert_eq!(interval(3.0, 4.0).look(&table), Interval::WHOLE);
}

/// The constant 0.1 is rounded: ten of them enclose 1, which their sum in doubles is not.
#[test]
fn rounded_constants_enclose_what_was_written() {
    let mut g = Graph::new();
    let x = g.symbol("x", "x");
    let tenth = g.rational(1, 10);
    let product = g.mul(tenth, x);
    let program = Program::new(&g, &[x], &[product]).unwrap();
    let bound = bounds(&program, &[Interval::point(3.0)])[0];
    assert!(bound.lo() < 0.3 && bound.hi() > 0.3 && bound.width() < 1e-15, "{bound:?}");
}

#[test]
fn defined_values_are_bounded_where_an_operand_leaves_the_domain() {
    let mut g = Graph::new();
    let x = g.symbol("x", "x");
    let (third, half) = (g.rational(1, 3), g.rational(3, 2));
    let exprs = [g.sqrt(x), g.pow(x, third), g.pow(x, half), g.apply(Function::Asin, x)];
    let program = Program::new(&g, &[x], &exprs).unwrap();
    let mut found = [Interval::ZERO; 4];
    let over = interval(-1e-9, 1.0);
    program.enclose_defined(&[over], &mut program.enclosure_workspace(), &mut found);
    found[..3].iter().for_each(|bound| meets(*bound, 0.0, 1.0));
    assert!(found[3].is_bounded());
    assert_eq!(bounds(&program, &[over])[..3], [Interval::WHOLE; 3]);
    program.enclose_defined(&[interval(-2.0, -1.5)], &mut program.enclosure_workspace(), &mut found);
    assert_eq!(found, [Interval::WHOLE; 4]);
}
