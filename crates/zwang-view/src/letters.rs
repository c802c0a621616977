//! The letters of the theory, distinguished from those of a model: a cart may have a mass M and a rod a length L.

use zwang::model::Model;

/// LaTeX in which `\M` is the mass matrix, `\q` all coordinates and `\L` the Lagrangian. Vectors and matrices become
/// bold, energies and the Gaussian calligraphic. Only a single letter after the backslash is replaced.
pub(crate) fn with_letters(latex: &str) -> String {
    let mut out = String::new();
    let mut rest = latex;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let name = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        match &after[..name] {
            letter @ ("L" | "T" | "V" | "G" | "E" | "H") => out.push_str(&format!("{{\\mathcal {letter}}}")),
            letter if name == 1 => out.push_str(&format!("{{\\mathbf {letter}}}")),
            command => out.push_str(&format!("\\{command}")),
        }
        rest = &after[name..];
        // a backslash or brace after a backslash is literal
        if name == 0 {
            let mark = rest.chars().next().map_or(0, char::len_utf8);
            out.push_str(&rest[..mark]);
            rest = &rest[mark..];
        }
    }
    out + rest
}

/// The letter of a quantity in text, or its word if the model uses the letter as a name.
pub(crate) fn letter_or<'w>(model: &Model, letter: &'w str, word: &'w str) -> &'w str {
    if model.has_name(letter) { word } else { letter }
}

/// Text such as `a = M^-1 Q without constraints`, with the quantities in it as formulas between dollars.
pub(crate) fn with_formulas(words: &str) -> String {
    let tokens: Vec<(&str, &str)> =
        words.split(' ').map(|word| word.split_at(word.trim_end_matches([',', ':', ';']).len())).collect();
    let is_letter = |word: &str| word.len() == 1 && word.chars().all(|c| c.is_ascii_alphabetic());
    // `a` may be the article
    let is_sure = |word: &str| {
        let letter = word.split('^').next().unwrap_or_default();
        matches!(word, "=" | "+" | "-" | "q''" | "Qc" | "Qi" | "lambda") || is_letter(letter) && letter != "a"
    };
    let is_formula = |k: usize| {
        let beside = k > 0 && is_sure(tokens[k - 1].0) && tokens[k - 1].1.is_empty()
            || k + 1 < tokens.len() && is_sure(tokens[k + 1].0);
        is_sure(tokens[k].0) || tokens[k].0 == "a" && beside
    };
    let mut out = String::new();
    for (k, (word, mark)) in tokens.iter().enumerate() {
        let goes_on = k > 0 && is_formula(k - 1) && tokens[k - 1].1.is_empty();
        let follows = mark.is_empty() && k + 1 < tokens.len() && is_formula(k + 1);
        out.push_str(if k > 0 { " " } else { "" });
        match is_formula(k) {
            false => out.push_str(word),
            true => {
                let (open, close) = (if goes_on { "" } else { "$" }, if follows { "" } else { "$" });
                out.push_str(&format!("{open}{}{close}", named(word)));
            }
        }
        out.push_str(mark);
    }
    out
}

/// A quantity in text as LaTeX: `A^T`, `q''`.
fn named(word: &str) -> String {
    let (letter, power) = word.split_once('^').unwrap_or((word, ""));
    let letter = match letter {
        "=" | "+" | "-" => letter.to_string(),
        "q''" => "\\ddot\\q".into(),
        "Qc" => "\\Q^{c}".into(),
        "Qi" => "\\Q^{i}".into(),
        "lambda" => "\\lambda".into(),
        // the lower triangular factor, not the Lagrangian
        "L" => "{\\mathbf L}".into(),
        letter => format!("\\{letter}"),
    };
    match power {
        "" => letter,
        power => format!("{letter}^{{{}}}", power.replace('T', "\\mathsf T")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_letters_of_the_theory_change() {
        assert_eq!(with_letters(r"\M \ddot\q = M x"), r"{\mathbf M} \ddot{\mathbf q} = M x");
        assert_eq!(
            with_letters(r"\L = \frac{1}{2} L \\ \lambda \, \{"),
            r"{\mathcal L} = \frac{1}{2} L \\ \lambda \, \{"
        );
    }

    #[test]
    fn quantities_in_words_become_formulas() {
        assert_eq!(
            with_formulas("acceleration a = M^-1 Q without a force"),
            r"acceleration $\a = \M^{-1} \Q$ without a force"
        );
        assert_eq!(with_formulas("S = A A^T, how a"), r"$\S = \A \A^{\mathsf T}$, how a");
        assert_eq!(with_formulas("control force"), "control force");
    }
}
