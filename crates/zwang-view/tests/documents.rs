//! Derivations of the whole gallery as documents: they can be written, and LaTeX sets them without a complaint.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tool::tool;
use zwang::{LoadOptions, derive};
use zwang_view::{
    Article, DerivationContext, article_html, article_latex, article_markdown, derivation, equations_text, geometry_of,
};

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");

fn gallery() -> Vec<(String, String)> {
    let files = std::fs::read_dir(MODELS).unwrap().map(|entry| entry.unwrap().path());
    let mut models: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "zw")).collect();
    models.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    models.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

fn article(name: &str, text: &str) -> Article {
    let files = |file: &str| std::fs::read_to_string(format!("{MODELS}/{file}")).map_err(|e| e.to_string());
    let derived = derive(text, &LoadOptions { files: &files, ..LoadOptions::default() }).expect(name);
    let mut equations = derived.equations.clone();
    let check = derived.compile(&LoadOptions::default()).and_then(|system| system.check()).ok();
    let context = DerivationContext {
        model_text: text,
        check: check.as_deref(),
        at_start: true,
        notes: &[],
        geometry: check.as_deref().and_then(geometry_of),
    };
    Article { title: name.into(), blocks: derivation(&mut equations, &context) }
}

#[test]
fn the_gallery_is_written_in_every_format() {
    for (name, text) in gallery() {
        let article = article(&name, &text);
        let (html, tex, markdown) = (article_html(&article), article_latex(&article), article_markdown(&article));
        assert!(html.contains("<math") && html.trim_end().ends_with("</html>"), "{name}");
        // in addition to ASCII, only characters of the fonts
        let is_set = |c: char| c.is_ascii() || ('\u{c0}'..='\u{17f}').contains(&c);
        assert!(tex.chars().all(is_set) && tex.trim_end().ends_with("\\end{document}"), "{name}");
        assert!(markdown.starts_with(&format!("# {name}\n")), "{name}");
        // nothing that could not be found, typeset or read
        for (format, text) in [("html", &html), ("tex", &tex), ("md", &markdown)] {
            for wrong in ["NaN", "nan}", "\\left(\\ldots", "U+", "too long to print"] {
                assert!(!text.contains(wrong), "{name}.{format}: {wrong}");
            }
        }
    }
}

/// A cart of mass M on a rod of length L: the letters of the theory have shapes of their own.
#[test]
fn letters_of_a_model_are_not_those_of_the_theory() {
    let text = "coordinates x\nparameter M = 3, L = 2, k = 1\nlagrangian M/2*x'^2 - k/2*(x - L)^2\nstart x = 0";
    let markdown = article_markdown(&article("cart", text));
    for line in ["{\\mathcal T} &= \\frac{M", "{\\mathbf M} &= \\begin{bmatrix} M \\end{bmatrix}"] {
        assert!(markdown.contains(line), "{line} in\n{markdown}");
    }
}

#[test]
fn names_that_would_look_alike_are_spelled() {
    let text = "coordinates θ1, θ_1\nmass θ1, θ_1: 1\nforce θ1: θ_1\nstart θ1 = 0, θ_1 = 0";
    let markdown = article_markdown(&article("alike", text));
    assert!(markdown.contains("\\ddot{\\theta}_{1} &= \\mathit{\\theta \\_1}"), "{markdown}");
}

/// x + y = 0 twice, but only for a = 1.
#[test]
fn rows_that_are_redundant_for_some_values_only_are_documented() {
    let text = |a: &str| {
        format!(
            "coordinates x, y\nparameter a = 1\nmass x, y: 1\nforce y: -1\nconstraint c1: x + y = 0\nconstraint c2: {a}*x + {a}*y = 0\nconstraint c3: x + a*y = 0"
        )
    };
    let printed = |text: &str| equations_text(&mut derive(text, &LoadOptions::default()).unwrap().equations);
    assert!(printed(&text("2")).contains("for the values of the parameters"));
    let always = text("2").replace("a*y", "1*y");
    assert!(printed(&always).contains("rows repeat others and"), "{}", printed(&always));
}

/// A ring stated twice, with friction that follows one of the two.
#[test]
fn shares_of_redundant_rows_are_said() {
    let text = "coordinates x, y\nmass x, y: 1\nforce y: -9.81\nconstraint ring: x^2 + y^2 = 1\nconstraint again: x^2 + y^2 = 1
nonideal x: -0.2*lambda(again)*x'\nnonideal y: -0.2*lambda(again)*y'\nstart x = 1, y = 0, y' = 2";
    let printed = equations_text(&mut derive(text, &LoadOptions::default()).unwrap().equations);
    assert!(printed.contains("one row repeats others; together they share one force"), "{printed}");
    assert!(printed.contains("lambda(ring) = ") && printed.contains("lambda(again) = "), "{printed}");
    let markdown = article_markdown(&article("twice", text));
    assert!(markdown.contains("together they share one force"), "{markdown}");
}

/// ½ q̈ᵀM q̈ is Gibbs's function for particles in Cartesian coordinates, and nowhere else.
#[test]
fn gibbs_and_appell_stand_beside_cartesian_coordinates_only() {
    let cartesian = "coordinates x, y\nmass x, y: 1\nforce y: -9.81\nconstraint rod: x^2 + y^2 = 1\nstart x = 1, y = 0";
    let polar = "coordinates r, φ\nkinetic (r'^2 + r^2*φ'^2)/2\nconstraint spiral: r = 1 + φ\nstart r = 1, φ = 0";
    let [cartesian, polar] =
        [("cartesian", cartesian), ("polar", polar)].map(|(n, t)| article_markdown(&article(n, t)));
    assert!(cartesian.contains("Gibbs and Appell's equations") && cartesian.contains("mathcal S"), "{cartesian}");
    assert!(!polar.contains("Gibbs") && !polar.contains("mathcal S"), "{polar}");
    assert!(polar.contains("D'Alembert's principle"), "{polar}");
}

#[test]
fn events_restitution_and_friction_are_documented() {
    let text = "coordinates x, y\nparameter e = 0.5, h = 0.3\nparticle P at (x, y) with mass 1\ngravity (0, -1)\n\
                contact floor: y >= 0 with restitution e and friction h\nwhen x >= 1: h = 0\nstart x = 0, y = 1";
    let markdown = article_markdown(&article("thrown", text));
    assert!(markdown.contains("- `when x >= 1: h = 0`"), "{markdown}");
    assert!(markdown.contains("| `floor` | $e$ | $h$ | $h$ |"), "{markdown}");
    let mut derived = derive(text, &LoadOptions::default()).unwrap();
    assert!(equations_text(&mut derived.equations).contains("\n#   when x >= 1: h = 0\n"));
}

#[test]
fn latex_sets_them() {
    let Some(latex) = tool(&["pdflatex"], &["--version"]) else { return };
    let folder = std::env::temp_dir().join(format!("zwang-documents-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for wanted in ["pendulum", "rolling_disk", "stick_slip_belt", "guided_particle", "double_pendulum_redundant"] {
        let text = std::fs::read_to_string(format!("{MODELS}/{wanted}.zw")).unwrap();
        std::fs::write(folder.join("x.tex"), article_latex(&article(wanted, &text))).unwrap();
        let mut set = Command::new(&latex);
        let reported = set.args(["-interaction=nonstopmode", "x.tex"]).current_dir(&folder).output().unwrap();
        let reported = String::from_utf8_lossy(&reported.stdout).into_owned();
        assert!(!reported.lines().any(|line| line.starts_with('!')), "{wanted}\n{reported}");
        assert!(!reported.contains("Overfull \\hbox"), "{wanted}\n{reported}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
