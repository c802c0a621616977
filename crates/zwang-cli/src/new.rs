//! `zwang new`: a commented model to start from.

use std::io::Write;

use zwang::syntax::quoted;

use crate::templates::TEMPLATES;
use crate::terminal::{Exit, print, usage};

/// Writes a model file from a template, or lists the templates.
pub fn new(name: Option<&str>, list: bool) -> Exit {
    if list {
        let lines: Vec<String> = TEMPLATES.iter().map(|(name, what, _)| format!("  {name:<16} {what}")).collect();
        return print(&format!("{}\n", lines.join("\n")));
    }
    let Some(name) = name else { return usage("give a name, as in `zwang new pendulum`, or --list") };
    let name = name.trim_end_matches(".zw");
    if name.is_empty() || name.ends_with('/') {
        return usage("give a name, as in `zwang new pendulum`");
    }
    let stem = std::path::Path::new(name).file_name().and_then(|s| s.to_str()).unwrap_or(name);
    let (_, _, text) = TEMPLATES.iter().find(|(template, _, _)| *template == stem).unwrap_or(&TEMPLATES[0]);
    let path = format!("{name}.zw");
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Ok(()) => print(&format!("wrote {path}\n  next:  zwang run {}\n", quoted(&path))),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            usage(&format!("`{path}` is there already; choose another name"))
        }
        Err(error) => usage(&format!("cannot write `{path}`: {error}")),
    }
}
