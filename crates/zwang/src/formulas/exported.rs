//! The functions of a state for a program in another language: M, Q, A, b, the control rows, and the system to solve.

use std::collections::HashSet;

use zwang_expr::{Expr, Program};

use crate::analysis::check::Check;
use crate::compile::control_programs::{limits, weight};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::equations::{Equations, SparseRow};
use crate::formulas::closed_form::shared_multipliers;
use crate::model::Model;
use crate::samples::{ascii_name, unique_names};

/// A row of a matrix: each column with the index of its program output.
pub type ExportedRow = Vec<(usize, usize)>;

/// The derived functions, ready to be written in another language.
///
/// All matrices are given by the outputs of one straight-line program of t, q, q̇ and the parameters. The remaining
/// system is
///
/// $$ M\ddot q = Q + C + A^T\lambda + S w, \qquad A\ddot q = b, \qquad A_c\ddot q = b_c $$
///
/// with wᵀW w least if there are more driven coordinates than rows of A_c; without controls w is empty.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The title of the model.
    pub title: String,
    /// The coordinates, as the user writes them.
    pub coordinates: Vec<String>,
    /// The parameters, as names for programs, with their values in SI.
    pub parameters: Vec<(String, f64)>,
    /// The program from t, q, q̇ and the parameters to all outputs below.
    pub program: Program,
    /// M, full rows.
    pub mass: Vec<ExportedRow>,
    /// Q.
    pub force: Vec<usize>,
    /// A, without redundant rows.
    pub rows: Vec<ExportedRow>,
    /// b.
    pub rhs: Vec<usize>,
    /// The names of the rows of A.
    pub row_names: Vec<String>,
    /// A_c.
    pub asked: Vec<ExportedRow>,
    /// b_c.
    pub asked_rhs: Vec<usize>,
    /// The driven coordinates.
    pub driven: Vec<usize>,
    /// W, row after row; empty for SᵀM⁻¹S.
    pub weight: Vec<usize>,
    /// The largest force, if one coordinate is driven and bounded.
    pub limit: Option<usize>,
    /// C; `None` if every constraint is ideal.
    pub law: Option<ExportedLaw>,
}

/// The nonideal force C(t, q, q̇, λ), UK02 (6): λ solves the system with C = 0, and then Q + C takes the place of Q.
#[derive(Clone, Debug)]
pub struct ExportedLaw {
    /// The program from t, q, q̇, the parameters and the multipliers of the rows of A to C.
    pub program: Program,
    /// The index of the output for each coordinate.
    pub force: Vec<usize>,
}

impl Exported {
    /// `true` if there are controls: then the program returns the force, otherwise the acceleration.
    pub fn has_controls(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Collects the functions to export; `repeating` names the redundant rows, known if there is a start. Fails if no
    /// function of the state represents the model.
    pub fn new(equations: &mut Equations, repeating: &[String]) -> Result<Exported, Box<Diagnostic>> {
        refuse(equations)?;
        let driven = if equations.asked.is_empty() { Vec::new() } else { equations.model.driven() };
        let kept: Vec<usize> =
            (0..equations.rows.len()).filter(|&r| !repeating.contains(&equations.rows[r].name)).collect();
        let mut outputs = ProgramOutputs::default();
        let mass = outputs.matrix(equations.mass_matrix.iter());
        let force = outputs.vector(&equations.given_force);
        let rows = outputs.matrix(kept.iter().map(|&r| &equations.rows[r].coefficients));
        let rhs = outputs.vector(&kept.iter().map(|&r| equations.rows[r].rhs).collect::<Vec<_>>());
        let asked = outputs.matrix(equations.asked.iter().map(|r| &r.row.coefficients));
        let asked_rhs = outputs.vector(&equations.asked.iter().map(|r| r.row.rhs).collect::<Vec<_>>());
        let weight = outputs.vector(&weight(equations, &driven));
        let limit = outputs.vector(&limits(equations, &driven).1).first().copied();
        let law = law(equations, &kept)?;
        let model = &mut equations.model;
        let program = program(model, &outputs.exprs, &[])?;
        let names: Vec<String> = model.parameters.iter().map(|p| ascii_name(&p.name)).collect();
        Ok(Exported {
            title: model.title.clone(),
            coordinates: model.coordinates.iter().map(|c| c.name.clone()).collect(),
            parameters: unique_names(&names).into_iter().zip(model.parameter_values.iter().copied()).collect(),
            program,
            mass,
            force,
            rows,
            rhs,
            row_names: kept.iter().map(|&r| equations.rows[r].name.clone()).collect(),
            asked,
            asked_rhs,
            driven,
            weight,
            limit,
            law,
        })
    }
}

/// C with the multipliers of the kept rows; redundant rows have their shares.
fn law(equations: &mut Equations, kept: &[usize]) -> Result<Option<ExportedLaw>, Box<Diagnostic>> {
    if equations.nonideal_force.is_empty() {
        return Ok(None);
    }
    let shares = shared_multipliers(equations, kept).map_err(|why| {
        let d = Diagnostic::error("Z705", format!("the nonideal laws are not exported: {why}"));
        d.help("leave the redundant constraints out")
    })?;
    let force = equations.model.graph.substitute(&equations.nonideal_force, &shares);
    let multipliers: Vec<Expr> = kept.iter().map(|&r| equations.rows[r].lambda).collect();
    let mut outputs = ProgramOutputs::default();
    let force = outputs.vector(&force);
    Ok(Some(ExportedLaw { program: program(&mut equations.model, &outputs.exprs, &multipliers)?, force }))
}

/// The program of the state, the parameters and further inputs.
fn program(model: &mut Model, exprs: &[Expr], others: &[Expr]) -> Result<Program, Box<Diagnostic>> {
    let mut symbols = model.state_symbols();
    let held: HashSet<Expr> = symbols[model.held_symbols()].iter().copied().collect();
    symbols.extend(others);
    let short = model.graph.shortened(exprs, |s| held.contains(&s));
    Program::new(&model.graph, &symbols, &short).map_err(|unknown| {
        let name = model.graph.name(unknown.0);
        Box::new(Diagnostic::error("Z705", format!("`{name}` has no value that a function of the state could give")))
    })
}

/// The rows that are redundant at every state: they can be left out.
pub(crate) fn repeating(check: &Check) -> Vec<String> {
    check.redundant.iter().filter(|r| r.everywhere == Some(true)).map(|r| r.row.clone()).collect()
}

/// The errors of a check that leave the force of a control undetermined: a target that no force reaches, and Z705 for a target
/// that others contain.
pub(crate) fn undetermined_controls(diagnostics: &Diagnostics) -> Vec<Diagnostic> {
    let is_about_control = |d: &&Diagnostic| d.is_error() && d.code.starts_with("Z70");
    let mut refused: Vec<Diagnostic> = diagnostics.iter().filter(is_about_control).cloned().collect();
    refused.extend(diagnostics.iter().find(|d| d.code == "Z707").map(redundant_control));
    refused
}

/// Z705: a small linear system does not determine the shares of redundant control rows, or of control rows that a
/// constraint already satisfies.
fn redundant_control(note: &Diagnostic) -> Diagnostic {
    let d = Diagnostic::error("Z705", "the force of redundant controls cannot be written as a function of the state");
    let d = match note.span {
        Some(span) => d.at(span, "redundant"),
        None => d,
    };
    d.with_note(note.message.clone()).help("leave out the redundant control or component")
}

/// Z705: models that no function of the state alone describes, or none without a search.
fn refuse(equations: &Equations) -> Result<(), Box<Diagnostic>> {
    let model = &equations.model;
    let refused = |message: &str, help: &str| Err(Box::new(Diagnostic::error("Z705", message).help(help)));
    if !equations.nonideal_force.is_empty() && !equations.asked.is_empty() {
        return refused(
            "nonideal laws beside controls are not exported: their forces depend on the reactions, and these on the control force",
            "leave the `nonideal` statements out, or state them as `force` where they need no reaction",
        );
    }
    if let Some(first) = model.only_at_times().first() {
        let message =
            format!("a model with {first} is not exported: which rows hold is no function of the state alone");
        let help = "leave contacts and friction out, or state a held contact as a `constraint`";
        let d = Diagnostic::error("Z705", message).help(help);
        return Err(Box::new(match model.first_at_times() {
            Some(span) => d.at(span, "holds only at times"),
            None => d,
        }));
    }
    let driven = model.driven();
    let is_bounded = model.controls.iter().any(|c| !c.limit.is_empty());
    if is_bounded && driven.len() > 1 {
        return refused(
            "bounded forces on several coordinates are not exported: which of them are at their bounds takes a search",
            "leave `limit` out and bound the forces where they are used",
        );
    }
    if !equations.asked.is_empty() && equations.asked.len() > driven.len() {
        let message = format!(
            "the targets have {} rows, and {} driven coordinates cannot follow them all",
            equations.asked.len(),
            driven.len()
        );
        return refused(&message, "drive more coordinates with `using`, or ask for fewer components");
    }
    Ok(())
}

/// The outputs collected for the program.
#[derive(Default)]
struct ProgramOutputs {
    exprs: Vec<Expr>,
}

impl ProgramOutputs {
    fn push(&mut self, expr: Expr) -> usize {
        self.exprs.push(expr);
        self.exprs.len() - 1
    }

    fn vector(&mut self, exprs: &[Expr]) -> Vec<usize> {
        exprs.iter().map(|&e| self.push(e)).collect()
    }

    fn matrix<'r>(&mut self, rows: impl Iterator<Item = &'r SparseRow>) -> Vec<ExportedRow> {
        rows.map(|row| row.iter().map(|&(j, e)| (j, self.push(e))).collect()).collect()
    }
}
