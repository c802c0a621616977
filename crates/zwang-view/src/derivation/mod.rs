//! The derivation step by step: from the model as stated to the explicit equation of motion and to equivalent
//! principles.

mod constraints;
mod given;
mod solution;

use zwang::equations::{ConstraintRow, Equations, SparseRow};
use zwang::{Check, closed_form, equivalent};
use zwang_expr::Expr;

use crate::article::{Article, Block};
use crate::formula::width;
use crate::letters::with_letters;
use constraints::stated_rows;

/// The largest number of coordinates for which matrices and equations are written in full.
const MOST_COORDINATES: usize = 8;

/// The largest width of a matrix, in symbols; the entries of a wider one are listed.
const WIDEST_MATRIX: usize = 80;

/// The largest number of constraint rows written in full; those of a chain of many links are alike.
const MOST_ROWS: usize = 12;

/// The largest number of coordinates and of parameters that are listed.
const MOST_LISTED: usize = 40;

/// The surroundings of the derivation, in addition to the equations.
#[derive(Default)]
pub struct DerivationContext<'a> {
    /// The model as the user wrote it.
    pub model_text: &'a str,
    /// The analysis at a state, or `None` if there is no state.
    pub check: Option<&'a Check>,
    /// `true` if that state is the start of the model.
    pub at_start: bool,
    /// Warnings and notes about the model, each a sentence.
    pub notes: &'a [String],
    /// The scaled accelerations at the start, as SVG.
    pub geometry: Option<String>,
}

/// The derivation alone as a document.
pub fn derivation_article(equations: &mut Equations, context: &DerivationContext) -> Article {
    let title = match equations.model.title.as_str() {
        "" => "Equations of motion".to_string(),
        title => title.to_string(),
    };
    let mut blocks = derivation(equations, context);
    blocks.push(Block::Words(format!("Written by zwang {}.", env!("CARGO_PKG_VERSION"))));
    Article { title, blocks }
}

/// The blocks of the derivation.
pub fn derivation(equations: &mut Equations, context: &DerivationContext) -> Vec<Block> {
    let equations = &mut equations.printed();
    let [stated, asked] = stated_rows(equations);
    let closed = closed_form(equations);
    let free = closed.as_ref().map_or(&[][..], |closed| &closed.free[..]);
    let is_small = equations.model.n_coordinates() <= MOST_COORDINATES && equations.rows.len() <= MOST_ROWS;
    let same = if is_small { equivalent(equations, free) } else { None };
    let mut writer = DerivationWriter { equations, blocks: Vec::new() };
    writer.model(context);
    writer.energy();
    writer.masses();
    writer.constraints(context, &stated);
    writer.at_times();
    writer.controls(&asked);
    writer.events();
    // the drawing does not take friction into account
    let drawing = context.geometry.as_ref().filter(|_| writer.equations.model.frictions.is_empty());
    match &closed {
        Ok(closed) => {
            writer.explicit(closed);
            writer.forces(closed);
            writer.geometry(closed, drawing);
        }
        Err(why) => writer.implicit(why, drawing),
    }
    writer.other_words(same.as_ref());
    writer.blocks.into_iter().map(set).collect()
}

/// A block with the letters of the theory in their own typefaces.
fn set(block: Block) -> Block {
    let all = |lines: Vec<String>| lines.iter().map(|line| with_letters(line)).collect();
    match block {
        Block::Words(text) => Block::Words(with_letters(&text)),
        Block::Formulas(lines) => Block::Formulas(all(lines)),
        Block::Beside(groups) => Block::Beside(groups.into_iter().map(|(title, lines)| (title, all(lines))).collect()),
        block => block,
    }
}

struct DerivationWriter<'e> {
    equations: &'e Equations,
    blocks: Vec<Block>,
}

impl DerivationWriter<'_> {
    fn section(&mut self, title: &str) {
        self.blocks.push(Block::Section(title.into()));
    }

    fn words(&mut self, words: &str) {
        self.blocks.push(Block::Words(words.into()));
    }

    /// Words followed by the formulas they announce; neither if there are no formulas.
    fn announced(&mut self, words: &str, lines: Vec<String>) {
        if lines.iter().any(|line| !is_tautology(line)) {
            self.words(words);
            self.formulas(lines);
        }
    }

    /// Formulas, except those that only repeat a name.
    fn formulas(&mut self, mut lines: Vec<String>) {
        lines.retain(|line| !is_tautology(line));
        if !lines.is_empty() {
            self.blocks.push(Block::Formulas(lines));
        }
    }

    fn tex(&self, e: Expr) -> String {
        self.equations.model.graph.latex(e)
    }

    /// The number of coordinates, or `None` if it is too large for matrices.
    fn n(&self) -> Option<usize> {
        Some(self.equations.model.n_coordinates()).filter(|n| *n <= MOST_COORDINATES)
    }

    /// A table without empty columns.
    fn table<const N: usize>(&mut self, head: [&str; N], mut rows: Vec<Vec<String>>, n_all: usize) {
        if rows.is_empty() {
            return;
        }
        let kept: Vec<usize> = (0..N).filter(|&k| rows.iter().any(|row| !row[k].is_empty())).collect();
        for row in &mut rows {
            *row = kept.iter().map(|&k| std::mem::take(&mut row[k])).collect();
        }
        if rows.len() < n_all {
            rows.push(vec!["…".into(), format!("{n_all} in all")]);
        }
        self.blocks.push(Block::Table(kept.iter().map(|&k| head[k].to_string()).collect(), rows));
    }

    /// A matrix over the coordinates, or a list of its entries if it is too wide for a page.
    fn matrix(&self, letter: &str, rows: &[SparseRow], row_names: &[String]) -> Vec<String> {
        let names = self.coordinate_names();
        let entry =
            |row: &SparseRow, j: usize| row.iter().find(|(k, _)| *k == j).map_or("0".into(), |(_, e)| self.tex(*e));
        let entries: Vec<Vec<String>> =
            rows.iter().map(|row| (0..names.len()).map(|j| entry(row, j)).collect()).collect();
        let width_of = |j: usize| entries.iter().map(|row| width(&row[j])).max().unwrap_or(0);
        if (0..names.len()).map(width_of).sum::<usize>() <= WIDEST_MATRIX {
            return vec![format!("{letter} &= {}", bmatrix(entries.into_iter()))];
        }
        let mut lines = Vec::new();
        for (row, row_name) in entries.iter().zip(row_names) {
            let nonzero = row.iter().zip(&names).filter(|(entry, _)| *entry != "0");
            lines.extend(nonzero.map(|(entry, name)| format!("{} &= {entry}", indexed(letter, &[row_name, name]))));
        }
        lines
    }

    fn dense(&self, rows: &[Vec<Expr>]) -> String {
        bmatrix(rows.iter().map(|row| row.iter().map(|e| self.tex(*e)).collect()))
    }

    /// A vector, or a list of its entries if one is too wide.
    fn column(&self, letter: &str, entries: &[Expr], names: &[String]) -> Vec<String> {
        let entries: Vec<String> = entries.iter().map(|e| self.tex(*e)).collect();
        if entries.iter().all(|entry| width(entry) <= WIDEST_MATRIX) {
            return vec![format!("{letter} &= {}", bmatrix(entries.into_iter().map(|entry| vec![entry])))];
        }
        entries.iter().zip(names).map(|(entry, name)| format!("{} &= {entry}", indexed(letter, &[name]))).collect()
    }

    /// The index of quantities that belong to a row, as in the LaTeX of its multiplier.
    fn row_name(&self, row: &ConstraintRow) -> String {
        let lambda = self.tex(row.lambda);
        lambda.strip_prefix("\\lambda_{").and_then(|name| name.strip_suffix('}')).unwrap_or(&row.name).to_string()
    }

    fn coordinate_names(&self) -> Vec<String> {
        self.equations.model.coordinates.iter().map(|c| self.tex(c.q)).collect()
    }
}

/// An entry of a vector or matrix: `M_{x,y}` of `\\M`.
fn indexed(letter: &str, indices: &[&String]) -> String {
    let letter = letter.trim_start_matches('\\');
    let (letter, own) = letter.split_once('_').unwrap_or((letter, ""));
    let own = Some(own).filter(|own| !own.is_empty());
    let indices: Vec<&str> = own.into_iter().chain(indices.iter().map(|i| i.as_str())).collect();
    format!("{letter}_{{{}}}", indices.join(",\\,"))
}

/// `true` if both sides are equal: a quantity that has a name already.
fn is_tautology(line: &str) -> bool {
    line.split_once(" &= ").is_some_and(|(left, right)| left == right)
}

fn bmatrix(rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<String> = rows.map(|row| row.join(" & ")).collect();
    format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", rows.join(" \\\\ "))
}

fn named(name: &str) -> String {
    format!("`{name}`")
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
