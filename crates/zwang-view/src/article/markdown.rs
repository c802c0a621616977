//! Documents as Markdown, with formulas between dollars.

use super::{Article, Block};
use crate::formula::readable;

/// The document as Markdown; pictures are inside, as data.
pub fn article_markdown(article: &Article) -> String {
    let mut out = format!("# {}\n", one_line(&article.title));
    for block in &article.blocks {
        out.push('\n');
        out.push_str(&written(block));
    }
    out
}

fn written(block: &Block) -> String {
    match block {
        Block::Section(title) => format!("## {}\n", one_line(title)),
        Block::Part(title) => format!("### {}\n", one_line(title)),
        Block::Words(words) => format!("{}\n", words.trim()),
        Block::List(lines) => lines.iter().map(|line| format!("- {}\n", one_line(line))).collect(),
        Block::Formulas(lines) => formulas(lines),
        Block::Beside(groups) => {
            let group = |(title, lines): &(String, Vec<String>)| format!("**{title}**\n\n{}", formulas(lines));
            groups.iter().map(group).collect::<Vec<_>>().join("\n")
        }
        Block::Code(text) => {
            let fence = fence(text);
            format!("{fence}zw\n{}\n{fence}\n", text.trim_end())
        }
        Block::Table(head, rows) => table(head, rows),
        Block::Picture(svg, caption) => format!("![{}]({})\n", caption.replace(['[', ']'], ""), as_data(svg)),
    }
}

fn formulas(lines: &[String]) -> String {
    let block = |line: &String| format!("$$\n\\begin{{aligned}}\n{}\n\\end{{aligned}}\n$$\n", readable(line));
    lines.iter().map(block).collect::<Vec<_>>().join("\n")
}

fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let n = rows.iter().map(Vec::len).chain([head.len()]).max().unwrap_or(0);
    let line = |cells: &[String]| {
        let cells = (0..n).map(|k| cells.get(k).map_or(String::new(), |c| one_line(c).replace('|', "\\|")));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(n));
    [line(head), rule].into_iter().chain(rows.iter().map(|row| line(row))).collect()
}

/// Backticks that the text itself does not hold.
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

/// The picture as an address that holds it.
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
