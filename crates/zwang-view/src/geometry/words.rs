//! The picture described in words.

use zwang::quantity::rounded;
use zwang_motion::Scaled;

use super::{GAP, GeometryNames, NO_LENGTH, Plane, norm};

/// A length with four digits, or 0 if it is only rounding.
pub(super) fn length(x: f64, size: f64) -> String {
    if x.abs() <= NO_LENGTH * size { "0".into() } else { rounded(x, 4) }
}

/// The description of the picture in one or two sentences.
pub fn reading(scaled: &Scaled, names: &GeometryNames) -> String {
    let lengths = [&scaled.free, &scaled.actual, &scaled.demanded, &scaled.pull, &scaled.nonideal].map(|v| norm(v));
    let size = lengths.into_iter().fold(0.0_f64, f64::max);
    let largest = scaled.distances.iter().fold(size, |m, d| m.max(d.abs()));
    let n = scaled.free.len();
    if scaled.gaps.iter().any(|g| g.abs() > GAP * largest) {
        return format!(
            "No acceleration satisfies all rows; the nearest one violates {}.",
            violated(scaled, names, largest)
        );
    }
    let allowed = match n - scaled.rank {
        0 => "onto the one point they allow",
        1 => "straight onto the line they allow",
        _ => "straight onto the set they allow",
    };
    let pull = norm(&scaled.pull);
    let mut out = match scaled.rank {
        _ if size == 0.0 => "Nothing accelerates: every force and every demand is zero here.".to_string(),
        0 => "No constraint acts here: the motion is the free one.".to_string(),
        _ if pull <= NO_LENGTH * size => {
            "The free acceleration satisfies the constraints already, so they do not pull.".to_string()
        }
        _ => format!("The constraints pull the scaled acceleration by {}, {allowed}.", rounded(pull, 4)),
    };
    let nonideal = norm(&scaled.nonideal);
    if nonideal > NO_LENGTH * size {
        out.push_str(&format!(" Nonideal forces move it by {} within what is allowed.", rounded(nonideal, 4)));
    }
    out
}

/// The rows with a residual, as in `` `left` by 0.25 and `right` by 0.25 ``, the largest first.
fn violated(scaled: &Scaled, names: &GeometryNames, size: f64) -> String {
    let mut rows: Vec<(&str, f64)> = names
        .rows
        .iter()
        .map(String::as_str)
        .zip(scaled.gaps.iter().map(|g| g.abs()))
        .filter(|(_, g)| *g > GAP * size)
        .collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown: Vec<String> = rows.iter().take(3).map(|(name, g)| format!("`{name}` by {}", rounded(*g, 4))).collect();
    match &shown[..] {
        [first @ .., last] if !first.is_empty() && rows.len() <= 3 => format!("{} and {last}", first.join(", ")),
        _ if rows.len() > 3 => format!("{} and others by less", shown.join(", ")),
        _ => shown.concat(),
    }
}

/// The accuracy of the drawn lengths, in small print.
pub(super) fn small_print(plane: &Plane, scaled: &Scaled) -> Vec<String> {
    let scale = "Accelerations are scaled by the root of the mass matrix";
    let has_nonideal = norm(&scaled.nonideal) > NO_LENGTH * plane.size;
    let gaussian = length(norm(&scaled.pull).powi(2), plane.size * plane.size);
    let mut lines = vec![match (plane.has_gap, has_nonideal) {
        (true, _) => format!("{scale}."),
        (_, true) => format!("{scale}; |B⁺e|² = {gaussian} is what the Gaussian would be without nonideal forces."),
        _ => format!("{scale}; |B⁺e|² = {gaussian} is the Gaussian G."),
    }];
    let degrees = |angle: f64| rounded(angle, 3);
    lines.extend(match (plane.is_true, plane.turned, plane.nonideal_turned) {
        (true, ..) => None,
        (_, None, None) => Some("All lengths and right angles are true: everything lies in this plane.".to_string()),
        (_, Some(a), None) => Some(format!(
            "The pull is turned by {}° about the line into this plane: all lengths but |aₛ| are true.",
            degrees(a)
        )),
        (_, None, Some(c)) => {
            Some(format!("N cₛ is turned by {}° onto the line: all lengths but |q̈ₛ| are true.", degrees(c)))
        }
        (_, Some(a), Some(c)) => Some(format!(
            "The pull is turned by {}° about the line, N cₛ by {}° onto it: all lengths but |aₛ| and |q̈ₛ| are true.",
            degrees(a),
            degrees(c)
        )),
    });
    lines
}

/// Text in lines that are not wider than `most`, as measured by `width`.
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
