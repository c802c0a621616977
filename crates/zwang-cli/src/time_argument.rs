//! Times on the command line.

/// A time of more than zero: a number, or a number with a unit of time.
pub fn time(text: &str) -> Result<f64, String> {
    match time_or_zero(text) {
        Ok(0.0) => Err("it must be more than 0, such as 10 or \"50 ms\"".into()),
        other => other,
    }
}

/// A time of at least zero: a number, or a number with a unit of time.
pub fn time_or_zero(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let is_unit = |(k, c): (usize, char)| {
        // the e of 1e-3 belongs to the number
        let is_exponent =
            matches!(c, 'e' | 'E') && text[k + 1..].starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
        c.is_whitespace() || (c.is_alphabetic() || c == 'µ' || c == 'μ') && !is_exponent
    };
    let split = text.char_indices().find(|&at| is_unit(at)).map_or(text.len(), |(k, _)| k);
    let (number, unit) = (&text[..split], text[split..].trim());
    let wanted = "type a time of at least 0, such as 10, 0.5 or \"50 ms\"";
    let value: f64 = number.parse().map_err(|_| wanted.to_string())?;
    let factor = match unit {
        "" => 1.0,
        name => match zwang::units::find(name) {
            Some(unit) if unit.dimension.same(zwang::units::Dimension::SECOND) => unit.factor(),
            _ => return Err(format!("`{name}` is not a unit of time; {wanted}")),
        },
    };
    let value = value * factor;
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(wanted.into()) }
}
