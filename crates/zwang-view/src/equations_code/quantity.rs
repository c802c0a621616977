//! The quantities that are written, with their entries.

use zwang::ClosedForm;
use zwang::equations::{Equations, SparseRow};
use zwang_expr::Expr;

/// The largest number of entries of a matrix; a larger one is not readable and does not fit on the stack.
const MOST_ENTRIES: usize = 40_000;

/// A quantity with its formulas.
pub(super) struct CodeQuantity {
    /// `mass_matrix`
    pub name: &'static str,
    /// `M`
    pub letter: &'static str,
    /// The meaning of the quantity.
    pub meaning: String,
    pub shape: QuantityShape,
    /// `true` if the multipliers are arguments in addition to the state.
    pub takes_multipliers: bool,
    /// The nonzero entries.
    pub entries: Vec<FormulaEntry>,
}

/// The shape of a quantity.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum QuantityShape {
    Scalar,
    Vector(usize),
    Matrix(usize, usize),
}

/// One entry.
pub(super) struct FormulaEntry {
    pub row: usize,
    pub col: usize,
    /// The coordinate or row to which it belongs, by the model's own names: `x''`, `rod`.
    pub label: String,
    pub value: Expr,
}

/// All known quantities: M, Q, A, b, and the closed forms if there are any.
pub(super) fn quantities(equations: &Equations, closed: Option<&ClosedForm>) -> Vec<CodeQuantity> {
    let model = &equations.model;
    let coordinates: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let rows: Vec<String> = equations.rows.iter().map(|r| r.name.clone()).collect();
    let asked: Vec<String> = equations.asked.iter().map(|r| r.row.name.clone()).collect();
    let n = coordinates.len();
    let mut list = vec![
        matrix("mass_matrix", "M", "mass matrix", &equations.mass_matrix, &coordinates, &coordinates),
        vector(
            "given_force",
            "Q",
            "given force: all that drives the unconstrained system, velocity terms included",
            &equations.given_force,
            &coordinates,
        ),
    ];
    if !rows.is_empty() {
        let coefficients: Vec<SparseRow> = equations.rows.iter().map(|r| r.coefficients.clone()).collect();
        let rhs: Vec<Expr> = equations.rows.iter().map(|r| r.rhs).collect();
        list.push(matrix("constraint_matrix", "A", "constraint matrix", &coefficients, &rows, &coordinates));
        list.push(vector("constraint_rhs", "b", "right-hand side of the constraints", &rhs, &rows));
    }
    if !asked.is_empty() {
        let coefficients: Vec<SparseRow> = equations.asked.iter().map(|r| r.row.coefficients.clone()).collect();
        let rhs: Vec<Expr> = equations.asked.iter().map(|r| r.row.rhs).collect();
        list.push(matrix("asked_matrix", "A_c", "matrix of what controls ask", &coefficients, &asked, &coordinates));
        list.push(vector("asked_rhs", "b_c", "right-hand side of what controls ask", &rhs, &asked));
    }
    if !equations.nonideal_force.is_empty() {
        let meaning = "nonideal force C that the constraints' work is prescribed by, with the multipliers `lam` of the ideal part";
        let law = vector("nonideal_law", "C", meaning, &equations.nonideal_force, &coordinates);
        list.push(CodeQuantity { takes_multipliers: true, ..law });
    }
    if let Some(closed) = closed {
        list.extend(closed_quantities(closed, &coordinates, &rows));
    }
    list.retain(|q| q.n_entries() <= MOST_ENTRIES && n > 0);
    list
}

fn closed_quantities(closed: &ClosedForm, coordinates: &[String], rows: &[String]) -> Vec<CodeQuantity> {
    let ddot: Vec<String> = coordinates.iter().map(|name| format!("{name}''")).collect();
    let mut list = Vec::new();
    let mut add = |name, letter, meaning: &str, values: &[Expr], labels: &[String]| {
        if !values.is_empty() {
            list.push(vector(name, letter, meaning, values, labels));
        }
    };
    add("unconstrained_acceleration", "a", "acceleration M^-1 Q without constraints and control", &closed.free, &ddot);
    add("constraint_force", "Qc", "ideal constraint force A^T lambda", &closed.constraint_force, coordinates);
    add("nonideal_force", "Qn", "nonideal part of the constraint force", &closed.nonideal_force, coordinates);
    add("control_force", "u", "control force", &closed.control, coordinates);
    add("accelerations", "qddot", "accelerations", &closed.accelerations, &ddot);
    if !rows.is_empty() {
        // e of redundant rows is not known here
        if !closed.gap.is_empty() && closed.gap.len() == rows.len() {
            let meaning = "what the constraints ask beyond a: b - A a";
            list.insert(1, rows_of("defect", "e", meaning, &closed.gap, rows));
        }
        let meaning = "multipliers: the ideal constraint force is A^T lambda";
        let at = list.iter().position(|q| q.name == "constraint_force").unwrap_or(list.len());
        list.insert(at, rows_of("multipliers", "lambda", meaning, &closed.multipliers, rows));
    }
    list.extend(closed.gaussian.map(|value| CodeQuantity {
        name: "gaussian",
        letter: "G",
        meaning: "Gaussian (q'' - a)^T M (q'' - a)".into(),
        shape: QuantityShape::Scalar,
        takes_multipliers: false,
        entries: vec![FormulaEntry { row: 0, col: 0, label: String::new(), value }],
    }));
    if let Some(projections) = &closed.projections {
        let of = if projections.scaled { "scaled accelerations M^(1/2) q''" } else { "accelerations q''" };
        let sparse = |rows: &Vec<Vec<Expr>>| -> Vec<SparseRow> {
            rows.iter().map(|row| row.iter().copied().enumerate().filter(|(_, e)| *e != Expr::ZERO).collect()).collect()
        };
        let both = [
            ("projection_onto_rows", "P", "onto what the constraints decide", &projections.onto_rows),
            ("projection_along_rows", "N", "onto what the constraints leave", &projections.along_rows),
        ];
        for (name, letter, what, rows) in both {
            let meaning = format!("projection of {of} {what}");
            list.push(matrix(name, letter, &meaning, &sparse(rows), coordinates, coordinates));
        }
    }
    list
}

impl CodeQuantity {
    /// The number of entries, zeros included.
    pub fn n_entries(&self) -> usize {
        match self.shape {
            QuantityShape::Scalar => 1,
            QuantityShape::Vector(n) => n,
            QuantityShape::Matrix(n, m) => n * m,
        }
    }

    pub fn values(&self) -> Vec<Expr> {
        self.entries.iter().map(|entry| entry.value).collect()
    }
}

fn vector(name: &'static str, letter: &'static str, meaning: &str, values: &[Expr], labels: &[String]) -> CodeQuantity {
    let numbered: Vec<(usize, Expr)> = values.iter().copied().enumerate().collect();
    rows_of(name, letter, meaning, &numbered, labels)
}

/// A vector with some given entries; the others are zero.
fn rows_of(
    name: &'static str,
    letter: &'static str,
    meaning: &str,
    values: &[(usize, Expr)],
    labels: &[String],
) -> CodeQuantity {
    let entry = |&(row, value): &(usize, Expr)| FormulaEntry { row, col: 0, label: labels[row].clone(), value };
    let entries = values.iter().map(entry).collect();
    CodeQuantity {
        name,
        letter,
        meaning: meaning.into(),
        shape: QuantityShape::Vector(labels.len()),
        takes_multipliers: false,
        entries,
    }
}

fn matrix(
    name: &'static str,
    letter: &'static str,
    meaning: &str,
    rows: &[SparseRow],
    row_labels: &[String],
    col_labels: &[String],
) -> CodeQuantity {
    let mut entries = Vec::new();
    for (row, values) in rows.iter().enumerate() {
        for &(col, value) in values {
            entries.push(FormulaEntry { row, col, label: format!("{}, {}", row_labels[row], col_labels[col]), value });
        }
    }
    let shape = QuantityShape::Matrix(row_labels.len(), col_labels.len());
    CodeQuantity { name, letter, meaning: meaning.into(), shape, takes_multipliers: false, entries }
}
