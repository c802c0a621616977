//! Text of a user, made safe to show: no character of it acts on a terminal, on a compiler or on the order of reading.

use std::borrow::Cow;
use std::fmt::Write;

/// `true` for a character that acts instead of being seen: a control character, a mark of the direction of writing, a
/// separator of lines, an invisible space or a tag.
///
/// Line ends and tabs count too. Joiners of letters do not: some scripts need them.
pub fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// The text with every hidden character but line ends and tabs written as `<U+202E>`.
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

/// The text on one line, with every hidden character written as `<U+202E>`.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    replaced(text, is_hidden)
}

/// The visible text, of which at most `n` characters are shown: what a message quotes of a file.
pub fn excerpt(text: &str, n: usize) -> String {
    let mut shown: String = text.chars().take(n).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    visible_line(&shown).into_owned()
}

fn replaced(text: &str, is_replaced: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_replaced) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_replaced(c) {
            true => {
                // writing into a string does not fail
                let _ = write!(out, "<U+{:04X}>", u32::from(c));
            }
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_written_out_and_what_is_read_stays() {
        assert_eq!(visible("a\u{1b}[2J\u{202e}b\0\r\n\tc"), "a<U+001B>[2J<U+202E>b<U+0000><U+000D>\n\tc");
        assert_eq!(visible_line("a\nb\u{9b}"), "a<U+000A>b<U+009B>");
        assert!(matches!(visible("Größe θ′ наклон 倾角 👩\u{200d}🔬"), Cow::Borrowed(_)));
    }

    #[test]
    fn an_excerpt_is_short() {
        assert_eq!(excerpt("root:x:0", 4), "root…");
        assert_eq!(excerpt("a\nb", 4), "a<U+000A>b");
    }
}
