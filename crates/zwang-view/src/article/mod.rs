//! A document as a list of blocks, written as HTML, LaTeX or Markdown.
//!
//! Words may contain `names` in backticks and formulas between dollars, as in Markdown; every writer sets them in its
//! own way. A mark after a backslash is literal.

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
    /// The title, as plain text.
    pub title: String,
    /// The blocks, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A section.
    Section(String),
    /// A subsection.
    Part(String),
    /// A paragraph.
    Words(String),
    /// Lines of a list.
    List(Vec<String>),
    /// Formulas below each other: LaTeX, each with at most one `&` outside matrices, at which they are aligned.
    Formulas(Vec<String>),
    /// Groups of formulas, each with a heading, placed next to each other if there is space.
    Beside(Vec<(String, Vec<String>)>),
    /// The text of a model.
    Code(String),
    /// Output of the program.
    Printed(String),
    /// Rows of cells below a head, which may be empty.
    Table(Vec<String>, Vec<Vec<String>>),
    /// A drawing as SVG generated here, and its caption.
    Picture(String, String),
}

/// A run of words of one kind.
#[derive(Copy, Clone, Debug, PartialEq)]
enum TextRun<'t> {
    Plain(&'t str),
    Name(&'t str),
    Formula(&'t str),
}

/// Words split at backticks and dollars; an unclosed mark, or one after a backslash, is literal.
fn runs(words: &str) -> Vec<TextRun<'_>> {
    let mut runs = Vec::new();
    let mut rest = words;
    while let Some(at) = rest.find(['`', '$', '\\']) {
        let (before, marked) = rest.split_at(at);
        let mark = &marked[..1];
        let end = match mark {
            // an escaped mark
            "\\" if marked[1..].starts_with(['`', '$', '\\']) => 1,
            "\\" => 0,
            _ => match marked[1..].find(mark) {
                Some(end) => end + 1,
                None => break,
            },
        };
        runs.extend((!before.is_empty()).then_some(TextRun::Plain(before)));
        runs.push(match mark {
            "\\" => TextRun::Plain(&marked[end..=end]),
            "`" => TextRun::Name(&marked[1..end]),
            _ => TextRun::Formula(&marked[1..end]),
        });
        rest = &marked[end + 1..];
    }
    runs.extend((!rest.is_empty()).then_some(TextRun::Plain(rest)));
    runs
}

/// The largest width of the left side of aligned formulas, in symbols.
const LONGEST_LEFT: usize = 16;

/// `true` if lines are aligned at their `&`; one long left side would push all right sides off the page.
fn is_aligned(lines: &[impl AsRef<str>]) -> bool {
    lines.iter().all(|line| sides(line.as_ref()).0.is_none_or(|left| width(left) <= LONGEST_LEFT))
}

/// The part of an `align` line left of its `&`, or `None` if it has no `&` of its own, and the rest.
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
            [
                TextRun::Plain("of "),
                TextRun::Name("x"),
                TextRun::Plain(" and "),
                TextRun::Formula("y^2"),
                TextRun::Plain(", 5 $")
            ]
        );
        assert_eq!(runs("``"), [TextRun::Name("")]);
        assert_eq!(
            runs(r"5 \$ \x"),
            [TextRun::Plain("5 "), TextRun::Plain("$"), TextRun::Plain(" "), TextRun::Plain("\\"), TextRun::Plain("x")]
        );
        assert_eq!(runs(""), []);
    }

    #[test]
    fn only_the_first_mark_outside_matrices_aligns() {
        assert_eq!(sides("a &= b"), (Some("a"), "= b"));
        assert_eq!(sides(r"\begin{cases} a & b \end{cases}"), (None, r"\begin{cases} a & b \end{cases}"));
    }
}
