//! Text in a figure: its width, the typesetting of symbols, and escaping for XML.

use zwang::visible::is_hidden;

/// Advance widths of the characters from space to tilde in DejaVu Sans, in thousandths of the font size.
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
];

/// The width of a text in pixels, accurate enough to keep labels apart.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let advance = |c: char| match c {
        ' '..='~' => WIDTHS[c as usize - 32],
        '\u{300}'..='\u{36f}' => 0,
        '′' => 227,
        '″' | '·' => 374,
        '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '₀'..='₉' => 401,
        '−' | '×' | 'ω' => 838,
        '\u{1100}'.. => 1000,
        _ => 640,
    };
    text.chars().map(|c| f64::from(advance(c))).sum::<f64>() * size / 1000.0
}

/// Text with the reserved characters of XML escaped and the forbidden ones removed.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c if is_hidden(c) => out.push_str(&format!("&lt;U+{:04X}&gt;", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// A symbol or unit in printed form: `θ'` as θ′, `q_1` as q₁, `kg*m/s^2` as kg·m/s².
pub(crate) fn typeset(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    let mut rest = label.chars().peekable();
    while let Some(c) = rest.next() {
        let after_symbol = out.ends_with(|p: char| p.is_alphanumeric() || matches!(p, ')' | ']' | '₀'..='₉'));
        match c {
            '\'' if after_symbol => match rest.next_if_eq(&'\'') {
                Some(_) => out.push('″'),
                None => out.push('′'),
            },
            '*' => out.push('·'),
            '^' if rest.peek().is_some_and(|d| d.is_ascii_digit() || *d == '-') => {
                while let Some(d) = rest.next_if(|d| d.is_ascii_digit() || *d == '-') {
                    out.push(raised(d));
                }
            }
            '_' if after_symbol && rest.peek().is_some_and(char::is_ascii_digit) => {
                while let Some(d) = rest.next_if(char::is_ascii_digit) {
                    out.push(char::from_u32(0x2080 + d as u32 - '0' as u32).unwrap_or(d));
                }
            }
            c => out.push(c),
        }
    }
    out
}

/// 10 to the power n: `10⁻¹²`.
pub(crate) fn power_of_ten(n: i32) -> String {
    format!("10{}", n.to_string().chars().map(raised).collect::<String>())
}

fn raised(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        d => char::from_u32(0x2070 + d as u32 - '0' as u32).unwrap_or(d),
    }
}

/// The label shortened to a width, beginning with the list of quantities before the unit: `x, y, … in m`.
pub(crate) fn fitted(label: &str, size: f64, most: f64) -> String {
    if width(label, size) <= most {
        return label.into();
    }
    let (quantity, unit) = label.rsplit_once(" in ").unwrap_or((label, ""));
    let unit = if unit.is_empty() { String::new() } else { format!(" in {unit}") };
    let names: Vec<&str> = quantity.split(", ").collect();
    for n in (1..names.len()).rev() {
        let shorter = format!("{}, …{unit}", names[..n].join(", "));
        if width(&shorter, size) <= most {
            return shorter;
        }
    }
    // part of a name in a list is of no use, and the curves have labels
    match cut(quantity, size, most - width(&unit, size)) {
        _ if names.len() > 1 => unit.trim_start().into(),
        shorter if shorter.is_empty() => shorter,
        shorter => format!("{shorter}{unit}"),
    }
}

/// The text shortened to a width, with an ellipsis for the rest.
pub(crate) fn cut(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.into();
    }
    let room = most - width("…", size);
    let mut used = 0.0;
    let fits = |c: &char| {
        used += width(c.encode_utf8(&mut [0; 4]), size);
        used <= room
    };
    let kept: String = text.chars().take_while(fits).collect();
    if kept.is_empty() { kept } else { format!("{}…", kept.trim_end()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escaped("a < b & \"c\"\u{1}\n>"), "a &lt; b &amp; &quot;c&quot; &gt;");
    }

    #[test]
    fn symbols_are_set() {
        for (written, set) in [
            ("θ'", "θ′"),
            ("x''", "x″"),
            ("x[1]'", "x[1]′"),
            ("q_12'", "q₁₂′"),
            ("kg*m/s^2", "kg·m/s²"),
            ("s^-10", "s⁻¹⁰"),
            ("mu_s", "mu_s"),
            ("x^k", "x^k"),
        ] {
            assert_eq!(typeset(written), set);
        }
        assert_eq!(power_of_ten(-12), "10⁻¹²");
    }

    #[test]
    fn a_long_label_keeps_its_unit() {
        let short = fitted("x, y, z, theta, phi in m/s", 10.0, 80.0);
        assert!(short.ends_with("… in m/s") && width(&short, 10.0) <= 80.0, "{short}");
        assert_eq!(fitted("x in m", 10.0, 80.0), "x in m");
        assert_eq!(fitted("incomprehensibilities, … in N", 10.0, 90.0), "in N");
        assert_eq!(fitted("incomprehensibilities", 10.0, 3.0), "");
        assert_eq!(fitted("incomprehensibilities in N", 10.0, 60.0), "inco… in N");
        assert!(width(&cut("incomprehensibilities", 10.0, 50.0), 10.0) <= 50.0);
    }
}
