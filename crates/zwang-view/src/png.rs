//! A figure as PNG, drawn from its SVG with the one font that is part of the program.
//!
//! The fonts of the machine are not used, so the picture is the same everywhere, even without any fonts. Texts become outlines of
//! their glyphs, one after the other; labels of axes need no other layout.

use std::fmt::Write;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use ttf_parser::{Face, OutlineBuilder};

use crate::svg_element::{Element, elements};

/// Latin, Greek, Cyrillic, sub- and superscripts and mathematical signs of DejaVu Sans; its licence is next to the
/// file.
const FONT: &[u8] = include_bytes!("../font/DejaVuSans-subset.ttf");

/// The number of pixels per pixel of the SVG, for dense screens and print.
const SCALE: f32 = 2.0;

/// The picture of an SVG document at twice its size. Fails if the text is not SVG or has no area.
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    let face = Face::parse(FONT, 0).map_err(|error| format!("the font cannot be read: {error}"))?;
    let tree = Tree::from_str(&outlined(svg, &face), &Options::default())
        .map_err(|error| format!("the figure cannot be drawn: {error}"))?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or("the figure has no area")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("the figure is too large to be drawn")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| format!("the picture cannot be written: {error}"))
}

/// The drawing with its texts as outlines.
fn outlined(svg: &str, face: &Face) -> String {
    let mut out = String::with_capacity(2 * svg.len());
    let mut from = 0;
    for text in elements(svg).iter().filter(|element| element.name == "text") {
        out.push_str(&svg[from..text.range.start]);
        let _ = write_outline(&mut out, text, face);
        from = text.range.end;
    }
    out + &svg[from..]
}

/// A text as one path, in units of the font with the y-axis upwards.
fn write_outline(out: &mut String, text: &Element, face: &Face) -> std::fmt::Result {
    let scale = text.number("font-size").unwrap_or(16.0) / f64::from(face.units_per_em());
    let (path, width) = outline(&text.words(), face);
    let shift = match text.get("text-anchor") {
        Some("middle") => -width / 2.0,
        Some("end") => -width,
        _ => 0.0,
    };
    let (x, y) = (text.number("x").unwrap_or(0.0), text.number("y").unwrap_or(0.0));
    let turn = text.get("transform").unwrap_or_default();
    let fill = text.get("fill").map_or(String::new(), |colour| format!(" fill=\"{colour}\""));
    let move_to_place = format!("{turn} translate({x} {y}) scale({scale} {}) translate({shift} 0)", -scale);
    write!(out, "<path transform=\"{}\"{fill} d=\"{path}\"/>", move_to_place.trim_start())
}

/// The outlines of the glyphs of a text as path data, and the width of the text, both in units of the font.
fn outline(text: &str, face: &Face) -> (String, f64) {
    let mut pen = Pen { path: String::new(), x: 0.0 };
    for glyph in text.chars().map(|c| face.glyph_index(c).unwrap_or_default()) {
        face.outline_glyph(glyph, &mut pen);
        pen.x += f32::from(face.glyph_hor_advance(glyph).unwrap_or_default());
    }
    (pen.path, f64::from(pen.x))
}

/// Writes outlines as path data, moved along the line of the text.
struct Pen {
    path: String,
    x: f32,
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let _ = write!(self.path, "M{} {y}", self.x + x);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let _ = write!(self.path, "L{} {y}", self.x + x);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let _ = write!(self.path, "Q{} {y1} {} {y}", self.x + x1, self.x + x);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let _ = write!(self.path, "C{} {y1} {} {y2} {} {y}", self.x + x1, self.x + x2, self.x + x);
    }

    fn close(&mut self) {
        self.path.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> Vec<u8> {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"40\" font-family=\"Helvetica, sans-serif\">\
             <rect width=\"40\" height=\"40\" fill=\"#fff\"/><text x=\"5\" y=\"30\" font-size=\"24\">{text}</text></svg>"
        );
        png(&svg).unwrap()
    }

    fn pixels(text: &str) -> Vec<u8> {
        Pixmap::decode_png(&drawn(text)).unwrap().data().to_vec()
    }

    #[test]
    fn symbols_are_drawn_and_differ() {
        let pictures: Vec<_> = [" ", "θ", "ω", "φ", "′", "″", "₁", "₂", "²", "⁻", "·", "−", "…", "ẋ", "\u{10ffff}"]
            .map(pixels)
            .into_iter()
            .collect();
        for k in 1..pictures.len() - 1 {
            assert!((0..k).all(|j| pictures[j] != pictures[k]), "symbol {k} is not drawn");
            assert!(pictures[k] != pictures[pictures.len() - 1], "symbol {k} is missing from the font");
        }
    }

    #[test]
    fn the_picture_is_twice_the_size() {
        let picture = Pixmap::decode_png(&drawn("x")).unwrap();
        assert_eq!((picture.width(), picture.height()), (80, 80));
        assert!(png("no svg").is_err());
    }
}
