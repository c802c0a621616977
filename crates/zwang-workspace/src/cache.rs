//! Derivations and systems that are kept between requests.

use std::collections::BTreeMap;

use zwang::{Derivation, Error, LoadOptions, Overrides, System};

/// Files by the names under which models open them.
pub type FileMap = BTreeMap<String, String>;

/// The text without overrides, and with the latest ones.
#[derive(Default)]
pub(crate) struct Cache {
    plain: Option<CachedResults>,
    changed: Option<CachedResults>,
    n_derivations: usize,
}

impl Cache {
    /// Number of derivations so far.
    pub(crate) fn n_derivations(&self) -> usize {
        self.n_derivations
    }

    /// The system of a text with the overrides of the options.
    pub(crate) fn system(&mut self, text: &str, options: &LoadOptions) -> Result<System, Error> {
        let (entry, n_derivations) = self.entry(text, options);
        entry.system(text, options, n_derivations)
    }

    /// The model of a text, derived and not compiled.
    pub(crate) fn derivation(&mut self, text: &str, options: &LoadOptions) -> Result<Derivation, Error> {
        let (entry, n_derivations) = self.entry(text, options);
        entry.derivation(text, options, n_derivations)
    }

    /// The entry for the overrides of the options, and the number of derivations.
    ///
    /// From the second set of overrides on the text is also kept without them, because more will follow and most change numbers
    /// of parameters only, which need no derivation.
    fn entry(&mut self, text: &str, options: &LoadOptions) -> (&mut CachedResults, &mut usize) {
        let Cache { plain, changed, n_derivations } = self;
        let overrides = &options.overrides;
        if *overrides == Overrides::default() {
            return (plain.get_or_insert_default(), n_derivations);
        }
        let is_known = changed.as_ref().is_some_and(|entry| entry.overrides == *overrides);
        if !is_known {
            let mut entry = CachedResults { overrides: overrides.clone(), ..CachedResults::default() };
            if plain.is_some() || changed.is_some() {
                let options = LoadOptions { overrides: Overrides::default(), ..options.clone() };
                let plain = plain.get_or_insert_default().system(text, &options, n_derivations);
                entry.system = plain.ok().and_then(|system| with_numbers(&system, overrides)).map(Ok);
            }
            *changed = Some(entry);
        }
        (changed.get_or_insert_default(), n_derivations)
    }
}

/// The results for a text with some overrides.
#[derive(Default)]
struct CachedResults {
    overrides: Overrides,
    derivation: Option<Result<Derivation, Error>>,
    system: Option<Result<System, Error>>,
}

impl CachedResults {
    fn system(&mut self, text: &str, options: &LoadOptions, n_derivations: &mut usize) -> Result<System, Error> {
        if let Some(known) = &self.system {
            return known.clone();
        }
        let derivation = self.derivation.clone().unwrap_or_else(|| derived(text, options, n_derivations));
        self.system.insert(derivation.and_then(|derivation| derivation.compile(options))).clone()
    }

    fn derivation(
        &mut self,
        text: &str,
        options: &LoadOptions,
        n_derivations: &mut usize,
    ) -> Result<Derivation, Error> {
        match (&self.derivation, &self.system) {
            (Some(known), _) => known.clone(),
            (None, Some(Ok(system))) => Ok(system.derivation()),
            _ => self.derivation.insert(derived(text, options, n_derivations)).clone(),
        }
    }
}

fn derived(text: &str, options: &LoadOptions, n_derivations: &mut usize) -> Result<Derivation, Error> {
    *n_derivations += 1;
    zwang::derive(text, options)
}

/// The system with other numbers of its parameters; `None` if an override is anything else, or a number lies outside its range.
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
