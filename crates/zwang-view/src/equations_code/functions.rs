//! One function for each quantity: named local variables, parts, entries.

use std::collections::HashSet;
use std::fmt::Write;

use zwang_expr::{Expr, Node, Notation, TableId, Unwritable};

use super::Sheet;
use super::quantity::{CodeQuantity, QuantityShape};

/// The number of columns after which a line is broken.
const WIDEST: usize = 110;

/// The largest number of names bound in one line.
const NAMES_IN_LINE: usize = 6;

/// The syntax of a language around formulas.
pub(super) trait FunctionSyntax: Notation {
    /// The start of a comment.
    const COMMENT: &'static str;
    /// The end of a statement.
    const STOP: &'static str;
    /// `true` if a formula on several lines needs brackets.
    const NEEDS_BRACKETS: bool;

    /// The introduction and the example of a call as comment or documentation, and the definitions that all functions
    /// need.
    fn begin(&self, sheet: &Sheet) -> String;
    /// The code that evaluates tables, once per file.
    fn lookup(&self) -> String;
    /// The numbers of a table; formulas refer to it by its index.
    fn table(&self, table: TableId, knots: &str, pieces: &str, n_pieces: usize) -> String;
    /// The first lines of a function, up to the computation.
    fn open(&self, quantity: &CodeQuantity, sheet: &Sheet, unused: &[&str]) -> String;
    /// Bindings of names to values.
    fn bind(&self, pairs: &[(&str, String)]) -> String;
    /// The access to a parameter.
    fn parameter(&self, name: &str) -> String;
    /// An array of zeros for the entries, of which some or all are then written; empty for a scalar.
    fn zeros(&self, shape: QuantityShape, all_written: bool) -> String;
    /// The left side of the assignment to an entry; for a scalar, the return of the value.
    fn entry(&self, shape: QuantityShape, row: usize, col: usize) -> String;
    /// The end of the function.
    fn close(&self, shape: QuantityShape) -> String;
}

/// The whole file.
pub(super) fn write_functions<L: FunctionSyntax>(sheet: &Sheet, layout: &L) -> String {
    let mut out = layout.begin(sheet);
    out += &tables(sheet, layout);
    for quantity in &sheet.quantities {
        out.push('\n');
        match function(sheet, layout, quantity) {
            Ok(text) => out += &text,
            Err(why) => {
                let _ = writeln!(out, "{} {}: {}", L::COMMENT, quantity.name, reason(sheet, &why));
            }
        }
    }
    out
}

/// The reason why a quantity is missing.
pub(super) fn reason(sheet: &Sheet, why: &Unwritable) -> String {
    match why {
        Unwritable::TooLong => "too long to be read; `zwang export` writes a function that computes it".into(),
        Unwritable::Symbol(e) => {
            let name = sheet.equations.model.graph.name(*e);
            format!("`{name}` has no value that a function of the state could give")
        }
    }
}

fn tables<L: FunctionSyntax>(sheet: &Sheet, layout: &L) -> String {
    let graph = &sheet.equations.model.graph;
    let used = used_tables(sheet);
    if used.is_empty() {
        return String::new();
    }
    let mut out = layout.lookup();
    let list = |values: &mut dyn Iterator<Item = f64>| values.map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ");
    for id in used {
        let table = graph.table(id);
        let derivative = if table.order() > 0 { format!(", derivative {}", table.order()) } else { String::new() };
        let column = if table.column().is_empty() { String::new() } else { format!(", column {}", table.column()) };
        let _ = writeln!(out, "\n{} {}{column}{derivative}", L::COMMENT, one_line(table.name()));
        let knots = list(&mut table.knots().iter().copied());
        let pieces = list(&mut table.pieces().iter().flatten().copied());
        out += &layout.table(id, &knots, &pieces, table.pieces().len());
    }
    out
}

/// The tables that formulas use.
pub(super) fn used_tables(sheet: &Sheet) -> Vec<TableId> {
    let graph = &sheet.equations.model.graph;
    let values = sheet.quantities.iter().flat_map(CodeQuantity::values).chain(sheet.parts.iter().map(|p| p.value));
    let (mut seen, mut open) = (HashSet::new(), values.collect::<Vec<Expr>>());
    let mut used = Vec::new();
    while let Some(e) = open.pop() {
        if seen.insert(e) {
            if let Node::Look(table, _) = graph.node(e) {
                used.push(table);
            }
            open.extend(graph.node(e).operands().iter());
        }
    }
    used.sort_unstable();
    used.dedup();
    used
}

fn function<L: FunctionSyntax>(sheet: &Sheet, layout: &L, quantity: &CodeQuantity) -> Result<String, Unwritable> {
    let (graph, names) = (&sheet.equations.model.graph, &sheet.names);
    let entries = quantity.entries.iter().map(|entry| graph.source(entry.value, &names.of, layout));
    let entries = entries.collect::<Result<Vec<String>, Unwritable>>()?;
    let mut used = Used::default();
    entries.iter().for_each(|text| used.add(text));

    // used parts from the last to the first, because each may use those before it
    let mut parts = Vec::new();
    for (part, name) in sheet.parts.iter().zip(&names.parts).rev() {
        if used.has(name) {
            let value = graph.source(part.value, &names.of, layout)?;
            used.add(&value);
            parts.push((part, name, value));
        }
    }
    let (bound, unused) = bound(sheet, layout, quantity, &used);
    let mut out = layout.open(quantity, sheet, &unused) + &bound;
    let mut last = "";
    for (part, name, value) in parts.iter().rev() {
        if part.meaning != last {
            last = &part.meaning;
            let _ = writeln!(out, "    {} {}", L::COMMENT, one_line(last));
        }
        let _ = writeln!(out, "    {}", layout.bind(&[(name, broken::<L>(value))]));
    }
    out += &layout.zeros(quantity.shape, quantity.entries.len() == quantity.n_entries());
    for (entry, value) in quantity.entries.iter().zip(&entries) {
        let (place, value) = (layout.entry(quantity.shape, entry.row, entry.col), broken::<L>(value));
        let label = if entry.label.is_empty() { String::new() } else { format!("  {} {}", L::COMMENT, entry.label) };
        // a comment after the last of several lines would be misleading
        let _ = match value.contains('\n') && !label.is_empty() {
            true => writeln!(out, "    {}\n    {place}{value}{}", label.trim_start(), L::STOP),
            false => writeln!(out, "    {place}{value}{}{label}", L::STOP),
        };
    }
    Ok(out + &layout.close(quantity.shape))
}

/// The names in the written formulas; some names of an expression cancel when it is written.
#[derive(Default)]
struct Used(HashSet<String>);

impl Used {
    fn add(&mut self, text: &str) {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        self.0.extend(words.filter(|word| !word.is_empty()).map(String::from));
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// Lines that bind the used names to their values, and the arguments that are not used.
fn bound<L: FunctionSyntax>(
    sheet: &Sheet,
    layout: &L,
    quantity: &CodeQuantity,
    used: &Used,
) -> (String, Vec<&'static str>) {
    let names = &sheet.names;
    let from = |list: &'_ [String], place: &dyn Fn(usize, &str) -> String| -> Vec<(String, String)> {
        let used = list.iter().enumerate().filter(|(_, name)| used.has(name));
        used.map(|(i, name)| (name.clone(), place(i, name))).collect()
    };
    let all = [
        ("q", from(&names.coordinates, &|i, _| format!("q[{i}]")), true),
        ("v", from(&names.velocities, &|i, _| format!("v[{i}]")), true),
        ("p", from(&names.parameters, &|_, name| layout.parameter(name)), sheet.has_parameters()),
        ("lam", from(&names.multipliers, &|i, _| format!("lam[{i}]")), quantity.takes_multipliers),
    ];
    let mut out = String::new();
    for pairs in all.iter().flat_map(|(_, pairs, _)| pairs.chunks(NAMES_IN_LINE)) {
        let pairs: Vec<(&str, String)> = pairs.iter().map(|(name, place)| (name.as_str(), place.clone())).collect();
        let _ = writeln!(out, "    {}", layout.bind(&pairs));
    }
    let unused =
        all.iter().filter(|(_, pairs, is_there)| *is_there && pairs.is_empty()).map(|(argument, ..)| *argument);
    let time = (!used.has("t")).then_some("t");
    (out, time.into_iter().chain(unused).collect())
}

impl Sheet<'_> {
    /// The parameters: name, value, and the user's description.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (&str, f64, String)> {
        let model = &self.equations.model;
        let all = model.parameters.iter().zip(&self.names.parameters).zip(&model.parameter_values);
        all.map(|((parameter, name), value)| {
            let description = parameter.description.as_deref().map(one_line).unwrap_or_default();
            let description = match (*name == parameter.name, description.is_empty()) {
                (true, _) => description,
                (false, true) => parameter.name.clone(),
                (false, false) => format!("{}: {description}", parameter.name),
            };
            (name.as_str(), *value, description)
        })
    }

    pub(super) fn has_parameters(&self) -> bool {
        !self.equations.model.parameters.is_empty()
    }

    pub(super) fn n(&self) -> usize {
        self.equations.model.coordinates.len()
    }

    /// The quantity of the example: the accelerations, or the given force if there are none.
    pub(super) fn example(&self) -> &'static str {
        let has = |name: &str| self.quantities.iter().any(|q| q.name == name);
        if has("accelerations") { "accelerations" } else { "given_force" }
    }
}

/// The text on one line, so that it does not end a comment.
pub(super) fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).collect::<Vec<_>>().join(" ")
}

/// A long formula on several lines, broken before its terms.
fn broken<L: FunctionSyntax>(value: &str) -> String {
    broken_lines(value, L::NEEDS_BRACKETS)
}

pub(super) fn broken_lines(value: &str, needs_brackets: bool) -> String {
    if value.len() <= WIDEST {
        return value.to_string();
    }
    let (mut out, mut width) = (String::new(), 0);
    let mut rest = value;
    while !rest.is_empty() {
        // up to the next sign between terms
        let next =
            [" + ", " - "].iter().filter_map(|sign| rest.get(1..)?.find(sign)).min().map_or(rest.len(), |at| at + 1);
        let (term, after) = rest.split_at(next);
        if width > 0 && width + term.len() > WIDEST {
            out.push_str("\n       ");
            width = 0;
        }
        out.push_str(term);
        width += term.len();
        rest = after;
    }
    if needs_brackets && out.contains('\n') { format!("({out})") } else { out }
}
