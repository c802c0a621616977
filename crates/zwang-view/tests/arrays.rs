//! Data files, read by the programs they are meant for.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::tool::python;
use zwang::{Column, Samples};
use zwang_view::npz;

#[test]
fn numpy_reads_npz() {
    let Some(python) = python("numpy") else { return };
    let script = "import sys, io, numpy\n\
                  z = numpy.load(io.BytesIO(sys.stdin.buffer.read()))\n\
                  print(z.files, z['t'].dtype, z['t'].tolist(), z['x_dot'].tolist())";
    let column = |name: &str, values: Vec<f64>| Column { name: name.into(), values, ..Default::default() };
    let samples = Samples { columns: vec![column("t", vec![0.0, 0.1]), column("x_dot", vec![1.0 / 3.0, f64::NAN])] };
    let mut reader = Command::new(python);
    let mut child = reader.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&npz(&samples).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    let reported = String::from_utf8(output.stdout).unwrap();
    assert_eq!(reported.trim(), "['t', 'x_dot'] float64 [0.0, 0.1] [0.3333333333333333, nan]");
}
