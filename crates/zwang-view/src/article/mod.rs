//! A document as a list of blocks, written as HTML, LaTeX or Markdown.
//!
//! Words may hold `names` in backticks and formulas between dollars, as in Markdown; every writer sets them in its own way. A
//! mark behind a backslash is no mark.

mod html;
mod latex;
mod markdown;
mod tikz;

use crate::formula::width;
pub use html::article_html;
pub(crate) use html::{body as article_body, filled};
pub use latex::article_latex;
pub(crate) use latex::pasted;
pub use markdown::article_markdown;

/// A document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Article {
    /// Above everything, plain text.
    pub title: String,
    /// What follows, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A section.
    Section(String),
    /// A part of a section.
    Part(String),
    /// A paragraph.
    Words(String),
    /// Lines of a list.
    List(Vec<String>),
    /// Formulas below each other: LaTeX, each with at most one `&` outside matrices, where they are aligned.
    Formulas(Vec<String>),
    /// Groups of formulas beside each other where there is room, each with a heading.
    Beside(Vec<(String, Vec<String>)>),
    /// A model as it is typed.
    Code(String),
    /// What the program prints.
    Printed(String),
    /// Rows of cells below a head, which may be empty.
    Table(Vec<String>, Vec<Vec<String>>),
    /// A drawing as SVG of our own making, and what it shows.
    Picture(String, String),
}

/// A stretch of words.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Run<'t> {
    Plain(&'t str),
    Name(&'t str),
    Formula(&'t str),
}

/// Words taken apart at backticks and dollars; a mark that is not closed stands for itself, as one behind a backslash does.
fn runs(words: &str) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let mut rest = words;
    while let Some(at) = rest.find(['`', '$', '\\']) {
        let (before, marked) = rest.split_at(at);
        let mark = &marked[..1];
        let end = match mark {
            // a letter that would be a mark
            "\\" if marked[1..].starts_with(['`', '$', '\\']) => 1,
            "\\" => 0,
            _ => match marked[1..].find(mark) {
                Some(end) => end + 1,
                None => break,
            },
        };
        runs.extend((!before.is_empty()).then_some(Run::Plain(before)));
        runs.push(match mark {
            "\\" => Run::Plain(&marked[end..=end]),
            "`" => Run::Name(&marked[1..end]),
            _ => Run::Formula(&marked[1..end]),
        });
        rest = &marked[end + 1..];
    }
    runs.extend((!rest.is_empty()).then_some(Run::Plain(rest)));
    runs
}

/// Symbols that may stand left of where formulas are aligned.
const LONGEST_LEFT: usize = 16;

/// Whether lines are aligned at their `&`: one long left side would push all the rest off the page.
fn is_aligned(lines: &[impl AsRef<str>]) -> bool {
    lines.iter().all(|line| sides(line.as_ref()).0.is_none_or(|left| width(left) <= LONGEST_LEFT))
}

/// A line of an `align` apart: what stands left of its `&`, and the rest; none where it has no `&` of its own.
fn sides(line: &str) -> (Option<&str>, &str) {
    let line = line.trim();
    let outside = line.find("\\begin").unwrap_or(line.len());
    match line[..outside].find('&') {
        Some(at) => (Some(line[..at].trim()), line[at + 1..].trim()),
        None => (None, line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_names_and_formulas() {
        assert_eq!(
            runs("of `x` and $y^2$, 5 $"),
            [Run::Plain("of "), Run::Name("x"), Run::Plain(" and "), Run::Formula("y^2"), Run::Plain(", 5 $")]
        );
        assert_eq!(runs("``"), [Run::Name("")]);
        assert_eq!(
            runs(r"5 \$ \x"),
            [Run::Plain("5 "), Run::Plain("$"), Run::Plain(" "), Run::Plain("\\"), Run::Plain("x")]
        );
        assert_eq!(runs(""), []);
    }

    #[test]
    fn only_the_first_mark_outside_matrices_aligns() {
        assert_eq!(sides("a &= b"), (Some("a"), "= b"));
        assert_eq!(sides(r"\begin{cases} a & b \end{cases}"), (None, r"\begin{cases} a & b \end{cases}"));
    }
}
