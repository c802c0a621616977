//! Documents as HTML, with formulas as MathML, which browsers typeset themselves.

use super::{Article, Block, TextRun, is_aligned, runs, sides};
use crate::content_policy::policy;
use crate::formula::{broken, broken_equation, escaped, formula, readable, width};

const HTML: &str = include_str!("../../assets/article.html");
const CSS: &str = include_str!("../../assets/page.css");

/// The number of formulas above which a group is folded.
const LONG_GROUP: usize = 24;

/// The length of LaTeX above which a group is folded, in bytes.
const MUCH_LATEX: usize = 15_000;

/// The number of symbols in a row after which a formula is broken; about the width of a page of 1000 pixels.
const WIDEST_HTML: usize = 66;

/// The number of symbols in a row above which a group takes the whole width of the page.
const WIDEST_GROUP: usize = 34;

/// The number of symbols that fit on paper at full size.
const PAPER: usize = 64;

/// The smallest scale of printed formulas.
const LEAST_FIT: f64 = 0.4;

/// The document as a self-contained page.
pub fn article_html(article: &Article) -> String {
    let parts = [
        ("title", escaped(&article.title)),
        ("policy", policy(&[], &[CSS])),
        ("css", CSS.to_string()),
        ("body", body(&article.blocks)),
    ];
    filled(HTML, &parts)
}

/// A template with its placeholders filled.
pub(crate) fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    // one pass, so that braces in the inserted text are not interpreted
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the template closes its places");
        let (_, text) = parts.iter().find(|(n, _)| *n == name).expect("the template names known places");
        out.push_str(before);
        out.push_str(text);
        rest = after;
    }
    out + rest
}

/// The blocks without the page around them.
pub(crate) fn body(blocks: &[Block]) -> String {
    blocks.iter().map(written).collect()
}

fn written(block: &Block) -> String {
    match block {
        Block::Section(title) => format!("<h2>{}</h2>\n", words(title)),
        Block::Part(title) => format!("<h3>{}</h3>\n", words(title)),
        Block::Words(text) => format!("<p>{}</p>\n", words(text)),
        Block::List(lines) => {
            let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", words(line))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
        Block::Formulas(lines) => formulas(lines),
        Block::Beside(groups) => {
            let is_wide =
                |line: &String| broken(sides(line).1, WIDEST_HTML).iter().any(|row| width(row) > WIDEST_GROUP);
            let group = |(title, lines): &(String, Vec<String>)| {
                let class = if lines.iter().any(is_wide) { "group wide" } else { "group" };
                format!("<div class=\"{class}\"><h3>{}</h3>\n{}</div>\n", words(title), formulas(lines))
            };
            format!("<div class=\"beside\">\n{}</div>\n", groups.iter().map(group).collect::<String>())
        }
        Block::Code(text) => format!("<pre class=\"model\"><code>{}</code></pre>\n", highlighted(text)),
        Block::Printed(text) => format!("<pre>{}</pre>\n", escaped(text.trim_end())),
        Block::Table(head, rows) => table(head, rows),
        Block::Picture(svg, caption) => {
            format!("<figure class=\"path\">{svg}<figcaption>{}</figcaption></figure>\n", words(caption))
        }
    }
}

fn words(text: &str) -> String {
    let run = |run: TextRun| match run {
        TextRun::Plain(text) => escaped(text),
        TextRun::Name(name) => format!("<code>{}</code>", escaped(name)),
        TextRun::Formula(latex) => formula(latex).replacen(" displaystyle=\"true\"", "", 1),
    };
    runs(text).into_iter().map(run).collect()
}

fn formulas(lines: &[String]) -> String {
    let readable: Vec<_> = lines.iter().map(|latex| readable(latex)).collect();
    let is_aligned = is_aligned(&readable);
    let set: String = readable.iter().map(|latex| line(latex, is_aligned)).collect();
    let set = format!("<div class=\"formulas\">\n{set}</div>\n");
    if lines.len() > LONG_GROUP || readable.iter().map(|l| l.len()).sum::<usize>() > MUCH_LATEX {
        return format!("<details><summary>{} formulas</summary>\n{set}</details>\n", lines.len());
    }
    set
}

/// One line as cells of a grid: the part left of its `&`, and the rest, broken if it is long.
fn line(latex: &str, is_aligned: bool) -> String {
    let (left, rows) = match sides(latex) {
        (Some(left), right) if is_aligned => (Some(left), broken(right, WIDEST_HTML)),
        (left, right) => (None, broken_equation(left.unwrap_or_default(), right, WIDEST_HTML)),
    };
    let cell = |(k, part): (usize, &String)| {
        let (before, class) = match (left, k) {
            (Some(left), 0) => (format!("<div class=\"left\">{}</div>", formula(left)), ""),
            (Some(_), _) => ("<div></div>".into(), "goes-on"),
            (None, 0) => (String::new(), "whole"),
            (None, _) => (String::new(), "whole goes-on"),
        };
        // the empty group keeps the space before a sign at the start of a row
        format!("{before}<div class=\"{class}\"{}>{}</div>", fitted(part), formula(&format!("{{}} {part}")))
    };
    rows.iter().enumerate().map(cell).collect::<String>() + "\n"
}

/// The style that scales down a formula wider than the paper.
fn fitted(latex: &str) -> String {
    let rows = latex.split("\\\\").map(width);
    match rows.max().unwrap_or(0) {
        wide if wide > PAPER => format!(" style=\"--fit:{:.2}\"", (PAPER as f64 / wide as f64).max(LEAST_FIT)),
        _ => String::new(),
    }
}

fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let cells = |tag: &str, row: &[String]| -> String {
        row.iter().map(|cell| format!("<{tag}>{}</{tag}>", words(cell))).collect()
    };
    let head = match head.is_empty() {
        true => String::new(),
        false => format!("<tr>{}</tr>\n", cells("th", head)),
    };
    let rows: String = rows.iter().map(|row| format!("<tr>{}</tr>\n", cells("td", row))).collect();
    format!("<div class=\"scroll\"><table>\n{head}{rows}</table></div>\n")
}

/// The model with the first word of each statement, texts and comments highlighted.
fn highlighted(text: &str) -> String {
    let indent = |l: &str| l.len() - l.trim_start_matches([' ', '\t']).len();
    let common = text.lines().filter(|l| !l.trim().is_empty()).map(indent).min().unwrap_or(0);
    let marked = |line: &str| {
        let line = if indent(line) >= common { &line[common..] } else { line };
        let (statement, comment) = line.split_at(comment_start(line));
        let word = statement.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(statement.len());
        let mut out = String::new();
        if word > 0 {
            out.push_str(&format!("<span class=\"k\">{}</span>", escaped(&statement[..word])));
        }
        let mut rest = &statement[word..];
        while let Some((before, after)) = rest.split_once('"')
            && let Some((inside, behind)) = after.split_once('"')
        {
            out.push_str(&format!("{}<span class=\"s\">&quot;{}&quot;</span>", escaped(before), escaped(inside)));
            rest = behind;
        }
        out.push_str(&escaped(rest));
        if !comment.is_empty() {
            out.push_str(&format!("<span class=\"c\">{}</span>", escaped(comment)));
        }
        out + "\n"
    };
    text.trim_end().lines().map(marked).collect()
}

/// The position of a line's comment, which starts at a `#` outside quotes.
fn comment_start(line: &str) -> usize {
    let mut in_text = false;
    for (at, c) in line.char_indices() {
        match c {
            '"' => in_text = !in_text,
            '#' if !in_text => return at,
            _ => {}
        }
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_texts_and_comments_are_marked() {
        let out = highlighted("  model \"A # B\" # why\n    x < 1\n");
        assert_eq!(
            out,
            "<span class=\"k\">model</span> <span class=\"s\">&quot;A # B&quot;</span> \
             <span class=\"c\"># why</span>\n  x &lt; 1\n"
        );
    }
}
