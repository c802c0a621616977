//! Spellings of names: `theta` is `θ`, `q₁` is `q_1`, `ẋ` may be `x'`.

use crate::limits;
use unicode_normalization::UnicodeNormalization;

/// Latin spellings of Greek letters, and variant letter forms.
const GREEK: [(&str, &str); 35] = [
    ("alpha", "α"),
    ("beta", "β"),
    ("gamma", "γ"),
    ("delta", "δ"),
    ("epsilon", "ε"),
    ("zeta", "ζ"),
    ("eta", "η"),
    ("theta", "θ"),
    ("iota", "ι"),
    ("kappa", "κ"),
    ("lambda", "λ"),
    ("mu", "μ"),
    ("nu", "ν"),
    ("xi", "ξ"),
    ("omicron", "ο"),
    ("pi", "π"),
    ("rho", "ρ"),
    ("sigma", "σ"),
    ("tau", "τ"),
    ("upsilon", "υ"),
    ("phi", "φ"),
    ("chi", "χ"),
    ("psi", "ψ"),
    ("omega", "ω"),
    ("Gamma", "Γ"),
    ("Delta", "Δ"),
    ("Theta", "Θ"),
    ("Lambda", "Λ"),
    ("Xi", "Ξ"),
    ("Pi", "Π"),
    ("Sigma", "Σ"),
    ("Upsilon", "Υ"),
    ("Phi", "Φ"),
    ("Psi", "Ψ"),
    ("Omega", "Ω"),
];

/// The canonical form that all spellings of a name have in common.
///
/// A Greek name is recognised if it consists of all letters before digits or an underscore. Subscript digits become an
/// underscore and digits; µ, ϕ, ϑ, ϵ, ϱ become μ, φ, θ, ε, ρ.
pub fn canonical(written: &str) -> String {
    // fast path for the names of most families
    if written.len() == 1 && written.is_ascii() {
        return written.to_string();
    }
    let plain = if written.is_ascii() { written.to_string() } else { plain(written) };
    let letters = plain.find(|c: char| !c.is_alphabetic()).unwrap_or(plain.len());
    match GREEK.iter().find(|(latin, _)| *latin == &plain[..letters]) {
        Some((_, greek)) => format!("{greek}{}", &plain[letters..]),
        None => plain,
    }
}

/// Letters in composed form, subscript digits as an underscore and digits.
fn plain(written: &str) -> String {
    let mut plain = String::with_capacity(written.len());
    let mut in_subscript = false;
    for c in written.nfc() {
        let digit = subscript_digit(c);
        if digit.is_some() && !in_subscript {
            plain.push('_');
        }
        in_subscript = digit.is_some();
        plain.push(digit.unwrap_or(match c {
            'µ' => 'μ',
            'ϕ' => 'φ',
            'ϑ' => 'θ',
            'ϵ' => 'ε',
            'ϱ' => 'ρ',
            other => other,
        }));
    }
    plain
}

/// The name without dots above its letters and the number of derivatives that the dots denote; `None` without dots.
pub fn undotted(written: &str) -> Option<(String, u32)> {
    let mut primes = 0;
    let bare: String = written
        .nfd()
        .filter(|&c| {
            let dots = match c {
                '\u{307}' => 1,
                '\u{308}' => 2,
                _ => 0,
            };
            primes += dots;
            dots == 0
        })
        .collect();
    (primes > 0).then(|| (canonical(&bare), primes))
}

/// The name in LaTeX: Greek letters as commands, the rest after the first letter as a subscript.
pub fn latex(written: &str) -> String {
    let canonical = canonical(written);
    let mut letters = canonical.chars();
    let Some(first) = letters.next() else { return String::new() };
    let head = match GREEK.iter().find(|(_, greek)| greek.starts_with(first)) {
        Some((latin, _)) => format!("\\{latin}"),
        None => first.to_string(),
    };
    let rest: String = letters.collect();
    let rest = rest.trim_start_matches('_').replace('_', ",").replace(['[', ']'], ",");
    match rest.trim_matches(',') {
        "" => head,
        rest if rest.starts_with(|c: char| c.is_alphabetic())
            && rest.chars().count() > 1
            && canonical == written
            && !written.contains('_') =>
        {
            format!("\\mathit{{{}}}", written.replace('[', "_{").replace(']', "}"))
        }
        rest => format!("{head}_{{{rest}}}"),
    }
}

/// A LaTeX name with a dot above its first letter.
pub fn dotted(tex: &str, dot: &str) -> String {
    // a literal underscore does not start a subscript
    match tex.split_once("_{") {
        Some((head, tail)) => format!("{dot}{{{head}}}_{{{tail}"),
        None => format!("{dot}{{{tex}}}"),
    }
}

/// The name in LaTeX letter by letter, without subscripts.
pub fn spelled_latex(written: &str) -> String {
    let letter = |c: char| match GREEK.iter().find(|(_, greek)| greek.starts_with(c)) {
        Some((latin, _)) => format!("\\{latin} "),
        None if c == '_' => "\\_".into(),
        None => c.to_string(),
    };
    format!("\\mathit{{{}}}", canonical(written).chars().map(letter).collect::<String>())
}

/// A name for files and other programs: ASCII, `θ` as `theta`, `x[1]` as `x_1`.
pub fn ascii(written: &str) -> String {
    let mut out = String::new();
    for c in canonical(written).chars() {
        match GREEK.iter().find(|(_, greek)| greek.starts_with(c)) {
            Some((latin, _)) => out.push_str(latin),
            None if c.is_ascii_alphanumeric() || c == '_' => out.push(c),
            None => out.push('_'),
        }
    }
    out.trim_end_matches('_').to_string()
}

/// The visual form of a name: letters of other alphabets are replaced by the Latin ones they resemble.
pub fn skeleton(canonical: &str) -> String {
    const LOOKS: [(&str, &str); 2] =
        [("νορΑΒΕΖΗΙΚΜΝΟΡΤΥΧιυ", "vopABEZHIKMNOPTYXiu"), ("аеорсхуіАВЕКМНОРСТХ", "aeopcxyiABEKMHOPCTX")];
    let look =
        |c: char| LOOKS.iter().find_map(|(from, to)| to.chars().nth(from.chars().position(|f| f == c)?)).unwrap_or(c);
    canonical.chars().map(look).collect()
}

/// The known name that `name` begins, or else the nearest one; `None` if none is near enough to suggest a typing error.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > limits::NAME_COMPARED {
        return None;
    }
    let known: Vec<&str> = known.collect();
    if length >= SHORTEST_BEGINNING {
        let begun = || known.iter().copied().filter(|k| k.starts_with(name));
        let first = begun().min_by_key(|k| k.len());
        // of several that begin so none is meant more than another, unless it begins them all
        if let Some(first) = first.filter(|first| begun().all(|k| k.starts_with(first))) {
            return Some(first);
        }
    }
    let most = match length {
        0..=4 => 1,
        5..=7 => 2,
        _ => 3,
    };
    known
        .into_iter()
        .filter(|k| k.chars().count().abs_diff(length) <= most)
        .map(|k| (distance(name, k), k))
        .filter(|(d, k)| *d <= most && *d < k.chars().count().max(length))
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

/// The least number of letters that show which name is meant.
const SHORTEST_BEGINNING: usize = 3;

/// The Levenshtein distance, with an exchange of neighbours counted once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = usize::from(a[i - 1] != b[j - 1]);
                let plain = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + change);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                if swapped { plain.min(rows[i - 2][j - 2] + 1) } else { plain }
            };
        }
    }
    rows[a.len()][b.len()]
}

fn subscript_digit(c: char) -> Option<char> {
    let code = u32::from(c);
    (0x2080..=0x2089).contains(&code).then(|| char::from_digit(code - 0x2080, 10)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_agree() {
        for (a, b) in [("theta", "θ"), ("phi1", "φ1"), ("q₁", "q_1"), ("µ", "mu"), ("ϕ", "phi"), ("mu_s", "μ_s")]
        {
            assert_eq!(canonical(a), canonical(b), "{a} and {b}");
        }
        assert_ne!(canonical("q1"), canonical("q_1"));
        assert_ne!(canonical("thetas"), canonical("θs"));
    }

    #[test]
    fn dots_come_off() {
        assert_eq!(undotted("ẋ"), Some(("x".into(), 1)));
        assert_eq!(undotted("θ̈1"), Some(("θ1".into(), 2)));
        assert_eq!(undotted("x"), None);
    }

    #[test]
    fn latex_makes_commands_and_subscripts() {
        assert_eq!(latex("theta"), r"\theta");
        assert_eq!(latex("q1"), "q_{1}");
        assert_eq!(latex("x[3]"), "x_{3}");
        assert_eq!(spelled_latex("θ_1"), r"\mathit{\theta \_1}");
    }

    #[test]
    fn nearest_finds_swapped_letters_but_not_strangers() {
        assert_eq!(nearest("thtea", ["theta", "phi"].into_iter()), Some("theta"));
        assert_eq!(nearest("mass", ["x", "omega"].into_iter()), None);
        assert_eq!(nearest("let", ["set_out", "bed"].into_iter()), None);
    }

    #[test]
    fn a_beginning_is_nearer_than_a_likeness() {
        assert_eq!(nearest("param", ["pram", "parameter", "let"].into_iter()), Some("parameter"));
        assert_eq!(nearest("coord", ["cord", "coordinates"].into_iter()), Some("coordinates"));
        // of two that begin so neither
        assert_eq!(nearest("con", ["constraint", "contact"].into_iter()), None);
        assert_eq!(nearest("ten", ["tension", "tension_rod"].into_iter()), Some("tension"));
    }
}
