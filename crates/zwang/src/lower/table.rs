//! Tables: columns of numbers from files, as smooth functions of their argument.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use crate::csv_table::{CsvColumn, CsvTable};
use crate::diagnostic::Diagnostic;
use crate::lower::value::{Quantity, Value};
use crate::lower::{Dim, Files, Lower, Lowering};
use crate::quantity::number;
use crate::syntax::Span;
use crate::syntax::tree::*;
use crate::{analysis::start::joined, tolerance};
use zwang_expr::{Table, TableError};

/// The highest derivative of a table that does not vanish: its pieces have degree 5.
const HIGHEST_ORDER: usize = 5;

/// An example of the syntax.
const FORM: &str = "table(\"drive.csv\", t)   or with a column   table(\"drive.csv\", t, \"force\")";

/// The tables that the model reads from files.
pub(super) struct Tables<'a> {
    files: Files<'a>,
    /// The tables read so far; `None` for a file that could not be read.
    sheets: FxHashMap<String, Option<Rc<CsvTable>>>,
    /// Tables over the time, each with its last time and its position in the text.
    timed: Vec<(String, f64, Span)>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(files: Files<'a>) -> Tables<'a> {
        Tables { files, sheets: FxHashMap::default(), timed: Vec::new() }
    }
}

impl Lower<'_> {
    /// `table("drive.csv", t)`, `table("drive.csv", t, "force")`; an integer at the end is the order of a derivative.
    pub(super) fn table(&mut self, arguments: &[Formula], span: Span) -> Lowering<Value> {
        let (file, rest) = match arguments {
            [Formula { kind: FormulaKind::Text(file), .. }, rest @ ..] if (1..=3).contains(&rest.len()) => (file, rest),
            [Formula { kind: FormulaKind::Text(_), .. }, ..] | [] => {
                let d = Diagnostic::error("Z107", "`table` takes a file name and an argument");
                return self.report(d.at(span, "wrong number of arguments").help(FORM));
            }
            [first, ..] => {
                let d = Diagnostic::error("Z107", "`table` takes a file name in quotes first");
                return self.report(d.at(first.span, "a text is expected").help(FORM));
            }
        };
        let argument = self.scalar(&rest[0])?;
        let (column, order) = match &rest[1..] {
            [Formula { kind: FormulaKind::Text(name), .. }] => (Some(name.as_str()), None),
            [Formula { kind: FormulaKind::Text(name), .. }, order] => (Some(name.as_str()), Some(order)),
            [order] => (None, Some(order)),
            _ => (None, None),
        };
        let order = order.map_or(Ok(0), |order| self.order(order))?;
        let sheet = self.sheet(file, span)?;
        let value = self.column(file, &sheet, column, span)?;
        let table = self.spline(file, &sheet, (column.unwrap_or(""), value), span)?;
        let dim = self.table_dim(&sheet.columns[0], value, (&argument.dim, rest[0].span), order)?;
        if argument.expr == self.model.time {
            self.tables.timed.push((file.clone(), table.range().1, span));
        }
        let mut id = self.graph.add_table(table);
        (0..order).for_each(|_| id = self.graph.slope_of_table(id));
        Ok(Value::Scalar(Quantity::new(self.graph.look(id, argument.expr), dim)))
    }

    /// Z111: a run that ends later than a table over the time.
    pub(super) fn tables_last(&mut self) {
        let Some(run) = &self.model.run else { return };
        let end = self.model.constants_in(&self.graph, &[run.duration])[0];
        let mut reported = Vec::new();
        for (file, last, span) in std::mem::take(&mut self.tables.timed) {
            if end > last * (1.0 + tolerance::TABLE_END) && !reported.contains(&file) {
                let message =
                    format!("the run lasts until t = {}, the table `{file}` only until {}", number(end), number(last));
                let d = Diagnostic::warning("Z111", message).at(span, "has no value later on");
                self.diagnostics.push(d.help("run as long as the table lasts, or add rows to it"));
                reported.push(file);
            }
        }
    }

    /// The order of the derivative of a table.
    fn order(&mut self, formula: &Formula) -> Lowering<usize> {
        let written = match &formula.kind {
            FormulaKind::Number(written) => written.parse().ok().filter(|order| *order <= HIGHEST_ORDER),
            _ => None,
        };
        written.map_or_else(
            || {
                let d = Diagnostic::error("Z107", "a table is differentiated up to five times");
                self.report(d.at(formula.span, "a whole number, or a column in quotes, is expected").help(FORM))
            },
            Ok,
        )
    }

    /// The rows of a file, read once.
    fn sheet(&mut self, file: &str, span: Span) -> Lowering<Rc<CsvTable>> {
        if let Some(known) = self.tables.sheets.get(file) {
            return known.clone().ok_or(crate::lower::Reported);
        }
        let read = (self.tables.files)(file).and_then(|text| CsvTable::parse(&text));
        let sheet = read.as_ref().ok().cloned().map(Rc::new);
        self.tables.sheets.insert(file.to_string(), sheet.clone());
        match (read, sheet) {
            (Err(why), _) => self.no_table(file, &why, span),
            (Ok(_), Some(sheet)) if sheet.columns.len() >= 2 => Ok(sheet),
            _ => self.no_table(file, "it has one column; an argument and a value are needed", span),
        }
    }

    fn no_table<T>(&mut self, file: &str, why: &str, span: Span) -> Lowering<T> {
        let d =
            Diagnostic::error("Z111", format!("the table `{file}` cannot be used: {why}")).at(span, "asked for here");
        self.report(d.help("a row per line, the argument first: `t [s], F [N]`, then `0, 1.5` and so on"))
    }

    /// The column of values: the one that is named, or the only one.
    fn column<'s>(
        &mut self,
        file: &str,
        sheet: &'s CsvTable,
        name: Option<&str>,
        span: Span,
    ) -> Lowering<&'s CsvColumn> {
        match name {
            Some(name) => match sheet.columns[1..].iter().find(|column| column.name == name) {
                Some(column) => Ok(column),
                None => {
                    let why = format!("it has no column `{name}` but {}", joined(&sheet.names()[1..]));
                    self.no_table(file, &why, span)
                }
            },
            None if sheet.columns.len() == 2 => Ok(&sheet.columns[1]),
            None => {
                let d = Diagnostic::error("Z111", format!("the table `{file}` has several columns of values"));
                let d = d.at(span, "which one?").with_note(format!("they are {}", joined(&sheet.names()[1..])));
                self.report(d.help(FORM))
            }
        }
    }

    fn spline(
        &mut self,
        file: &str,
        sheet: &CsvTable,
        (name, value): (&str, &CsvColumn),
        span: Span,
    ) -> Lowering<Table> {
        let line = |row: usize| sheet.lines.get(row).copied().unwrap_or(0);
        let why = match Table::new(file, name, &sheet.columns[0].values, &value.values) {
            Ok(table) => return Ok(table),
            Err(TableError::TooFew) => "it has fewer than two rows".to_string(),
            Err(TableError::NotGrowing(row)) => {
                format!("in line {} the argument does not grow", line(row))
            }
            Err(TableError::NotFinite(row)) => format!("line {} has a number that is not finite", line(row)),
            Err(TableError::Overflow) => "its numbers are too large, or its rows too close to each other".into(),
        };
        self.no_table(file, &why, span)
    }

    /// The dimension from the units of the first row; without a unit, it is unknown.
    fn table_dim(
        &mut self,
        argument: &CsvColumn,
        value: &CsvColumn,
        (given, at): (&Dim, Span),
        order: usize,
    ) -> Lowering<Dim> {
        if let Some(unit) = &argument.unit {
            let wanted = Dim::from(unit.dimension);
            self.same_dimension((&wanted, at), (given, at), "the argument of a table differs from its first column")?;
        }
        let whole = match &value.unit {
            Some(unit) => Dim::from(unit.dimension),
            None => self.dimensions.unknown(None),
        };
        Ok(whole.times(given, -(order as f64)))
    }
}
