//! The replacement of the code generator on targets without one; programs are interpreted.

use zwang_expr::Program;

use crate::layout::{Layout, OptLevel};

/// Machine code of a program; no value exists on this target.
pub enum MachineCode {}

impl MachineCode {
    /// Always `None`: this target has no code generator.
    pub fn new(_program: &Program, _level: OptLevel) -> Option<MachineCode> {
        None
    }

    /// Always `None`: this target has no code generator.
    pub fn with_layout(_program: &Program, _layout: Layout, _level: OptLevel) -> Option<MachineCode> {
        None
    }

    /// The storage for intermediate values.
    pub fn workspace(&self) -> Vec<f64> {
        match *self {}
    }

    /// Fills `outputs` from `inputs`.
    pub fn run(&self, _inputs: &[f64], _workspace: &mut [f64], _outputs: &mut [f64]) {
        match *self {}
    }

    /// Fills `outputs` from `inputs` and `state`.
    pub fn run_at(&self, _inputs: &[f64], _state: &[f64], _workspace: &mut [f64], _outputs: &mut [f64]) {
        match *self {}
    }
}
