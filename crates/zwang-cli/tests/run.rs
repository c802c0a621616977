//! `zwang run`: every writer, every exit code, every message.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::tool::browser;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A folder of one test, gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("zwang-run-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
        names.collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn zwang(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zwang")).args(arguments).current_dir(ROOT).output().unwrap()
}

fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Header and columns of a CSV text.
fn parsed(csv: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut lines = csv.lines();
    let header: Vec<String> = lines.next().unwrap().split(',').map(String::from).collect();
    let mut columns = vec![Vec::new(); header.len()];
    for line in lines {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(cells.len(), header.len(), "{line}");
        cells.iter().zip(&mut columns).for_each(|(x, column)| column.push(*x));
    }
    (header, columns)
}

#[test]
fn every_writer_writes() {
    let folder = Folder::new("writers");
    let mut arguments = vec!["run", "models/pendulum.zw"];
    let paths: Vec<String> = ["csv", "parquet", "npz", "json", "svg", "png", "html", "tex", "md"]
        .map(|e| folder.path(&format!("p.{e}")))
        .into();
    paths.iter().for_each(|path| arguments.extend(["-o", path]));
    let output = zwang(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("p.csv (1001 rows)"));

    let (header, columns) = parsed(&folder.text("p.csv"));
    let names = ["t", "x", "y", "x_dot", "y_dot", "x_ddot", "y_ddot", "lambda_rod", "fc_x", "fc_y", "res_rod"];
    assert_eq!(header[..11], names.map(String::from));
    assert_eq!(header[11..], ["T", "V", "E", "tension"].map(String::from));
    assert_eq!(columns[0].len(), 1001);
    assert_eq!((columns[0][0], columns[0][1000]), (0.0, 10.0));
    for ((x, y), tension) in columns[1].iter().zip(&columns[2]).zip(&columns[14]) {
        assert!((x * x + y * y - 1.0).abs() < 1e-8, "({x}, {y}) is off the rod");
        // 3 m g times the depth below the pivot
        assert!((tension + 3.0 * 9.81 * y).abs() < 1e-6, "{tension} at ({x}, {y})");
    }

    let value = json(&folder.read("p.json"));
    assert_eq!(value["outcome"], "finished");
    assert_eq!(value["samples"]["tension"].as_array().unwrap().len(), 1001);
    assert_eq!((value["units"]["x_dot"].as_str(), value["units"]["tension"].as_str()), (Some("m/s"), Some("N")));
    assert_eq!(&folder.read("p.parquet")[..4], b"PAR1");
    assert_eq!(&folder.read("p.npz")[..4], b"PK\x03\x04");
    assert_eq!(&folder.read("p.png")[..8], b"\x89PNG\r\n\x1a\n");
    let svg = folder.text("p.svg");
    for label in [">x<", ">y<", "tension in N", "t in s", "Pendulum in Cartesian coordinates"] {
        assert!(svg.contains(label), "{label}");
    }
    let html = folder.text("p.html");
    assert!(html.contains("<h1>Pendulum in Cartesian coordinates</h1>") || html.contains("Pendulum in Cartesian"));
    assert!(html.contains("Largest residual of rod") && html.contains("<mfrac>"));
    // the same document three times: the model, the derivation, other formulations, the motion, the audit
    let (tex, report) = (folder.text("p.tex"), folder.text("p.md"));
    for part in ["Mass matrix and given force", "Explicit equation of motion", "Gibbs and Appell"] {
        assert!(html.contains(part) && tex.contains(part) && report.contains(part), "{part}");
    }
    assert!(tex.contains("\\documentclass") && tex.contains("\\begin{tikzpicture}") && tex.is_ascii());
    for part in ["# Pendulum in Cartesian", "```zw\nmodel ", "$$", "## Summary", "| Largest energy error |"] {
        assert!(report.contains(part), "{part}");
    }
    assert!(folder.names().iter().all(|name| !name.ends_with(".tmp")));
}

/// The gap of a contact is a length.
#[test]
fn the_residual_of_a_contact_has_its_unit() {
    let output = zwang(&["run", "models/bouncing_ball.zw"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let residual = text.split("largest residual ").nth(1).unwrap_or_else(|| panic!("{text}"));
    assert!(residual.contains(" m (floor)"), "{residual}");
}

/// A run of length zero: the start, one row in every table, and the outputs there, in every format.
#[test]
fn a_run_to_zero_writes_the_start() {
    let folder = Folder::new("zero");
    let mut arguments = vec!["run", "models/pendulum.zw", "--to", "0", "--json"];
    let files = ["z.csv", "z.json", "z.html", "z.svg", "z.png", "z.md", "z.tex", "z.npz", "z.parquet"]
        .map(|name| folder.path(name));
    files.iter().for_each(|file| arguments.extend(["-o", file]));
    let output = zwang(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let value = json(&output.stdout);
    assert_eq!((value["outcome"].as_str(), value["t"].as_f64()), (Some("finished"), Some(0.0)));
    assert_eq!(value["steps"].as_u64(), Some(0));
    // at rest and level the rod carries nothing
    assert_eq!(value["outputs"]["tension"]["last"].as_f64(), Some(0.0));
    assert_eq!(folder.text("z.csv").lines().count(), 2);
    assert!(!folder.text("z.svg").contains("NaN"));
    let inspected = json(&zwang(&["inspect", "models/pendulum.zw", "--json"]).stdout);
    assert_eq!(inspected["outputs"]["tension"].as_f64(), Some(0.0));
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let value = json(&zwang(&["run", "models/double_pendulum_redundant.zw", "--to", "2", "--json"]).stdout);
    for field in [
        "model",
        "coordinates",
        "degrees_of_freedom",
        "rank",
        "outcome",
        "t",
        "q",
        "qdot",
        "outputs",
        "steps",
        "rejected",
        "evaluations",
        "wall_seconds",
        "compile_seconds",
        "residual",
        "energy",
        "events",
        "notes",
    ] {
        assert!(!value[field].is_null(), "{field} is missing");
    }
    assert_eq!((value["rank"].as_u64(), value["degrees_of_freedom"].as_u64()), (Some(2), Some(2)));
    assert_eq!(value["t"], 2.0);
    for row in ["rod[1]", "rod[2]", "again"] {
        assert!(value["residual"][row].as_f64().unwrap() < 1e-12, "{row}");
    }
    for part in ["start", "end", "drift"] {
        assert!(value["energy"][part].is_f64(), "{part}");
    }
    assert!(value["qdot"]["x[2]"].is_f64());
    assert_eq!(value["notes"][0]["code"], "Z310");
    let value = json(&zwang(&["run", "models/pendulum.zw", "--json"]).stdout);
    let largest = value["outputs"]["tension"]["max"].as_f64().unwrap();
    assert!((largest - 3.0 * 9.81).abs() < 1e-6, "{largest}");
}

#[test]
fn csv_goes_to_standard_output_and_the_summary_aside() {
    let output =
        zwang(&["run", "models/pendulum.zw", "--to", "500 ms", "--every", "0.1", "-o", "-", "--units-in-header"]);
    assert_eq!(output.status.code(), Some(0));
    let (header, columns) = parsed(&text(&output.stdout));
    assert_eq!(header[..2], ["t [s]", "x [m]"].map(String::from));
    assert_eq!((columns[0].len(), columns[0][5]), (6, 0.5));
    assert!(text(&output.stderr).contains("0.5 s simulated in"));
}

#[test]
fn bad_values_are_refused_with_what_to_type() {
    let cases: [(&[&str], &str); 13] = [
        (&["--to", "-1"], "type a time"),
        (&["--to", "NaN"], "type a time"),
        (&["--to", "3 kg"], "not a unit of time"),
        (&["--step", "0 s"], "more than 0"),
        (&["--every", "1e-9"], "--every 1e-6 or more"),
        (&["--tolerance", "1e-15"], "1e-14 to 0.1"),
        (&["--tolerance", "1"], "1e-14 to 0.1"),
        (&["--method", "nonsense"], "`rattle4`"),
        (&["--drift", "away"], "baumgarte"),
        (&["-o", "x.xls"], ".csv .parquet .npz .json .svg .png .html .tex .md"),
        (&["-o", "nothing"], "needs an extension"),
        (&["-o", "no/such/folder/x.csv"], "does not exist"),
        (&["-o", "Cargo.toml/x.csv"], "cannot write"),
    ];
    for (options, reported) in cases {
        let arguments = [&["run", "models/pendulum.zw"], options].concat();
        let output = zwang(&arguments);
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(text(&output.stderr).contains(reported), "{options:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{options:?}");
        // a program gets the same as JSON
        let value = json(&zwang(&[&arguments[..], &["--json"]].concat()).stdout);
        assert!(value["diagnostics"][0]["message"].is_string(), "{options:?}");
    }
    assert_eq!(zwang(&["run", "models/pendulum.zw", "-o", "-", "--json"]).status.code(), Some(2));
}

#[test]
fn a_motion_that_ends_early_leaves_what_there_is() {
    let folder = Folder::new("early");
    for (name, t, outcome) in [("blow_up", 1.0, "step-too-small"), ("contradiction_later", 1.0, "contradiction")] {
        let (path, model) = (folder.path("x.csv"), format!("crates/zwang/tests/bad_runs/{name}.zw"));
        let output = zwang(&["run", &model, "-o", &path]);
        assert_eq!(output.status.code(), Some(3), "{name}");
        let err = text(&output.stderr);
        assert!(err.contains("error[Z") && err.contains("stopped at t = "), "{err}");
        let (_, columns) = parsed(&folder.text("x.csv"));
        let last = *columns[0].last().unwrap();
        assert!(columns[0].len() > 100 && (last - t).abs() < 1e-3, "{name} ended at {last}");
        let output = zwang(&["run", &model, "--json"]);
        assert_eq!(output.status.code(), Some(3), "{name}");
        assert_eq!(json(&output.stdout)["outcome"], outcome);
    }
}

/// The limit on the size of files stands for a full disk: writing fails in the middle.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = Folder::new("full");
    std::fs::write(folder.0.join("x.csv"), "old").unwrap();
    let command = format!(
        "trap '' XFSZ; ulimit -f 100; exec {} run models/pendulum.zw -o {} -o {}",
        env!("CARGO_BIN_EXE_zwang"),
        folder.path("x.csv"),
        folder.path("x.tex")
    );
    let output = Command::new("bash").args(["-c", &command]).current_dir(ROOT).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("x.csv`: "), "{}", text(&output.stderr));
    assert_eq!(folder.text("x.csv"), "old");
    assert!(text(&output.stdout).contains("x.tex") && folder.text("x.tex").contains("align"));
    assert_eq!(folder.names().len(), 2, "{:?}", folder.names());
}

#[test]
fn existing_files_are_replaced_and_protected_ones_are_not() {
    let folder = Folder::new("replaced");
    std::fs::write(folder.0.join("x.csv"), "old").unwrap();
    let path = folder.path("x.csv");
    assert_eq!(zwang(&["run", "models/pendulum.zw", "-o", &path]).status.code(), Some(0));
    assert!(folder.text("x.csv").starts_with("t,x,y"));
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let output = zwang(&["run", "models/pendulum.zw", "-o", &path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("write-protected"));
    let output = zwang(&["run", "models/pendulum.zw", "-o", &folder.path("")]);
    assert_eq!(output.status.code(), Some(2));
}

/// The energies make room for an output of their name, and call themselves by a word.
#[test]
fn an_output_keeps_its_name_next_to_the_energies() {
    let folder = Folder::new("energies");
    let model = "coordinates x\nmass x: 1\nforce x: -x\nstart x = 1\nrun 1\noutput E = 10 + x\noutput T = 20 + x\n";
    std::fs::write(folder.0.join("m.zw"), model).unwrap();
    assert_eq!(zwang(&["run", &folder.path("m.zw"), "-o", &folder.path("m.csv")]).status.code(), Some(0));
    let (header, columns) = parsed(&folder.text("m.csv"));
    let value = |name: &str| columns[header.iter().position(|h| h == name).unwrap()][0];
    assert_eq!([value("E"), value("T")], [11.0, 21.0]);
    assert_eq!([value("kinetic"), value("V"), value("energy")], [0.0, 0.0, 0.0]);
    assert!(!header.iter().any(|name| name.ends_with("_2")), "{header:?}");
}

/// Next to a motion of size 1 a place of 6e-17 is 0, and the table keeps every bit.
#[test]
fn a_summary_shows_no_noise() {
    let folder = Folder::new("noise");
    let model = "coordinates x, y\nmass x, y: 1\nforce y: -y\nstart x = 6e-17, y = 1\nrun 1\noutput o = x + sin(t) - sin(t)\n\
                 output w = y\n";
    std::fs::write(folder.0.join("m.zw"), model).unwrap();
    let output = zwang(&["run", &folder.path("m.zw"), "-o", &folder.path("m.csv")]);
    let out = text(&output.stdout);
    assert!(out.contains("end: x = 0, y = 0.5403023"), "{out}");
    assert!(parsed(&folder.text("m.csv")).1[1].iter().all(|x| *x == 6e-17));
}

/// A ball between two walls meets one every hundredth of a second: the last hit is marked as the first one is.
#[test]
fn a_figure_marks_events_to_the_end() {
    let folder = Folder::new("marks");
    let model = "coordinates x\nmass x: 1\ncontact left: x >= 0 with restitution 1\n\
                 contact right: 0.01 - x >= 0 with restitution 1\nstart x = 0.005, x' = 1\nrun 1\nplot x vs t\n";
    std::fs::write(folder.0.join("m.zw"), model).unwrap();
    assert_eq!(zwang(&["run", &folder.path("m.zw"), "-o", &folder.path("m.svg")]).status.code(), Some(0));
    let svg = folder.text("m.svg");
    let n_marks = svg.lines().filter(|line| line.contains("stroke-dasharray=\"3 2.5\"")).count();
    assert!((95..=101).contains(&n_marks), "{n_marks} marks of 100 hits");
}

#[test]
fn drifts_are_compared() {
    let value = json(&zwang(&["run", "models/pendulum.zw", "--drift", "compare", "--json"]).stdout);
    let names: Vec<&str> = value["drift"].as_array().unwrap().iter().map(|d| d["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["project", "baumgarte", "none"]);
    let residual = |k: usize| value["drift"][k]["residual"]["rod"].as_f64().unwrap();
    assert!(residual(0) < 1e-14 && residual(2) > 1e-10, "{} and {}", residual(0), residual(2));
    assert_eq!(value["outcome"], "finished");
    let out = text(&zwang(&["run", "models/pendulum.zw", "--drift", "compare"]).stdout);
    assert!(out.contains("baumgarte") && out.contains("energy error"), "{out}");
}

#[test]
fn overrides_of_the_command_line_are_recorded() {
    let folder = Folder::new("record");
    let path = folder.path("x.md");
    let output = zwang(&["run", "models/pendulum.zw", "--set", "l=50 cm", "--to", "1", "-o", &path, "--json"]);
    assert_eq!(json(&output.stdout)["overrides"]["set"][0], "l=50 cm");
    assert!(folder.text("x.md").contains("# changed on the command line: --set 'l=50 cm'\n```"));
}

#[test]
fn methods_and_the_sketch() {
    let output = zwang(&["run", "models/pendulum.zw", "--method", "rattle", "--step", "10 ms", "--to", "2", "--plot"]);
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(out.contains("by rattle with steps of 0.01 s") && out.contains("tension in N"), "{out}");
    assert!(out.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "{out}");
}

#[test]
fn inspect_looks_along_the_motion() {
    let value = json(&zwang(&["inspect", "models/pendulum.zw", "--at", "2.5", "--json"]).stdout);
    let run = json(&zwang(&["run", "models/pendulum.zw", "--to", "2.5", "--json"]).stdout);
    assert_eq!(value["t"], 2.5);
    let x = value["q"][0].as_f64().unwrap();
    assert!((x - run["q"]["x"].as_f64().unwrap()).abs() < 1e-7, "{x}");
    assert!(value["disagreement"].as_f64().unwrap() < 1e-12);
    let output = zwang(&["inspect", "crates/zwang/tests/bad_runs/blow_up.zw", "--at", "2"]);
    assert_eq!(output.status.code(), Some(3));
}

/// Ctrl-C ends the run, not the program: what there is is written.
#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_what_there_is() {
    let folder = Folder::new("interrupted");
    let path = folder.path("x.csv");
    let long =
        ["run", "models/pendulum.zw", "--to", "1e7", "--method", "rattle", "--step", "1e-3", "--every", "2", "-o"];
    let child = Command::new(env!("CARGO_BIN_EXE_zwang"))
        .args(long)
        .arg(&path)
        .current_dir(ROOT)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1000));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("interrupted at t = "));
    assert!(parsed(&folder.text("x.csv")).1[0].len() > 10);
}

/// The page of a real run draws itself in a browser.
#[test]
fn a_browser_shows_the_page() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new("page");
    let path = folder.path("x.html");
    assert_eq!(zwang(&["run", "models/double_pendulum_redundant.zw", "-o", &path]).status.code(), Some(0));
    let out = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=1500", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path("profile")))
        .arg(format!("file://{}#t=0.5", Path::new(&path).display()))
        .output()
        .unwrap();
    let dom = text(&out.stdout);
    let root = dom.lines().find(|l| l.starts_with("<html")).unwrap_or_default();
    assert!(root.contains("data-ready=\"1\"") && !root.contains("data-error"), "{root}");
}
