//! The last program of the test command: says which checks were left out because a program is missing here. It reads the notes of
//! the tests that ran before it (`tool.rs` of zwang-view) and removes them.

use std::collections::BTreeMap;
use std::path::Path;

fn main() {
    let path = Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/left_out.txt"));
    let Ok(notes) = std::fs::read_to_string(path) else { return };
    let mut left_out: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (missing, test) in notes.lines().filter_map(|line| line.split_once('\t')) {
        let tests = left_out.entry(missing).or_default();
        if !tests.contains(&test) {
            tests.push(test);
        }
    }
    for (missing, tests) in left_out {
        println!("left out, since {missing}:\n    {}", tests.join("\n    "));
    }
    std::fs::remove_file(path).unwrap();
}
