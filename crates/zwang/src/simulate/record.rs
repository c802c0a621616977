//! The records of a motion: rows of samples, frames of the scene, curves, extremes of outputs.

use zwang_expr::Expr;
use zwang_motion::{ForceParts, Instant, Integrals, Motion, MotionError};

use crate::equations::Equations;
use crate::model::{Coordinate, Derived, Output, Shape};
use crate::run::Keep;
use crate::samples::{Column, Samples, ascii_name, unique_names};
use crate::scene::{Frames, Scene, SceneItem, Vector};
use crate::simulate::balance::{OutputRange, OutputValues};
use crate::simulate::powers::Parts;
use crate::simulate::probes::{ProbeContext, Probes};
use crate::units::Dimension;
use crate::{compile::evaluator::Evaluator, limits, tolerance};

/// The curves of one `plot`, sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlotCurves {
    /// The curves.
    pub curves: Vec<Column>,
    /// The abscissa of the curves; t unless the user states another.
    pub versus: Column,
}

/// The motion at one instant with the derived forces and works.
pub(super) struct Sample<'a> {
    pub(super) instant: &'a Instant,
    pub(super) around: ProbeContext<'a>,
    /// M q̈ − Q.
    pub(super) constraint_force: &'a [f64],
    pub(super) energies: [f64; 3],
    pub(super) residuals: &'a [f64],
    /// The parts of the constraint force; `None` if every constraint is ideal.
    pub(super) parts: Option<&'a PartsAt>,
}

/// The parts of the constraint force at one instant, their power and their work.
pub(super) struct PartsAt {
    pub(super) forces: ForceParts,
    pub(super) power: Parts,
    pub(super) works: Parts,
}

impl PartsAt {
    /// All values in the order of the columns.
    fn values(&self) -> impl Iterator<Item = f64> {
        let ForceParts { ideal, nonideal, law } = &self.forces;
        let forces = ideal.iter().chain(nonideal).chain(law).copied();
        let each = |parts: Parts| [parts.ideal, parts.nonideal, parts.law];
        forces.chain(each(self.power)).chain(each(self.works))
    }
}

/// Stores rows and frames.
pub(super) struct Recorder {
    wants_samples: bool,
    wants_pictures: bool,
    columns: Vec<Column>,
    factors: Vec<f64>,
    /// The coordinates that controls drive.
    driven: Vec<usize>,
    probes: Probes,
    n_outputs: usize,
    values: Vec<f64>,
    plots: Vec<PlotCurves>,
    plot_factors: Vec<Vec<f64>>,
    scene: Scene,
}

impl Recorder {
    pub(super) fn new(equations: &Equations, works: &[Derived], keep: Keep) -> Recorder {
        let model = &equations.model;
        let mut exprs: Vec<Expr> = equations.outputs.clone();
        if keep.pictures {
            exprs.extend(equations.plots.iter().flatten());
            exprs.extend(model.scene.iter().flat_map(|drawn| places(&drawn.shape)));
        }
        let shown = if keep.pictures { &model.plots[..] } else { &[] };
        let plots = shown.iter().map(|plot| pictured(&plot.curves, plot.versus.as_ref(), time_unit(equations)));
        let factors = |outputs: &[Output], versus: Option<&Output>| {
            outputs.iter().chain(versus).map(|o| o.unit.as_ref().map_or(1.0, |u| u.factor())).collect()
        };
        Recorder {
            wants_samples: keep.samples,
            wants_pictures: keep.pictures,
            columns: if keep.samples {
                columns(equations, &model.driven(), equations.has_nonideal_parts())
            } else {
                Vec::new()
            },
            factors: factors(&model.outputs, None),
            driven: model.driven(),
            probes: Probes::new(equations, works, &exprs),
            n_outputs: model.outputs.len(),
            values: Vec::new(),
            plots: plots.collect(),
            plot_factors: shown.iter().map(|p| factors(&p.curves, p.versus.as_ref())).collect(),
            scene: if keep.pictures { empty_scene(equations) } else { Scene::default() },
        }
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.wants_samples || self.wants_pictures
    }

    /// The number of values of a row, those of plots and of the scene included.
    pub(super) fn n_columns(&self) -> usize {
        let scene: usize = self.scene.things.iter().map(|thing| frame_size(&thing.shape)).sum();
        self.columns.len() + self.plots.iter().map(|plot| plot.curves.len() + 1).sum::<usize>() + scene
    }

    pub(super) fn wants_gaussian(&self) -> bool {
        self.probes.wants_gaussian()
    }

    /// Records one instant.
    pub(super) fn write(&mut self, sample: &Sample) {
        let mut values = std::mem::take(&mut self.values);
        self.probes.read(sample.instant, &sample.around, &mut values);
        let t = sample.instant.state.t;
        if self.wants_samples {
            self.write_row(sample, &values[..self.n_outputs]);
        }
        if self.wants_pictures {
            let mut rest = &values[self.n_outputs..];
            for (plot, factors) in self.plots.iter_mut().zip(&self.plot_factors) {
                let (own, after) = rest.split_at(factors.len());
                let n = plot.curves.len();
                for (k, curve) in plot.curves.iter_mut().enumerate() {
                    curve.values.push(own[k] / factors[k]);
                }
                plot.versus.values.push(if own.len() > n { own[n] / factors[n] } else { t });
                rest = after;
            }
            self.scene.times.push(t);
            for thing in &mut self.scene.things {
                rest = push_frame(&mut thing.shape, rest, self.scene.dimension);
            }
        }
        self.values = values;
    }

    fn write_row(&mut self, sample: &Sample, outputs: &[f64]) {
        let Instant { state, qddot, lambda, .. } = sample.instant;
        let outputs = outputs.iter().zip(&self.factors).map(|(x, f)| x / f);
        let row = std::iter::once(state.t)
            .chain(state.q.iter().copied())
            .chain(state.qdot.iter().copied())
            .chain(qddot.iter().copied())
            .chain(lambda.iter().copied())
            .chain(sample.constraint_force.iter().copied())
            .chain(self.driven.iter().map(|&k| sample.instant.control_force[k]))
            .chain(sample.residuals.iter().copied())
            .chain(sample.energies)
            .chain(sample.parts.into_iter().flat_map(PartsAt::values))
            .chain(outputs);
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.values.push(value);
        }
    }

    pub(super) fn finish(self) -> (Samples, Scene, Vec<PlotCurves>) {
        (Samples { columns: self.columns }, self.scene, self.plots)
    }
}

/// The number of values of a frame.
fn frame_size(frames: &Frames) -> usize {
    match frames {
        Frames::Point { .. } | Frames::Trace { .. } => 3,
        Frames::Rod { .. } | Frames::Force { .. } => 6,
        Frames::Body { .. } => 12,
    }
}

fn unit_text(dimension: Option<Dimension>) -> String {
    dimension.map_or(String::new(), |d| d.unit())
}

/// `s` in a model with units.
fn time_unit(equations: &Equations) -> &'static str {
    let has_units = equations.model.coordinates.iter().any(|c| c.dimension.is_some());
    if has_units { "s" } else { "" }
}

fn output_unit(output: &Output) -> String {
    output.unit.as_ref().map_or_else(|| unit_text(output.dimension), |u| u.text.clone())
}

fn pictured(curves: &[Output], versus: Option<&Output>, time_unit: &str) -> PlotCurves {
    let column = |o: &Output| Column {
        name: ascii_name(&o.name),
        label: o.name.clone(),
        unit: output_unit(o),
        values: Vec::new(),
    };
    let time = Column { name: "t".into(), label: "t".into(), unit: time_unit.into(), values: Vec::new() };
    PlotCurves { curves: curves.iter().map(column).collect(), versus: versus.map_or(time, column) }
}

/// The columns of files: t, x, x_dot, x_ddot, lambda_rod, fc_x, res_rod, T, V, E and the outputs; `with_parts` adds
/// those of the parts of the constraint force.
pub(crate) fn columns(equations: &Equations, driven: &[usize], with_parts: bool) -> Vec<Column> {
    let model = &equations.model;
    let time = time_unit(equations);
    let mut columns = Vec::new();
    let mut add = |name: String, label: String, unit: String| {
        columns.push(Column { name: ascii_name(&name), label, unit, values: Vec::new() });
    };
    add("t".into(), "t".into(), time.into());
    for (primes, suffix) in [("", ""), ("'", "/s"), ("''", "/s^2")] {
        for c in &model.coordinates {
            let unit = match (time, unit_text(c.dimension)) {
                ("", unit) => unit,
                (_, unit) if suffix.is_empty() => unit,
                (_, unit) if unit.is_empty() => format!("1{suffix}"),
                (_, unit) => format!("{unit}{suffix}"),
            };
            add(format!("{}{primes}", c.name), format!("{}{primes}", c.name), unit);
        }
    }
    let energy = if time.is_empty() { "" } else { "J" };
    for row in &equations.rows {
        add(format!("lambda_{}", row.name), format!("λ({})", row.name), String::new());
    }
    for c in &model.coordinates {
        add(format!("fc_{}", c.name), format!("constraint force on {}", c.name), force_unit(energy, c));
    }
    for c in driven.iter().map(|&k| &model.coordinates[k]) {
        add(format!("control_{}", c.name), format!("control({})", c.name), force_unit(energy, c));
    }
    for row in equations.rows.iter().filter(|r| r.rate.is_some()) {
        let dimension = model.rows().iter().find(|r| r.name == row.name).and_then(|r| r.dimension);
        add(format!("res_{}", row.name), format!("residual({})", row.name), unit_text(dimension));
    }
    for (name, word) in [("T", "kinetic"), ("V", "potential"), ("E", "energy")] {
        // an output of the user keeps its name
        let is_taken = model.outputs.iter().any(|output| ascii_name(&output.name) == name);
        add(if is_taken { word } else { name }.into(), name.into(), energy.into());
    }
    if with_parts {
        for part in ["Qc_ideal", "Qc_nonideal", "C"] {
            for c in &model.coordinates {
                add(format!("{part}_{}", c.name), format!("{part} on {}", c.name), force_unit(energy, c));
            }
        }
        for (what, unit) in [("power", if energy.is_empty() { "" } else { "W" }), ("work", energy)] {
            for part in ["Qc_ideal", "Qc_nonideal", "C"] {
                add(format!("{what}_{part}"), format!("{what} of {part}"), unit.into());
            }
        }
    }
    for output in &model.outputs {
        add(output.name.clone(), output.name.clone(), output_unit(output));
    }
    // the user's own names come first, so that they stay as they are
    let mut names: Vec<String> = columns.iter().map(|c: &Column| c.name.clone()).collect();
    names.rotate_right(model.outputs.len());
    let mut unique = unique_names(&names);
    unique.rotate_left(model.outputs.len());
    columns.iter_mut().zip(unique).for_each(|(column, name)| column.name = name);
    columns
}

/// The unit of a force on a coordinate.
fn force_unit(energy: &str, coordinate: &Coordinate) -> String {
    match (energy, unit_text(coordinate.dimension).as_str()) {
        ("", _) => String::new(),
        (_, "m") => "N".into(),
        (_, "") => "N*m".into(),
        (_, unit) => format!("J/({unit})"),
    }
}

/// Every expression of a shape, in the order in which `push_frame` reads them.
fn places(shape: &Shape) -> Vec<Expr> {
    match shape {
        Shape::Point { place, .. } | Shape::Trace { place } => place.clone(),
        Shape::Rod { from, to } => from.iter().chain(to).copied().collect(),
        Shape::Force { at, force } => at.iter().chain(force).copied().collect(),
        Shape::Body { place, axes, radii } => place.iter().chain(axes.iter().flatten()).chain(radii).copied().collect(),
    }
}

fn empty_scene(equations: &Equations) -> Scene {
    let model = &equations.model;
    let sizes = model.scene.iter().map(|drawn| match &drawn.shape {
        Shape::Point { place, .. } | Shape::Trace { place } | Shape::Body { place, .. } => place.len(),
        Shape::Rod { from, .. } => from.len(),
        Shape::Force { at, .. } => at.len(),
    });
    let dimension = sizes.max().unwrap_or(2);
    let time = time_unit(equations);
    let thing = |drawn: &crate::model::AnimateItem| SceneItem {
        name: drawn.name.clone(),
        shape: match &drawn.shape {
            Shape::Point { has_mass, .. } => Frames::Point { place: Vec::new(), has_mass: *has_mass },
            Shape::Trace { .. } => Frames::Trace { place: Vec::new() },
            Shape::Rod { .. } => Frames::Rod { from: Vec::new(), to: Vec::new() },
            Shape::Force { .. } => Frames::Force { at: Vec::new(), force: Vec::new() },
            Shape::Body { radii, .. } => {
                Frames::Body { place: Vec::new(), axes: Vec::new(), radii: vec![f64::NAN; radii.len()] }
            }
        },
    };
    Scene {
        times: Vec::new(),
        dimension,
        length_unit: if time.is_empty() { String::new() } else { "m".into() },
        force_unit: if time.is_empty() { String::new() } else { "N".into() },
        time_unit: time.into(),
        things: model.scene.iter().map(thing).collect(),
    }
}

/// Reads the numbers of one frame from the front and returns the rest.
fn push_frame<'v>(frames: &mut Frames, values: &'v [f64], dimension: usize) -> &'v [f64] {
    let mut values = values;
    let mut take = || -> Vector {
        let (own, rest) = values.split_at(dimension.min(values.len()));
        values = rest;
        let mut vector = [0.0; 3];
        vector[..own.len()].copy_from_slice(own);
        vector
    };
    match frames {
        Frames::Point { place, .. } | Frames::Trace { place } => place.push(take()),
        Frames::Rod { from, to } => {
            from.push(take());
            to.push(take());
        }
        Frames::Force { at, force } => {
            at.push(take());
            force.push(take());
        }
        Frames::Body { place, axes, radii } => {
            place.push(take());
            let mut turned = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            turned.iter_mut().take(dimension).for_each(|axis| *axis = take());
            axes.push(turned);
            let (own, rest) = values.split_at(radii.len());
            radii.copy_from_slice(own);
            values = rest;
        }
    }
    values
}

/// Finds the extremes of the outputs, located on the dense output.
pub(super) struct Extremes {
    probes: Probes,
    found: Vec<Option<OutputValues>>,
    /// True for each output that was undefined somewhere.
    undefined: Vec<bool>,
    values: Vec<f64>,
    /// The outputs at the five points of a step.
    places: Vec<Vec<f64>>,
}

impl Extremes {
    pub(super) fn new(equations: &Equations, works: &[Derived]) -> Extremes {
        Extremes {
            probes: Probes::new(equations, works, &equations.outputs),
            found: vec![None; equations.outputs.len()],
            undefined: vec![false; equations.outputs.len()],
            values: Vec::new(),
            places: vec![Vec::new(); 5],
        }
    }

    fn read(&mut self, motion: &mut Motion<Evaluator>, t: f64) -> Result<(), MotionError> {
        motion.at(t)?;
        let gaussian = if self.probes.wants_gaussian() { motion.gaussian() } else { f64::NAN };
        let parameters = motion.dynamics().parameters().to_vec();
        let ((works, powers), control_powers) = (works_of(motion)?, control_powers_of(motion));
        let around = ProbeContext {
            parameters: &parameters,
            gaussian,
            works: &works,
            powers: &powers,
            control_powers: &control_powers,
        };
        let mut values = std::mem::take(&mut self.values);
        self.probes.read(motion.instant(), &around, &mut values);
        self.values = values;
        Ok(())
    }

    /// Records the values at the start.
    pub(super) fn begin(&mut self, motion: &mut Motion<Evaluator>) -> Result<(), MotionError> {
        if self.probes.is_empty() {
            return Ok(());
        }
        self.read(motion, motion.t())?;
        for (found, &x) in self.found.iter_mut().zip(&self.values) {
            *found = x.is_finite().then_some(OutputValues { last: x, min: x, max: x });
        }
        Ok(())
    }

    /// Searches the last step for extremes.
    pub(super) fn look(&mut self, motion: &mut Motion<Evaluator>) -> Result<(), MotionError> {
        if self.probes.is_empty() {
            return Ok(());
        }
        let (start, end) = (motion.step_start(), motion.t());
        let at = |k: usize| if k == 4 { end } else { start + (end - start) * k as f64 / 4.0 };
        for k in 0..5 {
            self.read(motion, at(k))?;
            std::mem::swap(&mut self.places[k], &mut self.values);
        }
        for i in 0..self.found.len() {
            let points: Vec<f64> = self.places.iter().map(|values| values[i]).collect();
            if points.iter().any(|x| x.is_finite()) {
                for sign in [1.0, -1.0] {
                    self.seek(motion, i, sign, &points, start, end)?;
                }
            }
            self.undefined[i] |= points.iter().any(|x| !x.is_finite());
            if let Some(found) = &mut self.found[i] {
                found.last = points[4];
            }
        }
        Ok(())
    }

    /// Searches for a new largest value of sign·x in the step, near the largest of the five points.
    fn seek(
        &mut self,
        motion: &mut Motion<Evaluator>,
        i: usize,
        sign: f64,
        points: &[f64],
        start: f64,
        end: f64,
    ) -> Result<(), MotionError> {
        let value = |k: usize| if points[k].is_finite() { sign * points[k] } else { f64::NEG_INFINITY };
        let best = (0..5).max_by(|&a, &b| value(a).total_cmp(&value(b))).unwrap_or(4);
        let finite = points.iter().filter(|x| x.is_finite());
        let range = finite.fold(0.0, |top: f64, x| top.max((x - points[best]).abs()));
        let known = self.found[i].map_or(f64::NEG_INFINITY, |f| if sign > 0.0 { f.max } else { -f.min });
        let top = sign * points[best];
        let mut most = top;
        if top + 0.2 * range > known && range > tolerance::VALUE_ROUNDING * points[best].abs() {
            let quarter = (end - start) / 4.0;
            let middle = start + quarter * best as f64;
            most = most.max(self.climb(motion, i, sign, middle, top, quarter, (start, end))?);
        }
        if most > known {
            let value = sign * most;
            let found = self.found[i].get_or_insert(OutputValues { last: value, min: value, max: value });
            if sign > 0.0 {
                found.max = value;
            } else {
                found.min = value;
            }
        }
        Ok(())
    }

    /// Ascends from a point by steps that are halved.
    #[allow(clippy::too_many_arguments, reason = "a bracket has a middle, a value and a width")]
    fn climb(
        &mut self,
        motion: &mut Motion<Evaluator>,
        i: usize,
        sign: f64,
        mut t: f64,
        mut top: f64,
        width: f64,
        (start, end): (f64, f64),
    ) -> Result<f64, MotionError> {
        let mut width = width;
        for _ in 0..limits::EXTREMUM_HALVINGS {
            width *= 0.5;
            let mut value = |t: f64| -> Result<f64, MotionError> {
                if t < start || t > end {
                    return Ok(f64::NEG_INFINITY);
                }
                self.read(motion, t)?;
                let value = sign * self.values[i];
                Ok(if value.is_finite() { value } else { f64::NEG_INFINITY })
            };
            let sides = (value(t - width)?, value(t + width)?);
            if sides.0 > top && sides.0 >= sides.1 {
                (t, top) = (t - width, sides.0);
            } else if sides.1 > top {
                (t, top) = (t + width, sides.1);
            }
        }
        Ok(top)
    }

    pub(super) fn finish(self, equations: &Equations) -> Vec<OutputRange> {
        let outputs = equations.model.outputs.iter().zip(self.found).zip(self.undefined);
        let extent = |((output, found), undefined): ((&Output, Option<OutputValues>), bool)| {
            let factor = output.unit.as_ref().map_or(1.0, |u| u.factor());
            let scaled =
                |v: OutputValues| OutputValues { last: v.last / factor, min: v.min / factor, max: v.max / factor };
            OutputRange { name: output.name.clone(), unit: output_unit(output), values: found.map(scaled), undefined }
        };
        outputs.map(extent).collect()
    }
}

/// The power of each control at the current state.
pub(super) fn control_powers_of(motion: &mut Motion<Evaluator>) -> Vec<f64> {
    let Instant { state, control_force, control_powers, .. } = motion.instant();
    if control_powers.is_empty() {
        return Vec::new();
    }
    let (u, of_rows, qdot) = (control_force.clone(), control_powers.clone(), state.qdot.clone());
    motion.dynamics().control_powers(&u, &of_rows, &qdot)
}

/// The integrated works and their powers at the current state.
pub(super) fn works_of(motion: &mut Motion<Evaluator>) -> Result<(Vec<f64>, Vec<f64>), MotionError> {
    let n_before = usize::from(motion.dynamics().has_power());
    let works = motion.instant().integrals[n_before..].to_vec();
    if works.is_empty() {
        return Ok((works, Vec::new()));
    }
    let instant = motion.instant().clone();
    let mut rates = vec![0.0; instant.integrals.len()];
    motion.dynamics().fill_integrands(&instant, &mut rates)?;
    Ok((works, rates[n_before..].to_vec()))
}
