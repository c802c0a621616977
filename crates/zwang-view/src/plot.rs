//! Figures as SVG: panels of curves, one below the other, in the style of print.

mod axis;
mod decimate;
mod draw;
mod layout;
mod text;

pub(crate) use axis::{Axis, is_plottable, range};
pub(crate) use layout::{is_shared, x_range};
pub(crate) use text::{cut, escaped, typeset, width};

use zwang::Column;

/// A line through points, with a gap at numbers that are not finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Symbol of the quantity, as in the model.
    pub label: String,
    /// Horizontal values of the points, mostly times.
    pub x: Vec<f64>,
    /// Vertical values of the points.
    pub y: Vec<f64>,
}

/// Curves over one pair of axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// The curves; the first one is drawn lowest.
    pub curves: Vec<Curve>,
    /// The label of the horizontal axis: `t in s`. A unit after ` in ` takes a power of ten if one is needed.
    pub x_label: String,
    /// The label of the vertical axis: `x, y in m`.
    pub y_label: String,
    /// Events: thin vertical lines with a word above.
    pub marks: Vec<(f64, String)>,
    /// `true` if both axes have the same scale, for paths y over x.
    pub equal_aspect: bool,
}

/// Panels below a title; neighbours with the same `x_label` share their horizontal axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// The title; may be empty.
    pub title: String,
    /// The panels from top to bottom.
    pub panels: Vec<Panel>,
}

/// One quantity plotted over another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlotQuantity {
    /// Symbol of the quantity, as in the model.
    pub label: String,
    /// Unit such as `m/s`; empty if there is none.
    pub unit: String,
    /// Horizontal values of the points, mostly times.
    pub x: Vec<f64>,
    /// Vertical values of the points.
    pub y: Vec<f64>,
}

impl PlotQuantity {
    /// One column of a motion over another, mostly over t.
    pub fn over(x: &Column, y: &Column) -> PlotQuantity {
        PlotQuantity { label: y.label.clone(), unit: y.unit.clone(), x: x.values.clone(), y: y.values.clone() }
    }
}

/// The longest list of symbols at a vertical axis, in characters; the curves have labels too.
const LONGEST_LIST: usize = 24;

/// Quantities of the same unit in one panel, in the order in which the units first occur.
pub fn panels_by_unit(quantities: Vec<PlotQuantity>, x_label: &str) -> Vec<Panel> {
    let mut groups: Vec<(String, Vec<Curve>)> = Vec::new();
    for PlotQuantity { label, unit, x, y } in quantities {
        let curve = Curve { label, x, y };
        match groups.iter_mut().find(|(u, _)| *u == unit) {
            Some((_, curves)) => curves.push(curve),
            None => groups.push((unit, vec![curve])),
        }
    }
    let panel = |(unit, curves): (String, Vec<Curve>)| {
        let y_label = axis_label(&curves, &unit);
        Panel { curves, x_label: x_label.into(), y_label, ..Default::default() }
    };
    groups.into_iter().map(panel).collect()
}

/// `x, y in m`, or `x, y, … in m` for many curves.
fn axis_label(curves: &[Curve], unit: &str) -> String {
    let mut list = String::new();
    for (k, curve) in curves.iter().enumerate() {
        if k > 0 && list.chars().count() + curve.label.chars().count() > LONGEST_LIST {
            list.push_str(", …");
            break;
        }
        list.push_str(if k > 0 { ", " } else { "" });
        list.push_str(&curve.label);
    }
    if unit.is_empty() { list } else { format!("{list} in {unit}") }
}

/// The figure as an SVG document.
///
/// Points are thinned out without visible change; the extremes remain.
pub fn svg(figure: &Figure) -> String {
    draw::document(&layout::layout(figure))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(label: &str, n: usize, phase: f64) -> Curve {
        let x: Vec<f64> = (0..n).map(|k| 10.0 * k as f64 / n.max(2) as f64).collect();
        let y = x.iter().map(|t| (2.0 * t + phase).sin()).collect();
        Curve { label: label.into(), x, y }
    }

    fn one(curves: Vec<Curve>) -> Figure {
        let panel = Panel { curves, x_label: "t in s".into(), y_label: "x in m".into(), ..Default::default() };
        Figure { title: "Pendulum".into(), panels: vec![panel] }
    }

    /// Checks that the document is complete and that its tags and numbers are well-formed.
    fn check(figure: &Figure) -> String {
        let text = svg(figure);
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert!(!text.contains("NaN") && !text.contains("inf\"") && !text.contains("inf "), "{text}");
        assert_eq!(text.matches("<g").count(), text.matches("</g>").count());
        assert_eq!(text.matches("<text").count(), text.matches("</text>").count());
        text
    }

    #[test]
    fn two_curves_are_labelled_at_their_ends() {
        let text = check(&one(vec![wave("x", 500, 0.0), wave("y'", 500, 1.0)]));
        assert!(text.contains(">y′<") && text.contains(">t in s<") && text.contains(">Pendulum<"));
        assert!(text.len() < 30_000, "{}", text.len());
    }

    #[test]
    fn a_million_points_make_a_small_file() {
        let curves = (0..8).map(|k| wave(&format!("x[{k}]"), 125_000, k as f64)).collect();
        let text = check(&one(curves));
        assert!(text.len() < 200_000, "{}", text.len());
        let noise = |k: u64| (k.wrapping_mul(6364136223846793005) >> 33) as f64 / 2f64.powi(31);
        let rough = |s: u64| Curve {
            label: format!("n{s}"),
            x: (0..100_000).map(f64::from).collect(),
            y: (0..100_000).map(|k| noise(k * 8 + s)).collect(),
        };
        let text = check(&one((0..8).map(rough).collect()));
        assert!(text.len() < 250_000, "{}", text.len());
    }

    #[test]
    fn a_value_that_is_no_number_makes_a_gap() {
        let mut curve = wave("x", 100, 0.0);
        curve.y[40] = f64::NAN;
        curve.y[41] = f64::INFINITY;
        let whole = check(&one(vec![wave("x", 100, 0.0)])).matches("M").count();
        assert_eq!(check(&one(vec![curve])).matches("M").count(), whole + 1);
    }

    #[test]
    fn odd_curves_are_drawn() {
        let curve = |x: &[f64], y: &[f64]| Curve { label: "c".into(), x: x.to_vec(), y: y.to_vec() };
        for c in [
            curve(&[0.0, 1.0], &[3.0, 3.0]),
            curve(&[0.0, 1.0], &[0.0, 0.0]),
            curve(&[2.0], &[1.0]),
            curve(&[], &[]),
            curve(&[0.0, 1.0], &[f64::NAN, f64::NAN]),
            curve(&[0.0, 1e-12], &[1e9, 3e9]),
            curve(&[0.0, 1e300], &[-1e300, 1e308]),
            curve(&[0.0, 1.0, 2.0], &[5e-324, 0.0]),
        ] {
            check(&one(vec![c.clone(), c.clone()]));
            let mut path = one(vec![c]);
            path.panels[0].equal_aspect = true;
            path.panels[0].marks = vec![(0.5, "hit".into()), (f64::NAN, "never".into())];
            check(&path);
        }
        check(&Figure::default());
    }

    #[test]
    fn texts_are_escaped() {
        let mut figure = one(vec![wave("a<b>&c", 10, 0.0), wave("\"d\"", 10, 1.0)]);
        figure.title = "<script>".into();
        figure.panels[0].marks = vec![(1.0, "x > 0".into())];
        let text = check(&figure);
        assert!(text.contains("a&lt;b&gt;&amp;c") && text.contains("&lt;script&gt;") && text.contains("x &gt; 0"));
        assert!(!text.contains("<script>"));
    }

    #[test]
    fn units_get_their_own_panels() {
        let quantity =
            |label: &str, unit: &str| PlotQuantity { label: label.into(), unit: unit.into(), ..Default::default() };
        let panels = panels_by_unit(vec![quantity("x", "m"), quantity("v", "m/s"), quantity("y", "m")], "t in s");
        let labels: Vec<&str> = panels.iter().map(|p| p.y_label.as_str()).collect();
        assert_eq!(labels, ["x, y in m", "v in m/s"]);
        let many = (0..30).map(|k| quantity(&format!("x[{k}]"), "")).collect();
        assert_eq!(panels_by_unit(many, "t")[0].y_label, "x[0], x[1], x[2], x[3], …");
    }
}
