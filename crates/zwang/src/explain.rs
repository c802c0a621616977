//! The pages that explain the message codes.

/// A code and its page.
pub type ExplainPage = (&'static str, &'static str);

macro_rules! page {
    ($code:literal) => {
        ($code, include_str!(concat!("explain/", $code, ".md")))
    };
}

/// All pages, in the order of their codes.
pub const PAGES: [ExplainPage; 73] = [
    page!("Z001"),
    page!("Z002"),
    page!("Z003"),
    page!("Z004"),
    page!("Z005"),
    page!("Z006"),
    page!("Z007"),
    page!("Z008"),
    page!("Z009"),
    page!("Z101"),
    page!("Z102"),
    page!("Z103"),
    page!("Z104"),
    page!("Z105"),
    page!("Z106"),
    page!("Z107"),
    page!("Z108"),
    page!("Z109"),
    page!("Z110"),
    page!("Z111"),
    page!("Z201"),
    page!("Z202"),
    page!("Z203"),
    page!("Z204"),
    page!("Z205"),
    page!("Z206"),
    page!("Z301"),
    page!("Z302"),
    page!("Z303"),
    page!("Z304"),
    page!("Z308"),
    page!("Z310"),
    page!("Z311"),
    page!("Z312"),
    page!("Z318"),
    page!("Z319"),
    page!("Z320"),
    page!("Z321"),
    page!("Z401"),
    page!("Z402"),
    page!("Z403"),
    page!("Z404"),
    page!("Z501"),
    page!("Z502"),
    page!("Z601"),
    page!("Z602"),
    page!("Z603"),
    page!("Z604"),
    page!("Z605"),
    page!("Z606"),
    page!("Z607"),
    page!("Z608"),
    page!("Z609"),
    page!("Z610"),
    page!("Z611"),
    page!("Z612"),
    page!("Z613"),
    page!("Z614"),
    page!("Z615"),
    page!("Z616"),
    page!("Z617"),
    page!("Z618"),
    page!("Z619"),
    page!("Z620"),
    page!("Z701"),
    page!("Z702"),
    page!("Z703"),
    page!("Z704"),
    page!("Z705"),
    page!("Z706"),
    page!("Z707"),
    page!("Z801"),
    page!("Z901"),
];

/// The page of a code, in upper or lower case and with or without the `Z`.
pub fn explain(code: &str) -> Option<&'static str> {
    let wanted = code.trim().to_uppercase();
    let wanted = wanted.strip_prefix('Z').unwrap_or(&wanted);
    PAGES.iter().find(|(code, _)| &code[1..] == wanted).map(|(_, page)| *page)
}
