//! The picture as SVG: sentence, plane, key, small print.

use std::fmt::Write;

use zwang_motion::Scaled;

use super::label::{Frame, Label, Point, clipped, place};
use super::words::{length, reading, small_print, wrapped};
use super::{GeometryNames, NO_LENGTH, Place, Plane, minus, norm, plus};
use crate::plot::{escaped, typeset, width};

const WIDTH: f64 = 760.0;
const PICTURE_MARGIN: f64 = 24.0;
/// The height of the plane, and the space in it for labels around the drawing, in pixels.
const HEIGHT: f64 = 400.0;
const ROOM: f64 = 56.0;
const LARGE_TEXT: f64 = 15.0;
const MEDIUM_TEXT: f64 = 14.0;
const SMALL_TEXT: f64 = 12.0;
const ROW: f64 = 22.0;
/// The length in pixels below which an arrow is drawn as a point.
const SHORT_ARROW: f64 = 3.0;

const FONT: &str = "DejaVu Sans, Helvetica, Arial, sans-serif";
const INK: &str = "#222222";
const FAINT: &str = "#dddddd";
// darkened from the colours of Okabe and Ito, so that text in them is legible on white
const FREE: &str = "#6a6a6a";
const MOTION: &str = "#111111";
const PULL: &str = "#c24f00";
const ALLOWED: &str = "#0068a3";
const DEMANDED: &str = "#00775a";
const KEPT: &str = "#94467c";
const NONIDEAL: &str = "#7d6000";
const MISSED: &str = "#c00000";

/// An arrow of the picture.
struct Arrow {
    /// The identifier for programs that read the picture: `pull`.
    id: &'static str,
    /// The symbol: `B⁺e`.
    symbol: &'static str,
    /// The meaning of the arrow.
    words: &'static str,
    from: Place,
    to: Place,
    /// The true length, which differs from the drawn one if the arrow was turned into the plane.
    length: f64,
    colour: &'static str,
    width: f64,
    is_dashed: bool,
}

/// The transformation from the plane to pixels.
struct Map {
    scale: f64,
    shift: Point,
    frame: Frame,
}

impl Map {
    fn new(plane: &Plane, top: f64) -> Map {
        let mut places = vec![[0.0, 0.0], plane.free, plane.demanded, plane.ideal, plane.actual];
        places.extend(plane.lines.iter().map(|line| line.at).filter(|_| plane.has_gap));
        let low = |k: usize| places.iter().map(|p| p[k]).fold(f64::INFINITY, f64::min);
        let high = |k: usize| places.iter().map(|p| p[k]).fold(f64::NEG_INFINITY, f64::max);
        let frame = [PICTURE_MARGIN, top, WIDTH - PICTURE_MARGIN, top + HEIGHT];
        let room = [WIDTH - 2.0 * (PICTURE_MARGIN + ROOM), HEIGHT - 2.0 * ROOM];
        let fits = (0..2).map(|k| room[k] / (high(k) - low(k))).fold(f64::INFINITY, f64::min);
        let scale = if fits.is_finite() { fits } else { 1.0 };
        let middle = |k: usize| (low(k) + high(k)) / 2.0;
        let shift = [WIDTH / 2.0 - scale * middle(0), top + HEIGHT / 2.0 + scale * middle(1)];
        Map { scale, shift, frame }
    }

    fn point(&self, p: Place) -> Point {
        [self.shift[0] + self.scale * p[0], self.shift[1] - self.scale * p[1]]
    }
}

/// The whole document.
pub(super) fn document(plane: &Plane, scaled: &Scaled, names: &GeometryNames) -> String {
    let sentence =
        wrapped(&reading(scaled, names).replace('`', ""), WIDTH - 2.0 * PICTURE_MARGIN, |s| width(s, LARGE_TEXT));
    let top = PICTURE_MARGIN + 6.0 + ROW * (sentence.len() + usize::from(!names.title.is_empty())) as f64;
    let arrows = arrows(plane, scaled);
    let key = key(plane, scaled, &arrows);
    let print = small_print(plane, scaled);
    let print: Vec<String> =
        print.iter().flat_map(|line| wrapped(line, WIDTH - 2.0 * PICTURE_MARGIN, |s| width(s, SMALL_TEXT))).collect();
    let height = top + HEIGHT + 14.0 + ROW * key.len() as f64 + 18.0 * print.len() as f64 + PICTURE_MARGIN;
    let (w, h) = (px(WIDTH), px(height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"{FONT}\" fill=\"{INK}\" role=\"img\">\n<title>{}</title>\n\
         <rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n",
        escaped(&sentence.join(" "))
    );
    let mut y = PICTURE_MARGIN + 8.0;
    if !names.title.is_empty() {
        let title = crate::plot::cut(&names.title, LARGE_TEXT, WIDTH - 2.0 * PICTURE_MARGIN);
        text(&mut out, [PICTURE_MARGIN, y], LARGE_TEXT, "start", FREE, &title);
        y += ROW;
    }
    for line in &sentence {
        text(&mut out, [PICTURE_MARGIN, y], LARGE_TEXT, "start", INK, line);
        y += ROW;
    }
    plane_part(&mut out, plane, names, &arrows, top);
    y = top + HEIGHT + 14.0 + SMALL_TEXT;
    for row in &key {
        key_row(&mut out, row, y);
        y += ROW;
    }
    for line in &print {
        text(&mut out, [PICTURE_MARGIN, y], SMALL_TEXT, "start", FREE, line);
        y += 18.0;
    }
    out.push_str("</svg>\n");
    out
}

/// The arrows in drawing order.
fn arrows(plane: &Plane, scaled: &Scaled) -> Vec<Arrow> {
    let arrow = |id, symbol, words, from, to, vector: &[f64], colour, width, is_dashed| Arrow {
        id,
        symbol,
        words,
        from,
        to,
        length: norm(vector),
        colour,
        width,
        is_dashed,
    };
    let zero = [0.0, 0.0];
    let demand = match plane.has_gap {
        true => "nearest to all rows, and of that the nearest to zero",
        false => "demanded: of all that is allowed the nearest to zero",
    };
    let mut arrows = vec![
        arrow(
            "free",
            "aₛ",
            "free: the motion if nothing held the system",
            zero,
            plane.free,
            &scaled.free,
            FREE,
            4.5,
            false,
        ),
        arrow("demanded", "B⁺b", demand, zero, plane.demanded, &scaled.demanded, DEMANDED, 2.4, false),
        arrow(
            "kept",
            "N aₛ",
            "kept: what is left of the free motion",
            plane.demanded,
            plane.ideal,
            &scaled.kept,
            KEPT,
            3.2,
            false,
        ),
    ];
    if norm(&scaled.nonideal) > NO_LENGTH * plane.size {
        let words = "nonideal: moves within what is allowed";
        arrows.push(arrow(
            "nonideal",
            "N cₛ",
            words,
            plane.ideal,
            plane.actual,
            &scaled.nonideal,
            NONIDEAL,
            3.2,
            false,
        ));
    }
    let words = "pull of the constraints, at right angles to what they allow";
    arrows.push(arrow("pull", "B⁺e", words, plane.free, plane.ideal, &scaled.pull, PULL, 2.4, true));
    let words = if plane.has_gap { "nearest to all rows, and of that the nearest to aₛ" } else { "the motion" };
    arrows.push(arrow("motion", "q̈ₛ", words, zero, plane.actual, &scaled.actual, MOTION, 2.0, false));
    arrows
}

/// One line of the key.
struct Key {
    colour: &'static str,
    width: f64,
    is_dashed: bool,
    symbol: String,
    words: String,
}

fn key(plane: &Plane, scaled: &Scaled, arrows: &[Arrow]) -> Vec<Key> {
    let of = |a: &Arrow| Key {
        colour: a.colour,
        width: a.width,
        is_dashed: a.is_dashed,
        symbol: a.symbol.to_string(),
        words: format!("{}, {}", a.words, length(a.length, plane.size)),
    };
    let mut key: Vec<Key> = arrows.iter().map(of).collect();
    // the key begins with the free acceleration and then the actual one
    if let Some(last) = key.pop() {
        key.insert(key.len().min(1), last);
    }
    let (n, left) = (scaled.free.len(), scaled.free.len() - scaled.rank);
    if !plane.lines.is_empty() && !plane.has_gap {
        let words = match (n, left) {
            (2, 0) => "allowed by each row alone; together only where they meet".to_string(),
            (_, 1) => "allowed: one direction is left".to_string(),
            _ => format!("allowed: {left} directions are left, all at right angles to the pull"),
        };
        key.push(Key { colour: ALLOWED, width: 1.6, is_dashed: false, symbol: "B x = b".into(), words });
    }
    if plane.has_gap {
        let words = "the gap: how far each row's own line passes by".to_string();
        key.push(Key { colour: MISSED, width: 2.0, is_dashed: true, symbol: "gap".into(), words });
    }
    key
}

fn key_row(out: &mut String, key: &Key, y: f64) {
    let dash = if key.is_dashed { " stroke-dasharray=\"6 4\"" } else { "" };
    let _ = writeln!(
        out,
        "<path d=\"M{} {}h28\" stroke=\"{}\" stroke-width=\"{}\"{dash} fill=\"none\"/>",
        px(PICTURE_MARGIN),
        px(y - 0.36 * MEDIUM_TEXT),
        key.colour,
        key.width
    );
    text(out, [PICTURE_MARGIN + 38.0, y], MEDIUM_TEXT, "start", key.colour, &key.symbol);
    text(out, [PICTURE_MARGIN + 106.0, y], MEDIUM_TEXT, "start", INK, &key.words);
}

/// The plane: background, axes, lines, arrows, right angles, labels.
fn plane_part(out: &mut String, plane: &Plane, names: &GeometryNames, arrows: &[Arrow], top: f64) {
    let map = Map::new(plane, top);
    let [left, top, right, bottom] = map.frame;
    let _ = writeln!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#fafafa\" stroke=\"{FAINT}\"/>",
        px(left),
        px(top),
        px(right - left),
        px(bottom - top)
    );
    let (mut segments, mut labels) = (Vec::new(), Vec::new());
    if plane.is_true {
        axes(out, &map, names, &mut segments, &mut labels);
    }
    lines(out, plane, &map, &mut segments, &mut labels);
    let origin = map.point([0.0, 0.0]);
    for arrow in arrows {
        draw_arrow(out, arrow, &map, shift(plane, &map, arrow.id), &mut segments);
    }
    gaps(out, plane, &map, &mut segments, &mut labels);
    for (corner, one, other) in corners(plane) {
        right_angle(out, map.point(corner), map.point(one), map.point(other), &mut segments);
    }
    for (at, colour) in [(plane.free, FREE), (plane.actual, MOTION)] {
        let [x, y] = map.point(at);
        let _ = writeln!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"3.6\" fill=\"{colour}\"/>", px(x), px(y));
    }
    let _ = writeln!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"3\" fill=\"{INK}\"/>", px(origin[0]), px(origin[1]));
    let mut wanted = arrow_labels(plane, &map, arrows);
    wanted.push(Label { text: "0".into(), colour: INK, anchors: vec![origin] });
    wanted.extend(labels);
    let inner = [left + 4.0, top + 4.0, right - 4.0, bottom - 22.0];
    for label in place(wanted, &segments, inner, MEDIUM_TEXT) {
        text(
            out,
            [label.middle[0], label.middle[1] + 0.36 * MEDIUM_TEXT],
            MEDIUM_TEXT,
            "middle",
            label.colour,
            &label.text,
        );
    }
    scale_bar(out, &map, plane);
}

/// Labels of the arrows: at the ends of the two accelerations, along the arrows of the components.
fn arrow_labels(plane: &Plane, map: &Map, arrows: &[Arrow]) -> Vec<Label> {
    let mut labels = Vec::new();
    for arrow in arrows {
        let aside = shift(plane, map, arrow.id);
        let (a, b) = (plus(map.point(arrow.from), aside), plus(map.point(arrow.to), aside));
        let between = |s: f64| [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])];
        let is_short = (a[0] - b[0]).hypot(a[1] - b[1]) < SHORT_ARROW;
        let coincides = minus(plane.free, plane.actual).iter().all(|x| x.abs() <= 1e-6 * plane.size);
        let (text, anchors) = match arrow.id {
            "motion" if coincides => ("q̈ₛ = aₛ".to_string(), vec![b]),
            "free" if coincides => continue,
            "motion" | "free" => (arrow.symbol.to_string(), vec![b]),
            _ if is_short => continue,
            _ => (arrow.symbol.to_string(), vec![between(0.5), between(0.35), between(0.65)]),
        };
        labels.push(Label { text, colour: arrow.colour, anchors });
    }
    // labels of the ends first, because they have the fewest positions
    labels.sort_by_key(|label| label.anchors.len());
    labels
}

/// The offset, in pixels, that separates arrows which would cover each other; their lengths do not change.
fn shift(plane: &Plane, map: &Map, id: &str) -> Point {
    const ARROWS_APART: f64 = 7.0;
    if id == "nonideal" {
        // parallel to N aₛ, so it is drawn next to it, on the side away from zero
        let [x, y] = minus(plane.actual, plane.ideal);
        let length = norm(&[x, y]);
        let aside = [y / length * ARROWS_APART, x / length * ARROWS_APART];
        let outward = plane.demanded[0] * aside[0] - plane.demanded[1] * aside[1];
        return if length == 0.0 || outward >= 0.0 {
            aside.map(|x| if x.is_finite() { x } else { 0.0 })
        } else {
            aside.map(|x| -x)
        };
    }
    let flat = |a: Place, b: Place| {
        // `true` if 0, a and b are visibly on one line
        let area = (a[0] * b[1] - a[1] * b[0]).abs() * map.scale;
        let longest = norm(&a).max(norm(&b));
        longest == 0.0 || area / longest < SHORT_ARROW
    };
    // B⁺b is the motion itself if no direction is left free
    let is_all = norm(&minus(plane.ideal, plane.demanded)) * map.scale < SHORT_ARROW;
    if id == "demanded" && is_all && norm(&plane.demanded) * map.scale > SHORT_ARROW {
        let length = norm(&plane.demanded);
        return [-plane.demanded[1] / length * ARROWS_APART, -plane.demanded[0] / length * ARROWS_APART];
    }
    if plane.size == 0.0 || !flat(plane.free, plane.ideal) {
        return [0.0, 0.0];
    }
    let along = if norm(&plane.ideal) * map.scale > SHORT_ARROW { plane.ideal } else { plane.free };
    let length = norm(&along);
    if length == 0.0 {
        return [0.0, 0.0];
    }
    // to the right of the direction from zero, in pixels (y down)
    let aside = [along[1] / length * ARROWS_APART, along[0] / length * ARROWS_APART];
    let overlaps = norm(&minus(plane.free, plane.ideal)) * map.scale > SHORT_ARROW;
    match id {
        "pull" if overlaps => aside,
        "demanded" if norm(&plane.demanded) * map.scale > SHORT_ARROW && flat(plane.demanded, along) => {
            [-aside[0], -aside[1]]
        }
        _ => [0.0, 0.0],
    }
}

fn draw_arrow(out: &mut String, arrow: &Arrow, map: &Map, shift: Point, segments: &mut Vec<(Point, Point)>) {
    let (a, b) = (plus(map.point(arrow.from), shift), plus(map.point(arrow.to), shift));
    let long = (b[0] - a[0]).hypot(b[1] - a[1]);
    if long < SHORT_ARROW {
        return;
    }
    let along = [(b[0] - a[0]) / long, (b[1] - a[1]) / long];
    // the head begins where the line ends, and is smaller on short arrows
    let head = (4.0 + 2.0 * arrow.width).min(0.45 * long);
    let neck = [b[0] - head * along[0], b[1] - head * along[1]];
    let dash = if arrow.is_dashed { " stroke-dasharray=\"6 4\"" } else { "" };
    let half = 0.42 * head;
    let _ = writeln!(
        out,
        "<g class=\"arrow\" data-name=\"{}\" data-from=\"{} {}\" data-to=\"{} {}\">\
         <path d=\"M{} {}L{} {}\" stroke=\"{c}\" stroke-width=\"{}\"{dash} fill=\"none\"/>\
         <path d=\"M{} {}L{} {}L{} {}Z\" fill=\"{c}\"/></g>",
        arrow.id,
        fine(a[0]),
        fine(a[1]),
        fine(b[0]),
        fine(b[1]),
        px(a[0]),
        px(a[1]),
        px(neck[0]),
        px(neck[1]),
        arrow.width,
        px(b[0]),
        px(b[1]),
        px(neck[0] - half * along[1]),
        px(neck[1] + half * along[0]),
        px(neck[0] + half * along[1]),
        px(neck[1] - half * along[0]),
        c = arrow.colour,
    );
    segments.push((a, b));
}

/// The two right angles: at B⁺b and at the end of the pull.
fn corners(plane: &Plane) -> Vec<(Place, Place, Place)> {
    vec![(plane.demanded, [0.0, 0.0], plane.ideal), (plane.ideal, plane.free, plane.demanded)]
}

fn right_angle(out: &mut String, corner: Point, one: Point, other: Point, segments: &mut Vec<(Point, Point)>) {
    let leg = |p: Point| (p[0] - corner[0]).hypot(p[1] - corner[1]);
    let least = leg(one).min(leg(other));
    if least < 14.0 {
        return;
    }
    let side = (0.35 * least).min(11.0);
    let toward = |p: Point| [(p[0] - corner[0]) / leg(p) * side, (p[1] - corner[1]) / leg(p) * side];
    let (u, v) = (toward(one), toward(other));
    segments.push((plus(corner, u), plus(corner, v)));
    let path = format!(
        "M{} {}L{} {}L{} {}",
        px(corner[0] + u[0]),
        px(corner[1] + u[1]),
        px(corner[0] + u[0] + v[0]),
        px(corner[1] + u[1] + v[1]),
        px(corner[0] + v[0]),
        px(corner[1] + v[1])
    );
    let _ =
        writeln!(out, "<path class=\"right-angle\" d=\"{path}\" stroke=\"{INK}\" stroke-width=\"1\" fill=\"none\"/>");
}

/// The line that each row allows, with its distance from the nearest acceleration.
fn lines(out: &mut String, plane: &Plane, map: &Map, segments: &mut Vec<(Point, Point)>, labels: &mut Vec<Label>) {
    for line in &plane.lines {
        let middle = map.point(line.at);
        let far = WIDTH + HEIGHT;
        let end = |sign: f64| [middle[0] + sign * far * line.along[0], middle[1] - sign * far * line.along[1]];
        let Some((a, b)) = clipped(end(-1.0), end(1.0), &map.frame) else { continue };
        let is_violated = norm(&line.gap) > 0.0;
        let is_nearest = plane.has_gap && !plane.is_true && !is_violated;
        let dash = if is_nearest { " stroke-dasharray=\"2 4\"" } else { "" };
        let _ = writeln!(
            out,
            "<path class=\"allowed\" data-rows=\"{}\" {} stroke=\"{ALLOWED}\" stroke-width=\"1.6\"{dash} fill=\"none\"/>",
            escaped(&line.names.join(", ")),
            course(a, b)
        );
        segments.push((a, b));
        let between = |s: f64| [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])];
        let anchors = [0.93, 0.07, 0.85, 0.15, 0.75, 0.25].map(between).to_vec();
        labels.push(Label { text: row_names(&line.names), colour: ALLOWED, anchors });
    }
}

/// The path data of a straight line and, with more digits, its ends for programs.
fn course(a: Point, b: Point) -> String {
    let (from, to) = ([fine(a[0]), fine(a[1])].join(" "), [fine(b[0]), fine(b[1])].join(" "));
    let way = format!("M{} {}L{} {}", px(a[0]), px(a[1]), px(b[0]), px(b[1]));
    format!("data-from=\"{from}\" data-to=\"{to}\" d=\"{way}\"")
}

/// The distance of each row's line from the nearest accelerations, drawn between the arrows.
fn gaps(out: &mut String, plane: &Plane, map: &Map, segments: &mut Vec<(Point, Point)>, labels: &mut Vec<Label>) {
    // all of B⁺b + N aₛ is equally near, so any point on it serves
    let half = minus(plane.ideal, plane.demanded).map(|x| x / 2.0);
    for line in plane.lines.iter().filter(|line| norm(&line.gap) > 0.0) {
        let from = plus(plane.demanded, half);
        let (a, b) = (map.point(from), map.point(plus(from, line.gap)));
        let _ = writeln!(
            out,
            "<path class=\"gap\" {} stroke=\"{MISSED}\" stroke-width=\"2.4\" stroke-dasharray=\"4 3\"/>",
            course(a, b)
        );
        segments.push((a, b));
        let text = format!("gap {}", length(norm(&line.gap), plane.size));
        let between = |s: f64| [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])];
        labels.push(Label { text, colour: MISSED, anchors: [0.6, 0.8, 0.4].map(between).to_vec() });
    }
}

/// `rod, again` or `rod[1], rod[2], … (12)`.
fn row_names(names: &[String]) -> String {
    const ROW_NAMES: usize = 3;
    let shown: Vec<String> =
        names.iter().take(ROW_NAMES).map(|n| crate::plot::cut(&typeset(n), MEDIUM_TEXT, 120.0)).collect();
    match names.len() {
        n if n > ROW_NAMES => format!("{}, … ({n} rows)", shown[..2].join(", ")),
        _ => shown.join(", "),
    }
}

/// Thin axes through zero, named after the coordinates.
fn axes(
    out: &mut String,
    map: &Map,
    names: &GeometryNames,
    segments: &mut Vec<(Point, Point)>,
    labels: &mut Vec<Label>,
) {
    let [x, y] = map.point([0.0, 0.0]);
    let [left, top, right, bottom] = map.frame;
    let _ = writeln!(
        out,
        "<path d=\"M{} {}H{}M{} {}V{}\" stroke=\"#c4c4c4\" stroke-width=\"1\" fill=\"none\"/>",
        px(left),
        px(y),
        px(right),
        px(x),
        px(bottom),
        px(top)
    );
    segments.extend([([left, y], [right, y]), ([x, top], [x, bottom])]);
    let name = |k: usize| match names.coordinates.get(k).filter(|_| names.is_diagonal) {
        Some(name) => format!("√m · {}", typeset(&format!("{name}''"))),
        None => format!("{} component", ["first", "second"][k]),
    };
    let cut = |text: String| crate::plot::cut(&text, MEDIUM_TEXT, 140.0);
    labels.push(Label { text: cut(name(0)), colour: FREE, anchors: vec![[right - 60.0, y], [left + 60.0, y]] });
    labels.push(Label { text: cut(name(1)), colour: FREE, anchors: vec![[x, top + 12.0], [x, bottom - 30.0]] });
}

/// A bar of a round length, in the lower left corner.
fn scale_bar(out: &mut String, map: &Map, plane: &Plane) {
    if plane.size == 0.0 {
        return;
    }
    // the largest of 1, 2, 5 times a power of ten that is at most a fifth of the width
    let most = (WIDTH - 2.0 * PICTURE_MARGIN) / 5.0 / map.scale;
    let power = 10f64.powf(most.log10().floor());
    let bar = [5.0, 2.0, 1.0].into_iter().map(|k| k * power).find(|b| *b <= most).unwrap_or(power);
    let (x, y) = (map.frame[0] + 12.0, map.frame[3] - 12.0);
    let _ = writeln!(
        out,
        "<path class=\"scale\" data-length=\"{bar}\" data-pixels=\"{}\" d=\"M{} {}v8M{} {}h{}m0 -4v8\" stroke=\"{FREE}\" \
         stroke-width=\"1.2\" fill=\"none\"/>",
        fine(bar * map.scale),
        px(x),
        px(y - 4.0),
        px(x),
        px(y),
        px(bar * map.scale)
    );
    let label = zwang::quantity::rounded(bar, 3);
    text(out, [x + bar * map.scale + 8.0, y + 0.36 * SMALL_TEXT], SMALL_TEXT, "start", FREE, &label);
}

fn text(out: &mut String, [x, y]: Point, size: f64, anchor: &str, colour: &str, text: &str) {
    let (x, y, text) = (px(x), px(y), escaped(text));
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>"
    );
}

/// A length with two decimals at most.
fn px(x: f64) -> String {
    format!("{}", (x * 100.0).round() / 100.0 + 0.0)
}

/// A length with at most six decimals, for programs that measure.
fn fine(x: f64) -> String {
    format!("{}", (x * 1e6).round() / 1e6 + 0.0)
}
