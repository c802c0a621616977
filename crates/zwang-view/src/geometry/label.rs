//! Short labels next to the items they name; labels do not overlap and cross as few lines as possible.

use crate::plot::width;

/// A position in pixels.
pub(super) type Point = [f64; 2];

/// A label whose position is not yet chosen.
pub(super) struct Label {
    /// The text.
    pub(super) text: String,
    /// The colour.
    pub(super) colour: &'static str,
    /// The points next to which it may be placed, the best first.
    pub(super) anchors: Vec<Point>,
}

/// A label with the middle of its box.
pub(super) struct PlacedLabel {
    pub(super) text: String,
    pub(super) colour: &'static str,
    pub(super) middle: Point,
}

/// The area for labels, in pixels: left, top, right, bottom.
pub(super) type Frame = [f64; 4];

/// The ratio of the height of a label's box to the font size.
const LEADING: f64 = 1.25;

/// Places each label so that it covers no other label and the fewest lines; a label without space is omitted.
pub(super) fn place(labels: Vec<Label>, segments: &[(Point, Point)], frame: Frame, size: f64) -> Vec<PlacedLabel> {
    let mut placed: Vec<(PlacedLabel, Frame)> = Vec::new();
    for label in labels {
        let (w, h) = (width(&label.text, size) + 4.0, LEADING * size);
        let mut best: Option<(f64, Point)> = None;
        for (rank, anchor) in label.anchors.iter().enumerate() {
            for (ring, distance) in [8.0, 16.0, 26.0, 40.0].into_iter().enumerate() {
                for k in 0..16 {
                    let (sin, cos) = (std::f64::consts::TAU * k as f64 / 16.0).sin_cos();
                    // the box touches a circle around the anchor from outside
                    let middle = [anchor[0] + cos * (distance + w / 2.0), anchor[1] + sin * (distance + h / 2.0)];
                    let own = around(middle, w, h);
                    let inside = own[0] >= frame[0] && own[1] >= frame[1] && own[2] <= frame[2] && own[3] <= frame[3];
                    if !inside || placed.iter().any(|(_, other)| overlap(&own, other)) {
                        continue;
                    }
                    let crossed = segments.iter().filter(|(a, b)| crosses(*a, *b, &own)).count();
                    let cost = 10.0 * crossed as f64 + 1.5 * ring as f64 + 0.5 * rank as f64;
                    if best.is_none_or(|(least, _)| cost < least) {
                        best = Some((cost, middle));
                    }
                }
            }
        }
        if let Some((_, middle)) = best {
            let own = around(middle, w, h);
            placed.push((PlacedLabel { text: label.text, colour: label.colour, middle }, own));
        }
    }
    placed.into_iter().map(|(label, _)| label).collect()
}

fn around(middle: Point, w: f64, h: f64) -> Frame {
    [middle[0] - w / 2.0, middle[1] - h / 2.0, middle[0] + w / 2.0, middle[1] + h / 2.0]
}

fn overlap(a: &Frame, b: &Frame) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// `true` if a segment crosses a box.
fn crosses(a: Point, b: Point, frame: &Frame) -> bool {
    clipped(a, b, frame).is_some()
}

/// The part of a segment inside a frame, by the algorithm of Liang and Barsky.
pub(super) fn clipped(a: Point, b: Point, frame: &Frame) -> Option<(Point, Point)> {
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for axis in 0..2 {
        let (start, along) = (a[axis], b[axis] - a[axis]);
        let (low, high) = (frame[axis], frame[axis + 2]);
        if along == 0.0 {
            if start < low || start > high {
                return None;
            }
            continue;
        }
        let (enter, leave) = ((low - start) / along, (high - start) / along);
        from = from.max(enter.min(leave));
        to = to.min(enter.max(leave));
    }
    let at = |s: f64| [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])];
    (from <= to).then(|| (at(from), at(to)))
}
