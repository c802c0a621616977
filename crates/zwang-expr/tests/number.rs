//! Numbers are exact, whatever their size.

use zwang_expr::{Expr, Graph, Number};

#[test]
fn decimals_are_exact() {
    for (text, n, d) in
        [("9.81", 981, 100), ("1e-3", 1, 1000), ("2.5E+7", 25_000_000, 1), (".5", 1, 2), ("5.", 5, 1), ("0.000", 0, 1)]
    {
        assert_eq!(Number::from_decimal(text), Some(Number::ratio(n, d)), "{text}");
    }
}

#[test]
fn malformed_and_giant_decimals_are_refused() {
    let digits = format!("0.{}1", "0".repeat(100_000));
    for text in [
        "",
        ".",
        "e5",
        "1e",
        "1e+",
        "1.2.3",
        "-1",
        "+1",
        "nan",
        "inf",
        "1e401",
        "1e-401",
        "1e309",
        "1e999999999999",
        "1_000",
        "٣",
        &digits,
    ] {
        assert_eq!(Number::from_decimal(text), None, "{text}");
    }
    assert!(Number::from_decimal("1e-400").is_some());
}

#[test]
fn decimals_have_the_value_their_text_has() {
    for text in
        ["9.81", "0.1", "6.02214076e23", "1e-300", "4.9e-324", "1.7976931348623157e308", "123456789.123456789123456789"]
    {
        let value = Number::from_decimal(text).unwrap().to_f64();
        assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
    }
}

#[test]
fn arithmetic_overflows_into_big_rationals_and_back() {
    let large = Number::integer(i64::MAX);
    let square = large.mul(&large).unwrap();
    assert_eq!(square.to_small(), None);
    assert_eq!(square.mul(&large.recip().unwrap()), Some(large.clone()));
    assert_eq!(square.sqrt(), Some(large.clone()));
    assert_eq!(square.add(&square.neg()), Some(Number::ZERO));
    assert_eq!(Number::integer(i64::MIN).neg().add(&Number::MINUS_ONE), Some(large.clone()));
    assert!(square > large && square.neg() < Number::ratio(1, i64::MAX));
}

#[test]
fn fractions_are_in_lowest_terms_with_a_positive_denominator() {
    assert_eq!(Number::ratio(6, -4).to_small(), Some((-3, 2)));
    assert_eq!(Number::ratio(i64::MIN, i64::MIN), Number::ONE);
    assert_eq!(Number::ratio(1, 3).add(&Number::ratio(1, 6)), Some(Number::ratio(1, 2)));
    assert_eq!(Number::ratio(4, 9).sqrt(), Some(Number::ratio(2, 3)));
    assert_eq!(Number::ratio(2, 9).sqrt(), None);
}

#[test]
fn endless_sums_of_fractions_stay_bounded() {
    let mut g = Graph::new();
    let mut sum = Expr::ZERO;
    for k in 1..=3_000 {
        let term = g.rational(1, k);
        sum = g.add(sum, term);
    }
    let harmonic: f64 = (1..=3_000).map(|k| 1.0 / k as f64).sum();
    assert!((g.constant_value(sum).unwrap() - harmonic).abs() < 1e-9);
}

#[test]
fn products_too_large_for_a_double_stay_symbolic() {
    let mut g = Graph::new();
    let large = g.decimal("1e300").unwrap();
    let square = g.mul(large, large);
    assert_eq!(g.number(square), None);
    assert_eq!(g.constant_value(square), Some(f64::INFINITY));
}
