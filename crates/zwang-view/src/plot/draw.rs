//! A figure with its layout as SVG text.

use std::fmt::Write;

use super::Curve;
use super::decimate::{Point, decimate};
use super::layout::{
    CurveNames, FigureLayout, LARGE, LEADER, LEGEND_ROW, LINE, MARGIN, MARK_ROW, MEDIUM, PanelLayout, PlotArea, SAMPLE,
    SMALL, name, word,
};
use super::text::escaped;

/// The colours of Okabe and Ito, distinguishable with any kind of colour vision; their yellow is too pale for lines.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];

/// The number of solid lines; further ones are dashed.
const N_SOLID: usize = 4;
const DASHES: [&str; 3] = ["7 3", "2 2.5", "9 3 2 3"];

/// The largest number of points in one figure: at about 14 bytes each, a file stays below 200 kB.
const MOST_POINTS: usize = 12_000;

/// The largest number of events whose lines cross the panel, and the length of the lines of more, in pixels.
const MOST_LONG_MARKS: usize = 24;
const SHORT_MARK: f64 = 8.0;

const INK: &str = "#222222";
const FAINT: &str = "#e4e4e4";
const FONT: &str = "DejaVu Sans, Helvetica, Arial, sans-serif";

/// Colour and dashes of curve k.
fn style(k: usize) -> (&'static str, Option<&'static str>) {
    (COLOURS[k % COLOURS.len()], k.checked_sub(N_SOLID).map(|k| DASHES[k % DASHES.len()]))
}

/// The whole document.
pub(super) fn document(layout: &FigureLayout) -> String {
    let mut out = head(layout);
    let column = coarseness(layout);
    for placed in &layout.panels {
        out.push_str("<g>\n");
        grid(&mut out, placed);
        marks(&mut out, placed);
        curves(&mut out, placed, column);
        axes(&mut out, placed);
        names(&mut out, placed);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// Size, white background and title.
fn head(layout: &FigureLayout) -> String {
    let (width, height, name) = (px(layout.width), px(layout.height), escaped(layout.name));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONT}\" fill=\"{INK}\">\n"
    );
    if !name.is_empty() {
        let _ = writeln!(out, "<title>{name}</title>");
    }
    let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>");
    if !layout.title.is_empty() {
        let left = layout.panels.first().map_or(MARGIN, |p| p.frame.left);
        let left = left.min(layout.width - MARGIN - super::text::width(&layout.title, LARGE)).max(MARGIN);
        text(&mut out, (left, 14.0 + LARGE), LARGE, "start", &layout.title);
    }
    out
}

/// The width of the pixel columns, in pixels, at which the figure has at most `MOST_POINTS` points.
fn coarseness(layout: &FigureLayout) -> f64 {
    let n_points = |column: f64| -> usize {
        let curves = layout.panels.iter().flat_map(|p| p.panel.curves.iter().map(move |c| pieces(p, c, column)));
        curves.flatten().map(|piece| piece.len()).sum()
    };
    [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0].into_iter().find(|c| n_points(*c) <= MOST_POINTS).unwrap_or(24.0)
}

/// The connected pieces of a curve in pixels, thinned out.
fn pieces(placed: &PanelLayout, curve: &Curve, column: f64) -> Vec<Vec<Point>> {
    let points: Vec<Option<Point>> = curve.x.iter().zip(&curve.y).map(|(x, y)| placed.point(*x, *y)).collect();
    let pieces = points.split(|p| p.is_none()).filter(|piece| !piece.is_empty());
    pieces.map(|piece| decimate(&piece.iter().flatten().copied().collect::<Vec<_>>(), column)).collect()
}

/// Pale lines at the ticks, a darker one at zero.
fn grid(out: &mut String, placed: &PanelLayout) {
    let PlotArea { left, top, width, height } = placed.frame;
    let mut path = String::new();
    for tick in &placed.x.ticks {
        let _ = write!(path, "M{} {}v{}", px(left + width * placed.x.place(tick.at)), px(top), px(height));
    }
    for tick in &placed.y.ticks {
        let _ = write!(path, "M{} {}h{}", px(left), px(top + height * (1.0 - placed.y.place(tick.at))), px(width));
    }
    let _ = writeln!(out, "<path d=\"{path}\" stroke=\"{FAINT}\" stroke-width=\"0.8\" fill=\"none\"/>");
    let zero = placed.y.place(0.0);
    if zero > 0.0 && zero < 1.0 {
        let y = px(top + height * (1.0 - zero));
        let _ = writeln!(out, "<path d=\"M{} {y}h{}\" stroke=\"#b8b8b8\" stroke-width=\"0.8\"/>", px(left), px(width));
    }
}

/// Left and lower edge, outward ticks, numbers and labels.
fn axes(out: &mut String, placed: &PanelLayout) {
    let PlotArea { left, top, width, height } = placed.frame;
    let bottom = top + height;
    let mut path = format!("M{} {}V{}H{}", px(left), px(top), px(bottom), px(left + width));
    for tick in &placed.y.ticks {
        let y = top + height * (1.0 - placed.y.place(tick.at));
        let _ = write!(path, "M{} {}h-4", px(left), px(y));
        text(out, (left - 8.0, y + 0.36 * SMALL), SMALL, "end", &tick.text);
    }
    for tick in &placed.x.ticks {
        let x = left + width * placed.x.place(tick.at);
        let _ = write!(path, "M{} {}v4", px(x), px(bottom));
        if placed.has_x_texts {
            text(out, (x, bottom + 7.0 + SMALL), SMALL, "middle", &tick.text);
        }
    }
    let _ = writeln!(out, "<path d=\"{path}\" stroke=\"{INK}\" stroke-width=\"0.9\" fill=\"none\"/>");
    if placed.has_x_texts {
        text(out, (left + width / 2.0, bottom + 40.0), MEDIUM, "middle", &placed.x.label);
    }
    let (x, y) = (px(12.0 + MEDIUM), px(top + height / 2.0));
    let _ = writeln!(
        out,
        "<text transform=\"translate({x} {y}) rotate(-90)\" font-size=\"{MEDIUM}\" text-anchor=\"middle\">{}</text>",
        escaped(&placed.y.label)
    );
}

/// Events as thin lines with a word above; many of them as short lines at the top, so that the curves are seen.
fn marks(out: &mut String, placed: &PanelLayout) {
    let PlotArea { left, top, width, height } = placed.frame;
    let is_inside = |t: f64| (0.0..=1.0).contains(&placed.x.place(t));
    let is_dense = placed.panel.marks.iter().filter(|mark| is_inside(mark.0)).count() > MOST_LONG_MARKS;
    let length = if is_dense { SHORT_MARK } else { height };
    for (mark, place_of_word) in placed.panel.marks.iter().zip(&placed.words) {
        let place = placed.x.place(mark.0);
        if !(0.0..=1.0).contains(&place) {
            continue;
        }
        let x = left + width * place;
        let rise = place_of_word.map_or(0.0, |(row, _)| MARK_ROW * row as f64);
        let _ = writeln!(
            out,
            "<path d=\"M{} {}V{}\" stroke=\"#777777\" stroke-width=\"0.8\" stroke-dasharray=\"3 2.5\"/>",
            px(x),
            px(top - rise),
            px(top + length)
        );
        if let Some((_, middle)) = place_of_word {
            text(out, (left + middle, top - rise - 4.0), SMALL, "middle", &word(mark));
        }
    }
}

/// The curves, the first at the bottom.
fn curves(out: &mut String, placed: &PanelLayout, column: f64) {
    let mut n_drawn = 0;
    for (k, curve) in placed.panel.curves.iter().enumerate() {
        let mut path = String::new();
        for piece in pieces(placed, curve, column) {
            n_drawn += piece.len();
            if let [(x, y)] = piece[..] {
                dot(out, (x, y), k);
                continue;
            }
            for (i, (x, y)) in piece.iter().enumerate() {
                let _ = write!(path, "{}{} {}", if i == 0 { "M" } else { "L" }, px(*x), px(*y));
            }
        }
        if !path.is_empty() {
            let _ = writeln!(out, "<path d=\"{path}\" {}/>", stroke(k));
        }
    }
    if n_drawn == 0 {
        let PlotArea { left, top, width, height } = placed.frame;
        text(out, (left + width / 2.0, top + height / 2.0), MEDIUM, "middle", "nothing to show");
    }
}

fn dot(out: &mut String, (x, y): Point, k: usize) {
    let _ = writeln!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"2.4\" fill=\"{}\"/>", px(x), px(y), style(k).0);
}

fn stroke(k: usize) -> String {
    let (colour, dash) = style(k);
    let dash = dash.map_or("stroke-linecap=\"round\"".into(), |d| format!("stroke-dasharray=\"{d}\""));
    format!("stroke=\"{colour}\" stroke-width=\"1.6\" stroke-linejoin=\"round\" {dash} fill=\"none\"")
}

/// Names at the curves' ends, each with a thin line to its curve, or in rows above the panel.
fn names(out: &mut String, placed: &PanelLayout) {
    let PlotArea { left, top, width, .. } = placed.frame;
    let labels = placed.panel.curves.iter().map(name);
    match &placed.names {
        CurveNames::None => {}
        CurveNames::AtEnds(heights) => {
            for (k, (label, (end, height))) in labels.zip(heights).enumerate() {
                let (from, to) = (left + width + 2.0, left + width + LEADER);
                let path = format!("M{} {}L{} {}", px(from), px(*end), px(to), px(*height));
                let _ = writeln!(out, "<path d=\"{path}\" stroke=\"{}\" stroke-width=\"0.9\"/>", style(k).0);
                text(out, (to + 4.0, height + 0.35 * MEDIUM), MEDIUM, "start", &label);
            }
        }
        CurveNames::Legend(places) => {
            let n_rows = places.iter().map(|(row, _)| row + 1).max().unwrap_or(0);
            let above = top - placed.words_height() - LEGEND_ROW * n_rows as f64;
            for (k, (label, (row, place))) in labels.zip(places).enumerate() {
                let (x, y) = (left + place, above + LEGEND_ROW * *row as f64 + LINE / 2.0);
                match placed.panel.curves[k].x.len() {
                    1 => dot(out, (x + SAMPLE / 2.0, y), k),
                    _ => writeln!(out, "<path d=\"M{} {}h{SAMPLE}\" {}/>", px(x), px(y), stroke(k)).unwrap_or(()),
                }
                text(out, (x + SAMPLE + 6.0, y + 0.35 * MEDIUM), MEDIUM, "start", &label);
            }
        }
    }
}

fn text(out: &mut String, (x, y): Point, size: f64, anchor: &str, text: &str) {
    let (x, y, text) = (px(x), px(y), escaped(text));
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{text}</text>");
}

/// A length with at most two decimals.
fn px(x: f64) -> String {
    let rounded = (x * 100.0).round() / 100.0;
    // turns -0 into 0
    format!("{}", rounded + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_curves_look_alike() {
        for k in 0..N_SOLID + 21 {
            assert!((0..k).all(|j| style(j) != style(k)), "{k}");
        }
        assert!(style(N_SOLID - 1).1.is_none() && style(N_SOLID).1.is_some());
    }

    #[test]
    fn lengths_are_short() {
        assert_eq!(px(1.0 / 3.0), "0.33");
        assert_eq!(px(-0.001), "0");
        assert_eq!(px(12.0), "12");
    }
}
