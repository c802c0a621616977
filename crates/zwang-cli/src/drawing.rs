//! `zwang inspect -o`: the geometry of least constraint as a file.

use zwang::{Inspection, scaled_start};
use zwang_view::{GeometryNames, geometry_svg};

use crate::arguments::OneModel;
use crate::files::{Destination, FileKind};
use crate::run::is_compiled;
use crate::shell::{Exit, SUCCESS, USAGE, eprint, print, usage_as};
use crate::source::ModelFile;

/// Reports problems with the files before the computation starts.
pub fn check_outputs(model: &OneModel, output: &[Destination]) -> Result<(), u8> {
    let own = std::fs::canonicalize(&model.source.model).ok();
    for to in output {
        let target = to.path.as_ref().and_then(|path| std::fs::canonicalize(path).ok());
        if target.is_some() && target == own {
            return usage_as(model.json, &format!("`{}` is the model itself; choose another name", to.name()));
        }
        if !matches!(to.kind, FileKind::Svg | FileKind::Png) || to.path.is_none() {
            return usage_as(model.json, "`inspect` draws .svg and .png; `zwang run -o` writes the other files");
        }
        if !is_compiled(to.kind) {
            return usage_as(model.json, &format!("this zwang was built without the writer of `{}`", to.name()));
        }
        if let Err(message) = to.probe() {
            return usage_as(model.json, &message);
        }
    }
    Ok(())
}

/// The result of writing each file.
pub struct WrittenFiles(Vec<(String, Result<(), String>)>);

impl WrittenFiles {
    /// Reports the files that were written and the reason for each failure.
    pub fn say(&self, as_json: bool) -> Exit {
        let done: Vec<&str> = self.0.iter().filter(|(_, r)| r.is_ok()).map(|(name, _)| name.as_str()).collect();
        for (_, result) in &self.0 {
            if let Err(message) = result {
                eprint(&format!("error: {message}\n"));
            }
        }
        if !done.is_empty() && !as_json {
            print(&format!("  wrote {}\n", done.join(", ")))?;
        }
        Ok(if done.len() == self.0.len() { SUCCESS } else { USAGE })
    }
}

/// Draws the result of an inspection.
pub fn write(inspection: &Inspection, output: &[Destination]) -> WrittenFiles {
    let drawn = match &inspection.scaled {
        _ if output.is_empty() => Ok(String::new()),
        Some(scaled) => Ok(geometry_svg(scaled, &GeometryNames::of(&inspection.check.equations))),
        None if !inspection.check.regular => Err("there is no picture: the mass matrix is singular".to_string()),
        None => Err("there is no picture of a system of this size".to_string()),
    };
    write_svg(drawn, output)
}

/// Draws constraints that conflict at the start, with the gap between them.
pub fn write_gap(file: &ModelFile, model: &OneModel, output: &[Destination]) {
    if output.is_empty() {
        return;
    }
    let derived = file.derive().ok().map(|derived| derived.equations.model);
    let Some((scaled, equations)) = derived.and_then(|stated| scaled_start(stated, file.settings(), model.fix_start))
    else {
        return;
    };
    for (name, result) in write_svg(Ok(geometry_svg(&scaled, &GeometryNames::of(&equations))), output).0 {
        match result {
            Ok(()) => eprint(&format!("wrote {name}: the nearest acceleration, and how far each row misses it\n")),
            Err(message) => eprint(&format!("error: {message}\n")),
        }
    }
}

fn write_svg(drawn: Result<String, String>, output: &[Destination]) -> WrittenFiles {
    let one = |to: &Destination| {
        let bytes = drawn.clone().and_then(|svg| bytes(svg, to.kind));
        let result = bytes.map_err(|why| format!("cannot write `{}`: {why}", to.name())).and_then(|b| to.write(&b));
        (to.name(), result)
    };
    WrittenFiles(output.iter().map(one).collect())
}

fn bytes(svg: String, kind: FileKind) -> Result<Vec<u8>, String> {
    match kind {
        #[cfg(feature = "png")]
        FileKind::Png => zwang_view::png(&svg),
        _ => Ok(svg.into_bytes()),
    }
}
