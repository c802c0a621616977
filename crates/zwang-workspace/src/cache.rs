//! What is kept between requests.

use std::collections::BTreeMap;

use zwang::{Error, LoadOptions, Overrides, System};

/// Files by the names under which models open them.
pub type FileMap = BTreeMap<String, String>;

/// Systems that were loaded: one for the text as it is, and one for it with changes that need another derivation.
#[derive(Default)]
pub(crate) struct Cache {
    plain: Option<Result<System, Error>>,
    changed: Option<(Overrides, Result<System, Error>)>,
}

impl Cache {
    /// The text with the overrides, derived only where they ask for it: numbers of parameters do not.
    pub(crate) fn system(
        &mut self,
        text: &str,
        files: &FileMap,
        overrides: &Overrides,
        options: &LoadOptions,
    ) -> Result<System, Error> {
        let open = |name: &str| files.get(name).cloned().ok_or_else(|| format!("there is no file `{name}`"));
        let load = |overrides: &Overrides| {
            zwang::load_with(text, &LoadOptions { overrides: overrides.clone(), files: &open, ..options.clone() })
        };
        let is_plain = overrides.set.is_empty() && overrides.start.is_empty();
        if !is_plain && self.changed.as_ref().is_some_and(|(known, _)| known == overrides) {
            return self.changed.as_ref().map_or_else(|| load(overrides), |(_, system)| system.clone());
        }
        let plain = self.plain.get_or_insert_with(|| load(&Overrides::default()));
        if is_plain {
            return plain.clone();
        }
        let quick = plain.as_ref().ok().and_then(|system| with_numbers(system, overrides));
        let system = quick.map_or_else(|| load(overrides), Ok);
        self.changed = Some((overrides.clone(), system.clone()));
        system
    }
}

/// The system with other numbers of its parameters; none if an override is anything else, or a number lies outside its range.
fn with_numbers(system: &System, overrides: &Overrides) -> Option<System> {
    if !overrides.start.is_empty() {
        return None;
    }
    let mut system = system.clone();
    for set in &overrides.set {
        let (name, value) = set.split_once('=')?;
        let value: f64 = value.trim().parse().ok().filter(|x: &f64| x.is_finite())?;
        system = system.with(name.trim(), value).ok()?;
    }
    system.is_in_range().then_some(system)
}
