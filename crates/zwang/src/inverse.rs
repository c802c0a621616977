//! Inverse dynamics: the forces that move the system along a given path, and whether the path is possible.
#![allow(non_snake_case, reason = "matrices have the names of the papers")]

use zwang_expr::{Table, TableError};
use zwang_motion::{
    ControlEquations, ControlRows, Dynamics, Given, Matrix, MotionError, NonidealForce, RouteName, Settings, Size,
    Snapshot, State, route,
};

use crate::analysis::start::joined;
use crate::compile::evaluator::Evaluator;
use crate::compile::program::JitPolicy;
use crate::csv_table::{CsvColumn, CsvTable};
use crate::diagnostic::Diagnostic;
use crate::equations::Equations;
use crate::model::Coordinate;
use crate::quantity::{number, rounded};
use crate::samples::{Column, Samples};
use crate::simulate::columns;
use crate::syntax::name::canonical;
use crate::units::Dimension;
use crate::{analysis::messages::failure, limits, tolerance};

/// A path: every coordinate as a smooth function of time.
#[derive(Clone, Debug)]
pub struct MotionPath {
    /// The times of its rows, in seconds.
    pub times: Vec<f64>,
    /// q, q̇ and q̈ of each coordinate.
    curves: Vec<[Table; 3]>,
}

impl MotionPath {
    /// The path that a table gives: its first column is the time, the others are coordinates by name. The error states
    /// what is missing.
    pub fn new(coordinates: &[Coordinate], table: &CsvTable) -> Result<MotionPath, String> {
        let Some(time) = table.columns.first() else { return Err("it has no columns".into()) };
        let find = |name: &str| table.columns[1..].iter().find(|column| canonical(&column.name) == canonical(name));
        check_columns(coordinates, table)?;
        let mut curves = Vec::new();
        for column in coordinates.iter().filter_map(|c| find(&c.name)) {
            let line = |row: usize| table.lines.get(row).copied().unwrap_or(0);
            let position = Table::new(&column.name, "", &time.values, &column.values).map_err(|error| match error {
                TableError::TooFew => "it has fewer than two rows".to_string(),
                TableError::NotGrowing(row) => format!("in line {} the time does not grow", line(row)),
                TableError::NotFinite(row) => format!("line {} has a number that is not finite", line(row)),
                TableError::Overflow => "its numbers are too large, or its rows too close to each other".into(),
            })?;
            let velocity = position.derivative();
            let acceleration = velocity.derivative();
            curves.push([position, velocity, acceleration]);
        }
        Ok(MotionPath { times: time.values.clone(), curves })
    }

    /// q, q̇ and q̈ at a time.
    fn at(&self, t: f64) -> (State, Vec<f64>) {
        let values = |order: usize| self.curves.iter().map(|c| c[order].value(t)).collect::<Vec<f64>>();
        (State { t, q: values(0), qdot: values(1) }, values(2))
    }
}

/// Checks the columns of a table: one for each coordinate, none twice, each in a suitable unit.
fn check_columns(coordinates: &[Coordinate], table: &CsvTable) -> Result<(), String> {
    let names: Vec<&str> = coordinates.iter().map(|c| c.name.as_str()).collect();
    let form = format!("name them in its first row, as in `t, {}`", names.join(", "));
    if table.columns.iter().all(|column| column.name.is_empty()) {
        return Err(format!("its columns have no names; {form}"));
    }
    let (time, columns) = (&table.columns[0], &table.columns[1..]);
    let is_called = |name: &str, other: &str| canonical(name) == canonical(other);
    let mut missing = Vec::new();
    for coordinate in coordinates {
        let name = &coordinate.name;
        let found: Vec<&CsvColumn> = columns.iter().filter(|c| is_called(&c.name, name)).collect();
        match (found.as_slice(), coordinate.dimension) {
            ([], _) => missing.push(format!("`{name}`")),
            ([column], Some(dimension)) => check_unit(column, dimension)?,
            ([_], None) => {}
            _ => return Err(format!("it has {} columns for `{name}`; leave one", found.len())),
        }
    }
    if names.iter().any(|name| is_called(&time.name, name)) {
        return Err(format!("its first column is `{}`, where the time belongs; {form}", time.name));
    }
    check_unit(time, Dimension::SECOND).map_err(|why| format!("{why}; its first column is the time"))?;
    match missing.is_empty() {
        true => Ok(()),
        false => Err(format!("it has no column for {}, only {}; {form}", joined(&missing), joined(&table.names()))),
    }
}

/// Checks that the unit of a column, if it has one, has the given dimension.
fn check_unit(column: &CsvColumn, dimension: Dimension) -> Result<(), String> {
    let Some(unit) = &column.unit else { return Ok(()) };
    match unit.dimension.same(dimension) {
        true => Ok(()),
        false => {
            let word = |d: Dimension| d.word().map_or_else(|| format!("in {}", d.unit()), |word| format!("a {word}"));
            let (given, wanted) = (word(unit.dimension), word(dimension));
            Err(format!("column `{}` is {given} and should be {wanted}", column.name))
        }
    }
}

/// The largest value of a quantity along the path, and its time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Peak {
    /// The name of a coordinate or a row.
    pub name: String,
    /// Its unit, empty if there is none.
    pub unit: String,
    /// The largest absolute value.
    pub value: f64,
    /// The time of the largest value, in seconds.
    pub t: f64,
    /// The level at which the path violates a constraint: `positions`, `velocities` or `accelerations`; otherwise
    /// empty.
    pub level: &'static str,
}

impl Peak {
    fn new(name: &str, unit: &str) -> Peak {
        Peak { name: name.into(), unit: unit.into(), ..Peak::default() }
    }

    fn see(&mut self, t: f64, value: f64) {
        if value.abs() > self.value {
            (self.value, self.t) = (value.abs(), t);
        }
    }
}

/// A force that exceeds the limit of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Excess {
    /// The largest force and its time.
    pub peak: Peak,
    /// The limit.
    pub limit: f64,
    /// The intervals of time in which it is exceeded, by linear interpolation between the rows.
    pub spans: Vec<(f64, f64)>,
}

/// The forces along a path, and the reasons why it may be impossible.
#[derive(Clone, Debug, Default)]
pub struct Inverse {
    /// t, q, q̇, q̈, multipliers, constraint forces, driving forces, residuals and energies at every row of the path.
    pub samples: Samples,
    /// The largest force on each driven coordinate.
    pub forces: Vec<Peak>,
    /// The constraints that the path violates, each with the largest residual of the first level that is violated:
    /// positions, velocities, accelerations.
    pub left: Vec<Peak>,
    /// The coordinates whose acceleration no force on the driven ones produces, with the largest error.
    pub deviations: Vec<Peak>,
    /// The forces that exceed the limits of the model.
    pub exceeded: Vec<Excess>,
    /// The smallest number of directions of the path that the driven coordinates reach, and the number that the
    /// constraints leave.
    pub rank: (usize, usize),
}

impl Inverse {
    /// `true` if the path is possible.
    pub fn is_possible(&self) -> bool {
        self.left.is_empty() && self.deviations.is_empty() && self.exceeded.is_empty()
    }

    /// Each reason why the path is impossible, as a diagnostic.
    pub fn obstacles(&self) -> Vec<Diagnostic> {
        let quoted = |peak: &Peak| format!("`{}`", peak.name);
        let mut found = Vec::new();
        for peak in &self.left {
            let (value, t) = (rounded(peak.value, 3), rounded(peak.t, 6));
            let unit = match (peak.level, peak.unit.as_str()) {
                ("positions", unit) if !unit.is_empty() => format!(" {unit}"),
                _ => String::new(),
            };
            let what =
                if peak.level == "positions" { "path leaves" } else { &format!("{} of the path leave", peak.level) };
            let message = format!("the {what} constraint `{}` by up to {value}{unit} at t = {t}", peak.name);
            let d = Diagnostic::error("Z706", message);
            let d = match peak.level {
                "accelerations" => d.help("rows that lie closer together give better accelerations"),
                _ => d,
            };
            found.push(d.help("the forces shown are those for the nearest motion that the constraints allow"));
        }
        if !self.deviations.is_empty() {
            let names: Vec<String> = self.deviations.iter().map(quoted).collect();
            let driven: Vec<String> = self.forces.iter().map(quoted).collect();
            let (reached, needed) = self.rank;
            let message = format!(
                "forces on {} cannot produce the path: {} of {needed} directions are reached",
                joined(&driven),
                number(reached as f64)
            );
            let worst = self.deviations.iter().max_by(|a, b| a.value.total_cmp(&b.value));
            let d = Diagnostic::error("Z706", message).with_note(format!("missing: {}", joined(&names)));
            let d = match worst {
                Some(peak) => d.with_note(format!(
                    "the acceleration of `{}` is off by up to {} at t = {}",
                    peak.name,
                    rounded(peak.value, 3),
                    rounded(peak.t, 6)
                )),
                None => d,
            };
            found.push(d.help("drive more coordinates, or choose a path that the others take by themselves"));
        }
        found.extend(self.exceeded.iter().map(too_large));
        found
    }
}

/// The forces on the `driven` coordinates that produce the path, the least ones in uᵀM⁻¹u, together with the reactions.
///
/// At every row of the path A_c = 1 and b_c is its acceleration, so that
///
/// $$ M\ddot q = Q + A^T\lambda + S w $$
///
/// is solved for w and λ; parts of the path that constraints or missing forces make impossible are reported.
pub(crate) fn inverse(
    mut equations: Equations,
    path: &MotionPath,
    driven: &[usize],
) -> Result<Inverse, Box<Diagnostic>> {
    let limits = limits(&equations, driven);
    // the path replaces the control targets of the model
    equations.model.controls.clear();
    equations.asked.clear();
    let no_value = || Box::new(Diagnostic::error("Z901", "a formula contains a quantity without a value"));
    let mut system = Evaluator::compile(&mut equations, false, JitPolicy::default()).ok_or_else(no_value)?;
    if !system.compile_motion(&mut equations) {
        return Err(no_value());
    }
    let n = system.size().coordinates;
    let settings = Settings { contradiction_tolerance: f64::INFINITY, ..Settings::default() };
    let mut solver = route(RouteName::default(), &settings);
    let mut following = PathFollower { system, driven: driven.to_vec(), wanted: vec![0.0; n] };
    let mut snapshot = Snapshot::new(&mut following);
    let mut record = Record::new(&equations, driven);
    for &t in &path.times {
        let (state, wanted) = path.at(t);
        following.wanted.copy_from_slice(&wanted);
        let taken = snapshot.take(&mut following, &state, &mut *solver, &settings);
        let seen = taken.and_then(|()| record.look(&snapshot, &mut following));
        seen.map_err(|error| Box::new(failure::explain(&equations, &state, &error)))?;
    }
    let mut found = record.finish();
    found.exceeded = exceeded(&found, driven, &limits);
    Ok(found)
}

/// The limit on each driven coordinate that the controls of the model state, infinite if there is none.
fn limits(equations: &Equations, driven: &[usize]) -> Vec<f64> {
    let model = &equations.model;
    let mut limits = vec![f64::INFINITY; driven.len()];
    for control in &model.controls {
        let values = model.constants(&control.limit);
        for (k, value) in control.driven(model.n_coordinates()).into_iter().zip(values) {
            if let Some(place) = driven.iter().position(|&j| j == k) {
                limits[place] = limits[place].min(value);
            }
        }
    }
    limits
}

/// The forces that exceed their limits, with the intervals of time.
fn exceeded(inverse: &Inverse, driven: &[usize], limits: &[f64]) -> Vec<Excess> {
    let column = |label: &str| inverse.samples.columns.iter().find(|c| c.label == label).map(|c| c.values.as_slice());
    let Some(times) = inverse.samples.columns.first().map(|c| c.values.as_slice()) else { return Vec::new() };
    let mut found = Vec::new();
    for (place, peak) in inverse.forces.iter().enumerate().take(driven.len()) {
        let limit = limits[place];
        let Some(forces) = column(&format!("control({})", peak.name)) else { continue };
        let spans = spans_above(times, forces, limit);
        if !spans.is_empty() {
            found.push(Excess { peak: peak.clone(), limit, spans });
        }
    }
    found
}

/// The intervals of time in which |force| is above a limit.
fn spans_above(times: &[f64], forces: &[f64], limit: f64) -> Vec<(f64, f64)> {
    let over = |k: usize| forces[k].abs() - limit * (1.0 + tolerance::LAW);
    let mut spans: Vec<(f64, f64)> = Vec::new();
    for k in 0..times.len() {
        let crossing = |a: usize, b: usize| times[a] + (times[b] - times[a]) * over(a) / (over(a) - over(b));
        if over(k) <= 0.0 {
            continue;
        }
        match spans.last_mut().filter(|_| k > 0 && over(k - 1) > 0.0) {
            Some(last) => last.1 = times[k],
            None => spans.push((if k > 0 { crossing(k - 1, k) } else { times[k] }, times[k])),
        }
        if k + 1 < times.len()
            && over(k + 1) <= 0.0
            && let Some(last) = spans.last_mut()
        {
            last.1 = crossing(k, k + 1);
        }
    }
    spans
}

/// The largest value of a quantity along the path, and the largest size of its terms.
#[derive(Clone, Default)]
struct LargestValue {
    off: f64,
    t: f64,
    size: f64,
}

impl LargestValue {
    fn see(&mut self, t: f64, off: f64, size: f64) {
        if off.abs() > self.off {
            (self.off, self.t) = (off.abs(), t);
        }
        self.size = self.size.max(size.abs());
    }

    fn is_off(&self) -> bool {
        self.off > tolerance::INVERSE_RESIDUAL * self.size
    }
}

/// The quantities recorded along a path.
struct Record {
    columns: Vec<Column>,
    driven: Vec<usize>,
    forces: Vec<Peak>,
    /// The rows, and for each φ, φ̇ or ψ, and A q̈ − b with the sizes of their terms.
    rows: Vec<Peak>,
    levels: Vec<[LargestValue; 3]>,
    /// The error of each acceleration, with its own size and that of the free one.
    deviations: Vec<Peak>,
    deviation_sizes: Vec<LargestValue>,
    /// The ranks at the row of the path where most directions are missing: reached and needed.
    rank: Option<(usize, usize)>,
}

impl Record {
    fn new(equations: &Equations, driven: &[usize]) -> Record {
        let model = &equations.model;
        let mut columns = columns(equations, driven, false);
        columns.truncate(columns.len() - model.outputs.len());
        let unit = |label: String| columns.iter().find(|c| c.label == label).map_or("", |c| c.unit.as_str());
        let force = |k: &usize| {
            let name = &model.coordinates[*k].name;
            Peak::new(name, unit(format!("control({name})")))
        };
        let row = |row: &crate::equations::ConstraintRow| Peak::new(&row.name, unit(format!("residual({})", row.name)));
        let accelerated = |c: &crate::model::Coordinate| Peak::new(&c.name, unit(format!("{}''", c.name)));
        Record {
            forces: driven.iter().map(force).collect(),
            rows: equations.rows.iter().map(row).collect(),
            levels: vec![Default::default(); equations.rows.len()],
            deviations: model.coordinates.iter().map(accelerated).collect(),
            deviation_sizes: vec![LargestValue::default(); model.n_coordinates()],
            driven: driven.to_vec(),
            rank: None,
            columns,
        }
    }

    /// Records one row of the path.
    fn look(&mut self, snapshot: &Snapshot, following: &mut PathFollower) -> Result<(), MotionError> {
        let (state, found) = (&snapshot.state, &snapshot.found);
        let wanted = following.wanted.clone();
        let system = &mut following.system;
        let energies = system.energies(state)?;
        let (residuals, rates) = (system.residuals(state), system.position_rates(state));
        let missing = |(reached, needed): (usize, usize)| needed.saturating_sub(reached);
        if self.rank.is_none_or(|rank| missing(found.control_rank) > missing(rank)) {
            self.rank = Some(found.control_rank);
        }
        let reaction = found.constraint_force_ideal.iter().zip(&found.constraint_force_nonideal).map(|(a, b)| a + b);
        let row = std::iter::once(state.t)
            .chain(state.q.iter().chain(&state.qdot).copied())
            .chain(wanted.iter().copied())
            .chain(found.lambda_acting.iter().copied())
            .chain(reaction)
            .chain(self.driven.iter().map(|&k| found.control_force[k]))
            .chain(residuals.iter().copied())
            .chain([energies.kinetic, energies.potential, energies.energy]);
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.values.push(value);
        }
        for (peak, &k) in self.forces.iter_mut().zip(&self.driven) {
            peak.see(state.t, found.control_force[k]);
        }
        self.look_at_rows(snapshot, &wanted, &residuals, &rates);
        for k in 0..wanted.len() {
            let off = found.qddot[k] - wanted[k];
            self.deviation_sizes[k].see(state.t, off, wanted[k].abs().max(found.unconstrained_acceleration[k].abs()));
        }
        Ok(())
    }

    /// Records the residuals of positions, velocities and accelerations of the path in each constraint row.
    fn look_at_rows(&mut self, snapshot: &Snapshot, wanted: &[f64], residuals: &[f64], rates: &[f64]) {
        let (A, b, state) = (&snapshot.given.constraint_matrix, &snapshot.given.constraint_rhs, &snapshot.state);
        for i in 0..A.n_rows {
            let (col, value) = A.row(i);
            let size = |of: &[f64]| col.iter().zip(value).map(|(&j, a)| (a * of[j]).abs()).sum::<f64>();
            let off = b[i] - A.row_times(i, wanted);
            let [positions, velocities, accelerations] = &mut self.levels[i];
            // a row on positions has φ and φ̇, one on velocities ψ; all have A q̈ − b
            match (residuals.get(i), rates.get(i)) {
                (Some(phi), Some(rate)) => {
                    positions.see(state.t, *phi, size(&state.q));
                    velocities.see(state.t, *rate, size(&state.qdot));
                }
                (Some(psi), None) => velocities.see(state.t, *psi, size(&state.qdot)),
                _ => {}
            }
            accelerations.see(state.t, off, size(wanted).max(b[i].abs()));
        }
    }

    fn finish(self) -> Inverse {
        let at_level =
            |peak: Peak, off: &LargestValue, level: &'static str| Peak { value: off.off, t: off.t, level, ..peak };
        let first_off = |(row, levels): (Peak, &[LargestValue; 3])| {
            let names = ["positions", "velocities", "accelerations"];
            let (level, name) = levels.iter().zip(names).find(|(level, _)| level.is_off())?;
            Some(at_level(row, level, name))
        };
        let left: Vec<Peak> = self.rows.into_iter().zip(&self.levels).filter_map(first_off).collect();
        // a path that a constraint forbids is not reported as a lack of force
        let rank = self.rank.unwrap_or_default();
        let lacks = left.is_empty() && rank.0 < rank.1;
        let deviations =
            self.deviations.into_iter().zip(&self.deviation_sizes).filter(|(_, size)| lacks && size.is_off());
        Inverse {
            deviations: deviations.map(|(peak, size)| at_level(peak, size, "")).collect(),
            samples: Samples { columns: self.columns },
            forces: self.forces,
            exceeded: Vec::new(),
            left,
            rank,
        }
    }
}

/// Z706: a force beyond its limit.
fn too_large(Excess { peak, limit, spans }: &Excess) -> Diagnostic {
    let unit = if peak.unit.is_empty() { String::new() } else { format!(" {}", peak.unit) };
    let message = format!(
        "the path needs a force of {}{unit} on `{}` at t = {}, and its limit is {}{unit}",
        rounded(peak.value, 4),
        peak.name,
        rounded(peak.t, 6),
        rounded(*limit, 4),
    );
    let span = |(from, to): &(f64, f64)| format!("t = {} to {}", rounded(*from, 6), rounded(*to, 6));
    let mut shown: Vec<String> = spans.iter().take(limits::FEW_NAMES).map(span).collect();
    if spans.len() > limits::FEW_NAMES {
        shown.push(format!("{} times more", spans.len() - limits::FEW_NAMES));
    }
    Diagnostic::error("Z706", message)
        .with_note(format!("above the limit: {}", joined(&shown)))
        .help("take the path more slowly, or raise `limit`; `zwang run` shows how close a bounded force comes")
}

/// A system with the accelerations of a path as control target.
struct PathFollower {
    system: Evaluator,
    driven: Vec<usize>,
    wanted: Vec<f64>,
}

impl Dynamics for PathFollower {
    fn size(&self) -> Size {
        self.system.size()
    }

    fn allocate(&self) -> Given {
        self.system.allocate()
    }

    fn fill(&mut self, state: &State, given: &mut Given) -> Result<(), MotionError> {
        self.system.fill(state, given)
    }

    fn nonideal(&mut self) -> Option<&mut dyn NonidealForce> {
        self.system.nonideal()
    }

    fn control(&mut self) -> Option<&mut dyn ControlEquations> {
        Some(self)
    }
}

impl ControlEquations for PathFollower {
    fn allocate_control_rows(&self) -> ControlRows {
        let n = self.size().coordinates;
        let identity: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
        let mut rows = Matrix::from_pattern(n, n, &identity);
        rows.value.fill(1.0);
        // bounds that are never reached: they select the solver that finds the nearest motion if forces are missing
        let limit = vec![f64::INFINITY; self.driven.len()];
        ControlRows { rows, rhs: vec![0.0; n], driven: self.driven.clone(), limit, ..ControlRows::default() }
    }

    fn fill_control_rows(&mut self, _: &State, asked: &mut ControlRows) -> Result<(), MotionError> {
        asked.rhs.copy_from_slice(&self.wanted);
        Ok(())
    }
}
