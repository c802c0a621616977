//! Formulas as code: every model of the gallery in every language, compiled, run and compared with the engine.
//!
//! A language whose compiler or interpreter is missing is left out, see `tool.rs`.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::tool::{c_compiler, python, tool};
use zwang::analysis::start::nearby_state;
use zwang::{Check, LoadOptions, derive};
use zwang_motion::{Given, Matrix, RouteName, Settings, Snapshot, State, StateQuantities, route};
use zwang_view::{FormulaLanguage, Formulas};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Rounding of both sides, relative to the largest entry.
const ROUNDING: f64 = 1e-13;

/// How much more than a change of the state in its last bits a difference may be: formulas round at every step.
const STEPS: f64 = 10.0;

/// Random states in addition to the start of each model.
const STATES: usize = 3;

/// Longest module that SymPy compiles here: a second and more for each of the longer ones, all told a minute.
const LONGEST_FOR_SYMPY: usize = 5_000;

/// Names that the languages or the files need for themselves, and texts that would end a comment.
const ODD_NAMES: &str = r#"model "Names that \ languages */ keep for themselves \"
coordinates θ, for, q, out, x[1..2], M, pow
parameter class = 2, double = 3, self = 0.5, lambda_0 = 1.5, θ_dot = 0.25, a = 1.2, b = 0.7, np = 1.1, S = 2, fn = 0.3, τ₁ = 1 "a */ comment \"
mass θ: class
mass for: double + cos(q)^2
mass q: class*self
mass out, x[1], x[2]: a
mass M, pow: b*fn
force θ: -θ_dot*θ' + τ₁*sin(θ)
force out: -np*S*out^3
constraint do: for^2 + q^2 = 2
constraint def: x[1] = x[2]*a
constraint let2: M' = pow*θ'
start θ = 1, for = 1, q = 1, out = 0.3, x[2] = 0.5, M = 0.2, pow = 0.1, θ' = 1
run 1 s
"#;

/// Every function of the language, numbers of every kind, powers of every kind.
const ODD_FUNCTIONS: &str = r#"model "Every function"
coordinates x, y, z, w
parameter m = 1.5, c = 0.7
mass x, y, z, w: m
force x: -abs(x)*sign(x - 0.3) + min(x, y) - max(y, c)^2 + atan2(y, -x) + if x < y then sin(x) else if y >= 0.2 then cos(x) else 2
force y: tan(x/3) + asin(y/9) + acos(y/9) + atan(z) + sinh(x) - cosh(y)*tanh(z) + exp(-x) + log(1 + x^2) + sqrt(1 + y^2)
force z: (1 + x^2)^c + (1 + y^2)^(3/2) + (2 + z)^(-1/3) - 1e-9*x + pi*z + 3^x + sqrt(3)*y + sin(1)*z + 123456789012345678901234567890*1e-30*x
force w: sign(-1/7)*w + t*w' + atan2(0, -1)*w^7 + sqrt(2)^w + (2*sign(x) + 3)^3*w + sqrt(if x < 0.1 then 2 else 3)*w
start x = 0.4, y = 0.6, z = 0.5, w = 0.3
run 1 s
"#;

/// A model with what the engine finds for it: quantity by quantity, with the error that rounding explains.
struct Case {
    name: String,
    formulas: Formulas,
    states: Vec<State>,
    /// The multipliers of the ideal part at each state.
    lambda: Vec<Vec<f64>>,
    wanted: Vec<HashMap<&'static str, Wanted>>,
}

/// What the engine finds for one quantity.
struct Wanted {
    values: Vec<f64>,
    /// What rounding is compared with: its largest entry, or that of what it is the rest of.
    size: f64,
    /// How much the last bits of the state change it.
    noise: f64,
}

/// All models of the gallery, read and derived once, on all cores.
fn gallery() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        let files = std::fs::read_dir(format!("{ROOT}/models")).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "zw")).collect();
        let (next, cases) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                let name = path.file_stem().unwrap().to_string_lossy();
                let case = case(&name, &std::fs::read_to_string(path).unwrap());
                cases.lock().unwrap().push(case);
            }
        };
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| (0..n_threads).for_each(|_| drop(scope.spawn(work))));
        let mut cases = cases.into_inner().unwrap();
        cases.extend([case("odd_names", ODD_NAMES), case("odd_functions", ODD_FUNCTIONS)]);
        assert!(cases.len() >= 80, "only {} models", cases.len());
        cases.sort_by(|a: &Case, b: &Case| a.name.cmp(&b.name));
        cases
    })
}

fn case(name: &str, text: &str) -> Case {
    let open = |name: &str| std::fs::read_to_string(format!("{ROOT}/models/{name}")).map_err(|e| e.to_string());
    let options = LoadOptions { files: &open, ..LoadOptions::default() };
    let mut derived = derive(text, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let checked = derived.clone().compile(&options).and_then(|system| system.check_briefly());
    let mut check = Check::clone(&checked.unwrap_or_else(|error| panic!("{name}: {error}")));
    let settings = Settings::default();
    let Check { equations, system, state, .. } = &mut check;
    let mut states = vec![state.clone()];
    states.extend((0..STATES).filter_map(|k| nearby_state(equations, system, state, &settings, k)));
    let wanted: Vec<_> = states.iter().map(|state| engine(&mut check, state)).collect();
    let (states, mut wanted): (Vec<_>, Vec<_>) =
        states.into_iter().zip(wanted).filter_map(|(state, w)| Some((state, w?))).unzip();
    let lambda = wanted.iter_mut().map(|found| found.remove("lambda").unwrap().values).collect();
    let formulas = Formulas::new(&mut derived.equations);
    Case { name: name.into(), formulas, states, lambda, wanted }
}

/// What the engine finds at a state, and how much the last bits of the state change it.
fn engine(check: &mut Check, state: &State) -> Option<HashMap<&'static str, Wanted>> {
    let here = quantities(check, state)?;
    let mut noise: HashMap<&'static str, f64> = HashMap::new();
    for seed in 0..3 {
        let mut other = state.clone();
        let bits = |k: usize| 1.0 + f64::EPSILON * [1.0, -1.0, 2.0, -2.0, 0.0][(k + seed) % 5];
        other.q.iter_mut().chain(&mut other.qdot).enumerate().for_each(|(k, x)| *x *= bits(k));
        for (name, values) in quantities(check, &other)? {
            let Some(here) = here.get(name) else { continue };
            let changed = values.iter().zip(here).fold(0f64, |top, (a, b)| top.max((a - b).abs()));
            let top = noise.entry(name).or_insert(0.0);
            *top = top.max(changed);
        }
    }
    let largest = |name: &str| here.get(name).map_or(0.0, |values| values.iter().fold(0f64, |top, x| top.max(x.abs())));
    let size = |name: &str| match name {
        // what constraints cancel was there before
        "accelerations" => largest(name).max(largest("unconstrained_acceleration")),
        "constraint_force" | "nonideal_force" | "control_force" => largest(name).max(largest("given_force")),
        _ => largest(name),
    };
    let wanted = |(name, values): (&&'static str, &Vec<f64>)| {
        (*name, Wanted { values: values.clone(), size: size(name), noise: noise[name] })
    };
    Some(here.iter().map(wanted).collect())
}

fn quantities(check: &mut Check, state: &State) -> Option<HashMap<&'static str, Vec<f64>>> {
    let settings = Settings::default();
    let mut snapshot = Snapshot::new(&mut check.system);
    snapshot.take(&mut check.system, state, &mut *route(RouteName::default(), &settings), &settings).ok()?;
    let Snapshot { given, found, .. } = snapshot;
    let Given { mass_matrix, given_force, constraint_matrix, constraint_rhs } = given;
    let n_rows = constraint_rhs.len();
    let mut all = HashMap::from([
        ("mass_matrix", dense(&mass_matrix)),
        ("given_force", given_force),
        ("constraint_matrix", dense(&constraint_matrix)),
        ("constraint_rhs", constraint_rhs),
        ("accelerations", found.qddot.clone()),
        ("control_force", found.control_force.clone()),
        ("constraint_force", found.constraint_force_ideal.clone()),
        ("nonideal_force", found.constraint_force_nonideal.clone()),
        ("nonideal_law", found.nonideal_force.clone()),
        ("lambda", found.lambda.clone()),
    ]);
    // formulas hold while no force is at its limit, and say so
    let is_saturated = !found.saturated.is_empty();
    if is_saturated {
        all.retain(|name, _| !["accelerations", "control_force"].contains(name));
    }
    // the shortest of many multipliers is not the one that formulas give
    if found.rank == n_rows {
        all.insert("multipliers", found.lambda.clone());
    }
    if let Some(asked) = &found.asked {
        all.insert("asked_matrix", dense(&asked.rows));
        all.insert("asked_rhs", asked.rhs.clone());
    }
    let StateQuantities { unconstrained_acceleration, gaussian, singular_mass: false, .. } = found else {
        return Some(all);
    };
    all.insert("unconstrained_acceleration", unconstrained_acceleration);
    if !is_saturated {
        all.insert("gaussian", vec![gaussian]);
    }
    Some(all)
}

fn dense(matrix: &Matrix) -> Vec<f64> {
    let (n, m) = (matrix.n_rows, matrix.n_cols);
    (0..n).flat_map(|i| (0..m).map(move |j| (i, j))).map(|(i, j)| matrix.get(i, j)).collect()
}

impl Case {
    fn source(&self, language: FormulaLanguage) -> String {
        // next to the module of the same model for NumPy
        let ending = if language == FormulaLanguage::SymPy { "_sympy" } else { "" };
        self.formulas.code(language, &format!("{}{ending}", self.name))
    }

    /// The name, the states and the multipliers, for the drivers in Python.
    fn python_call(&self) -> String {
        let state = |s: &State| format!("({:?}, [{}], [{}])", s.t, list(&s.q), list(&s.qdot));
        let states: Vec<String> = self.states.iter().map(state).collect();
        let lambda: Vec<String> = self.lambda.iter().map(|l| format!("[{}]", list(l))).collect();
        format!("show(\"{}\", [{}], [{}])\n", self.name, states.join(", "), lambda.join(", "))
    }
}

/// A value that a program printed: model, number of the state, quantity, entries.
type Printed = HashMap<(String, usize, String), Vec<f64>>;

/// Reads lines `model state quantity entry entry …`; brackets and commas are passed over.
fn read_lines(text: &str) -> Printed {
    let mut printed = HashMap::new();
    for line in text.lines() {
        let line = line.replace(['[', ']', ','], " ");
        let mut words = line.split_whitespace();
        let (Some(model), Some(state), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
        let values = words.map(|word| word.parse().unwrap_or_else(|_| panic!("{line}"))).collect();
        printed.insert((model.to_string(), state.parse().unwrap(), name.to_string()), values);
    }
    printed
}

/// Everything that was printed is what the engine finds; returns how many quantities were compared.
fn compare(cases: &[Case], printed: &Printed, language: &str) -> usize {
    let (mut n, mut differences) = (0, String::new());
    for case in cases {
        for (k, wanted) in case.wanted.iter().enumerate() {
            for (name, Wanted { values, size, noise }) in wanted {
                let Some(found) = printed.get(&(case.name.clone(), k, name.to_string())) else { continue };
                assert_eq!(found.len(), values.len(), "{name} of {} in {language}", case.name);
                let off = found.iter().zip(values).fold(0f64, |top, (a, b)| top.max((a - b).abs()));
                if off.is_nan() || off > ROUNDING * size + STEPS * noise {
                    let _ = writeln!(
                        differences,
                        "{}: {name} at state {k}: off by {:e}, rounding {:e}",
                        case.name,
                        off / size,
                        noise / size
                    );
                }
                n += 1;
            }
        }
    }
    assert!(differences.is_empty(), "in {language}:\n{differences}");
    n
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("zwang-formulas-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn list(values: &[f64]) -> String {
    values.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ")
}

/// The example of a call in the head of a source, without the line that names the file.
fn example(source: &str, comment: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix(comment));
    let code = lines.filter_map(|line| line.strip_prefix("     ")).filter(|line| !line.contains("q'' ="));
    let code: Vec<&str> = code.filter(|line| !line.starts_with("mod ") && !line.starts_with("#include")).collect();
    assert!(code.len() >= 2, "{source}");
    code.join("\n")
}

/// The functions of a source in Rust or C: name and arguments.
fn functions(source: &str, begin: &str) -> Vec<(String, String)> {
    let lines = source.lines().filter_map(|line| line.strip_prefix(begin)?.split_once('('));
    lines.map(|(name, rest)| (name.to_string(), rest.to_string())).collect()
}

#[test]
fn rust_gives_what_the_engine_gives() {
    let Some(compiler) = tool(&["rustc"], &["--version"]) else { return };
    let (cases, folder) = (gallery(), Folder::new("rust"));
    let (mut modules, mut calls) = (String::new(), String::new());
    for case in cases {
        let (name, source) = (&case.name, case.source(FormulaLanguage::Rust));
        let p = if source.contains("pub struct Parameters") {
            format!(", &{name}::Parameters::default()")
        } else {
            "".into()
        };
        for (k, state) in case.states.iter().enumerate() {
            let _ = writeln!(calls, "    let (q, v) = ([{}], [{}]);", list(&state.q), list(&state.qdot));
            for (function, arguments) in functions(&source, "pub fn ") {
                let lam =
                    if arguments.contains("lam:") { format!(", &[{}]", list(&case.lambda[k])) } else { "".into() };
                let call = format!("{name}::{function}({:?}, &q, &v{p}{lam})", state.t);
                let flat = match arguments.split_once("-> ").map_or("", |(_, kind)| kind) {
                    kind if kind.starts_with("[[") => format!("{call}.as_flattened()"),
                    kind if kind.starts_with('[') => format!("&{call}"),
                    _ => format!("&[{call}]"),
                };
                let _ = writeln!(calls, "    show(\"{name} {k} {function}\", {flat});");
            }
        }
        let _ = writeln!(calls, "    {{\n{}\n    let _ = found;\n    }}", example(&source, "//!"));
        let _ = writeln!(modules, "mod {name} {{\n{source}\n}}");
    }
    let (file, program) = (folder.0.join("all.rs"), folder.0.join("all"));
    let show = "fn show(what: &str, values: &[f64]) {\n    println!(\"{what} {values:?}\");\n}\n";
    std::fs::write(&file, format!("{modules}\n{show}\nfn main() {{\n{calls}}}\n")).unwrap();
    let warnings = ["-D", "warnings", "--edition", "2021", "-C", "opt-level=0", "-o"];
    output(Command::new(compiler).args(warnings).arg(&program).arg(&file));
    let n = compare(cases, &read_lines(&output(&mut Command::new(program))), "Rust");
    assert!(n > 1000, "only {n} quantities were compared");
}

#[test]
fn c_gives_what_the_engine_gives() {
    let Some(compiler) = c_compiler() else { return };
    let (cases, folder) = (gallery(), Folder::new("c"));
    let (mut sources, mut calls) = (String::new(), String::new());
    for case in cases {
        let (name, source) = (&case.name, case.source(FormulaLanguage::C));
        let p = if source.contains("_defaults = {") { format!(", &{name}_defaults") } else { "".into() };
        for (k, state) in case.states.iter().enumerate() {
            let (q, v) = (list(&state.q), list(&state.qdot));
            let _ = writeln!(calls, "{{ const double t = {:?}, q[] = {{{q}}}, v[] = {{{v}}};", state.t);
            for (function, arguments) in functions(&source, "void ") {
                let shape = arguments.split_once("double out").unwrap().1.trim_end_matches(')');
                let lam = match arguments.contains("double lam[") {
                    true => format!(", (const double[]){{{}}}", list(&case.lambda[k])),
                    false => String::new(),
                };
                let _ = writeln!(calls, "  {{ double out{shape}; {function}(t, q, v{p}{lam}, out);");
                let short = &function[name.len() + 1..];
                let _ = writeln!(
                    calls,
                    "    printf(\"{name} {k} {short}\"); print((double *)out, sizeof out/sizeof(double)); }}"
                );
            }
            for (function, _) in functions(&source, "double ") {
                let short = &function[name.len() + 1..];
                let _ = writeln!(calls, "  printf(\"{name} {k} {short} %.17g\\n\", {function}(t, q, v{p}));");
            }
            calls += "}\n";
        }
        let _ = writeln!(calls, "{{\n{}\n(void)found;\n}}", example(&source, "//"));
        sources += &source;
    }
    let print = "#include <stdio.h>\nstatic void print(const double *x, int n)\n{\n    for (int i = 0; i < n; i++) printf(\" %.17g\", x[i]);\n    printf(\"\\n\");\n}\n";
    let (file, program) = (folder.0.join("all.c"), folder.0.join("all"));
    std::fs::write(&file, format!("{sources}\n{print}\nint main(void)\n{{\n{calls}return 0;\n}}\n")).unwrap();
    let warnings = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
    output(Command::new(compiler).args(warnings).arg(&file).arg("-o").arg(&program).arg("-lm"));
    let n = compare(cases, &read_lines(&output(&mut Command::new(program))), "C");
    assert!(n > 1000, "only {n} quantities were compared");
}

/// One state at a time, and all states of a model in one call.
#[test]
fn numpy_gives_what_the_engine_gives() {
    let Some(python) = python("numpy") else { return };
    let (cases, folder) = (gallery(), Folder::new("numpy"));
    let mut calls = String::from(NUMPY_DRIVER);
    for case in cases {
        std::fs::write(folder.0.join(format!("{}.py", case.name)), case.source(FormulaLanguage::NumPy)).unwrap();
        calls += &case.python_call();
    }
    let file = folder.0.join("main_of_this_test.py");
    std::fs::write(&file, calls).unwrap();
    let text = output(Command::new(python).arg(&file));
    let (one, many): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("one "));
    for (lines, how) in [(one, "one "), (many, "many ")] {
        let lines: Vec<&str> = lines.iter().map(|line| line.strip_prefix(how).unwrap()).collect();
        let n = compare(cases, &read_lines(&lines.join("\n")), &format!("NumPy, {how}"));
        assert!(n > 1000, "only {n} quantities were compared");
    }
}

const NUMPY_DRIVER: &str = r#"
import importlib, inspect
import numpy as np

def show(name, states, lam):
    module = importlib.import_module(name)
    t = np.array([t for t, _, _ in states])
    q, v = (np.array([state[k] for state in states]).T for k in (1, 2))
    exec('\n'.join(line[4:] for line in module.__doc__.splitlines() if line[:4] == '    ' and "q'' =" not in line))
    for function, f in inspect.getmembers(module, inspect.isfunction):
        if function in ('arrays', 'zeros', 'look', 'dataclass'):
            continue
        more = [lam] if 'lam' in inspect.signature(f).parameters else []
        many = f(t, q, v, *(np.array(x).T for x in more))
        for k, state in enumerate(states):
            print('one', name, k, function, *map(repr, np.ravel(f(*state, *(x[k] for x in more))).tolist()))
            print('many', name, k, function, *map(repr, np.ravel(many[..., k]).tolist()))

"#;

/// Compiled by `lambdify`, but for modules that are too long for it.
#[test]
fn sympy_gives_what_the_engine_gives() {
    let Some(python) = python("numpy, sympy") else { return };
    let (cases, folder) = (gallery(), Folder::new("sympy"));
    let mut calls = String::from(SYMPY_DRIVER);
    for case in cases {
        let source = case.source(FormulaLanguage::SymPy);
        // what makes this one long is its table
        if source.len() > LONGEST_FOR_SYMPY && case.name != "tall_building" {
            continue;
        }
        std::fs::write(folder.0.join(format!("{}_sympy.py", case.name)), source).unwrap();
        calls += &case.python_call();
    }
    let file = folder.0.join("main_of_this_test.py");
    std::fs::write(&file, calls).unwrap();
    let n = compare(cases, &read_lines(&output(Command::new(python).arg(&file))), "SymPy");
    assert!(n > 700, "only {n} quantities were compared");
}

const SYMPY_DRIVER: &str = r#"
import importlib
import numpy as np
import sympy

NAMES = dict(M='mass_matrix', Q='given_force', A='constraint_matrix', b='constraint_rhs', A_c='asked_matrix',
             b_c='asked_rhs', lam='multipliers', Qc='constraint_force', Qn='nonideal_force', u='control_force',
             qddot='accelerations', a='unconstrained_acceleration', G='gaussian')

def show(name, states, _):
    p = importlib.import_module(name + '_sympy')
    if name in ('pendulum', 'odd_names', 'tall_building'):
        exec('\n'.join(line[4:] for line in p.__doc__.splitlines() if line[:4] == '    ' and "q'' =" not in line))
    unfold = getattr(p, 'unfold', lambda e: e)
    # numbers of NumPy divide by zero without stopping
    states = [(np.float64(t), np.array(q), np.array(v)) for t, q, v in states]
    given = [float(p.values[x]) for x in p.parameters]
    for letter, long in NAMES.items():
        if not isinstance(getattr(p, letter, None), (sympy.MatrixBase, sympy.Expr)):
            continue
        f = sympy.lambdify([p.t, p.q, p.qdot, p.parameters], unfold(getattr(p, letter)), cse=True)
        for k, state in enumerate(states):
            print(name, k, long, *map(repr, np.ravel(f(*state, given)).tolist()))

"#;
