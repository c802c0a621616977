//! Models, files and names that would do harm: budgets end work, models read only their own folder, no input is replaced, and no
//! character acts on a terminal or on a compiler.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::tool::{browser, c_compiler, python, tool};

/// A folder of one test, gone when the test is over; commands run inside it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("zwang-hostile-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.0.join(name).parent().unwrap()).unwrap();
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zwang"));
        command.args(arguments).current_dir(&self.0).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command that must not take longer than a minute.
    fn zwang(&self, arguments: &[&str]) -> Output {
        let mut child = self.command(arguments).stdin(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        let reader = |stream: Option<Box<dyn std::io::Read + Send>>| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
                bytes
            })
        };
        let stdout = reader(child.stdout.take().map(|s| Box::new(s) as _));
        let stderr = reader(child.stderr.take().map(|s| Box::new(s) as _));
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > Duration::from_secs(60) {
                child.kill().unwrap();
                panic!("{arguments:?} does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The command ends with this code and says this.
fn check(folder: &Folder, arguments: &[&str], code: i32, said: &str) -> Output {
    let output = folder.zwang(arguments);
    let err = text(&output.stderr);
    assert!(output.status.code() == Some(code) && err.contains(said), "{arguments:?}: {:?} {err}", output.status);
    output
}

const OSCILLATORS: &str = "let n = 200\ncoordinates x[1..n]\nmass x[k in 1..n]: 1\nforce x[k in 1..n]: -k*x[k]\n\
                           start x[k in 1..n] = 1\nrun 1\n";

/// 3^1e308 has no finite value, and the formula that has none is printed in a moment.
#[test]
fn a_power_as_large_as_a_double_ends_in_a_message() {
    let folder = Folder::new("power");
    folder.write("m.zw", "coordinates x\nparameter l = 2\nmass x: 1\nforce x: -(3*l)^1e308*x\nstart x = 1\nrun 1\n");
    check(&folder, &["check", "m.zw"], 1, "Z402");
    check(&folder, &["run", "m.zw"], 1, "is not finite");
}

#[test]
fn what_is_counted_is_counted_before_it_is_spent() {
    let folder = Folder::new("counted");
    folder.write("m.zw", OSCILLATORS);
    check(
        &folder,
        &["run", "m.zw", "--every", "1e-7", "-o", "m.csv"],
        2,
        "cells, rows times columns, and 100000000 are allowed",
    );
    check(
        &folder,
        &["run", "m.zw", "-o", "m.csv", "--every", "1e-5", "--budget", "memory=200MB"],
        2,
        "bytes of the samples",
    );
    check(&folder, &["run", "m.zw", "-o", "m.csv", "--budget", "cells=1e4"], 2, "type --every ");
    check(&folder, &["check", "m.zw", "--budget", "parts=300"], 2, "more than 300 expressions are needed");
    folder.write("sum.zw", "coordinates x\nmass x: 1\nforce x: -sum(i in 1..1000000000: i*x)\nstart x = 1\nrun 1\n");
    check(&folder, &["check", "sum.zw"], 1, "the sum has 1000000000 terms");
    folder.write(
        "sums.zw",
        "coordinates x\nmass x: 1\nforce x: -sum(i in 1..99999: sum(j in 1..999: i*j*x))\nstart x = 1\nrun 1\n",
    );
    check(&folder, &["check", "sums.zw", "--budget", "memory=300MB"], 1, "the sum has 99999 terms of ");
}

/// A run whose budget is spent writes what it has, with the outcome `budget` and the exit code 3.
#[test]
fn a_run_ends_where_its_budget_does_and_keeps_its_results() {
    let folder = Folder::new("spent");
    folder.write("m.zw", OSCILLATORS);
    folder.write(
        "bounce.zw",
        "coordinates x\nmass x: 1\ncontact left: x >= 0 with restitution 1\n\
         contact right: 0.01 - x >= 0 with restitution 1\nstart x = 0.005, x' = 1\nrun 1\n",
    );
    let cases: [(&[&str], &str); 4] = [
        (&["run", "m.zw", "--budget", "steps=7"], "its budget of 7 steps was spent"),
        (&["run", "bounce.zw", "--budget", "events=20"], "its budget of 20 events was spent"),
        (&["run", "m.zw", "--to", "1e6", "--every", "1000", "--budget", "0.3 s"], "its budget of time was spent"),
        (
            &["run", "m.zw", "--to", "1e5", "--every", "0.1", "--budget", "time=0.3 s,cells=1e9"],
            "its budget of time was spent",
        ),
    ];
    for (arguments, said) in cases {
        let arguments = [arguments, &["-o", "out.csv", "--json"]].concat();
        let output = folder.zwang(&arguments);
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &value["outcome"]), (Some(3), &"budget".into()), "{arguments:?}");
        let last = value["diagnostics"].as_array().unwrap().last().unwrap();
        assert!(last["code"] == "Z620" && last["message"].as_str().unwrap().contains(said), "{arguments:?}: {last}");
        assert!(folder.text("out.csv").lines().count() > 1, "{arguments:?}");
    }
}

/// A derivation does not listen; its time is limited too.
#[test]
fn time_is_limited_before_a_run_too() {
    let folder = Folder::new("time");
    let sum = "sum(i in 1..1500: sum(j in 1..1500: sin(i*j*x)))";
    folder.write("m.zw", &format!("coordinates x\nmass x: 1\nforce x: {sum}\nstart x = 1\nrun 1\n"));
    let began = Instant::now();
    check(&folder, &["check", "m.zw", "--budget", "0.2 s"], 3, "the budget of 0.2 s of processor time was spent");
    assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
    let output = folder.zwang(&["check", "m.zw", "--budget", "0.2 s", "--json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["outcome"], "budget");
}

#[test]
fn limits_without_meaning_are_refused() {
    let folder = Folder::new("limits");
    folder.write("m.zw", OSCILLATORS);
    for limit in ["frogs=3", "steps=0", "steps=many", "10 kg", "memory=10 apples", "-3 s", "cells=-1", ""] {
        assert_eq!(folder.zwang(&["run", "m.zw", "--budget", limit]).status.code(), Some(2), "{limit}");
    }
}

const WITH_TABLE: &str = "coordinates x\nmass x: 1\nforce x: table(\"NAME\", t)\nstart x = 0\nrun 1\n";

/// A model that reads the table `name`.
fn reading(name: &str) -> String {
    WITH_TABLE.replace("NAME", name)
}

const TABLE: &str = "t,f\n0,1\n1,2\n2,3\n";

/// A file elsewhere is not opened, and nothing tells whether it exists.
#[test]
fn a_model_reads_its_own_folder_and_what_is_allowed() {
    let folder = Folder::new("folder");
    folder.write("elsewhere/f.csv", TABLE);
    folder.write("elsewhere/secret.txt", "root:x:0:0:the secret of the house\n");
    folder.write("models/data/f.csv", TABLE);
    let outside = "lies outside the folder of the model";
    let absolute = folder.0.join("elsewhere/f.csv").display().to_string();
    let names =
        ["../elsewhere/f.csv", "../elsewhere/nothing.csv", "data/../../elsewhere/secret.txt", "/etc/passwd", &absolute];
    for name in names {
        folder.write("models/m.zw", &reading(name));
        let output = check(&folder, &["check", "models/m.zw"], 1, outside);
        assert!(!text(&output.stderr).contains("root"), "{}", text(&output.stderr));
    }
    folder.write("models/m.zw", &reading("../elsewhere/f.csv"));
    check(&folder, &["run", "models/m.zw", "--allow-files", "elsewhere"], 0, "");
    check(&folder, &["run", "models/m.zw", "--allow-files", "nowhere"], 2, "is no folder");
    folder.write("models/m.zw", &reading("data/f.csv"));
    check(&folder, &["run", "models/m.zw"], 0, "");
    folder.write("models/m.zw", &reading("data"));
    check(&folder, &["run", "models/m.zw"], 1, "not a regular file");
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere_else_and_pipes_are_not_opened() {
    let folder = Folder::new("links");
    folder.write("elsewhere/f.csv", TABLE);
    folder.write("models/data/f.csv", TABLE);
    folder.write("models/m.zw", &reading("link.csv"));
    let link = folder.0.join("models/link.csv");
    std::os::unix::fs::symlink("../elsewhere/f.csv", &link).unwrap();
    check(&folder, &["check", "models/m.zw"], 1, "lies outside the folder of the model");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("data/f.csv", &link).unwrap();
    check(&folder, &["check", "models/m.zw"], 0, "");
    std::fs::remove_file(&link).unwrap();
    // a pipe without a writer would wait for ever
    assert!(Command::new("mkfifo").arg(&link).status().unwrap().success());
    check(&folder, &["check", "models/m.zw"], 1, "not a regular file");
}

/// A message quotes no more than the cell that it is about.
#[test]
fn a_message_shows_its_own_cell_alone() {
    let folder = Folder::new("cell");
    folder.write("f.csv", &format!("t f\n0 {} token-behind\n", "abcdefghij".repeat(20)));
    folder.write("m.zw", &reading("f.csv"));
    let err = text(&check(&folder, &["check", "m.zw"], 1, "Z111").stderr);
    assert!(!err.contains("token-behind"), "{err}");
    folder.write("f.csv", &format!("t f\n0 \u{1b}{}\n", "abcdefghij".repeat(20)));
    let err = text(&check(&folder, &["check", "m.zw"], 1, "<U+001B>abcdefghij").stderr);
    assert!(!err.contains(&"abcdefghij".repeat(4)) && !err.contains('\u{1b}'), "{err}");
}

const PARTICLE: &str = "coordinates x\nmass x: 1\nforce x: -x\nstart x = 1\nrun 1\n";

/// Every file that a command reads is there unchanged afterwards, whatever it is called.
#[test]
fn no_output_replaces_an_input() {
    let folder = Folder::new("inputs");
    for name in ["m.tex", "m.csv", "m.c", "m.svg", "m.html"] {
        folder.write(name, PARTICLE);
    }
    folder.write("path.csv", "t,x\n0,1\n1,1\n2,1\n3,1\n");
    folder.write("model.zw", PARTICLE);
    folder.write("data/f.csv", TABLE);
    folder.write("t.zw", &reading("data/f.csv"));
    let cases: [(&[&str], &str, &str); 9] = [
        (&["run", "m.csv", "-o", "m.csv"], "m.csv", "the model itself"),
        (&["run", "m.csv", "-o", "./data/../m.csv"], "m.csv", "the model itself"),
        (&["equations", "m.tex", "-o", "m.tex"], "m.tex", "the model itself"),
        (&["export", "m.c", "--to", "c", "-o", "m.c"], "m.c", "the model itself"),
        (&["inspect", "m.svg", "-o", "m.svg"], "m.svg", "the model itself"),
        (&["run", "t.zw", "-o", "data/f.csv"], "data/f.csv", "a table of the model"),
        (&["equations", "t.zw", "-o", "data/f.csv", "--format", "text"], "data/f.csv", ""),
        (&["export", "t.zw", "--to", "c", "-o", "data/f.csv"], "data/f.csv", "a table of the model"),
        (&["inverse", "model.zw", "path.csv", "-o", "path.csv"], "path.csv", "the path itself"),
    ];
    for (arguments, input, said) in cases {
        let before = folder.text(input);
        check(&folder, arguments, 2, said);
        assert_eq!(folder.text(input), before, "{arguments:?}");
    }
    // from standard input too
    let input = std::fs::File::open(folder.0.join("m.html")).unwrap();
    let output = folder.command(&["run", "-", "-o", "m.html"]).stdin(input).output().unwrap();
    let is_told = cfg!(not(target_os = "linux")) || text(&output.stderr).contains("the model itself");
    assert!(is_told, "{}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn another_name_of_an_input_is_known() {
    let folder = Folder::new("names");
    folder.write("m.csv", PARTICLE);
    std::fs::hard_link(folder.0.join("m.csv"), folder.0.join("hard.csv")).unwrap();
    std::os::unix::fs::symlink("m.csv", folder.0.join("soft.csv")).unwrap();
    for name in ["hard.csv", "soft.csv"] {
        check(&folder, &["run", "m.csv", "-o", name], 2, "the model itself");
        assert_eq!(folder.text("m.csv"), PARTICLE);
    }
}

/// A temporary file of a process that is gone is removed by the next run, one of a living process and a stranger are not.
#[cfg(target_os = "linux")]
#[test]
fn temporary_files_of_killed_runs_are_removed() {
    let folder = Folder::new("temporary");
    folder.write("m.zw", OSCILLATORS);
    // a limit on the size of files ends the process in the middle of its writing
    let command = format!("ulimit -c 0; ulimit -f 100; exec {} run m.zw -o m.csv", env!("CARGO_BIN_EXE_zwang"));
    let output = Command::new("bash").args(["-c", &command]).current_dir(&folder.0).output().unwrap();
    assert_eq!(output.status.code(), None, "{output:?}");
    let names = || -> Vec<String> {
        let entries = std::fs::read_dir(&folder.0).unwrap();
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).filter(|n| n.ends_with(".tmp")).collect()
    };
    let left = names();
    assert!(left.len() == 1 && left[0].starts_with(".m.csv.zwang-"), "{left:?}");
    let dead = left[0].trim_end_matches(".tmp").rsplit_once('-').unwrap().0;
    let living = format!("{dead}-{}.tmp", std::process::id());
    for name in [living.as_str(), ".notes.tmp", ".x.zwang-notes.tmp"] {
        folder.write(name, "kept");
    }
    check(&folder, &["run", "m.zw", "-o", "other.csv"], 0, "");
    let mut left = names();
    left.sort();
    let mut kept = vec![living, ".notes.tmp".into(), ".x.zwang-notes.tmp".into()];
    kept.sort();
    assert_eq!(left, kept);
}

/// A title with what clears a screen, reverses the order of letters, ends lines and comments.
const TITLE: &str =
    "A\u{1b}[2J\u{202e}B\u{9b}31m \u{7}\u{2028}*/ ??/ </script> \\end{document} ''' %d \u{200b}\u{feff}";

fn hostile_model() -> String {
    format!(
        "model \"{TITLE}\"\ncoordinates x, y\nparameter k = 2 \"stiff\u{202e}ness ??/ \\\\\"\nmass x, y: 1\nforce x: -k*x\n\
         constraint rod: x^2 + y^2 = 1\nstart x = 1, y = 0\nrun 1\noutput o = x\nplot x vs t\n"
    )
}

fn has_hidden(text: &str) -> bool {
    text.contains(|c: char| zwang::visible::is_hidden(c) && c != '\n' && c != '\t')
}

#[test]
fn nothing_of_a_model_acts_on_the_terminal() {
    let folder = Folder::new("terminal");
    folder.write("m.zw", &hostile_model());
    folder.write("wrong.zw", &format!("{}force x: \u{1b}]0;title\u{7} nothing\u{202e}\n", hostile_model()));
    let odd = "o\u{1b}[31m\u{202e}dd.zw";
    folder.write(odd, &hostile_model());
    let cases: [&[&str]; 12] = [
        &["run", "m.zw"],
        &["run", "m.zw", "--json", "--plot"],
        &["check", "m.zw"],
        &["check", "wrong.zw"],
        &["check", "wrong.zw", "--json"],
        &["inspect", "m.zw"],
        &["equations", "m.zw"],
        &["equations", "m.zw", "--format", "latex"],
        &["export", "m.zw", "--to", "c"],
        &["run", odd, "-o", "odd.csv"],
        &["run", "m.zw", "--to", "\u{1b}[2J"],
        &["run", "\u{1b}[2Jmissing.zw"],
    ];
    for arguments in cases {
        let output = folder.zwang(arguments);
        for bytes in [&output.stdout, &output.stderr] {
            assert!(!has_hidden(&text(bytes)), "{arguments:?}: {:?}", text(bytes));
        }
        assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{arguments:?}");
    }
    let value: Value = serde_json::from_slice(&folder.zwang(&["run", "m.zw", "--json"]).stdout).unwrap();
    assert!(value.to_string().contains('\u{202e}'), "JSON keeps what it escapes");
}

/// Every target gets its own escapes: what is written compiles, parses and holds no hidden character.
#[test]
fn what_is_exported_holds_whatever_the_model_is_called() {
    let folder = Folder::new("exported");
    folder.write("m.zw", &hostile_model());
    let outputs = ["a.csv", "a.json", "a.svg", "a.html", "a.tex", "a.md"];
    for name in outputs {
        check(&folder, &["run", "m.zw", "-o", name], 0, "");
    }
    let formulas = ["e.html", "e.tex", "e.md", "e.txt", "e_rs.rs", "e_c.c", "e_py.py"];
    for name in formulas {
        check(&folder, &["equations", "m.zw", "-o", name], 0, "");
    }
    check(&folder, &["equations", "m.zw", "-o", "e_sym.py", "--format", "sympy"], 0, "");
    for (language, name) in [("c", "x_c.c"), ("rust", "x_rs.rs"), ("python", "x_py.py")] {
        check(&folder, &["export", "m.zw", "--to", language, "-o", name], 0, "");
    }
    let code = ["e_sym.py", "x_c.c", "x_rs.rs", "x_py.py"];
    for name in outputs.iter().chain(&formulas).chain(&code) {
        assert!(!has_hidden(&folder.text(name)), "{name}");
    }
    for name in ["a.html", "e.html"] {
        let page = folder.text(name);
        assert!(!page.contains("*/ ??/ </script>") && page.contains("Content-Security-Policy"), "{name}");
    }
    assert!(!folder.text("a.tex").contains("\\end{document} '''"));
    if let Some(compiler) = c_compiler() {
        for name in ["e_c.c", "x_c.c"] {
            // the old standard has trigraphs
            let built = Command::new(&compiler)
                .args(["-std=c99", "-Wall", "-Werror=comment", "-Werror=trigraphs", "-c", "-o", "o.o"])
                .arg(name)
                .current_dir(&folder.0)
                .output()
                .unwrap();
            assert!(built.status.success(), "{name}: {}", text(&built.stderr));
        }
    }
    if let Some(compiler) = tool(&["rustc"], &["--version"]) {
        for name in ["e_rs.rs", "x_rs.rs"] {
            let flags = ["--edition=2021", "--crate-type=lib", "--emit=metadata"];
            let built = Command::new(&compiler).args(flags).arg(name).current_dir(&folder.0).output().unwrap();
            assert!(built.status.success(), "{name}: {}", text(&built.stderr));
        }
    }
    if let Some(python) = python("ast") {
        let parse = "import ast, sys\nfor name in sys.argv[1:]: ast.parse(open(name, encoding='utf-8').read())";
        let names = ["e_py.py", "e_sym.py", "x_py.py"];
        let parsed = Command::new(&python).args(["-c", parse]).args(names).current_dir(&folder.0).output().unwrap();
        assert!(parsed.status.success(), "{}", text(&parsed.stderr));
    }
}

/// The policy of a page lets its own script run, and nothing complains.
#[test]
fn a_page_works_under_its_policy() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new("policy");
    folder.write("m.zw", &hostile_model());
    for (command, name) in [("run", "a.html"), ("equations", "e.html")] {
        check(&folder, &[command, "m.zw", "-o", name], 0, "");
        let out = Command::new(&browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=1500", "--dump-dom"])
            .args(["--enable-logging=stderr", "--v=0"])
            .arg(format!("--user-data-dir={}", folder.0.join("profile").display()))
            .arg(format!("file://{}", folder.0.join(name).display()))
            .output()
            .unwrap();
        let console: Vec<String> =
            text(&out.stderr).lines().filter(|line| line.contains("CONSOLE")).map(String::from).collect();
        assert!(console.is_empty(), "{name}: {console:?}");
        let dom = text(&out.stdout);
        let root = dom.lines().find(|l| l.starts_with("<html")).unwrap_or_default();
        assert!(command != "run" || root.contains("data-ready=\"1\""), "{root}");
    }
}

/// Ten thousand events do not make ten thousand buttons, and their number is told.
#[test]
fn a_page_of_many_events_stays_small() {
    let folder = Folder::new("events");
    folder.write(
        "m.zw",
        "coordinates x\nmass x: 1\ncontact left: x >= 0 with restitution 1\n\
         contact right: 0.01 - x >= 0 with restitution 1\nstart x = 0.005, x' = 1\nrun 30\n",
    );
    check(&folder, &["run", "m.zw", "-o", "m.html"], 0, "");
    let page = folder.text("m.html");
    let n_buttons = page.matches("data-t=").count();
    assert!(n_buttons == 2001 && page.contains("the last of 3000 events"), "{n_buttons}");
}
