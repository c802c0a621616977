//! Documents as LaTeX, ready to compile.

use super::tikz::tikz;
use super::{Article, Block, TextRun, is_aligned, runs, sides};
use crate::formula::{broken, broken_equation, readable, width};
use crate::letters::with_letters;

const HEAD: &str = r"\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern}
\usepackage[margin=25mm]{geometry}
\usepackage{amsmath,amssymb,graphicx,array,booktabs,longtable,tikz}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.6em}
\setlength{\LTleft}{0pt}
\setlength{\LTpre}{1em}
\setlength{\LTpost}{0.4em}
\sloppy
% a formula that is wider than its part of the page is made smaller
\newcommand{\fit}[2]{\setbox0=\hbox{$\displaystyle{}#2$}%
  \ifdim\wd0>#1\linewidth\resizebox{#1\linewidth}{!}{\box0}\else\box0\fi}
";

/// The number of symbols in a row after which a formula is broken.
const WIDEST_LATEX: usize = 60;

/// The number of symbols above which a row may be wider than the page.
const WIDE: usize = 44;

/// The largest width of a symbol, as a fraction of the page.
const WIDTH_OF_SYMBOL: f64 = 0.018;

/// The document as LaTeX.
pub fn article_latex(article: &Article) -> String {
    let mut out = format!("% written by zwang {}\n{HEAD}", env!("CARGO_PKG_VERSION"));
    out.push_str(&format!("\\begin{{document}}\n{{\\LARGE\\bfseries {}\\par}}\n", text(&article.title)));
    for block in &article.blocks {
        // a formula belongs to the paragraph before it
        if !matches!(block, Block::Formulas(_)) {
            out.push('\n');
        }
        out.push_str(&written(block));
    }
    out + "\n\\end{document}\n"
}

fn written(block: &Block) -> String {
    match block {
        Block::Section(title) => format!("\\section*{{{}}}\n", words(title)),
        Block::Part(title) => format!("\\subsection*{{{}}}\n", words(title)),
        Block::Words(text) => format!("{}\n", words(text)),
        Block::List(lines) => {
            let items: String = lines.iter().map(|line| format!("  \\item {}\n", words(line))).collect();
            format!("\\begin{{itemize}}\n{items}\\end{{itemize}}\n")
        }
        Block::Formulas(lines) => formulas(lines),
        Block::Beside(groups) => {
            let group = |(title, lines): &(String, Vec<String>)| {
                format!("\\subsection*{{{}}}\n{}", words(title), formulas(lines))
            };
            groups.iter().map(group).collect()
        }
        Block::Code(text) | Block::Printed(text) => code(text),
        Block::Table(head, rows) => table(head, rows),
        Block::Picture(svg, caption) => {
            format!("\\begin{{center}}\n{}\n\\par\\smallskip\\small {}\n\\end{{center}}\n", tikz(svg), words(caption))
        }
    }
}

/// Formulas to paste into a document with amsmath; long ones are broken into rows and across pages.
pub(crate) fn pasted(lines: &[String]) -> String {
    let row = |line: &String| {
        let line = with_letters(line);
        let (left, right) = sides(&line);
        let left = left.unwrap_or_default();
        let parts = broken(right, WIDEST_LATEX);
        format!("{left} &{}", parts.iter().map(|part| part.trim()).collect::<Vec<_>>().join(" \\\\\n&\\quad "))
    };
    let rows: Vec<String> = lines.iter().map(row).collect();
    format!("{{\\allowdisplaybreaks\n\\begin{{align*}}\n{}\n\\end{{align*}}}}\n", rows.join(" \\\\\n"))
}

fn formulas(lines: &[String]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| readable(line)).collect();
    let is_aligned = is_aligned(&lines);
    let lefts = lines.iter().filter_map(|line| sides(line).0.filter(|_| is_aligned).map(width));
    let room = 0.96 - WIDTH_OF_SYMBOL * lefts.max().unwrap_or(0) as f64;
    let rows: Vec<String> = lines.iter().flat_map(|line| formula_rows(line, is_aligned, room)).collect();
    format!("\\begin{{align*}}\n{}\n\\end{{align*}}\n", rows.join(" \\\\\n"))
}

/// The rows of one formula in a fraction `room` of the page width; a long sum continues below.
fn formula_rows(line: &str, is_aligned: bool, room: f64) -> Vec<String> {
    let (left, rows) = match sides(line) {
        (Some(left), right) if is_aligned => (format!("{} ", anywhere(left)), broken(right, WIDEST_LATEX)),
        (left, right) => (String::new(), broken_equation(left.unwrap_or_default(), right, WIDEST_LATEX)),
    };
    let row = |(k, part): (usize, &String)| {
        let part = anywhere(part.trim());
        let part = if width(&part) > WIDE { format!("\\fit{{{room:.2}}}{{{part}}}") } else { part };
        if k == 0 { format!("  {left}&{part}") } else { format!("  &\\quad {part}") }
    };
    rows.iter().enumerate().map(row).collect()
}

fn words(written: &str) -> String {
    let run = |run: TextRun| match run {
        TextRun::Plain(plain) => text(plain),
        TextRun::Name(name) => format!("\\texttt{{{}}}", text(name)),
        TextRun::Formula(latex) => format!("${}$", anywhere(latex)),
    };
    runs(written).into_iter().map(run).collect()
}

/// Text line by line in a monospaced font.
fn code(written: &str) -> String {
    let line = |line: &str| match line.trim_end() {
        "" => "\\mbox{}".to_string(),
        line => {
            // a long formula may also be broken inside
            let parts: Vec<String> = line.split_inclusive(['*', '+', '/', '(', ',']).map(text).collect();
            parts.join("\\allowbreak{}").replace("  ", "~~")
        }
    };
    let lines: Vec<String> = written.trim_end().lines().map(line).collect();
    format!("{{\\small\\ttfamily\\raggedright\\setlength{{\\parskip}}{{0pt}}\n{}\n\\par}}\n", lines.join("\\\\\n"))
}

fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let n = rows.iter().map(Vec::len).chain([head.len()]).max().unwrap_or(1).max(1);
    // the last column takes the remaining space and breaks its lines
    let room = [0.95, 0.62, 0.5, 0.4].get(n - 1).copied().unwrap_or(0.3);
    let columns = format!("{}>{{\\raggedright\\arraybackslash}}p{{{room}\\linewidth}}", "l".repeat(n - 1));
    let line = |cells: &[String]| {
        let cells: Vec<String> = (0..n).map(|k| cells.get(k).map_or(String::new(), |c| words(c))).collect();
        format!("{} \\\\\n", cells.join(" & "))
    };
    let head = if head.is_empty() { String::new() } else { format!("{}\\midrule\n", line(head)) };
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!(
        "{{\\small\\begin{{longtable}}{{@{{}}{columns}@{{}}}}\n\\toprule\n{head}{rows}\\bottomrule\n\\end{{longtable}}}}\n"
    )
}

/// Plain text, with the characters that LaTeX would misread written as commands.
pub(super) fn text(plain: &str) -> String {
    let mut out = String::with_capacity(plain.len());
    let mut rest = plain.chars().peekable();
    while let Some(c) = rest.next() {
        // dots above a letter
        if let Some(dots) = rest.next_if(|next| matches!(next, '\u{307}' | '\u{308}')) {
            let accent = if dots == '\u{307}' { "dot" } else { "ddot" };
            out.push_str(&format!("\\ensuremath{{\\{accent}{{{}}}}}", letter(c)));
            continue;
        }
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => {
                out.push('\\');
                out.push(c);
            }
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '<' | '>' | '|' => out.push_str(&format!("${c}$")),
            // straight quotes and hyphens as typed, without ligatures
            '"' => out.push_str("\\textquotedbl{}"),
            '\'' => out.push_str("\\textquotesingle{}"),
            '`' => out.push_str("\\textasciigrave{}"),
            '-' => out.push_str("-{}"),
            '\n' | '\t' => out.push(' '),
            c if c.is_control() => {}
            c => out.push_str(&letter(c)),
        }
    }
    out
}

/// A formula whose non-ASCII letters are written as commands.
fn anywhere(latex: &str) -> String {
    latex.chars().map(letter).collect()
}

/// A letter in a form that LaTeX can set, in text and in formulas.
fn letter(c: char) -> String {
    const SYMBOLS: [(char, &str); 31] = [
        ('′', "{}'"),
        ('″', "{}''"),
        ('·', "\\cdot"),
        ('×', "\\times"),
        ('−', "-"),
        ('±', "\\pm"),
        ('≤', "\\le"),
        ('≥', "\\ge"),
        ('≠', "\\ne"),
        ('≈', "\\approx"),
        ('→', "\\to"),
        ('∞', "\\infty"),
        ('∂', "\\partial"),
        ('∫', "\\int"),
        ('√', "\\surd"),
        ('∈', "\\in"),
        ('∧', "\\wedge"),
        ('½', "\\tfrac12"),
        ('°', "{}^\\circ"),
        ('…', "\\ldots"),
        ('⁺', "{}^+"),
        ('⁻', "{}^-"),
        ('ᵀ', "{}^{\\mathsf T}"),
        ('ᶜ', "{}^c"),
        ('ᵢ', "{}_i"),
        ('ₙ', "{}_n"),
        ('ₛ', "{}_s"),
        ('²', "{}^2"),
        ('³', "{}^3"),
        ('¹', "{}^1"),
        ('⁰', "{}^0"),
    ];
    let in_formula = |command: &str| format!("\\ensuremath{{{command}}}");
    match c {
        c if c.is_ascii() => c.to_string(),
        '“' | '”' => "\\textquotedbl{}".into(),
        '‘' | '’' => "\\textquotesingle{}".into(),
        '–' => "--".into(),
        '\u{2061}' | '\u{feff}' => String::new(),
        '⁴'..='⁹' => in_formula(&format!("{{}}^{}", c as u32 - '⁰' as u32)),
        '₀'..='₉' => in_formula(&format!("{{}}_{}", c as u32 - '₀' as u32)),
        // letters that the T1 fonts contain
        '\u{c0}'..='\u{17f}' => format!("\\text{{{c}}}"),
        c => match SYMBOLS.iter().find(|(symbol, _)| *symbol == c) {
            Some((_, command)) => in_formula(command),
            None => match zwang::latex_name(&c.to_string()) {
                greek if greek.starts_with('\\') => in_formula(&greek),
                _ => format!("\\text{{[U+{:04X}]}}", c as u32),
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_latex_would_misread_become_commands() {
        assert_eq!(text("50% of a_1 & #2"), "50\\% of a\\_1 \\& \\#2");
        assert_eq!(text("θ′ ≤ ж"), "\\ensuremath{\\theta}\\ensuremath{{}'} \\ensuremath{\\le} \\text{[U+0436]}");
        assert!(text("\\{}^~<'\"`").is_ascii());
    }

    #[test]
    fn braces_are_closed_in_every_block() {
        let article = Article {
            title: "50% {".into(),
            blocks: vec![
                Block::Words("of `a_b` and $x^2$ }".into()),
                Block::Formulas(vec!["x &= y".into(), "\\begin{cases} a & b \\end{cases}".into()]),
                Block::Table(vec!["a".into(), "b".into()], vec![vec!["1".into(), "{".into()]]),
                Block::Code("mass m: 1 # kg {\n\n  x".into()),
            ],
        };
        let out = article_latex(&article);
        let plain = out.replace("\\{", "").replace("\\}", "");
        assert_eq!(plain.matches('{').count(), plain.matches('}').count(), "{out}");
        assert_eq!(out.matches("\\begin").count(), out.matches("\\end").count());
    }
}
