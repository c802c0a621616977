//! The curves and the scene that show a run.

use zwang::model::Model;
use zwang::samples::Column;
use zwang::scaled_accelerations;
use zwang::scene::{Frames, Scene, Vector};
use zwang::simulate::PlotCurves;
use zwang::{Check, Run};
use zwang_motion::Settings;

use crate::geometry::{GeometryNames, geometry_svg};
use crate::page::PagePlot;
use crate::plot::{Curve, Figure, Panel, PlotQuantity, panels_by_unit, typeset};

/// Coordinates drawn where the model asks for nothing.
const MOST_COORDINATES: usize = 8;

/// Places for the marks of events over the run, of which each holds one: about half a pixel.
const MARK_PLACES: f64 = 1120.0;

/// The largest ratio of the sides of a path that is drawn with equal scales; beyond it one side would be a line.
const LONGEST_PATH: f64 = 8.0;

/// Frames of a page; more than a second has make the file larger and the motion no smoother.
pub(crate) const MOST_FRAMES: usize = 1200;

/// Whether a picture of this model is drawn from the samples: where it states no `plot`.
pub fn wants_samples(model: &Model) -> bool {
    model.plots.is_empty()
}

/// The `plot` statements as panels; without any the outputs, else the coordinates, over time.
pub fn figure(run: &Run) -> Figure {
    let model = &run.check().equations.model;
    let mut panels = Vec::new();
    for shown in &shown(run) {
        let mut own = panels_of(shown);
        if is_time(&shown.versus) {
            own.iter_mut().for_each(|panel| panel.marks = marks(run));
        }
        panels.extend(own);
    }
    Figure { title: model.title.clone(), panels }
}

/// The curves of one `plot`, by unit.
fn panels_of(shown: &PlotCurves) -> Vec<Panel> {
    let over = &shown.versus;
    let curves = shown.curves.iter().map(|c| PlotQuantity::over(over, c)).collect();
    let mut panels = panels_by_unit(curves, &label(over));
    for panel in panels.iter_mut().filter(|_| !is_time(over)) {
        let unit_is_shared = shown.curves.iter().any(|c| c.unit == over.unit && panel.curves[0].label == c.label);
        panel.equal_aspect = unit_is_shared && are_places(shown, panel) && is_compact(panel);
    }
    panels
}

/// One quantity over another, without a title.
pub(crate) fn path_figure(shown: &PlotCurves) -> Figure {
    Figure { title: String::new(), panels: panels_of(shown) }
}

/// `t in s`.
fn label(column: &Column) -> String {
    if column.unit.is_empty() { column.label.clone() } else { format!("{} in {}", column.label, column.unit) }
}

pub(crate) fn is_time(column: &Column) -> bool {
    column.label == "t"
}

/// `true` if both axes may show places: lengths, and without units all but rates.
fn are_places(shown: &PlotCurves, panel: &Panel) -> bool {
    match shown.versus.unit.as_str() {
        "" => !(shown.versus.label.contains('\'') || panel.curves.iter().any(|c: &Curve| c.label.contains('\''))),
        unit => zwang::syntax::unit(unit).is_some_and(|unit| unit.dimension.word() == Some("length")),
    }
}

/// `true` if no side of the path is much longer than the other.
fn is_compact(panel: &Panel) -> bool {
    let extent = |values: fn(&Curve) -> &[f64]| {
        let all = panel.curves.iter().flat_map(|curve| values(curve).iter().copied()).filter(|x| x.is_finite());
        let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        high - low
    };
    let (width, height) = (extent(|curve| &curve.x), extent(|curve| &curve.y));
    width <= LONGEST_PATH * height && height <= LONGEST_PATH * width
}

/// The events of the whole run in the order of their times; of those that fall on one place, the first with a name.
fn marks(run: &Run) -> Vec<(f64, String)> {
    let word = |e: &zwang::Event| match e.kind.as_str() {
        "rank-drop" => "rank drop".to_string(),
        // the curves show where forces stop, and formulas bend
        "switch" | "saturation" => String::new(),
        _ => e.name.clone(),
    };
    thinned_marks(run.events().iter().map(|e| (e.t, word(e))), run.state().t)
}

fn thinned_marks(events: impl Iterator<Item = (f64, String)>, end: f64) -> Vec<(f64, String)> {
    let mut marks: Vec<(f64, String)> = Vec::new();
    let place = |t: f64, first: f64| ((t - first) / (end - first) * MARK_PLACES).floor();
    for (t, word) in events {
        let first = marks.first().map_or(t, |mark| mark.0);
        match marks.last_mut() {
            // times before a jump and after it may be equal
            Some(last) if place(last.0, first) == place(t, first) || last.0 == t => {
                if last.1.is_empty() {
                    last.1 = word;
                }
            }
            _ => marks.push((t, word)),
        }
    }
    marks
}

/// What is plotted: as the model says, else outputs, else coordinates.
pub(crate) fn shown(run: &Run) -> Vec<PlotCurves> {
    let model = &run.check().equations.model;
    if !run.plots().is_empty() {
        return run.plots().to_vec();
    }
    let columns = &run.samples().columns;
    let Some(versus) = columns.first().cloned() else { return Vec::new() };
    let has_values = |c: &&Column| c.values.iter().any(|x| x.is_finite());
    let outputs = &columns[columns.len().saturating_sub(model.outputs.len())..];
    let mut curves: Vec<Column> = outputs.iter().filter(has_values).cloned().collect();
    if curves.is_empty() {
        let n = model.n_coordinates().min(MOST_COORDINATES);
        curves = columns.iter().skip(1).take(n).cloned().collect();
    }
    vec![PlotCurves { curves, versus }]
}

/// The scaled accelerations at the start, where there are constraints and a plane to draw them in.
pub fn geometry_of(check: &Check) -> Option<String> {
    let scaled = scaled_accelerations(check, &Settings::default())?;
    // a rank decided by another tolerance would draw another picture
    if scaled.rows.is_empty() || scaled.rank != check.snapshot.found.rank {
        return None;
    }
    let names = GeometryNames { title: String::new(), ..GeometryNames::of(&check.equations) };
    Some(geometry_svg(&scaled, &names))
}

/// An event in words.
pub(crate) fn event_label(kind: &str, name: &str) -> String {
    match kind {
        "rank-drop" => format!("rank drops: {name}"),
        "switch" => name.to_string(),
        _ => format!("{kind} {name}"),
    }
}

/// Curves over time by unit.
pub(crate) fn page_plots(shown: &PlotCurves, scene: &Scene, stride: usize) -> Vec<PagePlot> {
    let mut plots: Vec<PagePlot> = Vec::new();
    let t: Vec<f64> = kept(&scene.times, stride);
    for column in &shown.curves {
        let curve = (typeset(&column.label), kept(&column.values, stride));
        match plots.iter_mut().find(|p| p.unit == typeset(&column.unit)) {
            Some(plot) => plot.curves.push(curve),
            None => plots.push(PagePlot {
                y_label: String::new(),
                unit: typeset(&column.unit),
                t: t.clone(),
                curves: vec![curve],
            }),
        }
    }
    for plot in &mut plots {
        plot.y_label = plot.curves.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    }
    plots
}

/// Every stride-th value, and the last.
fn kept<T: Copy>(values: &[T], stride: usize) -> Vec<T> {
    let last = values.len().saturating_sub(1);
    values.iter().enumerate().filter(|(k, _)| k % stride == 0 || *k == last).map(|(_, v)| *v).collect()
}

/// The axes of the model as the picture shows them: what gravity pulls goes down.
///
/// In space they are turned, so that they stay right-handed; in the plane y may point down and x to the right.
pub(crate) fn upright(model: &Model, dimension: usize) -> [Vector; 3] {
    const STRAIGHT: [Vector; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let gravity = model.constants(&model.gravity);
    let size = gravity.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
    let Some(axis) = gravity.iter().position(|g| g.abs() == size && size > 0.0) else { return STRAIGHT };
    if gravity.len() != dimension || gravity.iter().filter(|g| g.abs() > 1e-9 * size).count() != 1 {
        return STRAIGHT;
    }
    let [right, up, toward] = STRAIGHT;
    let opposite = |v: Vector| v.map(|x| -x + 0.0);
    // space: x to the right, y away, z up
    match (dimension, axis, gravity[axis] < 0.0) {
        (3, 1, true) => [right, toward, opposite(up)],
        (3, 1, false) => [right, opposite(toward), up],
        (3, 2, false) => [right, opposite(up), opposite(toward)],
        (3, 0, true) => [toward, right, up],
        (3, 0, false) => [opposite(toward), right, opposite(up)],
        (2, 1, false) => [right, opposite(up), toward],
        (2, 0, true) => [up, opposite(right), toward],
        (2, 0, false) => [opposite(up), right, toward],
        _ => STRAIGHT,
    }
}

/// The scene with every vector Σ vᵢ eᵢ, eᵢ being `axes`.
pub(crate) fn turned(mut scene: Scene, axes: &[Vector; 3]) -> Scene {
    let one = |v: &mut Vector| {
        let old = *v;
        for k in 0..3 {
            // a missing value stays missing, and 0 times it must not spread
            v[k] = (0..3).filter(|&i| axes[i][k] != 0.0).map(|i| axes[i][k] * old[i]).sum::<f64>() + 0.0;
        }
    };
    for thing in &mut scene.things {
        match &mut thing.shape {
            Frames::Point { place, .. } | Frames::Trace { place } => place.iter_mut().for_each(one),
            Frames::Rod { from, to } => from.iter_mut().chain(to).for_each(one),
            Frames::Force { at, force } => at.iter_mut().chain(force).for_each(one),
            Frames::Body { place, axes, .. } => place.iter_mut().chain(axes.iter_mut().flatten()).for_each(one),
        }
    }
    scene
}

/// The scene with names as short as a picture wants them: `rod` for `reaction(rod, P)`, none for `(x, y)`.
pub(crate) fn named(mut scene: Scene) -> Scene {
    for thing in &mut scene.things {
        let name = &thing.name;
        if let Some(inside) = name.strip_prefix("reaction(")
            && matches!(thing.shape, Frames::Force { .. })
        {
            // the name of a family member holds commas of its own, in brackets
            let mut depth = 0;
            let end = inside.find(|c: char| {
                depth += i32::from(c == '[') - i32::from(c == ']');
                (c == ',' || c == ')') && depth == 0
            });
            thing.name = inside[..end.unwrap_or(inside.len())].to_string();
        } else if name.starts_with('(') {
            thing.name.clear();
        }
    }
    scene
}

pub(crate) fn thinned(scene: &Scene, stride: usize) -> Scene {
    let mut thin = scene.clone();
    if stride == 1 {
        return thin;
    }
    thin.times = kept(&thin.times, stride);
    for thing in &mut thin.things {
        match &mut thing.shape {
            Frames::Point { place, .. } | Frames::Trace { place } => *place = kept(place, stride),
            Frames::Rod { from, to } => (*from, *to) = (kept(from, stride), kept(to, stride)),
            Frames::Force { at, force } => (*at, *force) = (kept(at, stride), kept(force, stride)),
            Frames::Body { place, axes, .. } => (*place, *axes) = (kept(place, stride), kept(axes, stride)),
        }
    }
    thin
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwang::scene::SceneItem;

    /// The picture's axes of a model with this field of gravity.
    fn axes(gravity: &str) -> [Vector; 3] {
        let n = gravity.split(',').count();
        let place = ["x", "y", "z"][..n].join(", ");
        let text = format!("coordinates {place}\nparticle P at ({place}) with mass 1\ngravity ({gravity})");
        upright(zwang::load(&text).unwrap().model(), n)
    }

    #[test]
    fn what_falls_falls_down() {
        for (gravity, n) in [
            ("0, 0, -9.81", 3),
            ("0, 0, 9.81", 3),
            ("0, -9.81, 0", 3),
            ("0, 9.81, 0", 3),
            ("9.81, 0, 0", 3),
            ("-9.81, 0, 0", 3),
            ("0, -9.81", 2),
            ("0, 9.81", 2),
            ("9.81, 0", 2),
            ("-9.81, 0", 2),
        ] {
            let g: Vec<f64> = gravity.split(", ").map(|x| x.parse().unwrap()).collect();
            let [a, b, c] = axes(gravity);
            let shown: Vec<f64> = (0..3).map(|k| a[k] * g[0] + b[k] * g[1] + c[k] * g.get(2).unwrap_or(&0.0)).collect();
            assert_eq!(shown[n - 1], -9.81, "{gravity}");
            let cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
            assert!(n == 2 || cross.iter().zip(c).all(|(x, y)| *x == y), "{gravity} is mirrored");
        }
    }

    #[test]
    fn names_are_short() {
        let force =
            |name: &str| SceneItem { name: name.into(), shape: Frames::Force { at: Vec::new(), force: Vec::new() } };
        let point = |name: &str| SceneItem { name: name.into(), shape: Frames::Trace { place: Vec::new() } };
        let things =
            vec![force("reaction(rod, P)"), force("reaction(rod[1, 2], P[1])"), point("(x, y)"), point("P[1]")];
        let scene = named(Scene { things, ..Scene::default() });
        let names: Vec<&str> = scene.things.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["rod", "rod[1, 2]", "", "P[1]"]);
    }

    #[test]
    fn marks_cover_the_whole_run_however_many_there_are() {
        let marks = thinned_marks((0..100_000).map(|k| (1e-4 * f64::from(k), "hit".to_string())), 10.0);
        assert!(marks.len() > 1000 && marks.len() <= 1121, "{}", marks.len());
        assert!(marks[0].0 == 0.0 && marks.last().unwrap().0 > 9.98, "{:?}", marks.last());
        let few = thinned_marks([(1.0, String::new()), (1.0, "go".into()), (2.0, "stop".into())].into_iter(), 3.0);
        assert_eq!(few, [(1.0, "go".to_string()), (2.0, "stop".to_string())]);
    }

    #[test]
    fn only_compact_paths_have_equal_scales() {
        let panel = |x: f64, y: f64| Panel {
            curves: vec![Curve { label: "y".into(), x: vec![0.0, x], y: vec![-y, f64::NAN, 0.0] }],
            ..Panel::default()
        };
        assert!(is_compact(&panel(3.0, 1.0)) && is_compact(&panel(1.0, 7.9)) && is_compact(&panel(0.0, 0.0)));
        assert!(!is_compact(&panel(76.0, 0.5)) && !is_compact(&panel(0.0, 1.0)));
    }

    #[test]
    fn thinning_keeps_the_ends() {
        assert_eq!(kept(&[0, 1, 2, 3, 4, 5], 2), [0, 2, 4, 5]);
        assert_eq!(kept(&[0, 1, 2], 1), [0, 1, 2]);
    }
}
