//! The picture in words.

use zwang::quantity::rounded;
use zwang_motion::Scaled;

use super::{GAP, GeometryNames, NOTHING, Plane, norm};

/// A length with four digits, and plainly 0 where it is rounding.
pub(super) fn length(x: f64, size: f64) -> String {
    if x.abs() <= NOTHING * size { "0".into() } else { rounded(x, 4) }
}

/// What the picture shows, in one or two sentences.
pub fn reading(scaled: &Scaled, names: &GeometryNames) -> String {
    let lengths = [&scaled.free, &scaled.actual, &scaled.demanded, &scaled.pull, &scaled.nonideal].map(|v| norm(v));
    let size = lengths.into_iter().fold(0.0_f64, f64::max);
    let largest = scaled.distances.iter().fold(size, |m, d| m.max(d.abs()));
    let n = scaled.free.len();
    if scaled.gaps.iter().any(|g| g.abs() > GAP * largest) {
        return format!("No acceleration satisfies all rows; the nearest to all misses {}.", missed(scaled, names, largest));
    }
    let allowed = match n - scaled.rank {
        0 => "onto the one point they allow",
        1 => "at right angles onto the line of all they allow",
        _ => "at right angles onto the set of all they allow",
    };
    let pull = norm(&scaled.pull);
    let mut out = match scaled.rank {
        _ if size == 0.0 => "Nothing accelerates: every force and every demand is zero here.".to_string(),
        0 => "No constraint acts here: the motion is the free one.".to_string(),
        _ if pull <= NOTHING * size => {
            "The free acceleration satisfies the constraints already, so they do not pull.".to_string()
        }
        _ => format!("The constraints pull the scaled acceleration by {}, {allowed}.", rounded(pull, 4)),
    };
    let nonideal = norm(&scaled.nonideal);
    if nonideal > NOTHING * size {
        out.push_str(&format!(" Nonideal forces move it by {} within what is allowed.", rounded(nonideal, 4)));
    }
    out
}

/// `` `left` by 0.25 and `right` by 0.25 ``, the worst first.
fn missed(scaled: &Scaled, names: &GeometryNames, size: f64) -> String {
    let mut rows: Vec<(&str, f64)> =
        names.rows.iter().map(String::as_str).zip(scaled.gaps.iter().map(|g| g.abs())).filter(|(_, g)| *g > GAP * size).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown: Vec<String> = rows.iter().take(3).map(|(name, g)| format!("`{name}` by {}", rounded(*g, 4))).collect();
    match &shown[..] {
        [first @ .., last] if !first.is_empty() && rows.len() <= 3 => format!("{} and {last}", first.join(", ")),
        _ if rows.len() > 3 => format!("{} and others by less", shown.join(", ")),
        _ => shown.concat(),
    }
}

/// How true the lengths are, in small print.
pub(super) fn small_print(plane: &Plane, scaled: &Scaled) -> Vec<String> {
    let mut lines = Vec::new();
    let gaussian = norm(&scaled.pull).powi(2);
    let nonideal = norm(&scaled.nonideal) > NOTHING * plane.size;
    let name = if nonideal { "that of Gauss for ideal constraints" } else { "the Gaussian G" };
    lines.push(format!(
        "Accelerations are scaled by the root of the mass matrix; |B⁺e|² = {} is {name}.",
        length(gaussian, plane.size * plane.size)
    ));
    match (plane.is_true, plane.turned, plane.nonideal_turned) {
        (true, ..) => {}
        (_, None, None) => lines.push("All lengths and right angles are true: everything lies in this plane.".into()),
        (_, turned, nonideal) => {
            let mut parts = Vec::new();
            if let Some(angle) = turned {
                parts.push(format!("aₛ is turned by {}° about the line, so every length but |aₛ| is true", rounded(angle, 3)));
            }
            if let Some(angle) = nonideal {
                parts.push(format!("N cₛ is turned by {}° onto the line", rounded(angle, 3)));
            }
            lines.push(format!("{}.", capital(&parts.join("; "))));
        }
    }
    lines
}

/// The sentence, beginning with a capital unless it begins with a symbol.
fn capital(text: &str) -> String {
    if text.starts_with("aₛ") || text.starts_with("N c") { text.to_string() } else { text[..1].to_uppercase() + &text[1..] }
}

/// Text in lines that are not wider than `most`, as `width` measures them.
pub(super) fn wrapped(text: &str, most: f64, width: impl Fn(&str) -> f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}")) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}
