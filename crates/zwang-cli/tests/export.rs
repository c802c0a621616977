//! Exported code: compiled and compared with the engine. A language whose compiler is missing is left out, see `tool.rs`.

use crate::tool::{c_compiler, python, tool};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use zwang::{LoadOptions, RunOptions, load_with};
use zwang_motion::{RouteName, Settings, Snapshot, State, route};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn zwang(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_zwang")).args(arguments).current_dir(ROOT).output().unwrap()
}

/// States of a run, with the control force, or without controls the acceleration, that the engine finds there.
fn engine(model: &str) -> (Vec<(State, Vec<f64>)>, usize) {
    let text = std::fs::read_to_string(format!("{ROOT}/{model}")).unwrap();
    let open = |name: &str| std::fs::read_to_string(format!("{ROOT}/models/{name}")).map_err(|e| e.to_string());
    let system = load_with(&text, &LoadOptions { files: &open, ..LoadOptions::default() }).unwrap();
    let driven = system.model().driven();
    let run = system.run(&RunOptions { every: Some(0.05), ..RunOptions::to(1.0) }).unwrap();
    let n = run.state().q.len();
    let settings = Settings::default();
    let mut found = Vec::new();
    let mut system = run.check().system.clone();
    for k in 0..run.samples().n_rows() {
        let value = |column: usize| run.samples().columns[column].values[k];
        let state = State { t: value(0), q: (1..=n).map(value).collect(), qdot: (n + 1..=2 * n).map(value).collect() };
        let mut snapshot = Snapshot::new(&mut system);
        let way = &mut *route(RouteName::default(), &settings);
        snapshot.take(&mut system, &state, way, &settings).unwrap();
        let u = &snapshot.found.control_force;
        let wanted = match driven.is_empty() {
            true => snapshot.found.qddot.clone(),
            false => driven.iter().map(|&i| u[i]).collect(),
        };
        found.push((state, wanted));
    }
    (found, run.check().rank)
}

/// Runs what a command prints, one number per line.
fn numbers(command: &mut Command) -> Vec<f64> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().split_whitespace().map(|word| word.parse().unwrap()).collect()
}

fn list(values: &[f64]) -> String {
    values.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ")
}

struct Case {
    model: &'static str,
    stem: &'static str,
    states: Vec<(State, Vec<f64>)>,
    n_rows: usize,
    is_control: bool,
    folder: PathBuf,
}

impl Case {
    fn new(model: &'static str, is_control: bool) -> Case {
        let stem = Path::new(model).file_stem().unwrap().to_str().unwrap();
        let (states, n_rows) = engine(model);
        let folder = std::env::temp_dir().join(format!("zwang-export-{}-{stem}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Case { model, stem, states, n_rows, is_control, folder }
    }

    fn function(&self) -> String {
        format!("{}_{}", self.stem, if self.is_control { "control" } else { "acceleration" })
    }

    fn source(&self, language: &str) -> String {
        let output = zwang(&["export", self.model, "--to", language]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn compare(&self, language: &str, found: &[f64]) {
        let wanted: Vec<f64> = self.states.iter().flat_map(|(_, wanted)| wanted.iter().copied()).collect();
        assert_eq!(found.len(), wanted.len(), "{} in {language}", self.model);
        let size = wanted.iter().fold(0f64, |top, x| top.max(x.abs()));
        for (found, wanted) in found.iter().zip(&wanted) {
            let off = (found - wanted).abs() / size;
            assert!(off < 1e-12, "{} in {language}: {found} instead of {wanted}, {off:e}", self.model);
        }
    }

    fn c(&self) {
        let Some(compiler) = c_compiler() else { return };
        let k = self.states[0].1.len();
        let extra = if self.is_control || self.n_rows == 0 { "" } else { ", f" };
        let mut text = self.source("c") + "\n#include <stdio.h>\nint main(void) {\n";
        let _ = writeln!(text, "double u[{k}], f[{}];\n(void)f;", self.n_rows + 1);
        for (state, _) in &self.states {
            let (q, v, p) = (list(&state.q), list(&state.qdot), format!("{}_parameters", self.stem));
            let _ = writeln!(
                text,
                "{{ const double q[] = {{{q}}}, v[] = {{{v}}};\nif (!{}({:?}, q, v, {p}, u{extra})) return 1;\nfor (int i = 0; i < {k}; i++) printf(\"%.17g\\n\", u[i]); }}",
                self.function(),
                state.t
            );
        }
        text += "return 0; }\n";
        let (file, program) = (self.folder.join("a.c"), self.folder.join("a.out"));
        std::fs::write(&file, &text).unwrap();
        let warnings = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
        let built =
            Command::new(compiler).args(warnings).arg(&file).arg("-o").arg(&program).arg("-lm").output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        self.compare("C", &numbers(&mut Command::new(program)));
        // no heap: nothing that allocates is named
        assert!(!["malloc", "calloc", "alloca"].iter().any(|name| text.contains(name)));
    }

    fn rust(&self) {
        let Some(compiler) = tool(&["rustc"], &["--version"]) else { return };
        let k = self.states[0].1.len();
        let extra = if self.is_control || self.n_rows == 0 { "" } else { ", &mut f" };
        let mut text = self.source("rust") + "\n#[allow(unused_mut)]\nfn main() {\n";
        let _ = writeln!(text, "let (mut u, mut f) = ([0.0; {k}], [0.0; {}]);", self.n_rows);
        for (state, _) in &self.states {
            let (q, v) = (list(&state.q), list(&state.qdot));
            let p = format!("{}_PARAMETERS", self.stem.to_uppercase());
            let call = format!("{}({:?}, &[{q}], &[{v}], &{p}, &mut u{extra})", self.function(), state.t);
            let _ = writeln!(text, "assert!({call});\nu.iter().for_each(|x| println!(\"{{x:e}}\"));");
        }
        text += "}\n";
        let (file, program) = (self.folder.join("a.rs"), self.folder.join("b.out"));
        std::fs::write(&file, &text).unwrap();
        let built = Command::new(compiler)
            .args(["-O", "-D", "warnings", "--edition", "2021"])
            .arg(&file)
            .arg("-o")
            .arg(&program)
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        self.compare("Rust", &numbers(&mut Command::new(program)));
        assert!(!["Vec", "vec!", "Box"].iter().any(|name| text.contains(name)));
    }

    fn python(&self) {
        let Some(interpreter) = python("math") else { return };
        let k = self.states[0].1.len();
        let extra = if self.is_control || self.n_rows == 0 { "" } else { ", f" };
        let mut text = self.source("python") + &format!("\n\nu, f = [0.0]*{k}, [0.0]*{}\n", self.n_rows);
        for (state, _) in &self.states {
            let (q, v) = (list(&state.q), list(&state.qdot));
            let p = format!("{}_PARAMETERS", self.stem.to_uppercase());
            let _ = writeln!(text, "{}({:?}, [{q}], [{v}], {p}, u{extra})", self.function(), state.t);
            text += "for x in u:\n    print(repr(x))\n";
        }
        let file = self.folder.join("a.py");
        std::fs::write(&file, &text).unwrap();
        self.compare("Python", &numbers(Command::new(interpreter).arg(&file)));
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Square, least-force, closed-loop and table models give the engine's force; models without controls its acceleration.
#[test]
fn exported_code_gives_what_the_engine_gives() {
    for (model, is_control) in [
        ("models/two_link_arm.zw", true),
        ("models/five_bar_arm.zw", true),
        ("models/cart_pendulum.zw", true),
        ("models/guided_particle.zw", true),
        ("models/tall_building.zw", true),
        ("models/pendulum.zw", false),
        ("models/double_pendulum_redundant.zw", false),
        ("models/ring_with_drag.zw", false),
        ("models/nonideal_particle.zw", false),
    ] {
        let case = Case::new(model, is_control);
        case.c();
        case.rust();
        case.python();
    }
}

/// A model whose force is no function of the state is refused with its code.
#[test]
fn models_without_such_a_function_are_refused() {
    let output = zwang(&["export", "models/bead_on_ring.zw", "--to", "c"]);
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.stdout.is_empty() && output.status.code() == Some(1), "{reported}");
    assert!(reported.contains("Z705"), "{reported}");
    assert_eq!(zwang(&["export", "models/pendulum.zw", "--to", "cobol"]).status.code(), Some(2));
    // an unreachable target has none
    for (model, code) in [("crane", "Z702"), ("cart_pendulum_both", "Z701")] {
        let output = zwang(&["export", &format!("models/refused/{model}.zw"), "--to", "rust"]);
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.stdout.is_empty() && output.status.code() == Some(1) && reported.contains(code),
            "{model}: {reported}"
        );
    }
    // nor without a start
    let crane = std::fs::read_to_string(format!("{ROOT}/models/refused/crane.zw")).unwrap();
    let nowhere: String =
        crane.lines().filter(|line| !line.starts_with("start")).map(|line| format!("{line}\n")).collect();
    let file = std::env::temp_dir().join(format!("zwang-crane-{}.zw", std::process::id()));
    std::fs::write(&file, nowhere).unwrap();
    let output = zwang(&["export", &file.to_string_lossy(), "--to", "c"]);
    std::fs::remove_file(file).unwrap();
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.stdout.is_empty() && reported.contains("Z702") && reported.contains("relative degree 4"),
        "{reported}"
    );
    let limits =
        "coordinates x, y\nmass x, y: 1\ncontrol c: (x, y) = (1, 2) with settling 1 and limit 5\nstart x = 0, y = 0\n";
    let file = std::env::temp_dir().join(format!("zwang-limits-{}.zw", std::process::id()));
    std::fs::write(&file, limits).unwrap();
    let reported = String::from_utf8(zwang(&["export", &file.to_string_lossy(), "--to", "c"]).stderr).unwrap();
    std::fs::remove_file(file).unwrap();
    assert!(reported.contains("Z705") && reported.contains("bounded forces on several coordinates"), "{reported}");
}

/// The code that `export` prints for a text, and its messages.
fn exported(name: &str, text: &str, language: &str) -> (String, String) {
    let file = std::env::temp_dir().join(format!("zwang_{name}_{}.zw", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let output = zwang(&["export", &file.to_string_lossy(), "--to", language]);
    std::fs::remove_file(file).unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// C contains λ, and with a control λ would contain the force that is asked for.
#[test]
fn a_nonideal_law_beside_a_control_is_refused_with_the_reason() {
    let text = "coordinates x, y\nmass x, y: 1\nconstraint floor: y = 0\nnonideal x: -0.1*lambda(floor)
control c: x = sin(t) using x\nstart x = 0, y = 0, x' = 1\n";
    let (code, said) = exported("law", text, "c");
    assert!(code.is_empty() && said.contains("Z705") && said.contains("nonideal laws beside controls"), "{said}");
}

/// On a ring two controls for one freedom: their force is unique, their shares are not.
#[test]
fn two_controls_for_one_freedom_are_not_exported() {
    let text =
        "coordinates x, y\nmass x, y: 1\nconstraint rod: x^2 + y^2 = 1\ncontrol s: (x, y) = (cos(t + 1), sin(t + 1))
start x = cos(1), y = sin(1), x' = -sin(1), y' = cos(1)\n";
    let (code, reported) = exported("ring", text, "c");
    assert!(code.is_empty() && reported.contains("Z705") && reported.contains("redundant"), "{reported}");
}

/// log(x) has no value at x = −1, and the bound of the force must not hide that.
#[test]
fn a_force_that_is_no_number_is_not_given() {
    let text =
        "coordinates x\nmass x: 1\nforce x: log(x)\ncontrol s: x = 2 with settling 0.4 and limit 3\nstart x = 1\n";
    let (code, reported) = exported("log", text, "c");
    let Some(compiler) = c_compiler() else { return };
    let function =
        code.lines().find_map(|l| l.strip_prefix("int ")?.split_once("(double t")).expect(&reported).0.to_string();
    let folder = std::env::temp_dir().join(format!("zwang_log_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let main = format!(
        "{code}\n#include <stdio.h>\nint main(void) {{\n  double u[1], v[1] = {{0}}, a[1] = {{-1}}, b[1] = {{1}};
  printf(\"%d %d\", {function}(0, a, v, 0, u), {function}(0, b, v, 0, u));\n  return 0;\n}}\n"
    );
    std::fs::write(folder.join("log.c"), main).unwrap();
    let program = folder.join("log");
    let built = Command::new(compiler).arg(folder.join("log.c")).arg("-o").arg(&program).arg("-lm").output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let printed = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(printed, "0 1");
}
