//! `zwang inspect -o`: the geometry of least constraint as a file.

use zwang::{Inspection, Wishes, scaled_start};
use zwang_motion::Settings;
use zwang_view::{GeometryNames, geometry_svg};

use crate::arguments::OneModel;
use crate::files::{Destination, Kind};
use crate::run::is_compiled;
use crate::shell::{Exit, SUCCESS, USAGE, complain, print, usage_as};
use crate::source::Source;

/// What can be wrong with the files is said before anything is computed.
pub fn check_outputs(model: &OneModel, output: &[Destination]) -> Result<(), u8> {
    let own = std::fs::canonicalize(&model.source.model).ok();
    for to in output {
        let target = to.path.as_ref().and_then(|path| std::fs::canonicalize(path).ok());
        if target.is_some() && target == own {
            return usage_as(model.json, &format!("`{}` is the model itself; choose another name", to.name()));
        }
        if !matches!(to.kind, Kind::Svg | Kind::Png) || to.path.is_none() {
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

/// What became of the files.
pub struct Written(Vec<(String, Result<(), String>)>);

impl Written {
    /// Names the files that were written and what kept others from it.
    pub fn say(&self, as_json: bool) -> Exit {
        let done: Vec<&str> = self.0.iter().filter(|(_, r)| r.is_ok()).map(|(name, _)| name.as_str()).collect();
        for (_, result) in &self.0 {
            if let Err(message) = result {
                complain(&format!("error: {message}\n"));
            }
        }
        if !done.is_empty() && !as_json {
            print(&format!("  wrote {}\n", done.join(", ")))?;
        }
        Ok(if done.len() == self.0.len() { SUCCESS } else { USAGE })
    }
}

/// Draws what an inspection found.
pub fn write(inspection: &Inspection, output: &[Destination]) -> Written {
    let drawn = match &inspection.scaled {
        _ if output.is_empty() => Ok(String::new()),
        Some(scaled) => Ok(geometry_svg(scaled, &GeometryNames::of(&inspection.check.equations))),
        None if !inspection.check.regular => Err("there is no picture: the mass matrix is singular".to_string()),
        None => Err("there is no picture of a system of this size".to_string()),
    };
    write_svg(drawn, output)
}

/// Draws constraints that contradict each other at the start, with the gap between them.
pub fn write_gap(source: &Source, model: &OneModel, output: &[Destination], settings: &Settings) {
    let wishes = Wishes { settings: settings.clone(), fix_start: model.fix_start, ..Wishes::default() };
    let again = (!output.is_empty()).then(|| source.again().reading.model).flatten();
    let Some((scaled, equations)) = again.and_then(|stated| scaled_start(stated, &wishes)) else { return };
    for (name, result) in write_svg(Ok(geometry_svg(&scaled, &GeometryNames::of(&equations))), output).0 {
        match result {
            Ok(()) => complain(&format!("wrote {name}: the nearest acceleration, and how far each row misses it\n")),
            Err(message) => complain(&format!("error: {message}\n")),
        }
    }
}

fn write_svg(drawn: Result<String, String>, output: &[Destination]) -> Written {
    let one = |to: &Destination| {
        let bytes = drawn.clone().and_then(|svg| bytes(svg, to.kind));
        let result = bytes.map_err(|why| format!("cannot write `{}`: {why}", to.name())).and_then(|b| to.write(&b));
        (to.name(), result)
    };
    Written(output.iter().map(one).collect())
}

fn bytes(svg: String, kind: Kind) -> Result<Vec<u8>, String> {
    match kind {
        #[cfg(feature = "png")]
        Kind::Png => zwang_view::png(&svg),
        _ => Ok(svg.into_bytes()),
    }
}
