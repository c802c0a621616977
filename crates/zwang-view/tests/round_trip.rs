//! What `equations` prints, read back as the language reads it, is what the engine computes.

#![allow(non_snake_case, clippy::needless_range_loop, reason = "letters and indices are those of the formulas")]

use std::collections::{BTreeMap, HashMap};

use zwang::analysis::start::nearby_state;
use zwang::equations::{Equations, SparseRow};
use zwang::{Check, Derivation, JitPolicy, LoadOptions, derive};
use zwang_expr::{Expr, Graph, Node, Program};
use zwang_motion::{Geometry, RouteName, Settings, Snapshot, State, geometry, route};

/// The number of states at which each model is evaluated.
const STATES: usize = 4;

/// The promised accuracy, relative to the largest entry of a quantity.
const PROMISED: f64 = 1e-13;

/// Where solves lose more digits than this nothing is learnt from a comparison.
const WORST: f64 = 1e9;

/// Half a unit in the last place.
const UNIT: f64 = f64::EPSILON / 2.0;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn derived(text: &str) -> Derivation {
    let open = |name: &str| std::fs::read_to_string(format!("{ROOT}/models/{name}")).map_err(|e| e.to_string());
    let options = LoadOptions { files: &open, ..LoadOptions::default() };
    derive(text, &options).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn gallery() -> Vec<(String, String)> {
    let files = std::fs::read_dir(format!("{ROOT}/models")).unwrap().map(|entry| entry.unwrap().path());
    let models = files.filter(|path| path.extension().is_some_and(|e| e == "zw"));
    let named = |path: std::path::PathBuf| {
        (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(&path).unwrap())
    };
    let mut models: Vec<_> = models.map(named).collect();
    models.sort();
    models
}

/// The printed lines: what stands on the left, and where its formula is among the outputs.
struct Printed {
    model: zwang::model::Model,
    lines: BTreeMap<String, Expr>,
    /// Whether P and N are those of scaled accelerations.
    is_scaled: bool,
}

impl Printed {
    /// Reads a text back: coordinates and parameters are declared without units, every line becomes a `let` or an output.
    fn read(text: &str, equations: &Equations) -> Printed {
        let model = &equations.model;
        let mut source = String::new();
        declare(&mut source, "coordinates", "", model.coordinates.iter().map(|c| c.name.as_str()));
        declare(&mut source, "parameter", " = 1", model.parameters.iter().map(|p| p.name.as_str()));
        for k in 0..equations.rows.len() {
            source.push_str(&format!("parameter zz_lambda_{k} = 1\n"));
        }
        let mut names = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (left, right) = line.split_once(" = ").unwrap_or_else(|| panic!("no formula: {line}"));
            let mut right = right.to_string();
            for (k, row) in equations.rows.iter().enumerate() {
                right = right.replace(&format!("lambda({})", row.name), &format!("zz_lambda_{k}"));
            }
            match left.strip_prefix("let ") {
                Some(name) => {
                    source.push_str(&format!("let {name} = {right}\noutput zz_{} = {name}\n", names.len()));
                    names.push(name.to_string());
                }
                None => {
                    source.push_str(&format!("output zz_{} = {right}\n", names.len()));
                    names.push(left.to_string());
                }
            }
        }
        let first = &model.coordinates[0].name;
        source.push_str(&format!("mass {first}: 1\n"));
        let model = derived(&source).equations.model;
        assert_eq!(model.outputs.len(), names.len());
        let lines = names.into_iter().zip(&model.outputs).map(|(name, output)| (name, output.expr)).collect();
        let is_scaled = text.contains("projection P of scaled accelerations");
        Printed { lines, model, is_scaled }
    }

    fn get(&self, name: &str) -> Option<Expr> {
        self.lines.get(name).copied()
    }

    /// An entry, which may stand in a `let` under the name by which it is used below.
    fn entry(&self, letter: &str, labels: &[&str]) -> Expr {
        let words = |name: &str| {
            let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
            words.join("_")
        };
        let plain = format!("{letter}[{}]", labels.join(", "));
        let named =
            std::iter::once(letter.to_string()).chain(labels.iter().map(|l| words(l))).collect::<Vec<_>>().join("_");
        self.get(&plain).or_else(|| self.get(&named)).unwrap_or(Expr::ZERO)
    }
}

/// Statements that declare these names, members of families together.
fn declare<'a>(source: &mut String, keyword: &str, value: &str, names: impl Iterator<Item = &'a str>) {
    let mut families: Vec<(&str, Vec<i64>)> = Vec::new();
    for name in names {
        let (family, index) = match name.split_once('[') {
            Some((family, index)) => (family, Some(index.trim_end_matches(']').parse().expect("one index"))),
            None => (name, None),
        };
        match families.iter_mut().find(|(known, _)| *known == family) {
            Some((_, members)) => members.extend(index),
            None => families.push((family, index.into_iter().collect())),
        }
    }
    for (family, members) in families {
        let range = match (members.iter().min(), members.iter().max()) {
            (Some(low), Some(high)) => format!("[{low}..{high}]"),
            _ => String::new(),
        };
        source.push_str(&format!("{keyword} {family}{range}{value}\n"));
    }
}

/// A number and how far rounding may have moved it from the value of its formula.
#[derive(Copy, Clone, Debug)]
struct Rounded {
    value: f64,
    error: f64,
}

/// The values of formulas with a running bound of their rounding errors, to first order.
///
/// The scale of a comparison follows from it: a formula whose terms cancel is right to the size of its terms, not of its value.
fn evaluate(graph: &Graph, symbols: &[Expr], inputs: &[f64], exprs: &[Expr]) -> Vec<Rounded> {
    let mut all: Vec<Expr> = graph.occurrences(exprs, &Default::default()).into_keys().collect();
    // operands are older than what they are in
    all.sort_unstable();
    let program = Program::new(graph, symbols, &all).unwrap_or_else(|unknown| panic!("{unknown:?}"));
    let mut values = vec![0.0; all.len()];
    program.run(inputs, &mut program.workspace(), &mut values);
    let mut known: HashMap<Expr, Rounded> = HashMap::new();
    for (&e, &value) in all.iter().zip(&values) {
        let of = |x: Expr| known[&x];
        let error = match graph.node(e) {
            Node::Symbol(_) => 0.0,
            Node::Number(_) | Node::Pi => UNIT * value.abs(),
            Node::Add(a, b) => of(a).error + of(b).error + UNIT * value.abs(),
            Node::Mul(a, b) => of(a).value.abs() * of(b).error + of(b).value.abs() * of(a).error + UNIT * value.abs(),
            Node::Pow(u, n) => power_error(of(u), of(n), value),
            Node::Apply(f, x) => function_error(f.name(), of(x), value),
            Node::Apply2(_, x, y) => of(x).error + of(y).error + UNIT * value.abs(),
            // tables are of time alone, which has no error
            Node::Look(_, x) => of(x).error + 100.0 * UNIT * value.abs(),
            Node::Select { then, otherwise, .. } => of(then).error.max(of(otherwise).error),
        };
        known.insert(e, Rounded { value, error });
    }
    exprs.iter().map(|e| known[e]).collect()
}

/// |n u^(n−1)| δu, and the rounding of a power by repeated multiplication.
fn power_error(u: Rounded, n: Rounded, value: f64) -> f64 {
    if u.value == 0.0 {
        return u.error.powf(n.value.max(1.0));
    }
    (n.value * value / u.value).abs() * u.error + (1.0 + n.value.abs()) * UNIT * value.abs()
}

/// |f'(x)| δx, and the rounding of the function itself: a few units.
fn function_error(name: &str, x: Rounded, value: f64) -> f64 {
    let slope = match name {
        "sin" | "cos" | "abs" | "tanh" | "atan" | "sign" => 1.0,
        "exp" => value.abs(),
        "ln" | "log" => 1.0 / x.value.abs(),
        "tan" => 1.0 + value * value,
        "sinh" | "cosh" => 1.0 + value.abs(),
        other => panic!("the slope of `{other}` is missing here"),
    };
    slope * x.error + 2.0 * UNIT * value.abs()
}

/// All quantities at one state: printed ones and those of the engine.
struct Comparison<'a> {
    name: &'a str,
    printed: &'a Printed,
    inputs: Vec<f64>,
    n_compared: usize,
    n_motions: usize,
}

impl Comparison<'_> {
    /// Compares a vector: to 1e-13 of its largest entry, or of `scale` where that is larger because a system was solved, or to
    /// what rounding does to the formula as it is printed.
    fn compare(&mut self, what: &str, exprs: &[Expr], wanted: &[f64], scale: f64) {
        let exact = |value: &f64| Rounded { value: *value, error: 0.0 };
        self.compare_rounded(what, exprs, &wanted.iter().map(exact).collect::<Vec<_>>(), scale);
    }

    /// The same with what rounding did to the wanted values.
    fn compare_rounded(&mut self, what: &str, exprs: &[Expr], wanted: &[Rounded], scale: f64) {
        assert_eq!(exprs.len(), wanted.len(), "{}: {what}", self.name);
        let found = evaluate(&self.printed.model.graph, &self.printed.model.state_symbols(), &self.inputs, exprs);
        let largest = wanted.iter().fold(0.0_f64, |m, x| m.max(x.value.abs()));
        for (k, (found, wanted)) in found.iter().zip(wanted).enumerate() {
            let allowed = PROMISED * largest.max(scale) + 2.0 * (found.error + wanted.error);
            let off = (found.value - wanted.value).abs();
            assert!(
                off <= allowed,
                "{}: {what} {k} is {} in the engine, {} as printed; off by {off:e} of {allowed:e}",
                self.name,
                wanted.value,
                found.value
            );
            self.n_compared += 1;
        }
    }
}

fn dense(row: &SparseRow, n: usize) -> Vec<Expr> {
    let mut entries = vec![Expr::ZERO; n];
    row.iter().for_each(|(k, e)| entries[*k] = *e);
    entries
}

/// Everything that is given, by the unprinted formulas.
fn compare_given(compared: &mut Comparison, equations: &Equations, state: &State) {
    let model = &equations.model;
    let names: Vec<&str> = model.coordinates.iter().map(|c| c.name.as_str()).collect();
    let n = names.len();
    let printed = compared.printed;
    let (symbols, inputs) = (model.state_symbols(), model.state_values(state));
    let value = |exprs: &[Expr]| evaluate(&model.graph, &symbols, &inputs, exprs);
    // a model may have an L of its own
    let lagrangian = printed.get("L").or_else(|| printed.get("Lagrangian")).unwrap();
    compared.compare_rounded("L", &[lagrangian], &value(&[equations.lagrangian]), 0.0);
    if printed.get(&format!("p[{}]", names[0])).is_some() {
        let p: Vec<Expr> = names.iter().map(|x| printed.entry("p", &[x])).collect();
        compared.compare_rounded("p", &p, &value(&equations.momentum), 0.0);
    }
    let (mut M, mut wanted) = (Vec::new(), Vec::new());
    for i in 0..n {
        let row = dense(&equations.mass_matrix[i], n);
        for j in i..n {
            M.push(printed.entry("M", &[names[i], names[j]]));
            wanted.push(row[j]);
        }
    }
    compared.compare_rounded("M", &M, &value(&wanted), 0.0);
    let Q: Vec<Expr> = names.iter().map(|x| printed.entry("Q", &[x])).collect();
    compared.compare_rounded("Q", &Q, &value(&equations.given_force), 0.0);
    let asked = equations.asked.iter().map(|asked| (["A_c", "b_c"], &asked.row));
    for ([a, b], row) in equations.rows.iter().map(|row| (["A", "b"], row)).chain(asked) {
        let A: Vec<Expr> = names.iter().map(|x| printed.entry(a, &[&row.name, x])).collect();
        compared.compare_rounded(a, &A, &value(&dense(&row.coefficients, n)), 0.0);
        compared.compare_rounded(b, &[printed.entry(b, &[&row.name])], &value(&[row.rhs]), 0.0);
    }
}

/// What follows, by the engine: a, e, λ, Qc, Qₙ, u, G, P, N and q̈.
fn compare_found(compared: &mut Comparison, equations: &Equations, snapshot: &Snapshot) {
    let printed = compared.printed;
    let names: Vec<&str> = equations.model.coordinates.iter().map(|c| c.name.as_str()).collect();
    if printed.get(&format!("{}''", names[0])).is_none() {
        return;
    }
    let n = names.len();
    let (given, found) = (&snapshot.given, &snapshot.found);
    let M = square(&given.mass_matrix.to_dense(), n);
    let A: Vec<Vec<f64>> = given.constraint_matrix.to_dense().chunks(n).map(<[f64]>::to_vec).collect();
    let used: Vec<usize> =
        (0..A.len()).filter(|&k| printed.get(&format!("lambda({})", equations.rows[k].name)).is_some()).collect();
    let rows: Vec<Vec<f64>> = used.iter().map(|&k| A[k].clone()).collect();
    let size = |v: &[f64]| v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let solves = Solves::new(&M, &rows);
    assert!(
        solves.condition < WORST,
        "{}: condition {:e}, a comparison shows nothing",
        compared.name,
        solves.condition
    );
    let free = &found.unconstrained_acceleration;
    // errors of a enter everything by way of e
    let accelerations = solves.condition * size(free).max(size(&found.qddot));
    let total: Vec<f64> = (0..n).map(|i| dot(&M[i], &found.qddot)).collect();
    let forces = solves.condition * size(&given.given_force).max(size(&total)).max(size(&found.constraint_force_ideal));
    let vector = |letter: &str| -> Option<Vec<Expr>> {
        printed
            .get(&format!("{letter}[{}]", names[0]))
            .map(|_| names.iter().map(|x| printed.entry(letter, &[x])).collect())
    };
    if let Some(a) = vector("a") {
        compared.compare("a", &a, free, solves.mass * size(free));
        let e: Vec<Expr> = used.iter().map(|&k| printed.entry("e", &[&equations.rows[k].name])).collect();
        let wanted: Vec<f64> = used.iter().map(|&k| found.defect[k]).collect();
        // e = b − A a: the terms of the row
        let terms = used.iter().map(|&k| A[k].iter().zip(free).fold(0.0_f64, |m, (x, a)| m.max((x * a).abs())));
        let scale = solves.mass * terms.fold(0.0, f64::max);
        if printed
            .get(&format!("e[{}]", equations.rows.get(*used.first().unwrap_or(&0)).map_or("", |r| &r.name)))
            .is_some()
        {
            compared.compare("e", &e, &wanted, scale);
        }
    }
    if let Some(force) = vector("Qc").or_else(|| vector("Qi")) {
        compared.compare("Qc", &force, &found.constraint_force_ideal, forces);
    }
    if used.len() == A.len() && !used.is_empty() {
        let lambda: Vec<Expr> =
            used.iter().map(|&k| printed.get(&format!("lambda({})", equations.rows[k].name)).unwrap()).collect();
        // λ = S⁻¹e, and e the difference of b and A a
        let terms = |k: &usize| {
            given.constraint_rhs[*k].abs() + A[*k].iter().zip(free).map(|(x, a)| (x * a).abs()).sum::<f64>()
        };
        let ratios = used.iter().zip(&solves.diagonal).map(|(k, s)| terms(k) / s);
        let scale = ratios.fold(size(&found.lambda), f64::max);
        compared.compare("lambda", &lambda, &found.lambda, solves.condition * scale);
    }
    if let Some(force) = vector("Qn") {
        compared.compare("Qn", &force, &found.constraint_force_nonideal, forces);
    }
    if let Some(force) = vector("C") {
        compared.compare("C", &force, &found.nonideal_force, forces);
    }
    if printed.get(&format!("control({})", names[0])).is_some() {
        let u: Vec<Expr> = names.iter().map(|x| printed.get(&format!("control({x})")).unwrap()).collect();
        compared.compare("u", &u, &found.control_force, forces);
    }
    if let Some(gaussian) = printed.get("G").or_else(|| printed.get("Gaussian")) {
        let change: Vec<f64> = found.qddot.iter().zip(free).map(|(x, a)| x - a).collect();
        let terms = accelerations * (0..n).map(|i| dot(&M[i], &change).abs()).fold(0.0, f64::max);
        compared.compare("G", &[gaussian], &[found.gaussian], terms);
    }
    compare_projections(compared, &names, &solves, &geometry(given, &Settings::default()).ok());
    compared.n_motions += 1;
    let motion: Vec<Expr> = names.iter().map(|x| printed.get(&format!("{x}''")).unwrap()).collect();
    compared.compare("q''", &motion, &found.qddot, accelerations);
}

/// P and N: those of the engine where they are printed as such, else M^{-½} P M^½ = M⁻¹AᵀS⁻¹A.
fn compare_projections(compared: &mut Comparison, names: &[&str], solves: &Solves, found: &Option<Geometry>) {
    let printed = compared.printed;
    let has = |letter: &str| {
        names.iter().any(|x| names.iter().any(|y| printed.get(&format!("{letter}[{x}, {y}]")).is_some()))
    };
    if !has("P") && !has("N") {
        return;
    }
    let n = names.len();
    for letter in ["P", "N"] {
        // the upper half stands for both where the projection is symmetric
        let place = |k: usize| match (k / n, k % n) {
            (i, j) if printed.is_scaled && i > j => [names[j], names[i]],
            (i, j) => [names[i], names[j]],
        };
        let entries: Vec<Expr> = (0..n * n).map(|k| printed.entry(letter, &place(k))).collect();
        let engine = found.as_ref().map(|found| if letter == "P" { found.P.clone() } else { found.N.clone() });
        let one = |k: usize| f64::from(k / n == k % n);
        let oblique = |k: usize| {
            let p = solves.projection[k / n][k % n];
            if letter == "P" { p } else { one(k) - p }
        };
        let wanted = match engine.filter(|_| printed.is_scaled) {
            Some(engine) => engine,
            None => (0..n * n).map(oblique).collect(),
        };
        compared.compare(letter, &entries, &wanted, solves.condition);
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn square(entries: &[f64], n: usize) -> Vec<Vec<f64>> {
    entries.chunks(n).map(<[f64]>::to_vec).collect()
}

/// How far solves with M and S may carry rounding: their condition numbers, with rows and columns scaled to one, which
/// changes no solution; where M is singular that of M + AᵀA.
struct Solves {
    mass: f64,
    condition: f64,
    /// The diagonal of S.
    diagonal: Vec<f64>,
    /// M⁻¹AᵀS⁻¹A.
    projection: Vec<Vec<f64>>,
}

impl Solves {
    fn new(M: &[Vec<f64>], A: &[Vec<f64>]) -> Solves {
        let n = M.len();
        let mut M = M.to_vec();
        let (mut mass, mut inverse) = inverse_and_condition(&M);
        // rows may have helped
        if mass > 1e12 {
            for row in A {
                for i in 0..n {
                    for j in 0..n {
                        M[i][j] += row[i] * row[j];
                    }
                }
            }
            (mass, inverse) = inverse_and_condition(&M);
        }
        let moved: Vec<Vec<f64>> = A.iter().map(|row| (0..n).map(|i| dot(&inverse[i], row)).collect()).collect();
        let S: Vec<Vec<f64>> = A.iter().map(|row| moved.iter().map(|w| dot(row, w)).collect()).collect();
        let (of_rows, S_inverse) = if A.is_empty() { (1.0, Vec::new()) } else { inverse_and_condition(&S) };
        let mut projection = vec![vec![0.0; n]; n];
        for (i, row) in projection.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                for k in 0..A.len() {
                    *entry += moved[k][i] * (0..A.len()).map(|l| S_inverse[k][l] * A[l][j]).sum::<f64>();
                }
            }
        }
        let diagonal = (0..A.len()).map(|k| S[k][k]).collect();
        Solves { mass, condition: mass * of_rows, diagonal, projection }
    }
}

/// The condition of a positive matrix with ones on its diagonal, and the inverse of the matrix as it is.
fn inverse_and_condition(matrix: &[Vec<f64>]) -> (f64, Vec<Vec<f64>>) {
    let n = matrix.len();
    let scale: Vec<f64> = (0..n).map(|k| if matrix[k][k] > 0.0 { matrix[k][k].sqrt() } else { 1.0 }).collect();
    let mut left: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| matrix[i][j] / (scale[i] * scale[j])).collect()).collect();
    let norm = |m: &[Vec<f64>]| m.iter().map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max);
    let own = norm(&left);
    let mut right: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|a, b| left[*a][k].abs().total_cmp(&left[*b][k].abs())).unwrap();
        left.swap(k, pivot);
        right.swap(k, pivot);
        let d = left[k][k];
        for x in left[k].iter_mut().chain(&mut right[k]) {
            *x /= d;
        }
        for i in (0..n).filter(|i| *i != k) {
            let factor = left[i][k];
            for j in 0..n {
                left[i][j] -= factor * left[k][j];
                right[i][j] -= factor * right[k][j];
            }
        }
    }
    let condition = own * norm(&right);
    let inverse = (0..n).map(|i| (0..n).map(|j| right[i][j] / (scale[i] * scale[j])).collect()).collect();
    (if condition.is_finite() { condition } else { f64::INFINITY }, inverse)
}

/// States on the constraints other than the start, where nothing is special.
fn states(start: &Check, equations: &Equations, system: &mut zwang::Evaluator) -> Vec<State> {
    let settings = Settings::default();
    let mut states: Vec<State> = Vec::new();
    for attempt in 0..4 * STATES {
        states.extend(nearby_state(equations, system, &start.state, &settings, attempt));
        if states.len() == STATES {
            return states;
        }
    }
    states.push(start.state.clone());
    states
}

/// Compares all that is printed for a model with the engine; how many numbers and how many accelerations were compared.
fn compare(name: &str, text: &str) -> (usize, usize) {
    let stated = derived(text);
    let derived = stated.equations.clone();
    let mut equations = derived.clone();
    let text_of_equations = zwang_view::equations_text(&mut equations);
    let printed = Printed::read(&text_of_equations, &derived);
    let start = stated.compile(&LoadOptions::default()).and_then(|system| system.check()).unwrap();
    let mut equations = derived.clone();
    let mut system = zwang::Evaluator::compile(&mut equations, false, JitPolicy::default()).unwrap();
    let settings = Settings::default();
    let (mut n_compared, mut n_motions) = (0, 0);
    for state in states(&start, &derived, &mut system) {
        let mut snapshot = Snapshot::new(&mut system);
        let mut way = route(RouteName::GeneralizedInverse, &settings);
        let taken = snapshot.take(&mut system, &state, &mut *way, &settings);
        let lambda = if taken.is_ok() { snapshot.found.lambda.clone() } else { vec![0.0; derived.rows.len()] };
        let mut compared = Comparison {
            name,
            printed: &printed,
            inputs: inputs(&printed, &derived, &state, &lambda),
            n_compared: 0,
            n_motions: 0,
        };
        compare_given(&mut compared, &derived, &state);
        // formulas know no bounds of forces
        if taken.is_ok() && snapshot.found.saturated.is_empty() {
            compare_found(&mut compared, &derived, &snapshot);
        }
        n_compared += compared.n_compared;
        n_motions += compared.n_motions;
    }
    (n_compared, n_motions)
}

/// The values that the symbols of the text have at a state.
fn inputs(printed: &Printed, equations: &Equations, state: &State, lambda: &[f64]) -> Vec<f64> {
    let model = &equations.model;
    let place = |name: &str| model.coordinates.iter().position(|c| c.name == name).unwrap();
    let places: Vec<usize> = printed.model.coordinates.iter().map(|c| place(&c.name)).collect();
    let mut inputs = vec![state.t];
    inputs.extend(places.iter().map(|&k| state.q[k]));
    inputs.extend(places.iter().map(|&k| state.qdot[k]));
    for p in &printed.model.parameters {
        let own = model.parameters.iter().position(|q| q.name == p.name).map(|k| model.parameter_values[k]);
        let of_row = p.name.strip_prefix("zz_lambda_").and_then(|k| k.parse::<usize>().ok()).map(|k| lambda[k]);
        inputs.push(own.or(of_row).unwrap());
    }
    inputs
}

#[test]
fn every_printed_line_is_read_back_and_has_the_value_of_the_engine() {
    let (mut failures, mut n_whole) = (Vec::new(), 0);
    for (name, text) in gallery() {
        match std::panic::catch_unwind(|| compare(&name, &text)) {
            Ok((n_compared, n_motions)) => {
                assert!(n_compared > 4, "{name}: only {n_compared} numbers");
                n_whole += usize::from(n_motions >= STATES);
            }
            Err(cause) => failures.push(cause.downcast_ref::<String>().cloned().unwrap_or_else(|| name.clone())),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // all but large ones and controls that do more than follow
    assert!(n_whole > 60, "only {n_whole} models have accelerations that were compared");
}

struct Random(u64);

impl Random {
    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        choices[(self.0 >> 33) as usize % choices.len()]
    }
}

/// A Lagrangian whose kinetic energy is a sum of squares, with sines, products and roots, and a constraint on y that can be met.
fn random_model(random: &mut Random) -> String {
    let of_q = ["sin(a)", "cos(a - x)", "x*a", "sqrt(1 + x^2)", "exp(-x)", "1/(2 + cos(a))", "x^2", "l", "tan(a/3)"];
    let mut f = || format!("{}*{}", random.pick(&["m", "k", "2", "l", "m/l"]), random.pick(&of_q));
    let (u, v, w) = (f(), f(), f());
    let kinetic = format!("m*x'^2/2 + k*(y' + {u}*a')^2/2 + (1 + ({v})^2)*a'^2/2 + (x' - {w}*a')^2");
    let potential = format!("{} + {}*y - k*cos(a)*{}", f(), f(), f());
    let (s, r) = (f(), f());
    let constraint = match random.pick(&["position", "velocity", "none"]) {
        "position" => format!("constraint c: y = {s} + {r}*sin(x)\n"),
        "velocity" => format!("constraint c: y' = {s}*x' - ({r})*a'\n"),
        _ => String::new(),
    };
    let y = if constraint.contains("y' =") || constraint.is_empty() { ", y = 0.4, y' = 0.1" } else { "" };
    let y = if constraint.contains("y' =") { ", y = 0.4" } else { y };
    format!(
        "coordinates x, y, a\nparameter m = 1.3, l = 0.7, k = 2.1\nkinetic {kinetic}\npotential {potential}\n{constraint}\
         start x = 0.3, a = 0.5, x' = 0.7, a' = -0.4{y}\n"
    )
}

#[test]
fn random_models_are_read_back_too() {
    let mut random = Random(3);
    for k in 0..12 {
        let text = random_model(&mut random);
        let (n_compared, n_motions) = compare(&format!("random {k}\n{text}"), &text);
        assert!(n_compared > 50 && n_motions > 1, "{n_compared} {n_motions}\n{text}");
    }
}
