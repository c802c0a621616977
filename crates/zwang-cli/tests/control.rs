//! The commands on controls and paths.

use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn zwang(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zwang")).args(arguments).current_dir(ROOT).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The page on control shows what the program says of refused models, and its pictures are there.
#[test]
fn the_page_on_control_shows_real_output() {
    let page = std::fs::read_to_string(format!("{ROOT}/docs/control.md")).unwrap();
    let refused = ["cart_pendulum_both", "crane"].map(|name| {
        let output = zwang(&["check", &format!("models/refused/{name}.zw")]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        text(&output.stderr)
    });
    let blocks: Vec<&str> = page.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 2);
    for (block, real) in blocks.iter().zip(&refused) {
        assert_eq!(block.trim_end(), real.trim_end());
    }
    for line in page.lines().filter(|line| line.starts_with("![")) {
        let name = line.rsplit_once('(').unwrap().1.trim_end_matches(')');
        let svg = std::fs::read_to_string(format!("{ROOT}/docs/{name}")).unwrap_or_else(|_| panic!("no {name}"));
        assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"), "{name}");
    }
}

/// A run writes the path; the forces found for it are those of the run, up to what a spline leaves.
#[test]
fn inverse_gives_back_the_forces_of_a_run() {
    let folder = std::env::temp_dir().join(format!("zwang-inverse-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (path, forces) = (file("path.csv"), file("forces.csv"));
    let arm = "models/five_bar_arm.zw";
    let ran = zwang(&["run", arm, "--to", "2", "--tolerance", "1e-11", "--every", "0.005", "-o", &path]);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let found = zwang(&["inverse", arm, &path, "-o", &forces]);
    assert!(found.status.success(), "{}", text(&found.stderr));
    let reported = text(&found.stdout);
    assert!(
        reported.contains("401 rows") && reported.contains("produce the path") && reported.contains("401 rows)"),
        "{reported}"
    );
    let column = |name: &str, file: &str| -> Vec<f64> {
        let written = std::fs::read_to_string(file).unwrap();
        let mut lines = written.lines();
        let at = lines.next().unwrap().split(',').position(|c| c == name).unwrap_or_else(|| panic!("{name}"));
        lines.map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
    };
    for name in ["control_a1", "control_a2", "lambda_loop_x", "lambda_loop_y"] {
        let (real, found) = (column(name, &path), column(name, &forces));
        let size = real.iter().fold(0f64, |top, x| top.max(x.abs()));
        let off = real.iter().zip(&found).fold(0f64, |top, (a, b)| top.max((a - b).abs()));
        assert!(off < 1e-4 * size, "{name}: {off:e} of {size}");
    }
    // one motor is not enough, and the missing direction is reported; so are mistakes of the command line
    let fewer = zwang(&["inverse", arm, &path, "--using", "a1", "--json"]);
    let reported = text(&fewer.stdout);
    assert!(
        fewer.status.code() == Some(1) && reported.contains("\"possible\": false") && reported.contains("Z706"),
        "{reported}"
    );
    assert_eq!(zwang(&["inverse", arm, &path, "--using", "nothing"]).status.code(), Some(2));
    assert_eq!(zwang(&["inverse", arm, &file("missing.csv")]).status.code(), Some(2));
    assert_eq!(zwang(&["inverse", arm, arm]).status.code(), Some(2));
    std::fs::remove_dir_all(folder).unwrap();
}

/// The force on driven coordinates is given, and nothing acts on the others.
#[test]
fn equations_show_the_control_force_where_it_acts() {
    let reported = text(&zwang(&["equations", "models/cart_pendulum.zw"]).stdout);
    let force = |name: &str| reported.lines().find_map(|line| line.strip_prefix(&format!("control({name}) = ")));
    assert!(force("x").is_some_and(|force| force.len() > 10) && force("θ") == Some("0"), "{reported}");
}

/// A coordinate that is named twice behind `--using` is a mistake, and so is a force beyond its limit.
#[test]
fn inverse_checks_names_and_limits() {
    let folder = std::env::temp_dir().join(format!("zwang-limits-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    let model = |limit: f64| {
        format!("coordinates x\nmass x: 1\ncontrol a: x = 0 with settling 1 and limit {limit}\nstart x = 0\n")
    };
    // x = t² needs a force of 2
    let rows: String =
        (0..=20).map(|k| format!("{}, {}\n", 0.1 * f64::from(k), (0.1 * f64::from(k)).powi(2))).collect();
    let path = file("path.csv", &format!("t, x\n{rows}"));
    let (small, enough) = (file("small.zw", &model(1.5)), file("enough.zw", &model(2.5)));
    let found = zwang(&["inverse", &small, &path]);
    assert_eq!(found.status.code(), Some(1));
    assert!(text(&found.stderr).contains("Z706") && text(&found.stderr).contains("its limit is 1.5"));
    assert_eq!(zwang(&["inverse", &enough, &path]).status.code(), Some(0));
    let twice = zwang(&["inverse", &enough, &path, "--using", "x,x"]);
    assert!(twice.status.code() == Some(2) && text(&twice.stderr).contains("named twice"));
    std::fs::remove_dir_all(folder).unwrap();
}
