//! A figure in the terminal: curves of Braille dots between axes of box characters.

use crate::plot::{Axis, Curve, Figure, Panel, is_plottable, is_shared, range, typeset, x_range};

/// The number of text rows of a panel's curves; with label, axis and numbers a panel has twelve.
const ROWS: usize = 9;
/// The number of dots in one character, across and down.
const ACROSS: usize = 2;
const DOWN: usize = 4;
/// The smallest number of characters between the axis and the names of the curves.
const NARROWEST: usize = 16;
/// The longest name shown next to a curve, in characters.
const LONGEST_NAME: usize = 16;

/// The figure as text of about `width` characters, each panel a block of about twelve lines.
pub fn sketch(figure: &Figure, width: usize) -> String {
    let y_axes: Vec<Axis> = figure.panels.iter().map(y_axis).collect();
    let left = y_axes.iter().flat_map(|a| &a.ticks).map(|t| length(&t.text)).max().unwrap_or(0);
    let right = figure.panels.iter().map(names_width).max().unwrap_or(0);
    let n_columns = width.saturating_sub(left + 2 + right).max(NARROWEST);
    let mut out = String::new();
    if !figure.title.is_empty() {
        out.push_str(&format!("{}\n", figure.title));
    }
    for (k, (panel, y)) in figure.panels.iter().zip(&y_axes).enumerate() {
        let x = x_axis(x_range(figure, k), &panel.x_label, n_columns);
        out.push_str(&format!("{:left$}  {}\n", "", y.label));
        out.push_str(&block(panel, &x, y, left, n_columns));
        let is_last = figure.panels.get(k + 1).is_none_or(|next| !is_shared(panel, next));
        out.push_str(&ruler(&x, left, n_columns, is_last));
    }
    out
}

fn y_axis(panel: &Panel) -> Axis {
    let values = panel.curves.iter().flat_map(|c| c.x.iter().zip(&c.y)).filter(|(x, _)| is_plottable(**x));
    Axis::new(range(values.map(|(_, y)| *y), 0.0), &typeset(&panel.y_label), 4)
}

/// A horizontal axis whose numbers do not touch.
fn x_axis(range: (f64, f64), label: &str, n_columns: usize) -> Axis {
    Axis::horizontal(range, &typeset(label), 8.0 * n_columns as f64, 11.0)
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn name(curve: &Curve) -> String {
    typeset(&curve.label).chars().take(LONGEST_NAME).collect()
}

/// The space for names; the axis names a single curve.
fn names_width(panel: &Panel) -> usize {
    if panel.curves.len() < 2 { 0 } else { panel.curves.iter().map(|c| length(&name(c)) + 1).max().unwrap_or(0) }
}

/// Rows of dots, with the numbers of the vertical axis in front and the names of the curves behind.
fn block(panel: &Panel, x: &Axis, y: &Axis, left: usize, n_columns: usize) -> String {
    let mut canvas = Canvas::new(n_columns);
    panel.curves.iter().for_each(|curve| canvas.draw(curve, x, y));
    let mut numbers = vec![String::new(); ROWS];
    for tick in &y.ticks {
        numbers[row_of(y.place(tick.at))] = tick.text.clone();
    }
    let is_marked = |column: usize| {
        let at = |place: f64| (place * (n_columns - 1) as f64).round() == column as f64;
        panel.marks.iter().map(|(at, _)| x.place(*at)).any(at)
    };
    let marked: Vec<bool> = (0..n_columns).map(is_marked).collect();
    let names = names(panel, y);
    let mut out = String::new();
    for row in 0..ROWS {
        let edge = if numbers[row].is_empty() { '│' } else { '┤' };
        let line = format!("{:>left$} {edge}{}{}", numbers[row], canvas.row(row, &marked), names[row]);
        out.push_str(&format!("{}\n", line.trim_end()));
    }
    out
}

/// The row of a height between 0 and 1.
fn row_of(place: f64) -> usize {
    (((1.0 - place) * (ROWS * DOWN - 1) as f64).round() as usize / DOWN).min(ROWS - 1)
}

/// The names of the curves in the rows in which they end, or in the nearest free rows.
fn names(panel: &Panel, y: &Axis) -> Vec<String> {
    let mut rows = vec![String::new(); ROWS];
    if panel.curves.len() < 2 {
        return rows;
    }
    for curve in &panel.curves {
        let end = curve.y.iter().rev().copied().find(|v| is_plottable(*v));
        let wanted = end.map_or(0, |v| row_of(y.place(v)));
        let nearest = (0..ROWS).filter(|r| rows[*r].is_empty()).min_by_key(|r| r.abs_diff(wanted));
        if let Some(row) = nearest {
            rows[row] = format!(" {}", name(curve));
        }
    }
    rows
}

/// The horizontal axis, with numbers and label below the last of the panels that share it.
fn ruler(x: &Axis, left: usize, n_columns: usize, has_numbers: bool) -> String {
    let mut line = vec!['─'; n_columns];
    let mut numbers = vec![' '; left + 2 + n_columns + 8];
    for tick in &x.ticks {
        let column = (x.place(tick.at) * (n_columns - 1) as f64).round() as usize;
        line[column.min(n_columns - 1)] = '┬';
        let start = (left + 2 + column).saturating_sub(length(&tick.text) / 2);
        for (k, c) in tick.text.chars().enumerate().take_while(|(k, _)| start + k < left + 2 + n_columns + 8) {
            numbers[start + k] = c;
        }
    }
    let line: String = line.into_iter().collect();
    if !has_numbers {
        return format!("{:left$} └{line}\n", "");
    }
    let numbers: String = numbers.into_iter().collect();
    let before = left + 2 + n_columns.saturating_sub(length(&x.label)) / 2;
    format!("{:left$} └{line}\n{}\n{:before$}{}\n", "", numbers.trim_end(), "", x.label)
}

/// Dots, eight to a character.
struct Canvas {
    n_columns: usize,
    dots: Vec<u8>,
}

impl Canvas {
    fn new(n_columns: usize) -> Canvas {
        Canvas { n_columns, dots: vec![0; n_columns * ROWS] }
    }

    /// Sets the dot at a position counted from the left and from the top.
    fn set(&mut self, across: usize, down: usize) {
        // bits of U+2800: 1 2 3 7 down the left side, 4 5 6 8 down the right
        const BITS: [[u8; ACROSS]; DOWN] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let cell = (down / DOWN) * self.n_columns + across / ACROSS;
        self.dots[cell] |= BITS[down % DOWN][across % ACROSS];
    }

    /// Draws the curve as connected dots, with gaps at values that cannot be plotted.
    fn draw(&mut self, curve: &Curve, x: &Axis, y: &Axis) {
        let (wide, tall) = ((self.n_columns * ACROSS - 1) as f64, (ROWS * DOWN - 1) as f64);
        let mut last = None;
        for (u, v) in curve.x.iter().zip(&curve.y) {
            let here = (is_plottable(*u) && is_plottable(*v))
                .then(|| (x.place(*u).clamp(0.0, 1.0) * wide, (1.0 - y.place(*v)).clamp(0.0, 1.0) * tall));
            if let Some(to) = here {
                self.line(last.unwrap_or(to), to);
            }
            last = here;
        }
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let n = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0);
        for k in 0..=n as usize {
            let s = k as f64 / n;
            let (across, down) = (from.0 + s * (to.0 - from.0), from.1 + s * (to.1 - from.1));
            self.set(across.round() as usize, down.round() as usize);
        }
    }

    /// A row of characters; events are visible where there are no dots.
    fn row(&self, row: usize, marked: &[bool]) -> String {
        let dots = &self.dots[row * self.n_columns..(row + 1) * self.n_columns];
        let one = |(dots, is_marked): (&u8, &bool)| match (dots, is_marked) {
            (0, true) => '┊',
            (0, false) => ' ',
            (dots, _) => char::from_u32(0x2800 + u32::from(*dots)).unwrap_or(' '),
        };
        dots.iter().zip(marked).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Function = fn(f64) -> f64;

    fn figure(curves: &[(&str, Function)]) -> Figure {
        let x: Vec<f64> = (0..200).map(|k| f64::from(k) * 0.05).collect();
        let curve = |(label, f): &(&str, Function)| Curve {
            label: label.to_string(),
            x: x.clone(),
            y: x.iter().map(|t| f(*t)).collect(),
        };
        let curves = curves.iter().map(curve).collect();
        let panel = Panel { curves, x_label: "t in s".into(), y_label: "θ' in 1/s".into(), ..Default::default() };
        Figure { title: "Pendulum".into(), panels: vec![panel] }
    }

    #[test]
    fn a_panel_is_about_twelve_lines() {
        let text = sketch(&figure(&[("θ'", f64::sin), ("ω", f64::cos)]), 72);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 14, "{text}");
        assert!(lines.iter().all(|l| length(l) <= 80), "{text}");
        assert!(text.contains("θ′ in 1/s") && text.contains("t in s") && text.contains(" ω"), "{text}");
    }

    #[test]
    fn a_rising_line_rises() {
        let text = sketch(&figure(&[("x", |t| t)]), 60);
        let rows: Vec<&str> = text.lines().skip(2).take(ROWS).collect();
        let first = |line: &str| line.chars().position(|c| ('\u{2801}'..='\u{28ff}').contains(&c)).unwrap();
        assert!(rows.windows(2).all(|w| first(w[0]) > first(w[1])), "{text}");
    }

    #[test]
    fn odd_curves_are_drawn() {
        for f in [|_| f64::NAN, |_| 0.0, |_| 3.0, |t: f64| if t > 3.0 { f64::NAN } else { 1e9 * t }] as [Function; 4] {
            assert!(sketch(&figure(&[("x", f), ("y", f)]), 5).lines().count() > 10);
        }
        assert_eq!(sketch(&Figure::default(), 80), "");
    }

    #[test]
    fn events_are_upright_lines() {
        let mut figure = figure(&[("x", |_| 0.5)]);
        figure.panels[0].marks = vec![(5.0, "hit".into()), (50.0, "later".into()), (f64::NAN, "never".into())];
        assert_eq!(sketch(&figure, 60).matches('┊').count(), ROWS - 1);
    }

    #[test]
    fn panels_share_their_numbers() {
        let mut twice = figure(&[("x", f64::sin)]);
        twice.panels.push(twice.panels[0].clone());
        let text = sketch(&twice, 60);
        assert_eq!(text.matches("t in s").count(), 1, "{text}");
    }
}
