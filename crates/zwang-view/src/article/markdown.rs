//! Documents as Markdown, with formulas between dollars.

use zwang::visible::{is_hidden, visible};

use super::{Article, Block, TextRun, runs};
use crate::formula::readable;

/// The document as Markdown; pictures are embedded as data.
pub fn article_markdown(article: &Article) -> String {
    let mut out = format!("# {}\n", plain(&one_line(&article.title)));
    for block in &article.blocks {
        out.push('\n');
        out.push_str(&written(block));
    }
    out
}

fn written(block: &Block) -> String {
    match block {
        Block::Section(title) => format!("## {}\n", words(title)),
        Block::Part(title) => format!("### {}\n", words(title)),
        Block::Words(text) => format!("{}\n", words(text)),
        Block::List(lines) => lines.iter().map(|line| format!("- {}\n", words(line))).collect(),
        Block::Formulas(lines) => formulas(lines),
        Block::Beside(groups) => {
            let group = |(title, lines): &(String, Vec<String>)| format!("**{}**\n\n{}", words(title), formulas(lines));
            groups.iter().map(group).collect::<Vec<_>>().join("\n")
        }
        Block::Code(text) => fenced("zw", text),
        Block::Printed(text) => fenced("text", text),
        Block::Table(head, rows) => table(head, rows),
        Block::Picture(svg, caption) => format!("![{}]({})\n", plain(caption), as_data(svg)),
    }
}

fn formulas(lines: &[String]) -> String {
    let block = |line: &String| format!("$$\n\\begin{{aligned}}\n{}\n\\end{{aligned}}\n$$\n", readable(line));
    lines.iter().map(block).collect::<Vec<_>>().join("\n")
}

fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let n = rows.iter().map(Vec::len).chain([head.len()]).max().unwrap_or(0);
    let line = |cells: &[String]| {
        let cells = (0..n).map(|k| cells.get(k).map_or(String::new(), |c| words(c).replace('|', "\\|")));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(n));
    [line(head), rule].into_iter().chain(rows.iter().map(|row| line(row))).collect()
}

fn fenced(kind: &str, text: &str) -> String {
    let text = visible(text);
    let fence = fence(&text);
    format!("{fence}{kind}\n{}\n{fence}\n", text.trim_end())
}

/// Words on one line, in which only names and formulas are marked.
fn words(text: &str) -> String {
    let text = one_line(text);
    let run = |run: TextRun| match run {
        TextRun::Plain(text) => plain(text),
        TextRun::Name(name) => format!("`{}`", visible(name)),
        TextRun::Formula(latex) => format!("${latex}$"),
    };
    runs(&text).into_iter().map(run).collect()
}

/// Text with the characters escaped that Markdown or HTML would interpret.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '$' | '`' | '*' | '[' | ']' => {
                out.push('\\');
                out.push(c);
            }
            c if is_hidden(c) => out.push_str(&format!("&lt;U+{:04X}&gt;", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// A fence of backticks that does not occur in the text.
fn fence(text: &str) -> String {
    let mut fence = "```".to_string();
    while text.contains(&fence) {
        fence.push('`');
    }
    fence
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The picture as a data URL.
fn as_data(svg: &str) -> String {
    let mut out = String::from("data:image/svg+xml,");
    for byte in svg.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' | b':' | b'=' | b',' | b';' => {
                out.push(byte as char)
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_do_not_break_the_table() {
        let out = table(&["a".into()], &[vec!["x|y\nz".into(), "w".into()]]);
        assert_eq!(out, "| a |  |\n|---|---|\n| x\\|y z | w |\n");
    }

    #[test]
    fn a_picture_needs_no_other_file() {
        assert_eq!(as_data("<g a=\"é\"/>"), "data:image/svg+xml,%3Cg%20a=%22%C3%A9%22/%3E");
    }
}
