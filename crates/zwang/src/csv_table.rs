//! Rows of numbers from a text, such as a CSV file, with names and units of the columns.

use crate::syntax;
use crate::units::Unit;
use crate::visible::excerpt;

/// The largest number of characters of a cell that a message shows.
const SHOWN: usize = 24;

/// One column of a table, in SI units if its unit is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsvColumn {
    /// The name in the first row; empty if there is none.
    pub name: String,
    /// The unit, if the first row gives one: `x [mm]`.
    pub unit: Option<Unit>,
    /// One value per row.
    pub values: Vec<f64>,
}

/// Columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsvTable {
    /// The columns, in order.
    pub columns: Vec<CsvColumn>,
    /// The line of each row in the text, counted from 1.
    pub lines: Vec<usize>,
}

impl CsvTable {
    /// Reads a text with one row per line, values separated by commas, semicolons, tabs or blanks, and optional names
    /// in the first row. Empty lines and lines that begin with `#` are ignored. An error states the mistake and its
    /// line.
    pub fn parse(text: &str) -> Result<CsvTable, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let meaningful = |(_, line): &(usize, &str)| !line.is_empty() && !line.starts_with('#');
        let mut lines = text.lines().enumerate().map(|(k, line)| (k + 1, line.trim())).filter(meaningful).peekable();
        let Some(&(_, first)) = lines.peek() else { return Err("it has no rows".into()) };
        let mark = [';', ',', '\t'].into_iter().find(|mark| first.contains(*mark));
        let fields = |line: &str| -> Vec<String> {
            let clean = |field: &str| field.trim().trim_matches('"').trim().to_string();
            match mark {
                Some(mark) => line.split(mark).map(clean).collect(),
                None => line.split_whitespace().map(clean).collect(),
            }
        };
        let head = fields(first);
        let mut table = CsvTable { columns: vec![CsvColumn::default(); head.len()], lines: Vec::new() };
        if head.iter().any(|field| field.parse::<f64>().is_err()) {
            lines.next();
            for (column, field) in table.columns.iter_mut().zip(&head) {
                column.read_head(field)?;
            }
        }
        for (at, line) in lines {
            let row = fields(line);
            if row.len() != head.len() {
                return Err(format!("line {at} has {} values, the first row {}", row.len(), head.len()));
            }
            for (column, field) in table.columns.iter_mut().zip(&row) {
                let value: f64 =
                    field.parse().map_err(|_| format!("line {at}: `{}` is not a number", excerpt(field, SHOWN)))?;
                column.values.push(value * column.unit.as_ref().map_or(1.0, Unit::factor));
            }
            table.lines.push(at);
        }
        Ok(table)
    }

    /// The column of this name, or `None`.
    pub fn column(&self, name: &str) -> Option<&CsvColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The names of all columns, for messages.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| format!("`{}`", excerpt(&column.name, SHOWN))).collect()
    }
}

impl CsvColumn {
    /// `x`, `x [m]` or `x (m)`.
    fn read_head(&mut self, field: &str) -> Result<(), String> {
        let unit = [('[', ']'), ('(', ')')].into_iter().find_map(|(open, close)| {
            let inside = field.strip_suffix(close)?;
            let at = inside.rfind(open)?;
            Some((inside[..at].trim(), inside[at + 1..].trim()))
        });
        let Some((name, written)) = unit else {
            self.name = field.into();
            return Ok(());
        };
        self.name = name.into();
        if !written.is_empty() {
            let unit = syntax::unit(written);
            let unknown =
                || format!("the unit `{}` of column `{}` is not known", excerpt(written, SHOWN), excerpt(name, SHOWN));
            self.unit = Some(unit.ok_or_else(unknown)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_units_and_marks_are_understood() {
        let texts =
            ["t [s], x [mm]\n0, 1\n0.5, 2.5\n", "\u{feff}# drive\nt [s];x (mm)\n\n0;1\n0.5;2.5", "0 0.001\n0.5  25e-4"];
        for text in texts {
            let table = CsvTable::parse(text).unwrap();
            assert_eq!(table.columns[0].values, [0.0, 0.5], "{text}");
            assert_eq!(table.columns[1].values, [0.001, 0.0025], "{text}");
        }
        let table = CsvTable::parse(texts[0]).unwrap();
        assert_eq!((table.columns[1].name.as_str(), &table.lines[..]), ("x", &[2, 3][..]));
        assert!(table.column("x").is_some() && table.column("y").is_none());
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        for (text, message) in [
            ("", "no rows"),
            ("# only this", "no rows"),
            ("t,x\n0,1\n1\n", "line 3 has 1 values"),
            ("t,x\n0,1\n1,one\n", "line 3: `one` is not a number"),
            ("t [parsec], x\n0,1", "`parsec`"),
        ] {
            let found = CsvTable::parse(text).unwrap_err();
            assert!(found.contains(message), "{text:?}: {found}");
        }
    }
}
