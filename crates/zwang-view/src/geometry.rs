//! The picture of UK95: scaled accelerations, the set that the constraints allow, and the two right angles between
//! them.
//!
//! Two coordinates are drawn in their own plane. For more, the plane of the paper is spanned by the component that the
//! constraints fix (upwards) and the component that they leave free (to the right). The triangles 0, B⁺b, q̈ₛ and aₛ,
//! q̈ₛ, B⁺b have right angles and true lengths there. If B⁺b and B⁺e are not parallel, the second triangle is turned
//! about the edge that both share.

mod draw;
mod label;
mod words;

use zwang::equations::Equations;
use zwang_motion::Scaled;

pub use words::reading;

/// A position in the plane of the picture, in units of scaled acceleration; y points upwards.
type Place = [f64; 2];

/// The fraction of the largest length of the picture below which a length is treated as zero.
const NO_LENGTH: f64 = 1e-9;

/// The fraction of the largest length above which the residual of a row is a contradiction.
const GAP: f64 = 1e-8;

/// The largest number of lines of rows that are drawn; those with the largest residuals come first.
const MOST_LINES: usize = 6;

/// The names in the picture, as the user wrote them.
#[derive(Clone, Debug, Default)]
pub struct GeometryNames {
    /// The title of the picture.
    pub title: String,
    /// The names of the coordinates.
    pub coordinates: Vec<String>,
    /// The names of the rows of B.
    pub rows: Vec<String>,
    /// `true` if M is diagonal, so that each axis belongs to one coordinate.
    pub is_diagonal: bool,
}

impl GeometryNames {
    /// The names of a model.
    pub fn of(equations: &Equations) -> GeometryNames {
        let model = &equations.model;
        let is_diagonal = equations.mass_matrix.iter().enumerate().all(|(i, row)| row.iter().all(|(j, _)| *j == i));
        GeometryNames {
            title: model.title.clone(),
            coordinates: model.coordinates.iter().map(|c| c.name.clone()).collect(),
            rows: equations.rows.iter().map(|r| r.name.clone()).collect(),
            is_diagonal,
        }
    }
}

/// The picture as SVG.
pub fn geometry_svg(scaled: &Scaled, names: &GeometryNames) -> String {
    draw::document(&Plane::new(scaled, names), scaled, names)
}

/// A straight line of accelerations that some rows allow.
struct AllowedLine {
    /// The names of these rows.
    names: Vec<String>,
    /// A point on the line.
    at: Place,
    /// The unit vector along the line.
    along: Place,
    /// The vector from the nearest acceleration to the line; zero if the rows agree.
    gap: Place,
}

/// The contents of the picture in the plane of the paper.
struct Plane {
    /// aₛ.
    free: Place,
    /// B⁺b.
    demanded: Place,
    /// B⁺b + N aₛ, the motion if every constraint is ideal.
    ideal: Place,
    /// q̈ₛ.
    actual: Place,
    lines: Vec<AllowedLine>,
    /// `true` if the rows contradict each other.
    has_gap: bool,
    /// `true` if the plane is that of two coordinates.
    is_true: bool,
    /// The angle, in degrees, by which aₛ was turned about the line; `None` if it lies in the plane.
    turned: Option<f64>,
    /// The angle, in degrees, by which the nonideal part was turned within the null space; `None` if it lies in the
    /// plane.
    nonideal_turned: Option<f64>,
    /// The largest length.
    size: f64,
}

impl Plane {
    fn new(scaled: &Scaled, names: &GeometryNames) -> Plane {
        let lengths = [&scaled.free, &scaled.actual, &scaled.demanded, &scaled.pull, &scaled.nonideal].map(|v| norm(v));
        let size = lengths.into_iter().fold(0.0_f64, f64::max);
        let largest = scaled.distances.iter().fold(size, |m, d| m.max(d.abs()));
        let has_gap = scaled.gaps.iter().any(|g| g.abs() > GAP * largest);
        if scaled.free.len() == 2 {
            Plane::own(scaled, names, size, has_gap)
        } else {
            Plane::spanned(scaled, names, size, has_gap)
        }
    }

    /// The plane of two coordinates.
    fn own(scaled: &Scaled, names: &GeometryNames, size: f64, has_gap: bool) -> Plane {
        let place = |v: &[f64]| [v[0], v[1]];
        let demanded = place(&scaled.demanded);
        let mut lines: Vec<AllowedLine> = Vec::new();
        for (k, row) in scaled.rows.iter().enumerate().filter(|(_, row)| norm(row) > 0.5) {
            let gap = if has_gap { scaled.gaps[k] } else { 0.0 };
            let gap = if gap.abs() > GAP * size { gap } else { 0.0 };
            // the foot of the perpendicular from the nearest acceleration to the line
            let at = [demanded[0] + gap * row[0], demanded[1] + gap * row[1]];
            let same = |line: &AllowedLine| {
                let across = line.along[0] * row[0] + line.along[1] * row[1];
                across.abs() < GAP && minus(line.at, at).iter().all(|x| x.abs() <= GAP * size)
            };
            let name = names.rows.get(k).cloned().unwrap_or_default();
            match lines.iter_mut().find(|line| same(line)) {
                Some(line) => line.names.push(name),
                None => lines.push(AllowedLine {
                    names: vec![name],
                    at,
                    along: [-row[1], row[0]],
                    gap: [gap * row[0], gap * row[1]],
                }),
            }
        }
        lines.sort_by(|a, b| norm(&b.gap).total_cmp(&norm(&a.gap)));
        lines.truncate(MOST_LINES);
        let ideal = plus(demanded, place(&scaled.kept));
        let (free, actual) = (place(&scaled.free), place(&scaled.actual));
        Plane {
            free,
            demanded,
            ideal,
            actual,
            lines,
            has_gap,
            is_true: true,
            turned: None,
            nonideal_turned: None,
            size,
        }
    }

    /// The plane spanned by the fixed component (upwards) and the free component (to the right).
    fn spanned(scaled: &Scaled, names: &GeometryNames, size: f64, has_gap: bool) -> Plane {
        let (up, right, pull) = (norm(&scaled.demanded), norm(&scaled.kept), norm(&scaled.pull));
        let (side, turned) = direction(&scaled.demanded, &scaled.pull, size);
        let (way, nonideal_turned) = direction(&scaled.kept, &scaled.nonideal, size);
        let ideal = [right, up];
        let mut lines = Vec::new();
        if scaled.rank > 0 && scaled.rank < scaled.free.len() {
            let names = if has_gap { vec!["nearest to all".to_string()] } else { names.rows.clone() };
            lines.push(AllowedLine { names, at: [0.0, up], along: [1.0, 0.0], gap: [0.0, 0.0] });
        }
        if has_gap {
            let mut violated: Vec<usize> =
                (0..scaled.gaps.len()).filter(|&k| scaled.gaps[k].abs() > GAP * size).collect();
            violated.sort_by(|&i, &j| scaled.gaps[j].abs().total_cmp(&scaled.gaps[i].abs()));
            for k in violated.into_iter().take(MOST_LINES) {
                let gap = [0.0, scaled.gaps[k]];
                let at = [0.0, up + scaled.gaps[k]];
                let name = names.rows.get(k).cloned().unwrap_or_default();
                match lines.iter_mut().find(|line| (line.at[1] - at[1]).abs() <= GAP * size && line.gap != [0.0, 0.0]) {
                    Some(line) => line.names.push(name),
                    None => lines.push(AllowedLine { names: vec![name], at, along: [1.0, 0.0], gap }),
                }
            }
        }
        Plane {
            free: [right, up - side * pull],
            demanded: [0.0, up],
            ideal,
            actual: [right + way * norm(&scaled.nonideal), up],
            lines,
            has_gap,
            is_true: false,
            turned,
            nonideal_turned,
            size,
        }
    }
}

/// The sign of y along x's direction, and the angle in degrees by which y is turned to lie along it.
fn direction(x: &[f64], y: &[f64], size: f64) -> (f64, Option<f64>) {
    let (a, b) = (norm(x), norm(y));
    if a.min(b) <= NO_LENGTH * size {
        return (1.0, None);
    }
    let cos = x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>() / (a * b);
    let angle = cos.abs().min(1.0).acos().to_degrees();
    /// The smallest visible turn, in degrees.
    const SEEN: f64 = 0.1;
    (if cos < 0.0 { -1.0 } else { 1.0 }, (angle > SEEN).then_some(angle))
}

/// The length of a vector, without overflow of its squares.
fn norm(x: &[f64]) -> f64 {
    let largest = x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if largest == 0.0 { 0.0 } else { largest * x.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt() }
}

fn plus(a: Place, b: Place) -> Place {
    [a[0] + b[0], a[1] + b[1]]
}

fn minus(a: Place, b: Place) -> Place {
    [a[0] - b[0], a[1] - b[1]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::width;

    /// The boxes of all texts: left, top, right, bottom.
    fn boxes(svg: &str) -> Vec<(String, [f64; 4])> {
        let attribute = |line: &str, name: &str| {
            let at = line.find(&format!(" {name}=\"")).unwrap();
            line[at..].split('"').nth(1).unwrap().to_string()
        };
        let one = |line: &str| {
            let number = |name| attribute(line, name).parse::<f64>().unwrap();
            let (x, y, size) = (number("x"), number("y"), number("font-size"));
            let text = line.split('>').nth(1).unwrap().split('<').next().unwrap().to_string();
            let w = width(&text, size);
            let left = if attribute(line, "text-anchor") == "middle" { x - w / 2.0 } else { x };
            (text, [left, y - 0.8 * size, left + w, y + 0.2 * size])
        };
        svg.lines().filter(|l| l.starts_with("<text")).map(one).collect()
    }

    /// Texts do not overlap and stay within the picture, for all sizes and angles.
    #[test]
    fn no_text_covers_another() {
        for case in 0..400 {
            let wave = |k: usize| ((case * 37 + k * 11) as f64).sin();
            let n = 2 + case % 3;
            // unit rows, so that the components are consistent
            let row: Vec<f64> = (0..n).map(|k| wave(k) + 1e-3).collect();
            let length = norm(&row);
            let row: Vec<f64> = row.iter().map(|x| x / length).collect();
            let size = 10f64.powi((case % 7) as i32 * 2 - 6);
            let free: Vec<f64> = (0..n).map(|k| wave(k + 20) * size).collect();
            let along: f64 = free.iter().zip(&row).map(|(x, y)| x * y).sum();
            let demand = if case % 5 == 0 { 0.0 } else { wave(40) * size };
            let demanded: Vec<f64> = row.iter().map(|x| x * demand).collect();
            let kept: Vec<f64> = free.iter().zip(&row).map(|(x, r)| x - along * r).collect();
            let nonideal: Vec<f64> = kept.iter().map(|x| if case % 4 == 0 { -0.5 * x } else { 0.0 }).collect();
            let scaled = Scaled {
                pull: row.iter().map(|x| x * (demand - along)).collect(),
                actual: (0..n).map(|k| demanded[k] + kept[k] + nonideal[k]).collect(),
                gaps: vec![if case % 9 == 0 { 0.3 * size } else { 0.0 }],
                distances: vec![demand],
                rows: vec![row],
                rank: 1,
                free,
                demanded,
                kept,
                nonideal,
            };
            let names = GeometryNames {
                title: "A title".into(),
                coordinates: vec!["x".into(), "y[12]".into(), "z".into()],
                rows: vec!["a_rather_long_name_of_a_row".into()],
                is_diagonal: case % 2 == 0,
            };
            let svg = geometry_svg(&scaled, &names);
            let boxes = boxes(&svg);
            for (k, (text, a)) in boxes.iter().enumerate() {
                assert!(a[0] >= 0.0 && a[2] <= 760.0, "{case}: `{text}` leaves the paper");
                for (other, b) in &boxes[..k] {
                    let overlap = a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
                    assert!(!overlap, "{case}: `{text}` covers `{other}`");
                }
            }
        }
    }
}
