//! The letters of the theory, set apart from those of a model: a cart may have a mass M and a rod of length L.

/// LaTeX in which `\M` is the mass matrix, `\q` all coordinates and `\L` the Lagrangian: vectors and matrices become bold,
/// energies and the Gaussian calligraphic. Only a single letter after the backslash is meant.
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
        // a backslash or a brace after a backslash stands for itself
        if name == 0 {
            let mark = rest.chars().next().map_or(0, char::len_utf8);
            out.push_str(&rest[..mark]);
            rest = &rest[mark..];
        }
    }
    out + rest
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
}
