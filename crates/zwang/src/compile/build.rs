//! Compilation of the equations to programs: M, Q, A, b, the energies, C, control rows, outputs and the two-form.

use rustc_hash::FxHashSet;
use std::sync::Arc;
use zwang_expr::Expr;
use zwang_motion::{Given, Legendre, Matrix};

use crate::compile::control_programs::{Controls, control_symbols};
use crate::compile::evaluator::{Evaluator, OutputProgram};
use crate::compile::program::{Compiled, Jit};
use crate::compile::row_selection::RowSelection;
use crate::equations::{ConstraintRow, Equations, LegendreExpressions, SparseRow};
use crate::model::{Derived, Output};

impl Evaluator {
    /// Compiles the programs of a simulation; `with_legendre` adds those of the two-form route. `None` if the
    /// equations contain a quantity that this version cannot compute, such as a table.
    pub fn compile(equations: &mut Equations, with_legendre: bool, jit: impl Into<Jit>) -> Option<Evaluator> {
        let jit = jit.into();
        let legendre = with_legendre.then(|| equations.legendre());
        let compiler = Compiler { equations, inputs: equations.model.state_symbols(), jit: &jit };
        if !compiler.is_about_known() {
            return None;
        }
        let (given, empty) = compiler.given()?;
        let (legendre, empty_legendre) = legendre.map(|l| compiler.legendre(&l)).unzip();
        let model = &equations.model;
        let selection = compiler.selection(&empty);
        Some(Evaluator {
            n: model.n_coordinates(),
            inputs: vec![0.0; compiler.inputs.len()],
            with_lambda: Vec::new(),
            parameters: model.parameter_values.clone(),
            given,
            energies: compiler.energies()?,
            nonideal: if equations.nonideal_force.is_empty() { None } else { Some(compiler.nonideal()?) },
            // controls that cannot be compiled differ from no controls
            controls: match Controls::compile(equations, &jit) {
                None => None,
                Some(controls) => Some(controls?),
            },
            control_symbols: control_symbols(model),
            powers: Vec::new(),
            legendre: legendre.flatten(),
            outputs: compiler.outputs(&multipliers(equations.motion_rows())),
            empty,
            selection,
            empty_legendre,
            place: compiler.inputs.iter().enumerate().map(|(k, s)| (*s, k)).collect(),
            symbols: compiler.inputs,
            graph: Arc::new(model.graph.clone()),
            moving: None,
            contact: None,
            source: None,
            sharp: None,
            cache: Arc::default(),
            derivatives: None,
            jit,
            explicit: None,
        })
    }

    /// The same programs with the outputs of the equations in a contact mode, where an open contact has no power; `lambda` has the
    /// multipliers of all rows.
    pub(crate) fn with_outputs_of(self, equations: &Equations, lambda: &[Expr]) -> Evaluator {
        let compiler = Compiler { equations, inputs: equations.model.state_symbols(), jit: &self.jit };
        let outputs = compiler.outputs(lambda);
        Evaluator { outputs, ..self }
    }
}

/// λ of the rows.
fn multipliers(rows: &[ConstraintRow]) -> Vec<Expr> {
    rows.iter().map(|row| row.lambda).collect()
}

struct Compiler<'a> {
    equations: &'a Equations,
    /// t, q, q̇ and the parameters.
    inputs: Vec<Expr>,
    jit: &'a Jit,
}

impl Compiler<'_> {
    /// True if the constraints contain only the state and parameters; a symbol without a value may differentiate away
    /// from A and b.
    fn is_about_known(&self) -> bool {
        let Equations { model, asked, .. } = self.equations;
        let accelerations = model.coordinates.iter().map(|c| &c.qddot);
        let known: FxHashSet<Expr> = self.inputs.iter().chain(accelerations).copied().collect();
        let all_rows = self.equations.motion_rows().iter().chain(asked.iter().map(|r| &r.row));
        let stated: Vec<Expr> = all_rows.flat_map(|r| [Some(r.residual), r.rate]).flatten().collect();
        model.graph.symbols_of(&stated).iter().all(|s| known.contains(s))
    }

    /// A program with the parameters as fixed inputs and a variable state.
    fn moving(&self, inputs: &[Expr], exprs: &[Expr]) -> Option<Compiled> {
        let model = &self.equations.model;
        Compiled::moving(&model.graph, inputs, model.held_symbols(), exprs, self.jit)
    }

    /// The program of M, Q, A and b, and the storage for its values.
    fn given(&self) -> Option<(Compiled, Given)> {
        let e = self.equations;
        let n = e.model.n_coordinates();
        let rows: Vec<&SparseRow> = e.motion_rows().iter().map(|r| &r.coefficients).collect();
        let masses: Vec<&SparseRow> = e.mass_matrix.iter().collect();
        let mut exprs = entries(&masses);
        exprs.extend(&e.given_force);
        exprs.extend(entries(&rows));
        exprs.extend(e.motion_rows().iter().map(|r| r.rhs));
        let empty = Given {
            mass_matrix: pattern(n, n, &masses),
            given_force: vec![0.0; n],
            constraint_matrix: pattern(rows.len(), n, &rows),
            constraint_rhs: vec![0.0; rows.len()],
        };
        Some((self.moving(&self.inputs, &exprs)?, empty))
    }

    /// The rows of the equations among those of the motion; `None` if they are all of them.
    fn selection(&self, all: &Given) -> Option<Box<RowSelection>> {
        let (rows, all_rows) = (&self.equations.rows, self.equations.motion_rows());
        if rows.len() == all_rows.len() {
            return None;
        }
        let place = |row: &ConstraintRow| all_rows.iter().position(|r| r.lambda == row.lambda);
        Some(Box::new(RowSelection::new(rows.iter().filter_map(place).collect(), None, all)))
    }

    /// T, V, E and p.
    fn energies(&self) -> Option<Compiled> {
        let e = self.equations;
        let exprs: Vec<Expr> = [e.kinetic, e.potential, e.energy].iter().chain(&e.momentum).copied().collect();
        self.moving(&self.inputs, &exprs)
    }

    /// C.
    fn nonideal(&self) -> Option<Compiled> {
        let inputs = [self.inputs.clone(), multipliers(self.equations.motion_rows())].concat();
        self.moving(&inputs, &self.equations.nonideal_force)
    }

    /// The programs of the outputs, which may also contain λ, q̈, u and G; `None` for those that depend on the whole
    /// motion.
    fn outputs(&self, lambda: &[Expr]) -> Vec<OutputProgram> {
        let model = &self.equations.model;
        let mut inputs = [&self.inputs, lambda].concat();
        inputs.extend(model.coordinates.iter().map(|c| c.qddot));
        inputs.extend(control_symbols(model).iter().map(|(s, _)| *s));
        inputs.extend(model.derived.iter().find(|(_, d)| **d == Derived::Gaussian).map(|(s, _)| *s));
        let named = model.outputs.iter().zip(&self.equations.outputs);
        let output = |(o, e): (&Output, &Expr)| {
            let used = model.graph.symbols(*e);
            OutputProgram {
                name: o.name.clone(),
                rows: (0..lambda.len()).filter(|k| used.contains(&lambda[*k])).collect(),
                program: Compiled::new(&model.graph, &inputs, &[*e]),
            }
        };
        named.map(output).collect()
    }

    /// The program of the Legendre data for the two-form route, and the storage for its values.
    fn legendre(&self, parts: &LegendreExpressions) -> (Option<Compiled>, Legendre) {
        let e = self.equations;
        let by_q: Vec<&SparseRow> = parts.momentum_by_q.iter().collect();
        let mut exprs = e.momentum.clone();
        exprs.extend(entries(&by_q));
        exprs.extend(parts.momentum_by_t.iter().chain(&parts.energy_by_q).chain(&parts.energy_by_qdot));
        exprs.extend(&e.applied_force);
        let n = e.model.n_coordinates();
        let zeros = vec![0.0; n];
        let empty = Legendre {
            momentum: zeros.clone(),
            momentum_by_q: pattern(n, n, &by_q),
            momentum_by_t: zeros.clone(),
            energy_by_q: zeros.clone(),
            energy_by_qdot: zeros.clone(),
            force: zeros,
        };
        (Compiled::new(&e.model.graph, &self.inputs, &exprs), empty)
    }
}

/// The entries of sparse rows, one after the other.
fn entries(rows: &[&SparseRow]) -> Vec<Expr> {
    rows.iter().flat_map(|row| row.iter().map(|(_, e)| *e)).collect()
}

/// The pattern of sparse rows.
fn pattern(n_rows: usize, n_cols: usize, rows: &[&SparseRow]) -> Matrix {
    let columns: Vec<Vec<usize>> = rows.iter().map(|row| row.iter().map(|(k, _)| *k).collect()).collect();
    Matrix::from_pattern(n_rows, n_cols, &columns)
}
