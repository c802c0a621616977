//! From text to tokens with positions. The lexer never fails: characters that it does not know are reported.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::Span;

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// A word as written: keyword, symbol or unit.
    Name(String),
    /// A number as written.
    Number(String),
    /// `"…"`, without the quotes.
    Text(String),
    /// One or more derivatives: `'`, `′`, `″`.
    Prime(u32),
    /// A power in superscript characters, such as `²`.
    Superscript(String),
    /// Operators and brackets, in their plain spelling.
    Symbol(&'static str),
}

/// A token with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// Position in the text.
    pub span: Span,
    /// `true` for the first token of a line that is not a continuation.
    pub begins_statement: bool,
    /// `true` for the first token of any line.
    pub begins_line: bool,
}

/// Operators, longest first, each with its canonical spelling.
const SYMBOLS: [(&str, &str); 33] = [
    ("**", "^"),
    ("..", ".."),
    ("<=", "<="),
    (">=", ">="),
    ("==", "="),
    ("…", ".."),
    ("≤", "<="),
    ("≥", ">="),
    ("−", "-"),
    ("–", "-"),
    ("·", "*"),
    ("⋅", "*"),
    ("×", "*"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("^", "^"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    (",", ","),
    (":", ":"),
    (";", ";"),
    ("=", "="),
    ("~", "~"),
    ("≈", "~"),
    ("<", "<"),
    (">", ">"),
    ("|", "|"),
    (".", "."),
    ("÷", "/"),
];

/// Splits `text[from..]` into tokens; spans are relative to the beginning of `text`.
pub fn tokens(text: &str, from: usize, diagnostics: &mut Diagnostics) -> Vec<Token> {
    Lexer { text, at: from, tokens: Vec::new(), diagnostics, indent: common_indent(&text[from..]) }.run()
}

/// The number of blanks with which every line begins, so that an indented block can be pasted.
fn common_indent(text: &str) -> usize {
    let blanks = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let counts = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    text.lines().filter(counts).map(blanks).min().unwrap_or(0)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    diagnostics: &'a mut Diagnostics,
    indent: usize,
}

impl Lexer<'_> {
    fn run(mut self) -> Vec<Token> {
        // a byte-order mark is not part of the text
        if self.text[self.at..].starts_with('\u{feff}') {
            self.at += '\u{feff}'.len_utf8();
        }
        while self.at < self.text.len() {
            let line_end = self.text[self.at..].find('\n').map_or(self.text.len(), |k| self.at + k);
            self.line(line_end);
            self.at = line_end + 1;
        }
        self.tokens
    }

    fn line(&mut self, end: usize) {
        let start = self.at;
        let mut begins = true;
        let n_before = self.tokens.len();
        while let Some(c) = self.text[self.at..end].chars().next() {
            if c.is_whitespace() || is_invisible(c) {
                begins = begins && (self.at - start < self.indent || is_invisible(c));
                self.at += c.len_utf8();
            } else if c == '#' || self.is_foreign_comment(c, end) {
                return;
            } else {
                self.token(c, end, begins);
                begins = false;
                if let Some(first) = self.tokens.get_mut(n_before) {
                    first.begins_line = true;
                }
            }
        }
    }

    /// Skips comments in the style of other languages, `//` and `%`, and reports them once per line.
    fn is_foreign_comment(&mut self, c: char, end: usize) -> bool {
        let rest = &self.text[self.at..end];
        let sign = if c == '%' { "%" } else { "//" };
        if !rest.starts_with(sign) {
            return false;
        }
        let span = Span::new(self.at, end);
        let own = format!("#{}", rest[sign.len()..].trim_end());
        let d = Diagnostic::error("Z007", format!("a comment begins with `#`, not with `{sign}`"))
            .at(span, "read as a comment")
            .help(own);
        // behind a formula the sign may have been meant as a division or a remainder
        let line = self.text[..self.at].rfind('\n').map_or(0, |k| k + 1);
        let (title, sign) = ("begin the comment with `#`", Span::new(self.at, self.at + sign.len()));
        self.diagnostics.push(match self.text[line..self.at].trim().is_empty() {
            true => d.cure(title, sign, "#"),
            false => d.guessed(title, sign, "#"),
        });
        true
    }

    fn token(&mut self, c: char, end: usize, begins: bool) {
        let start = self.at;
        let kind = if c == '°' {
            self.at += c.len_utf8();
            Some(TokenKind::Name("deg".into()))
        } else if c.is_alphabetic() || c == '_' {
            Some(self.name(end))
        } else if c.is_ascii_digit() || (c == '.' && self.digit_follows(end)) {
            Some(self.number(end))
        } else if c == '"' || c == '“' || c == '”' {
            Some(self.quoted(c, end))
        } else {
            self.sign(c, end)
        };
        let span = Span::new(start, self.at);
        match kind {
            Some(kind) => self.tokens.push(Token { kind, span, begins_statement: begins, begins_line: false }),
            None => self.unknown_name(c, span),
        }
    }

    fn digit_follows(&self, end: usize) -> bool {
        self.text[self.at + 1..end].starts_with(|c: char| c.is_ascii_digit())
    }

    fn name(&mut self, end: usize) -> TokenKind {
        let part = |c: char| {
            c.is_alphanumeric() && superscript(c).is_none() || c == '_' || ('\u{300}'..='\u{36f}').contains(&c)
        };
        let rest = &self.text[self.at..end];
        let length = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
        self.at += length;
        TokenKind::Name(rest[..length].to_string())
    }

    /// digits [ "." digits ] [ "e" [sign] digits ]; the dots of `1..n` are not part of a number
    fn number(&mut self, end: usize) -> TokenKind {
        let rest = &self.text.as_bytes()[self.at..end];
        let digits = |mut k: usize| {
            while rest.get(k).is_some_and(u8::is_ascii_digit) {
                k += 1;
            }
            k
        };
        let mut length = digits(0);
        if rest.get(length) == Some(&b'.') && rest.get(length + 1) != Some(&b'.') {
            length = digits(length + 1);
        }
        if matches!(rest.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
            let after = digits(length + 1 + sign);
            if after > length + 1 + sign {
                length = after;
            }
        }
        let written = self.text[self.at..self.at + length].to_string();
        self.at += length;
        TokenKind::Number(written)
    }

    fn quoted(&mut self, open: char, end: usize) -> TokenKind {
        let start = self.at;
        let inside = start + open.len_utf8();
        let rest = &self.text[inside..end];
        match rest.char_indices().find(|(_, c)| matches!(c, '"' | '”' | '“')) {
            Some((length, close)) => {
                self.at = inside + length + close.len_utf8();
                TokenKind::Text(rest[..length].to_string())
            }
            None => {
                self.at = end;
                self.diagnostics.push(
                    Diagnostic::error("Z008", "the text in quotes does not end on its line")
                        .at(Span::new(start, end), "begins here")
                        .help("close it with \""),
                );
                TokenKind::Text(rest.trim_end().to_string())
            }
        }
    }

    fn sign(&mut self, c: char, end: usize) -> Option<TokenKind> {
        let primes = |c| match c {
            '\'' | '′' | '’' | '‘' => 1,
            '″' => 2,
            '‴' => 3,
            _ => 0,
        };
        let rest = &self.text[self.at..end];
        if primes(c) > 0 {
            let run: Vec<u32> = rest.chars().map(primes).take_while(|&p| p > 0).collect();
            self.at += rest.chars().take(run.len()).map(char::len_utf8).sum::<usize>();
            return Some(TokenKind::Prime(run.iter().sum()));
        }
        if superscript(c).is_some() {
            let digits: String = rest.chars().map_while(superscript).collect();
            self.at += rest.chars().take(digits.chars().count()).map(char::len_utf8).sum::<usize>();
            return Some(TokenKind::Superscript(digits));
        }
        let (written, plain) = SYMBOLS.iter().find(|(written, _)| rest.starts_with(written))?;
        self.at += written.len();
        Some(TokenKind::Symbol(plain))
    }

    /// Reports a run of characters that the language does not use, once.
    fn unknown_name(&mut self, c: char, span: Span) {
        self.at += c.len_utf8();
        let known = |c: char| c.is_alphanumeric() || c.is_whitespace() || c == '"' || c == '#';
        while let Some(next) = self.text[self.at..].chars().next() {
            if known(next) || next.is_ascii_punctuation() || superscript(next).is_some() {
                break;
            }
            self.at += next.len_utf8();
        }
        let shown = if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
        self.diagnostics.push(
            Diagnostic::error("Z003", format!("the character `{shown}` has no meaning here"))
                .at(Span::new(span.start, self.at), "not part of the language")
                .help("remove it")
                .guessed("remove it", Span::new(span.start, self.at), ""),
        );
    }
}

/// `true` for invisible characters that copied text may contain.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

fn superscript(c: char) -> Option<char> {
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁻".chars().zip("0123456789-".chars()).find(|(s, _)| *s == c).map(|(_, d)| d)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        tokens(text, 0, &mut Diagnostics::default()).into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn ranges_are_not_decimals() {
        let n = |s: &str| TokenKind::Number(s.into());
        assert_eq!(kinds("1..3 1.5 .5 2e3"), [n("1"), TokenKind::Symbol(".."), n("3"), n("1.5"), n(".5"), n("2e3")]);
    }

    #[test]
    fn primes_in_every_spelling() {
        assert_eq!(kinds("x'' x″ x′′")[1], TokenKind::Prime(2));
        assert_eq!(kinds("x'' x″ x′′")[3], TokenKind::Prime(2));
        assert_eq!(kinds("x'' x″ x′′")[5], TokenKind::Prime(2));
    }

    #[test]
    fn an_indented_line_continues_the_one_above() {
        let t = tokens("  let a = 1\n    + 2\n  let b = 3", 0, &mut Diagnostics::default());
        let begins: Vec<usize> = (0..t.len()).filter(|&k| t[k].begins_statement).collect();
        assert_eq!(begins, [0, 6]);
    }
}
