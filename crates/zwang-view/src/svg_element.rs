//! The elements of our own drawings, read back from their SVG.

use std::ops::Range;

/// An element of a drawing.
pub(crate) struct Element<'s> {
    pub(crate) name: &'s str,
    attributes: &'s str,
    content: &'s str,
    /// The bytes of the drawing that it occupies; of elements other than texts, those of the opening tag.
    pub(crate) range: Range<usize>,
}

/// All elements in the order in which they are drawn.
pub(crate) fn elements(svg: &str) -> Vec<Element<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = svg[from..].find('<').map(|at| from + at) {
        let Some(end) = svg[start..].find('>').map(|at| start + at + 1) else { break };
        let inside = svg[start + 1..end - 1].trim_end_matches('/');
        let (name, attributes) = inside.split_once([' ', '\n']).unwrap_or((inside, ""));
        let content = if name == "text" { svg[end..].split("</text>").next().unwrap_or("") } else { "" };
        let closing = if name == "text" { content.len() + "</text>".len() } else { 0 };
        found.push(Element { name, attributes, content, range: start..(end + closing).min(svg.len()) });
        from = end;
    }
    found
}

impl<'s> Element<'s> {
    /// The value of an attribute as written.
    pub(crate) fn get(&self, name: &str) -> Option<&'s str> {
        let start = format!("{name}=\"");
        let is_whole = |at: usize| at == 0 || self.attributes[..at].ends_with([' ', '\n']);
        let at = self.attributes.match_indices(&start).map(|(at, _)| at).find(|at| is_whole(*at))?;
        self.attributes[at + start.len()..].split('"').next()
    }

    /// The value of an attribute that is a number without a unit.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.parse().ok()
    }

    /// The text of the element without tags.
    pub(crate) fn words(&self) -> String {
        let mut out = String::new();
        let mut rest = self.content;
        while let Some((before, after)) = rest.split_once('<') {
            out.push_str(before);
            rest = after.split_once('>').map_or("", |(_, after)| after);
        }
        out.push_str(rest);
        out.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&")
    }
}
