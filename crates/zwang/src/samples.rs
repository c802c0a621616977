//! A motion as columns of numbers, with names that every program accepts.

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

use crate::syntax::name;

/// A quantity along the motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// ASCII name for files: `t`, `x`, `x_dot`, `lambda_rod`, `fc_x`, `res_rod`, `E`, outputs.
    pub name: String,
    /// The model's own symbol: `θ'`, `|reaction(rod)|`.
    pub label: String,
    /// Unit such as `m/s`, empty if there is none.
    pub unit: String,
    /// One value per row.
    pub values: Vec<f64>,
}

/// The motion at chosen times; the first column is t.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Columns of equal length.
    pub columns: Vec<Column>,
}

impl Samples {
    /// The column of that name, or `None`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// The number of rows of every column.
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.values.len())
    }
}

/// A name for files and other programs: `θ` is `theta`, `x[1]` is `x_1`, `x'` is `x_dot`, `q₁` is `q_1`.
///
/// Every other character becomes an underscore. The name is never empty and never starts with a digit.
pub fn ascii_name(written: &str) -> String {
    // an accent or dot above a letter is removed
    let plain: String = written.nfd().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).collect();
    let spelled = name::ascii(&spelled_primes(&plain));
    let parts: Vec<&str> = spelled.split('_').filter(|part| !part.is_empty()).collect();
    match parts.join("_") {
        empty if empty.is_empty() => "unnamed".into(),
        digit if digit.starts_with(|c: char| c.is_ascii_digit()) => format!("_{digit}"),
        other => other,
    }
}

/// `x'` as `x_dot`, `x''` as `x_ddot`, `x'''` as `x_dddot`.
fn spelled_primes(written: &str) -> String {
    let mut out = String::with_capacity(written.len());
    let mut n_primes = 0;
    for c in written.chars().chain(['\0']) {
        match c {
            '\'' | '′' => n_primes += 1,
            '″' => n_primes += 2,
            _ => {
                if n_primes > 0 {
                    out.push_str(&format!("_{}ot_", "d".repeat(n_primes)));
                    n_primes = 0;
                }
                out.push(c);
            }
        }
    }
    out.truncate(out.len() - 1);
    out
}

/// The names with `_2`, `_3`, … appended to repeated ones; the first of equal names does not change.
pub fn unique_names(names: &[String]) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut met: HashMap<&str, usize> = HashMap::new();
    let mut unique = |name| {
        let n = met.entry(name).or_insert(0);
        *n += 1;
        if *n == 1 {
            return name.to_string();
        }
        loop {
            let next = format!("{name}_{n}");
            if taken.insert(next.clone()) {
                return next;
            }
            *n += 1;
        }
    };
    names.iter().map(|name| unique(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_ascii() {
        let cases = [
            ("θ", "theta"),
            ("theta", "theta"),
            ("x[1]", "x_1"),
            ("rod.x", "rod_x"),
            ("x'", "x_dot"),
            ("x''", "x_ddot"),
            ("x″", "x_ddot"),
            ("q₁", "q_1"),
            ("q₁₂'", "q_12_dot"),
            ("x[1, 2]'", "x_1_2_dot"),
            ("Ω_s", "Omega_s"),
            ("|reaction(rod)|", "reaction_rod"),
            ("Größe", "Gro_e"),
            ("é", "e"),
            ("2nd", "_2nd"),
            ("", "unnamed"),
            ("'", "dot"),
            ("→", "unnamed"),
        ];
        for (written, name) in cases {
            assert_eq!(ascii_name(written), name, "{written}");
        }
    }

    #[test]
    fn equal_names_are_distinguished() {
        let names = ["x", "x", "x_2", "y", "x"].map(String::from);
        assert_eq!(unique_names(&names), ["x", "x_3", "x_2", "y", "x_4"]);
    }

    #[test]
    fn columns_are_found_by_name() {
        let t = Column { name: "t".into(), unit: "s".into(), values: vec![0.0, 0.5], ..Default::default() };
        let samples = Samples { columns: vec![t] };
        assert_eq!(samples.column("t").unwrap().unit, "s");
        assert_eq!(samples.column("x"), None);
        assert_eq!((samples.n_rows(), Samples::default().n_rows()), (2, 0));
    }
}
