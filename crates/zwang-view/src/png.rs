//! A figure as PNG, drawn from its SVG with the one font that is part of the program.
//!
//! The fonts of the machine are not used, so the picture is the same everywhere, even without any fonts.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// Latin, Greek, Cyrillic, sub- and superscripts and mathematical signs of DejaVu Sans; its licence is next to the
/// file.
const FONT: &[u8] = include_bytes!("../font/DejaVuSans-subset.ttf");
const FONT_NAME: &str = "DejaVu Sans";

/// The number of pixels per pixel of the SVG, for dense screens and print.
const SCALE: f32 = 2.0;

/// The picture of an SVG document at twice its size. Fails if the text is not SVG or has no area.
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    let mut options = Options { font_family: FONT_NAME.into(), ..Options::default() };
    let fonts = options.fontdb_mut();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FONT_NAME);
    let tree = Tree::from_str(svg, &options).map_err(|error| format!("the figure cannot be drawn: {error}"))?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or("the figure has no area")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("the figure is too large to be drawn")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| format!("the picture cannot be written: {error}"))
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
