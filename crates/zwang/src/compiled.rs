//! A program with the room it needs, and what to say when one of its numbers is not finite.

use zwang_expr::{Expr, Graph, Program};
use zwang_motion::MotionError;

use crate::quantity::number;

/// A program over given symbols, with its workspace and its last values.
pub(crate) struct Compiled {
    program: Program,
    workspace: Vec<f64>,
    values: Vec<f64>,
}

impl Compiled {
    /// Compiles expressions; none if they contain a symbol that is no input.
    pub(crate) fn new(graph: &Graph, inputs: &[Expr], outputs: &[Expr]) -> Option<Compiled> {
        let program = Program::new(graph, inputs, outputs).ok()?;
        let (workspace, values) = (program.workspace(), vec![0.0; program.n_outputs()]);
        Some(Compiled { program, workspace, values })
    }

    /// The values for these inputs.
    pub(crate) fn run(&mut self, inputs: &[f64]) -> &[f64] {
        self.program.run(inputs, &mut self.workspace, &mut self.values);
        &self.values
    }

    /// The values of the last run.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many inputs it takes.
    pub(crate) fn n_inputs(&self) -> usize {
        self.program.n_inputs()
    }

    /// How many instructions it has.
    pub(crate) fn n_instructions(&self) -> usize {
        self.program.len()
    }

    /// Which term is not finite, and where: `symbols` name the first of the inputs.
    pub(crate) fn trouble(&mut self, graph: &Graph, symbols: &[Expr], inputs: &[f64]) -> MotionError {
        let mut all = inputs.to_vec();
        all.resize(self.n_inputs(), 0.0);
        let Some(trouble) = self.program.first_trouble(&all, &mut self.workspace) else {
            return MotionError::NotFinite { what: "a value".into() };
        };
        const LONGEST: usize = 60;
        let text = graph.text_limited(trouble.expr, LONGEST).map_or("a long expression".into(), |t| format!("`{t}`"));
        let at = |s: &Expr| {
            let k = symbols.iter().position(|t| t == s)?;
            Some(format!("{} = {}", graph.name(*s), number(all[k])))
        };
        let place: Vec<String> = graph.symbols(trouble.expr).iter().filter_map(at).take(6).collect();
        let place = if place.is_empty() { String::new() } else { format!(" at {}", place.join(", ")) };
        MotionError::NotFinite { what: format!("{text}{place}") }
    }
}
