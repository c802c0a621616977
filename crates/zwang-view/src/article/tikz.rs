//! Drawings as TikZ, so that a LaTeX document needs no other file.

use std::fmt::Write;

use super::latex::text;
use crate::svg_element::{Element, elements};

/// The width of the text of a page, in points.
const PAGE: f64 = 440.0;

/// The scale of a drawing that is narrower than the page, in points per pixel.
const LARGEST_SCALE: f64 = 0.64;

/// The number of corners of a line in one row of the file.
const CORNERS: usize = 8;

/// The drawing as TikZ; its SVG contains straight lines, rectangles, circles and texts only.
pub(super) fn tikz(svg: &str) -> String {
    let elements = elements(svg);
    let width = elements.iter().find_map(|e| (e.name == "svg").then(|| e.number("width"))?).unwrap_or(PAGE);
    let scale = (PAGE / width).min(LARGEST_SCALE);
    let mut out = format!("\\begin{{tikzpicture}}[x={scale:.4}pt, y=-{scale:.4}pt, line join=round]\n");
    for element in &elements {
        let _ = match element.name {
            "path" => path(&mut out, element, scale),
            "rect" => rectangle(&mut out, element, scale),
            "circle" => circle(&mut out, element, scale),
            "text" => words(&mut out, element, scale),
            _ => Ok(()),
        };
    }
    out + "\\end{tikzpicture}\n"
}

/// The options of a stroke, or `None` if there is no stroke.
fn stroke(element: &Element, scale: f64) -> Option<String> {
    let colour = element.get("stroke").filter(|c| *c != "none")?;
    let width = scale * element.number("stroke-width").unwrap_or(1.0);
    let mut options = format!("draw={}, line width={width:.2}pt", colour_of(colour)?);
    if let Some(dash) = element.get("stroke-dasharray") {
        let lengths: Vec<f64> = dash.split_whitespace().filter_map(|d| d.parse().ok()).collect();
        let pairs = lengths.chunks(2).filter(|pair| pair.len() == 2);
        let pattern: Vec<String> =
            pairs.map(|p| format!("on {:.2}pt off {:.2}pt", scale * p[0], scale * p[1])).collect();
        options.push_str(&format!(", dash pattern={}", pattern.join(" ")));
    }
    Some(options)
}

/// The options of a fill, or `None` if there is no fill.
fn filling(element: &Element) -> Option<String> {
    let colour = element.get("fill").filter(|c| *c != "none")?;
    Some(format!("fill={}", colour_of(colour)?))
}

fn options(element: &Element, scale: f64) -> Option<String> {
    let options: Vec<String> = [stroke(element, scale), filling(element)].into_iter().flatten().collect();
    (!options.is_empty()).then(|| options.join(", "))
}

/// `#rrggbb` in the syntax of TikZ.
fn colour_of(colour: &str) -> Option<String> {
    let part = |from: usize| colour.get(from..from + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let digits = colour.strip_prefix('#').filter(|d| d.len() == 6 || d.len() == 3)?;
    if digits.len() == 3 {
        let doubled: String = digits.chars().flat_map(|c| [c, c]).collect();
        return colour_of(&format!("#{doubled}"));
    }
    Some(format!("{{rgb,255:red,{};green,{};blue,{}}}", part(1)?, part(3)?, part(5)?))
}

fn path(out: &mut String, element: &Element, scale: f64) -> std::fmt::Result {
    let (Some(options), Some(lines)) = (options(element, scale), element.get("d").and_then(corners)) else {
        return Ok(());
    };
    for (corners, is_closed) in lines.iter().filter(|(corners, _)| corners.len() > 1) {
        write!(out, "\\path[{options}] ")?;
        for (k, (x, y)) in corners.iter().enumerate() {
            let joint = match k {
                0 => "",
                k if k % CORNERS == 0 => "\n  -- ",
                _ => " -- ",
            };
            write!(out, "{joint}({x:.2},{y:.2})")?;
        }
        writeln!(out, "{};", if *is_closed { " -- cycle" } else { "" })?;
    }
    Ok(())
}

/// The corners of a line, and `true` if it is closed.
type Line = (Vec<(f64, f64)>, bool);

/// The lines of a path, or `None` if it contains anything but straight ones.
fn corners(data: &str) -> Option<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    let (mut x, mut y) = (0.0, 0.0);
    let mut rest = data.trim();
    while let Some(command) = rest.chars().next() {
        rest = &rest[command.len_utf8()..];
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let numbers: Option<Vec<f64>> =
            rest[..end].split([' ', ',', '\n']).filter(|w| !w.is_empty()).map(|w| w.parse().ok()).collect();
        let numbers = numbers?;
        rest = &rest[end..];
        let pairs = numbers.chunks_exact(2).map(|p| (p[0], p[1]));
        let begins = matches!(command, 'M' | 'm');
        if begins {
            lines.push((Vec::new(), false));
        }
        let line = lines.last_mut()?;
        match command {
            'M' | 'L' => {
                for pair in pairs {
                    (x, y) = pair;
                    line.0.push(pair);
                }
            }
            'm' | 'l' => {
                for (dx, dy) in pairs {
                    (x, y) = (x + dx, y + dy);
                    line.0.push((x, y));
                }
            }
            'H' | 'h' | 'V' | 'v' => {
                for value in numbers {
                    match command {
                        'H' => x = value,
                        'h' => x += value,
                        'V' => y = value,
                        _ => y += value,
                    }
                    line.0.push((x, y));
                }
            }
            'Z' | 'z' => line.1 = true,
            _ => return None,
        }
    }
    Some(lines)
}

fn rectangle(out: &mut String, element: &Element, scale: f64) -> std::fmt::Result {
    let (Some(options), Some(w), Some(h)) =
        (options(element, scale), element.number("width"), element.number("height"))
    else {
        return Ok(());
    };
    let (x, y) = (element.number("x").unwrap_or(0.0), element.number("y").unwrap_or(0.0));
    writeln!(out, "\\path[{options}] ({x:.2},{y:.2}) rectangle ({:.2},{:.2});", x + w, y + h)
}

fn circle(out: &mut String, element: &Element, scale: f64) -> std::fmt::Result {
    let (Some(options), Some(x), Some(y), Some(r)) =
        (options(element, scale), element.number("cx"), element.number("cy"), element.number("r"))
    else {
        return Ok(());
    };
    writeln!(out, "\\path[{options}] ({x:.2},{y:.2}) circle[radius={:.2}pt];", scale * r)
}

fn words(out: &mut String, element: &Element, scale: f64) -> std::fmt::Result {
    let anchor = match element.get("text-anchor") {
        Some("middle") => "base",
        Some("end") => "base east",
        _ => "base west",
    };
    let size = scale * element.number("font-size").unwrap_or(12.0);
    let colour = element.get("fill").and_then(colour_of).map_or(String::new(), |c| format!(", text={c}"));
    let turned = element.get("transform").and_then(|t| t.strip_prefix("translate(")?.split_once(')'));
    let place = match turned {
        Some((place, _)) => place.split_once(' ').and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?))),
        None => element.number("x").zip(element.number("y")),
    };
    let Some((x, y)) = place else { return Ok(()) };
    let turn = if turned.is_some_and(|(_, then)| then.contains("rotate(-90)")) { ", rotate=90" } else { "" };
    let unescaped = element.words();
    writeln!(
        out,
        "\\node[anchor={anchor}, inner sep=0pt{turn}{colour}, font=\\sffamily\\fontsize{{{size:.1}}}{{{size:.1}}}\\selectfont] \
         at ({x:.2},{y:.2}) {{{}}};",
        text(&unescaped)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_corners() {
        assert_eq!(
            corners("M1 2h3v-1L0 0m1 1V5Z"),
            Some(vec![
                (vec![(1.0, 2.0), (4.0, 2.0), (4.0, 1.0), (0.0, 0.0)], false),
                (vec![(1.0, 1.0), (1.0, 5.0)], true)
            ])
        );
        assert_eq!(corners("M0 0C1 1 2 2 3 3"), None);
    }

    #[test]
    fn everything_drawn_is_kept() {
        let svg = "<svg width=\"880\" fill=\"#222222\"><rect width=\"8\" height=\"4\" fill=\"#ffffff\"/>\
                   <path d=\"M0 0L1 1\" stroke=\"#0072b2\" stroke-width=\"2\" stroke-dasharray=\"7 3\" fill=\"none\"/>\
                   <circle cx=\"1\" cy=\"2\" r=\"3\" fill=\"#000000\"/>\
                   <text transform=\"translate(5 6) rotate(-90)\" font-size=\"12\" text-anchor=\"middle\">a &lt; b_1</text></svg>";
        let out = tikz(svg);
        for part in [
            "x=0.5000pt",
            "rectangle (8.00,4.00)",
            "on 3.50pt off 1.50pt",
            "{rgb,255:red,0;green,114;blue,178}",
            "circle[radius=1.50pt]",
            "rotate=90",
            "{a $<$ b\\_1}",
        ] {
            assert!(out.contains(part), "{part}\n{out}");
        }
    }
}
