//! Compiled control rows: A_c, b_c, weights and bounds at a state.

use zwang_expr::Expr;
use zwang_motion::{ControlRows, Matrix, MotionError};

use crate::compile::program::{Compiled, Jit};
use crate::equations::{Equations, SparseRow};
use crate::model::{Derived, Level, Model};

/// The programs of all controls together.
#[derive(Clone)]
pub(crate) struct Controls {
    /// A_c, b_c, W and the bounds.
    pub(crate) program: Compiled,
    /// ε of the exactly tracked rows on positions, then ε̇ of all exactly tracked rows.
    pub(crate) positions: Compiled,
    pub(crate) velocities: Compiled,
    /// ε of every row, as written.
    pub(crate) errors: Option<Compiled>,
    pub(crate) empty: ControlRows,
    /// The driven coordinates with a bound; if several controls state one, the least applies.
    bounded: Vec<usize>,
    /// The control and the name of each of the last outputs of the program, which must be positive and which an event
    /// may have changed.
    positive: Vec<(usize, &'static str)>,
    /// The control of each control row.
    pub(crate) owner: Vec<usize>,
    pub(crate) n_controls: usize,
}

impl Controls {
    /// Compiles the controls. `None` without controls; `Some(None)` if a formula contains a symbol without a value.
    #[allow(clippy::option_option, reason = "without controls there is nothing to compile, which is no failure")]
    pub(crate) fn compile(equations: &Equations, jit: &Jit) -> Option<Option<Controls>> {
        let (model, rows) = (&equations.model, &equations.asked);
        if rows.is_empty() {
            return None;
        }
        let n = model.n_coordinates();
        let driven = model.driven();
        let held = |level: Level| rows.iter().filter(|r| r.is_held && r.row.level == level).count();
        let n_held = (held(Level::Position), held(Level::Velocity));
        let weight = weight(equations, &driven);
        let (bounded, limits) = limits(equations, &driven);
        let mut outputs: Vec<Expr> = rows.iter().flat_map(|r| r.row.coefficients.iter().map(|(_, e)| *e)).collect();
        outputs.extend(rows.iter().map(|r| r.row.rhs));
        outputs.extend(&weight);
        outputs.extend(limits);
        let (positive, values) = positive_values(model);
        outputs.extend(values);
        let compile =
            |exprs: &[Expr]| Compiled::moving(&model.graph, &model.state_symbols(), model.held_symbols(), exprs, jit);
        let positions: Vec<Expr> = rows[..n_held.0].iter().map(|r| r.row.residual).collect();
        let velocities: Vec<Expr> = rows[..n_held.0 + n_held.1].iter().filter_map(|r| r.row.rate).collect();
        let coefficients: Vec<&SparseRow> = rows.iter().map(|r| &r.row.coefficients).collect();
        let columns: Vec<Vec<usize>> = coefficients.iter().map(|row| row.iter().map(|(k, _)| *k).collect()).collect();
        let empty = ControlRows {
            rows: Matrix::from_pattern(rows.len(), n, &columns),
            rhs: vec![0.0; rows.len()],
            n_held,
            weight: vec![0.0; weight.len()],
            limit: if bounded.is_empty() { Vec::new() } else { vec![f64::INFINITY; driven.len()] },
            driven,
        };
        let programs = (compile(&outputs), compile(&positions), compile(&velocities));
        let (Some(program), Some(positions), Some(velocities)) = programs else { return Some(None) };
        let known: Vec<Expr> = rows.iter().filter(|r| r.row.rate.is_some()).map(|r| r.row.residual).collect();
        let errors = compile(&known);
        let owner = rows.iter().map(|r| r.row.constraint).collect();
        let n_controls = model.controls.len();
        Some(Some(Controls { program, positions, velocities, errors, empty, bounded, positive, owner, n_controls }))
    }

    /// Distributes the outputs of the program to A_c, b_c, W and the bounds; true if all are finite.
    pub(crate) fn distribute(&self, asked: &mut ControlRows) -> bool {
        let values = self.program.values();
        let (entries, rest) = values.split_at(asked.rows.value.len());
        let (rhs, rest) = rest.split_at(asked.rhs.len());
        let (weight, rest) = rest.split_at(asked.weight.len());
        let limits = &rest[..self.bounded.len()];
        asked.rows.value.copy_from_slice(entries);
        asked.rhs.copy_from_slice(rhs);
        asked.weight.copy_from_slice(weight);
        asked.limit.fill(f64::INFINITY);
        for (&place, limit) in self.bounded.iter().zip(limits) {
            asked.limit[place] = asked.limit[place].min(*limit);
        }
        values.iter().all(|x| x.is_finite())
    }

    /// The error for a settling time, damping or limit that is not positive at this state.
    pub(crate) fn explain_non_finite(&self) -> Option<MotionError> {
        let values = self.program.values();
        let last = &values[values.len() - self.positive.len()..];
        // a value may be NaN
        let is_positive = |value: &f64| *value > 0.0;
        let at = last.iter().position(|value| !is_positive(value))?;
        let (control, what) = self.positive[at];
        Some(MotionError::NotPositive { what, control, value: last[at] })
    }

    /// The power of each control: the sum of the shares of its rows. The part that bounds withhold is divided evenly
    /// among all controls.
    pub(crate) fn powers(&self, of_rows: &[f64], whole: f64, powers: &mut [f64]) {
        powers.fill(0.0);
        of_rows.iter().zip(&self.owner).for_each(|(power, &k)| powers[k] += power);
        let rest = (whole - powers.iter().sum::<f64>()) / powers.len().max(1) as f64;
        powers.iter_mut().for_each(|power| *power += rest);
    }
}

/// W over all driven coordinates, row after row; empty if no control states one.
pub(crate) fn weight(equations: &Equations, driven: &[usize]) -> Vec<Expr> {
    let (model, k) = (&equations.model, driven.len());
    if model.controls.iter().all(|c| c.weight.is_empty()) {
        return Vec::new();
    }
    let place = |j: usize| driven.binary_search(&j).unwrap_or(0);
    let mut weight = vec![Expr::ZERO; k * k];
    for control in &model.controls {
        let own = control.driven(model.n_coordinates());
        for (at, &entry) in control.weight.iter().enumerate() {
            weight[place(own[at / own.len()]) * k + place(own[at % own.len()])] = entry;
        }
    }
    weight
}

/// The values that must stay positive although an event may change them: control, name and formula.
fn positive_values(model: &Model) -> (Vec<(usize, &'static str)>, Vec<Expr>) {
    let mut found = Vec::new();
    for (k, control) in model.controls.iter().enumerate() {
        found.extend(control.limit.iter().map(|&limit| ((k, "limit"), limit)));
        if let Some(settling) = control.settling {
            found.extend([((k, "settling"), settling), ((k, "damping"), control.damping)]);
        }
    }
    found.into_iter().unzip()
}

/// The driven coordinates with a bound, and the bounds.
pub(crate) fn limits(equations: &Equations, driven: &[usize]) -> (Vec<usize>, Vec<Expr>) {
    let model = &equations.model;
    let of_control = |c: &crate::model::Control| -> Vec<(usize, Expr)> {
        let own = c.driven(model.n_coordinates());
        let place = |j: usize| driven.binary_search(&j).unwrap_or(0);
        own.iter().zip(&c.limit).map(|(&j, &e)| (place(j), e)).collect()
    };
    model.controls.iter().flat_map(of_control).unzip()
}

/// The symbols of control forces and powers that a model uses, each with the quantity it stands for.
pub(crate) fn control_symbols(model: &Model) -> Vec<(Expr, Derived)> {
    let wanted = |d: &Derived| matches!(d, Derived::Control(_) | Derived::ControlPower(_));
    let mut symbols: Vec<(Expr, Derived)> =
        model.derived.iter().map(|(s, d)| (*s, *d)).filter(|(_, d)| wanted(d)).collect();
    symbols.sort_unstable_by_key(|(s, _)| *s);
    symbols
}

/// The values of the control symbols for the force u and the power of each control.
pub(crate) fn control_values<'a>(
    symbols: &'a [(Expr, Derived)],
    u: &'a [f64],
    powers: &'a [f64],
) -> impl Iterator<Item = f64> + 'a {
    symbols.iter().map(|(_, derived)| match *derived {
        Derived::Control(k) => u.get(k).copied().unwrap_or(0.0),
        Derived::ControlPower(k) => powers.get(k).copied().unwrap_or(0.0),
        _ => f64::NAN,
    })
}
