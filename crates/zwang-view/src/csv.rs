//! A motion as comma-separated values, RFC 4180 with `\n` line ends.

use zwang::Samples;

/// Header and rows; every number has the fewest digits that read back to the same value.
///
/// A value that is not finite becomes an empty field. With `units_in_header` a column is named `x [m]`.
pub fn csv(samples: &Samples, units_in_header: bool) -> String {
    let head = |c: &zwang::Column| match c.unit.as_str() {
        unit if units_in_header && !unit.is_empty() => quoted(&format!("{} [{unit}]", c.name)),
        _ => quoted(&c.name),
    };
    let mut out = samples.columns.iter().map(head).collect::<Vec<_>>().join(",");
    out.push('\n');
    for row in 0..samples.n_rows() {
        for (k, column) in samples.columns.iter().enumerate() {
            if k > 0 {
                out.push(',');
            }
            out.push_str(&column.values.get(row).map_or(String::new(), |x| decimal(*x)));
        }
        out.push('\n');
    }
    out
}

/// The shortest decimal that reads back to x, with an exponent below 1e-4 and from 1e15.
fn decimal(x: f64) -> String {
    match x.abs() {
        _ if !x.is_finite() => String::new(),
        size if size != 0.0 && !(1e-4..1e15).contains(&size) => format!("{x:e}"),
        _ => format!("{x}"),
    }
}

/// The text, in double quotes if it contains a comma, a quote or a line break.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwang::Column;

    fn column(name: &str, unit: &str, values: &[f64]) -> Column {
        Column { name: name.into(), label: name.into(), unit: unit.into(), values: values.to_vec() }
    }

    #[test]
    fn every_number_reads_back_to_itself() {
        let values = [0.1 + 0.2, -0.0, 1.0 / 3.0, 5e-324, f64::MAX, 1e15, 123456.789, -1e-4, 9.99e-5];
        let text = csv(&Samples { columns: vec![column("t", "s", &values)] }, false);
        let read: Vec<f64> = text.lines().skip(1).map(|l| l.parse().unwrap()).collect();
        assert_eq!(read.len(), values.len());
        assert!(read.iter().zip(&values).all(|(a, b)| a.to_bits() == b.to_bits()), "{text}");
    }

    #[test]
    fn header_and_gaps() {
        let columns = vec![column("t", "s", &[0.0, 1.0]), column("a,b", "", &[f64::NAN, f64::INFINITY])];
        let samples = Samples { columns };
        assert_eq!(csv(&samples, false), "t,\"a,b\"\n0,\n1,\n");
        assert_eq!(csv(&samples, true), "t [s],\"a,b\"\n0,\n1,\n");
    }

    #[test]
    fn a_quote_is_doubled() {
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(csv(&Samples::default(), false), "\n");
    }
}
