//! LaTeX formulas as MathML, which browsers typeset themselves.

use std::borrow::Cow;

use pulldown_latex::config::DisplayMode;
use pulldown_latex::{Parser, RenderConfig, Storage, push_mathml};
use zwang::visible::is_hidden;

/// The largest depth of braces; a deeper formula is shown as LaTeX, because browsers lay formulas out by recursion.
const DEEPEST: usize = 200;

/// The space that the converter inserts between a factor and a function.
const FUNCTION_SPACE: &str = "<mspace width=\"0.1667em\" />";

const OPEN: &str = "<mrow><mo stretchy=\"true\">(</mo>";

/// The text with the characters escaped that HTML would misread, in content and in attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if is_hidden(c) && !matches!(c, '\n' | '\t') => out.push_str(&format!("&lt;U+{:04X}&gt;", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// The longest line that is shown, in bytes; a browser needs seconds for a longer one.
const WIDEST_FORMULA: usize = 3_000;

/// The line, or the command to type for a line that is too long.
pub(crate) fn readable(latex: &str) -> Cow<'_, str> {
    if latex.len() <= WIDEST_FORMULA {
        return Cow::Borrowed(latex);
    }
    let left = latex.split_once('&').map_or("", |(left, _)| left);
    Cow::Owned(format!("{left}&= \\text{{too long to be read here; the command zwang equations prints it}}"))
}

/// The formula as MathML, or its LaTeX if the conversion fails.
pub(crate) fn formula(latex: &str) -> String {
    mathml(latex).unwrap_or_else(|| format!("<code>{}</code>", escaped(latex.trim())))
}

fn mathml(latex: &str) -> Option<String> {
    // the converter copies the argument of \operatorname unchanged, so reject anything that could open a tag
    let tag = latex.match_indices('<').any(|(at, _)| !latex[at + 1..].starts_with([' ', '\\']));
    if tag || latex.contains('"') || depth(latex) > DEEPEST {
        return None;
    }
    let latex = words(latex);
    let storage = Storage::new();
    let events = Parser::new(&latex, &storage).collect::<Result<Vec<_>, _>>().ok()?;
    let mut out = String::new();
    let config = RenderConfig { display_mode: DisplayMode::Inline, ..RenderConfig::default() };
    push_mathml(&mut out, events.into_iter().map(Ok::<_, std::fmt::Error>), config).ok()?;
    Some(mended(&out))
}

/// The converter's output, corrected for browsers.
fn mended(mathml: &str) -> String {
    let mut out = mathml
        .replacen("<math display=\"inline\">", "<math displaystyle=\"true\">", 1)
        .replace("<mo><</mo>", "<mo>&lt;</mo>")
        .replace("\\_", "_")
        .replace("<mover>", "<mover accent=\"true\">")
        // f(x) without a space after f
        .replace(&format!("<mo>\u{2061}</mo>{FUNCTION_SPACE}{OPEN}"), &format!("<mo>\u{2061}</mo>{OPEN}"));
    // the space before a function with an exponent would become its base
    for script in ["msup", "msub", "msubsup"] {
        let (inside, before) = (format!("<{script}>{FUNCTION_SPACE}<mi>"), format!("{FUNCTION_SPACE}<{script}><mi>"));
        out = out.replace(&inside, &before);
    }
    out
}

/// Sets a name of several letters as one word instead of a product of letters.
fn words(latex: &str) -> String {
    let mut out = String::new();
    let mut rest = latex;
    while let Some(at) = rest.find("\\mathit{") {
        let (before, name) = (&rest[..at], &rest[at + 8..]);
        let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
        let word = name[end..].starts_with('}');
        out.push_str(before);
        out.push_str(if word { "\\textit{" } else { "\\mathit{" });
        rest = name;
    }
    out + rest
}

fn depth(latex: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for piece in pieces(latex) {
        match piece {
            "{" | "\\left" | "\\begin" => now += 1,
            "}" | "\\right" | "\\end" => now = now.saturating_sub(1),
            _ => {}
        }
        most = most.max(now);
    }
    most
}

/// A long sum, or a fraction with a long numerator, broken into rows of about `widest` symbols.
pub(crate) fn broken(latex: &str, widest: usize) -> Vec<String> {
    let Some((before, above, below)) = lone_fraction(latex).filter(|(_, above, _)| width(above) > widest) else {
        return broken_sum(latex, widest).into_iter().flat_map(|row| opened(row, widest)).collect();
    };
    in_parentheses(&format!("{before} \\frac{{1}}{{{below}}} "), above, widest)
}

/// A prefix and a sum in parentheses, which is broken into rows.
fn in_parentheses(before: &str, sum: &str, widest: usize) -> Vec<String> {
    let mut rows = broken_sum(sum, widest);
    rows[0] = format!("{before}\\Bigl({}", rows[0]);
    rows.last_mut().expect("a sum has a row").push_str(" \\Bigr)");
    rows
}

/// A row that is too long and ends with a sum in parentheses, with that sum broken into rows.
fn opened(row: String, widest: usize) -> Vec<String> {
    const OPEN: &str = "\\left(";
    const CLOSE: &str = "\\right)";
    let Some(inner) = row.trim_end().strip_suffix(CLOSE).filter(|_| width(&row) > widest) else { return vec![row] };
    let mut n_closed = 0;
    let mut opens = inner.rmatch_indices('\\').filter(|(at, _)| {
        let mark = &inner[*at..];
        n_closed += usize::from(mark.starts_with("\\right"));
        let is_open = mark.starts_with("\\left");
        let is_match = is_open && n_closed == 0;
        n_closed -= usize::from(is_open && n_closed > 0);
        is_match
    });
    match opens.next().map(|(at, _)| inner.split_at(at)) {
        Some((before, sum)) if sum.starts_with(OPEN) && before.matches('{').count() == before.matches('}').count() => {
            in_parentheses(before, &sum[OPEN.len()..], widest)
        }
        _ => vec![row.clone()],
    }
}

/// The prefix, numerator and denominator of a formula that consists of a single fraction.
fn lone_fraction(latex: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = latex.split_once("\\frac{")?;
    if !matches!(before.trim(), "" | "=" | "-" | "= -") {
        return None;
    }
    let (above, rest) = inside_braces(rest)?;
    let (below, rest) = inside_braces(rest.strip_prefix('{')?)?;
    rest.trim().is_empty().then_some((before, above, below))
}

/// The text up to the closing brace, and the rest.
fn inside_braces(latex: &str) -> Option<(&str, &str)> {
    let mut open = 1;
    for (at, c) in latex.char_indices() {
        match c {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some((&latex[..at], &latex[at + 1..]));
        }
    }
    None
}

/// A long sum broken into rows before its terms.
fn broken_sum(latex: &str, widest: usize) -> Vec<String> {
    let (mut rows, mut row, mut term) = (Vec::new(), String::new(), String::new());
    let (mut inside, mut row_width, mut term_width) = (0_usize, 0, 0);
    for piece in pieces(latex) {
        match piece {
            "{" | "(" | "\\left" | "\\begin" => inside += 1,
            "}" | ")" | "\\right" | "\\end" => inside = inside.saturating_sub(1),
            "+" | "-" if inside == 0 => {
                // not directly after the equals sign
                if row_width + term_width > widest && row_width > 1 {
                    rows.push(std::mem::take(&mut row));
                    row_width = 0;
                }
                row.push_str(&std::mem::take(&mut term));
                row_width += std::mem::take(&mut term_width);
            }
            _ => {}
        }
        term_width += usize::from(!is_space(piece));
        term.push_str(piece);
    }
    if row_width + term_width > widest && row_width > 1 {
        rows.push(std::mem::take(&mut row));
    }
    rows.push(row + &term);
    rows
}

/// The rows of an equation that is not aligned with others: one row if it is short, else the right side starts a new
/// one.
pub(crate) fn broken_equation(left: &str, right: &str, widest: usize) -> Vec<String> {
    if width(left) + width(right) <= widest {
        return vec![format!("{left} {right}")];
    }
    [broken(left, widest), broken(right, widest)].concat().into_iter().filter(|row| !row.trim().is_empty()).collect()
}

/// The approximate width of a formula in symbols, with numerators and denominators counted one after the other.
pub(crate) fn width(latex: &str) -> usize {
    pieces(latex).filter(|piece| !is_space(piece)).count()
}

/// `true` if a piece has no width of its own.
fn is_space(piece: &str) -> bool {
    matches!(
        piece,
        "{" | "}" | "^" | "_" | "\\," | "\\left" | "\\right" | "\\dot" | "\\ddot" | "\\mathbf" | "\\mathcal"
    ) || piece.trim().is_empty()
}

/// Commands and single letters.
fn pieces(latex: &str) -> impl Iterator<Item = &str> {
    let mut rest = latex;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match first {
            '\\' => {
                let letters = rest[1..].find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len() - 1);
                1 + if letters > 0 { letters } else { rest[1..].chars().next().map_or(0, char::len_utf8) }
            }
            c => c.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_formulas_are_written_with_is_typeset() {
        for latex in [
            r"\frac{m \, \left({\dot{x}}^{2} + {\dot{y}}^{2}\right)}{2} - m \, g \, y",
            r"\begin{bmatrix} m & 0 \\ 0 & -\sin^{2}\left(2 \, \theta\right) \end{bmatrix}",
            r"\begin{cases} x & a < b \\ 1 & \text{otherwise} \end{cases}",
            r"\lambda_{\text{a\_b}}",
            r"\operatorname{atan2}\left(x, y\right) + \left|x\right| + \min\left(x, y\right)",
            r"\sqrt{\ddot{\theta}_{1}} \le 6.6 \cdot 10^{-11} \ge \mathit{disk}_{1}",
            r"{\mathbf M} \ddot{\mathbf q} = {\mathbf Q} + {\mathbf A}^{\mathsf T} \lambda, \qquad {\mathcal L}",
            r"\left(\ldots\ 900\ \text{terms}\right)",
            r"\begin{aligned} a &= b \\ c &= d \end{aligned}",
        ] {
            let out = formula(latex);
            assert!(out.starts_with("<math") && out.ends_with("</math>") && !out.contains('\\'), "{latex}\n{out}");
        }
    }

    #[test]
    fn a_function_keeps_its_exponent_after_a_factor() {
        let out = formula(r"a \, \sin^{2} \theta");
        assert!(out.contains("<msup><mi>sin</mi><mrow><mn>2</mn></mrow></msup>"), "{out}");
    }

    #[test]
    fn text_that_cannot_be_typeset_is_shown_as_written() {
        for latex in [r"\frac{1", r"\nonsense", r"\operatorname{</math><script>alert(1)</script>}", r"\bar_a", "}"] {
            let out = formula(latex);
            assert_eq!(out, format!("<code>{}</code>", escaped(latex)));
        }
        let deep = "{".repeat(5000) + "x" + &"}".repeat(5000);
        assert!(formula(&deep).starts_with("<code>"));
    }

    #[test]
    fn long_sums_are_broken_before_a_term() {
        let long = "= a".to_string() + &r" + \left(b - c\right) \, \frac{x - 1}{y}".repeat(20);
        let rows = broken(&long, 84);
        assert!(rows.len() > 2 && rows[1..].iter().all(|r| r.starts_with("+ ")), "{rows:?}");
        assert_eq!(rows.concat(), long);
        assert_eq!(broken("= a + b", 84).len(), 1);
        let product = format!("= a \\, \\left(\\left(b + c\\right) {}\\right)", " + b".repeat(9));
        let rows = broken(&product, 8);
        assert!(rows.len() > 2 && rows[0].starts_with("= a \\, \\Bigl(\\left(b + c\\right)"), "{rows:?}");
        let fraction = format!("= -\\frac{{a{}}}{{c}}", " + b".repeat(9));
        let rows = broken(&fraction, 8);
        assert_eq!(rows[0], "= - \\frac{1}{c} \\Bigl(a + b + b + b ");
        assert!(
            rows.iter().all(|row| formula(row).starts_with("<math")) && rows.last().unwrap().ends_with("\\Bigr)"),
            "{rows:?}"
        );
    }
}
