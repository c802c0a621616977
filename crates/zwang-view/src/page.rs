//! A motion as one self-contained HTML page: picture, plots, formulas, model, audit.

use serde_json::{Map, Value, json};
use zwang::scene::{Frames, Scene, Vector};

use crate::article::{Block, article_body, filled};
use crate::content_policy::policy;
use crate::formula::escaped;

const HTML: &str = include_str!("../assets/page.html");
const CSS: &str = include_str!("../assets/page.css");
const JS: &str = include_str!("../assets/page.js");

/// The length from which a list of events is folded.
const LONG_LIST: usize = 6;

/// The contents of the page.
pub struct Page<'a> {
    /// The title of the page.
    pub title: &'a str,
    /// The summary that the terminal shows after a run.
    pub summary: &'a str,
    /// The model and the derivation of its equations of motion.
    pub derivation: &'a [Block],
    /// The animated scene.
    pub scene: &'a Scene,
    /// The model's axes x, y, z as vectors of the scene.
    pub axes: [Vector; 3],
    /// Curves over time.
    pub plots: &'a [PagePlot],
    /// Events: their times, in seconds, and their descriptions.
    pub events: &'a [(f64, String)],
    /// The audit: rows of a table.
    pub facts: &'a [(String, String)],
    /// Drawings of one quantity against another, as SVG.
    pub paths: &'a [String],
}

/// Curves over time that share a vertical axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PagePlot {
    /// The label of the vertical axis.
    pub y_label: String,
    /// The unit of the vertical axis, or empty.
    pub unit: String,
    /// The times of the samples, increasing.
    pub t: Vec<f64>,
    /// Names and values; a value that is not finite leaves a gap.
    pub curves: Vec<(String, Vec<f64>)>,
}

/// The page as HTML. All text is escaped; a number that is not finite becomes `null`.
pub fn page(page: &Page) -> String {
    let parts = [
        ("title", escaped(page.title)),
        ("policy", policy(&[JS], &[CSS])),
        ("css", CSS.to_string()),
        ("events", events(page)),
        ("paths", paths(page.paths)),
        ("derivation", article_body(page.derivation)),
        ("summary", summary(page.summary)),
        ("facts", facts(page.facts)),
        ("data", data(page)),
        ("js", JS.to_string()),
    ];
    filled(HTML, &parts)
}

/// The drawings next to each other; they are SVG generated here, with all their text escaped.
fn paths(drawings: &[String]) -> String {
    if drawings.is_empty() {
        return String::new();
    }
    let figure = |svg: &String| format!("<figure class=\"path\">{svg}</figure>\n");
    format!("<section id=\"paths\">\n{}</section>\n", drawings.iter().map(figure).collect::<String>())
}

fn events(page: &Page) -> String {
    if page.events.is_empty() {
        return String::new();
    }
    let unit = escaped(&page.scene.time_unit);
    let item = |(t, text): &(f64, String)| {
        let t = rounded(*t);
        format!("<li><button type=\"button\" data-t=\"{t}\">t = {t} {unit}</button>{}</li>\n", escaped(text))
    };
    let open = if page.events.len() > LONG_LIST { "" } else { " open" };
    let items: String = page.events.iter().map(item).collect();
    format!(
        "<details id=\"events\"{open}><summary>Events ({})</summary>\n<ol>{items}</ol></details>\n",
        page.events.len()
    )
}

fn summary(text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    format!("<section id=\"summary\"><h2>Summary</h2>\n<pre>{}</pre>\n</section>\n", escaped(text.trim_end()))
}

fn facts(rows: &[(String, String)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let row = |(name, value): &(String, String)| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(name), escaped(value))
    };
    let rows: String = rows.iter().map(row).collect();
    format!("<section id=\"audit\"><h2>Audit</h2>\n<div class=\"scroll\"><table>\n{rows}</table></div>\n</section>\n")
}

/// The numbers of the page as JSON that is safe inside a script element.
fn data(page: &Page) -> String {
    let scene = page.scene;
    let space = scene.dimension > 2;
    let things: Vec<Value> = scene
        .things
        .iter()
        .map(|thing| {
            let mut object = shape(&thing.shape, space);
            object.insert("name".into(), json!(thing.name));
            Value::Object(object)
        })
        .collect();
    let plot = |plot: &PagePlot| {
        let curves: Vec<Value> =
            plot.curves.iter().map(|(name, values)| json!({ "name": name, "v": numbers(values) })).collect();
        // most plots share the times of the scene
        let t = if plot.t == scene.times { Value::Null } else { numbers(&plot.t) };
        json!({ "y": plot.y_label, "unit": plot.unit, "t": t, "curves": curves })
    };
    let value = json!({
        "space": space,
        "axes": page.axes,
        "unit": { "length": scene.length_unit, "force": scene.force_unit, "time": scene.time_unit },
        "t": numbers(&scene.times),
        "things": things,
        "plots": page.plots.iter().map(plot).collect::<Vec<_>>(),
        "events": page.events.iter().map(|(t, text)| json!([number(*t), text])).collect::<Vec<_>>(),
    });
    // these characters occur inside JSON strings only
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn shape(frames: &Frames, space: bool) -> Map<String, Value> {
    let places = |places: &[Vector]| flat(places.iter(), space);
    let value = match frames {
        Frames::Point { place, has_mass } => json!({ "kind": "point", "p": places(place), "mass": has_mass }),
        Frames::Rod { from, to } => json!({ "kind": "rod", "p": places(from), "to": places(to) }),
        Frames::Body { place, axes, radii } => {
            // the third axis follows from two; in the plane, the second follows from the first
            let axes = if space {
                flat(axes.iter().flat_map(|a| [&a[0], &a[1]]), true)
            } else {
                flat(axes.iter().map(|a| &a[0]), false)
            };
            json!({ "kind": "body", "p": places(place), "axes": axes, "radii": numbers(radii) })
        }
        Frames::Trace { place } => json!({ "kind": "trace", "p": places(place) }),
        Frames::Force { at, force } => json!({ "kind": "force", "p": places(at), "f": places(force) }),
    };
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Two or three components of each vector, one vector after another.
fn flat<'a>(vectors: impl Iterator<Item = &'a Vector>, space: bool) -> Value {
    let components = if space { 3 } else { 2 };
    vectors.flat_map(|v| v[..components].iter().map(|x| number(*x))).collect()
}

fn numbers(values: &[f64]) -> Value {
    values.iter().map(|x| number(*x)).collect()
}

fn number(x: f64) -> Value {
    let x = rounded(x);
    // an integer is shorter without its decimal point
    if x.fract() == 0.0 && x.abs() < 1e7 { json!(x as i64) } else { json!(x) }
}

/// The number with seven significant digits, more than a screen or printer can show.
fn rounded(x: f64) -> f64 {
    format!("{x:.6e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_seven_digits() {
        assert_eq!(number(1.0 / 3.0).to_string(), "0.3333333");
        assert_eq!(number(2.0).to_string(), "2");
        assert_eq!(number(1.23456789e-20).to_string(), "1.234568e-20");
        assert_eq!(number(f64::INFINITY), Value::Null);
        assert_eq!(number(f64::NAN), Value::Null);
    }
}
