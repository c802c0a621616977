//! The layout of a figure, computed before it is drawn.

use super::axis::{Axis, is_plottable, range};
use super::decimate::Point;
use super::text::{cut, fitted, typeset, width};
use super::{Curve, Figure, Panel};

/// Font sizes in pixels: of ticks and marks, of axes and curves, of the title.
pub(super) const SMALL: f64 = 11.0;
pub(super) const MEDIUM: f64 = 12.0;
pub(super) const LARGE: f64 = 15.0;

/// The smallest margin at the right edge and around the title, in pixels.
pub(super) const MARGIN: f64 = 20.0;
/// The width of the plotted area, in pixels.
const PLOT: f64 = 560.0;
/// The smallest distance between texts below each other, in pixels.
pub(super) const LINE: f64 = 15.0;
/// The height of a row of marks above a panel, and of a row of the legend, in pixels.
pub(super) const MARK_ROW: f64 = 14.0;
pub(super) const LEGEND_ROW: f64 = 20.0;
/// The length of the line before a name in the legend, and of the one from a curve's end to its name, in pixels.
pub(super) const SAMPLE: f64 = 24.0;
pub(super) const LEADER: f64 = 16.0;
/// The largest width of a name at a curve's end, and its largest distance above or below the end, in pixels.
const WIDEST_NAME: f64 = 120.0;
const FARTHEST_NAME: f64 = 30.0;
/// The largest width of a name in a legend, and of a word at a mark, in pixels.
const WIDEST_ENTRY: f64 = PLOT - SAMPLE - 20.0;
const WIDEST_WORD: f64 = 160.0;
/// The largest number of rows of marks; further words are omitted.
const MOST_MARK_ROWS: usize = 3;

/// The plotted area of a panel, in pixels.
#[derive(Copy, Clone)]
pub(super) struct PlotArea {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

/// The names of the curves: none, at the ends (heights of end and name), or in a legend above (row and position).
pub(super) enum CurveNames {
    None,
    AtEnds(Vec<(f64, f64)>),
    Legend(Vec<(usize, f64)>),
}

/// A panel with its layout.
pub(super) struct PanelLayout<'a> {
    pub panel: &'a Panel,
    pub frame: PlotArea,
    pub x: Axis,
    pub y: Axis,
    /// `true` if the numbers of the horizontal axis are below this panel.
    pub has_x_texts: bool,
    pub names: CurveNames,
    /// For each mark, the row above the panel and the middle of its word, or `None` if the word is not shown.
    pub words: Vec<Option<(usize, f64)>>,
}

/// A figure with the positions of all its parts.
pub(super) struct FigureLayout<'a> {
    /// The title as given, for screen readers.
    pub name: &'a str,
    /// The title as printed.
    pub title: String,
    pub width: f64,
    pub height: f64,
    pub panels: Vec<PanelLayout<'a>>,
}

impl PanelLayout<'_> {
    /// A point in pixels, or `None` if it cannot be plotted.
    pub fn point(&self, x: f64, y: f64) -> Option<Point> {
        let PlotArea { left, top, width, height } = self.frame;
        (is_plottable(x) && is_plottable(y))
            .then(|| (left + width * self.x.place(x), top + height * (1.0 - self.y.place(y))))
    }

    /// The height of the rows above the plotted area.
    fn header(&self) -> f64 {
        let n_legend = match &self.names {
            CurveNames::Legend(places) => places.iter().map(|(row, _)| row + 1).max().unwrap_or(0),
            _ => 0,
        };
        self.words_height() + LEGEND_ROW * n_legend as f64
    }

    /// The height of the rows of words between the plotted area and the legend.
    pub fn words_height(&self) -> f64 {
        MARK_ROW * self.words.iter().flatten().map(|(row, _)| row + 1).max().unwrap_or(0) as f64
    }
}

/// Lays out the axes first, then names and marks, then the panels below each other.
pub(super) fn layout(figure: &Figure) -> FigureLayout<'_> {
    let mut panels: Vec<PanelLayout> = (0..figure.panels.len()).map(|k| place(figure, k)).collect();
    let left = panels.iter().map(left_margin).fold(24.0, f64::max);
    let right = panels.iter().map(right_margin).fold(MARGIN, f64::max);
    let mut top = if figure.title.is_empty() { 14.0 } else { 16.0 + LARGE + 14.0 };
    for placed in &mut panels {
        top += placed.header();
        (placed.frame.left, placed.frame.top) = (left, top);
        if let CurveNames::AtEnds(ends) = &mut placed.names {
            ends.iter_mut().for_each(|(end, name)| (*end, *name) = (*end + top, *name + top));
        }
        top += placed.frame.height + if placed.has_x_texts { 54.0 } else { 16.0 };
    }
    let plot = panels.iter().map(|p| p.frame.width).fold(200.0, f64::max);
    let title = cut(&figure.title, LARGE, (left + plot + right).max(PLOT) - 2.0 * MARGIN);
    let width = (left + plot + right).max(width(&title, LARGE) + 2.0 * MARGIN).ceil();
    FigureLayout { name: &figure.title, title, width, height: top.ceil(), panels }
}

fn place(figure: &Figure, k: usize) -> PanelLayout<'_> {
    let panel = &figure.panels[k];
    let (x_range, y_range, width, height) = extent(figure, k);
    let x_label = typeset(&panel.x_label);
    let x = Axis::horizontal(x_range, &x_label, width, SMALL);
    let y_label = typeset(&panel.y_label);
    let mut y = match panel.equal_aspect {
        true => Axis::with_step(y_range, &y_label, x.step),
        false => Axis::vertical(y_range, &y_label, height),
    };
    y.label = fitted(&y.label, MEDIUM, height + 20.0);
    let has_x_texts = figure.panels.get(k + 1).is_none_or(|next| !is_shared(panel, next));
    let before = k.checked_sub(1).map(|b| &figure.panels[b]).filter(|b| is_shared(b, panel));
    let words = words(panel, before, &x, width);
    let frame = PlotArea { left: 0.0, top: 0.0, width, height };
    let mut placed = PanelLayout { panel, frame, x, y, has_x_texts, names: CurveNames::None, words };
    placed.names = names(&placed);
    placed
}

/// `true` if two neighbours share a horizontal axis.
pub(crate) fn is_shared(above: &Panel, below: &Panel) -> bool {
    above.x_label == below.x_label && !above.equal_aspect && !below.equal_aspect
}

/// The range of the horizontal axis that panel k shares with its neighbours.
pub(crate) fn x_range(figure: &Figure, k: usize) -> (f64, f64) {
    let panels = &figure.panels;
    let first = (1..=k).rev().find(|&i| !is_shared(&panels[i - 1], &panels[i])).unwrap_or(0);
    let n_before = (k + 1..panels.len()).find(|&i| !is_shared(&panels[i - 1], &panels[i])).unwrap_or(panels.len());
    let curves = || panels[first..n_before].iter().flat_map(|p| &p.curves);
    // time extends from edge to edge, a path has a margin
    let is_path = curves().any(|c| c.x.windows(2).any(|pair| pair[1] < pair[0]));
    range(curves().flat_map(shown).map(|p| p.0), if is_path { 0.05 } else { 0.0 })
}

/// The points of a curve that can be plotted.
fn shown(curve: &Curve) -> impl Iterator<Item = (f64, f64)> {
    let points = curve.x.iter().copied().zip(curve.y.iter().copied());
    points.filter(|(x, y)| is_plottable(*x) && is_plottable(*y))
}

type Range = (f64, f64);

/// The ranges and the size of the plotted area.
fn extent(figure: &Figure, k: usize) -> (Range, Range, f64, f64) {
    let panel = &figure.panels[k];
    let height = match figure.panels.len() {
        1 => 340.0,
        2 => 220.0,
        3 => 170.0,
        _ => 140.0,
    };
    let x = x_range(figure, k);
    let y = range(panel.curves.iter().flat_map(shown).map(|p| p.1), 0.06);
    if !panel.equal_aspect {
        return (x, y, PLOT, height);
    }
    // pixels per unit, equal in both directions; the remaining space widens the range
    let (tallest, least) = (460.0, 140.0);
    let scale = (PLOT / (x.1 - x.0)).min(tallest / (y.1 - y.0));
    let alone = figure.panels.iter().all(|p| p.equal_aspect);
    let narrowest = if alone { 260.0 } else { PLOT };
    let width = (scale * (x.1 - x.0)).max(narrowest);
    let height = (scale * (y.1 - y.0)).max(least);
    (widened(x, width / scale), widened(y, height / scale), width, height)
}

fn widened((lo, hi): Range, spread: f64) -> Range {
    let more = 0.5 * (spread - (hi - lo)).max(0.0);
    (lo - more, hi + more)
}

/// The name of a curve in printed form.
pub(super) fn name(curve: &Curve) -> String {
    cut(&typeset(&curve.label), MEDIUM, WIDEST_ENTRY)
}

/// The word at a mark in printed form.
pub(super) fn word(mark: &(f64, String)) -> String {
    cut(&mark.1, SMALL, WIDEST_WORD)
}

/// Names at the curves' ends if all fit there, else in a legend.
fn names(placed: &PanelLayout) -> CurveNames {
    let curves = &placed.panel.curves;
    let is_told = |c: &Curve| c.label.is_empty() || placed.y.label.contains(&typeset(&c.label));
    if curves.is_empty() || (curves.len() == 1 && is_told(&curves[0])) {
        return CurveNames::None;
    }
    at_ends(placed).map_or_else(|| CurveNames::Legend(legend(curves, placed.frame.width)), CurveNames::AtEnds)
}

/// The heights of the curves' ends and of their names, measured from the top of the frame.
fn at_ends(placed: &PanelLayout) -> Option<Vec<(f64, f64)>> {
    let PlotArea { width: plot, height, .. } = placed.frame;
    let mut ends = Vec::new();
    for curve in &placed.panel.curves {
        let (x, y) = shown(curve).last().and_then(|(x, y)| placed.point(x, y))?;
        if x < plot - 3.0 || width(&name(curve), MEDIUM) > WIDEST_NAME {
            return None;
        }
        ends.push(y);
    }
    let names = spread(&ends, LINE, height)?;
    let near = ends.iter().zip(&names).all(|(end, name)| (end - name).abs() <= FARTHEST_NAME);
    near.then(|| ends.into_iter().zip(names).collect())
}

/// Heights as near to the wanted ones as a smallest distance allows, or `None` if there is not enough space.
///
/// Names that would touch form a block around the mean of their wanted heights; blocks that touch are joined.
fn spread(wanted: &[f64], least: f64, height: f64) -> Option<Vec<f64>> {
    if (wanted.len() as f64 - 1.0) * least > height {
        return None;
    }
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let top = |block: &[usize]| {
        let reach = (block.len() as f64 - 1.0) * least;
        let mean = block.iter().map(|k| wanted[*k]).sum::<f64>() / block.len() as f64;
        (mean - reach / 2.0).clamp(0.0, height - reach)
    };
    for k in order {
        let mut block = vec![k];
        while let Some(above) = blocks.pop_if(|a| top(a) + a.len() as f64 * least > top(&block)) {
            block.splice(0..0, above);
        }
        blocks.push(block);
    }
    let mut heights = vec![0.0; wanted.len()];
    for block in &blocks {
        block.iter().enumerate().for_each(|(i, k)| heights[*k] = top(block) + i as f64 * least);
    }
    Some(heights)
}

/// The row and the position of each name in the legend, in columns of equal width.
fn legend(curves: &[Curve], plot: f64) -> Vec<(usize, f64)> {
    let widest = curves.iter().map(|c| width(&name(c), MEDIUM)).fold(0.0, f64::max);
    let column = SAMPLE + 6.0 + widest + 20.0;
    let n = ((plot + 20.0) / column).floor().max(1.0) as usize;
    (0..curves.len()).map(|k| (k / n, (k % n) as f64 * column)).collect()
}

/// A free row and a position for the word of each mark; `None` if the panel above has it, it is outside, or has no
/// space.
fn words(panel: &Panel, before: Option<&Panel>, x: &Axis, plot: f64) -> Vec<Option<(usize, f64)>> {
    let mut ends = [f64::NEG_INFINITY; MOST_MARK_ROWS];
    let mut order: Vec<usize> = (0..panel.marks.len()).collect();
    order.sort_by(|a, b| panel.marks[*a].0.total_cmp(&panel.marks[*b].0));
    let mut words = vec![None; panel.marks.len()];
    // panels over the same time mostly have the same events
    let are_known = before.is_some_and(|b| b.marks == panel.marks);
    for k in order {
        let (at, word) = (panel.marks[k].0, word(&panel.marks[k]));
        let is_known = are_known || before.is_some_and(|b| b.marks.contains(&panel.marks[k]));
        if word.is_empty() || is_known || !(0.0..=1.0).contains(&x.place(at)) {
            continue;
        }
        // above its line, but within the right margin
        let half = width(&word, SMALL) / 2.0;
        let middle = (plot * x.place(at)).min(plot + MARGIN - 4.0 - half);
        if let Some(row) = ends.iter().position(|end| middle - half > end + 6.0) {
            ends[row] = middle + half;
            words[k] = Some((row, middle));
        }
    }
    words
}

/// The space for the numbers and the label of the vertical axis.
fn left_margin(placed: &PanelLayout) -> f64 {
    let widest = placed.y.ticks.iter().map(|t| width(&t.text, SMALL)).fold(0.0, f64::max);
    14.0 + MEDIUM + 10.0 + widest + 8.0
}

/// The space for names at the ends of curves, or for a legend wider than the plotted area.
fn right_margin(placed: &PanelLayout) -> f64 {
    let widths = placed.panel.curves.iter().map(|c| width(&name(c), MEDIUM));
    match &placed.names {
        CurveNames::None => MARGIN,
        CurveNames::AtEnds(_) => LEADER + 4.0 + widths.fold(0.0, f64::max) + 14.0,
        CurveNames::Legend(places) => {
            let ends = places.iter().zip(widths).map(|((_, place), width)| place + SAMPLE + 6.0 + width + 14.0);
            ends.fold(MARGIN + placed.frame.width, f64::max) - placed.frame.width
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_distance_and_stay_inside() {
        let wanted = [50.0, 51.0, 49.0, 120.0, 199.0, 200.0];
        let heights = spread(&wanted, 15.0, 200.0).unwrap();
        let mut sorted = heights.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|w| w[1] - w[0] >= 15.0 - 1e-9), "{heights:?}");
        assert!(sorted[0] >= 0.0 && sorted[5] <= 200.0);
        // the order is kept, and a name with enough space stays in place
        assert!(heights[2] < heights[0] && heights[0] < heights[1]);
        assert_eq!(heights[3], 120.0);
        assert!(spread(&[0.0; 20], 15.0, 200.0).is_none());
    }

    #[test]
    fn words_of_near_marks_get_rows() {
        let marks = (0..5).map(|k| (5.0 + 0.01 * f64::from(k), "bounce".to_string())).collect();
        let panel = Panel { marks, ..Default::default() };
        let x = Axis::new((0.0, 10.0), "t", 5);
        let rows = |before| words(&panel, before, &x, 500.0).into_iter().map(|w| w.map(|w| w.0)).collect::<Vec<_>>();
        assert_eq!(rows(None), [Some(0), Some(1), Some(2), None, None]);
        assert_eq!(rows(Some(&panel)), [None; 5]);
    }

    #[test]
    fn equal_aspect_has_one_scale() {
        let circle: Vec<f64> = (0..100).map(|k| f64::from(k) * 0.07).collect();
        let curve = Curve {
            x: circle.iter().map(|s| 3.0 * s.cos()).collect(),
            y: circle.iter().map(|s| s.sin()).collect(),
            ..Default::default()
        };
        let panel = Panel { curves: vec![curve], equal_aspect: true, ..Default::default() };
        let figure = Figure { panels: vec![panel], ..Default::default() };
        let (x, y, width, height) = extent(&figure, 0);
        assert!((width / (x.1 - x.0) - height / (y.1 - y.0)).abs() < 1e-9);
    }
}
