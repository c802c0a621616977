//! Messages drawn with the source text that they refer to.

use std::borrow::Cow;

use codespan_reporting::diagnostic::{Diagnostic, Label, Severity};
use codespan_reporting::files::SimpleFiles;
use codespan_reporting::term::termcolor::Buffer;
use codespan_reporting::term::{Config, Styles, StylesWriter, emit_to_write_style};
use zwang::ModelText;
use zwang::diagnostic::{self, Diagnostics};
use zwang::syntax::{Span, line_and_column};
use zwang::visible::{is_hidden, visible, visible_line};

/// The colouring of messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Paint {
    /// ANSI colours.
    Coloured,
    /// No colours.
    Plain,
}

/// All messages as text for people, in which no character of the model acts on a terminal.
pub fn messages(file: &str, source: &ModelText, diagnostics: &Diagnostics, paint: Paint) -> String {
    let mut files = SimpleFiles::new();
    let text = with_spans_kept(&source.text);
    let own = files.add(visible_line(file).into_owned(), &text[..source.file_length]);
    let overrides = files.add("command line".to_string(), text[source.file_length..].trim_start_matches('\n'));
    // the line break before an override is not shown
    let skipped = source.text.len() - source.text[source.file_length..].trim_start_matches('\n').len();
    let place = |span: Span| {
        if span.start >= skipped && source.text.len() > source.file_length {
            (overrides, span.start - skipped..span.end.max(span.start) - skipped)
        } else {
            (own, span.start.min(source.file_length)..span.end.min(source.file_length))
        }
    };
    let mut buffer = if paint == Paint::Coloured { Buffer::ansi() } else { Buffer::no_color() };
    let styles = Styles::default();
    for message in diagnostics.iter() {
        let drawn = if spans(message).all(|span| is_readable(&source.text, span)) {
            drawn(message, place)
        } else {
            excerpted(message, &source.text)
        };
        let mut writer = StylesWriter::new(&mut buffer, &styles);
        if emit_to_write_style(&mut writer, &Config::default(), &files, &drawn).is_err() {
            break;
        }
    }
    let mut text = String::from_utf8_lossy(buffer.as_slice()).into_owned();
    if diagnostics.n_more_errors() > 0 {
        text.push_str(&format!("… and {} more errors\n", diagnostics.n_more_errors()));
    }
    text
}

/// The text with hidden characters replaced by others of the same length, so that spans hold.
fn with_spans_kept(text: &str) -> Cow<'_, str> {
    const REPLACEMENTS: [&str; 4] = ["?", "·", "\u{fffd}", "\u{1f6c7}"];
    let acts = |c: char| is_hidden(c) && !matches!(c, '\n' | '\t' | '\r');
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match acts(c) {
            true => out.push_str(REPLACEMENTS[c.len_utf8() - 1]),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The notes and warnings as sentences of a document, each with its code.
pub fn note_sentences(diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics.iter().filter(|d| !d.is_error()).map(|d| format!("{} ({})", d.message, d.code)).collect()
}

/// The longest line that is drawn in full, in bytes.
const LONGEST_SOURCE_LINE: usize = 300;

fn spans(message: &diagnostic::Diagnostic) -> impl Iterator<Item = Span> {
    message.span.into_iter().chain(message.also.iter().map(|(span, _)| *span))
}

/// `true` if the lines that a message refers to are short enough to be drawn.
fn is_readable(text: &str, span: Span) -> bool {
    let start = text[..span.start].rfind('\n').map_or(0, |k| k + 1);
    let end = text[span.end..].find('\n').map_or(text.len(), |k| span.end + k);
    text[start..end].split('\n').all(|line| line.len() <= LONGEST_SOURCE_LINE)
}

/// A message about a line that is too long to draw: its position and an excerpt.
fn excerpted(message: &diagnostic::Diagnostic, text: &str) -> Diagnostic<usize> {
    let mut drawn = drawn(message, |_| (0, 0..0));
    drawn.labels.clear();
    for span in spans(message).take(3) {
        let (line, column) = line_and_column(text, span.start);
        let piece: String = text[span.start..span.end].chars().take(60).collect();
        let shown = format!("at line {line}, column {column}: {piece} {}", message.label);
        drawn.notes.insert(0, visible_line(&shown).into_owned());
    }
    drawn
}

fn drawn(
    message: &diagnostic::Diagnostic,
    place: impl Fn(Span) -> (usize, std::ops::Range<usize>),
) -> Diagnostic<usize> {
    let severity = match message.severity {
        diagnostic::Severity::Error => Severity::Error,
        diagnostic::Severity::Warning => Severity::Warning,
        diagnostic::Severity::Note => Severity::Note,
    };
    let mut labels = Vec::new();
    if let Some(span) = message.span {
        let (file, range) = place(span);
        labels.push(Label::primary(file, range).with_message(visible(&message.label)));
    }
    for (span, label) in &message.also {
        let (file, range) = place(*span);
        labels.push(Label::secondary(file, range).with_message(visible(label)));
    }
    let help = message.help.iter().map(|h| format!("help: {h}"));
    let notes = message.notes.iter().cloned().chain(help).map(|note| visible(&note).into_owned()).collect();
    Diagnostic::new(severity)
        .with_code(message.code)
        .with_message(visible(&message.message))
        .with_labels(labels)
        .with_notes(notes)
}
