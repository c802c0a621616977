//! The model of a command: its file, opened, and the workspace that answers about it.

use std::cell::RefCell;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use zwang::syntax::Overrides;
use zwang::visible::visible_line;
use zwang::{Background, Error, LoadOptions, Monitor, System};
use zwang_motion::{RouteName, Settings};
use zwang_workspace::{Answer, Request, Workspace};

use crate::arguments::{ModelSource, OneModel};
use crate::budget::{CommandLimits, SpentResource, Watchman};
use crate::inputs::{OutputFiles, ReadableFolders};
use crate::terminal::{fail, usage_as};

/// Runs the optimisation of machine code on separate threads.
struct Threads;

impl Background for Threads {
    fn spawn(&self, work: Box<dyn FnOnce() + Send>) {
        // without a thread the present code gives the same values
        let _ = std::thread::Builder::new().spawn(work);
    }
}

/// A model file with the workspace that answers about it.
pub struct ModelFile {
    /// The name in messages.
    pub name: String,
    pub workspace: Workspace,
    /// What the command line allows.
    pub limits: CommandLimits,
    watchman: Watchman,
    /// An output that is a table of the model, with the remedy.
    conflict: Rc<RefCell<Option<String>>>,
    as_json: bool,
}

impl ModelFile {
    /// Reads the text of a command that states no settings; a problem with the file is a mistake of the command line.
    pub fn open(source: &ModelSource, outputs: OutputFiles, as_json: bool) -> Result<ModelFile, u8> {
        let options = LoadOptions { background: Some(Arc::new(Threads)), ..LoadOptions::default() };
        ModelFile::open_with(source, options, outputs, as_json)
    }

    /// Reads the text for a command that checks or runs the model.
    pub fn open_one(model: &OneModel, outputs: OutputFiles) -> Result<ModelFile, u8> {
        let settings = settings(model)?;
        let (route, fix_start): (RouteName, bool) = (model.route, model.fix_start);
        let background: Option<Arc<dyn Background>> = Some(Arc::new(Threads));
        let options = LoadOptions { settings, route, fix_start, background, ..LoadOptions::default() };
        ModelFile::open_with(&model.source, options, outputs, model.json)
    }

    fn open_with(
        source: &ModelSource,
        options: LoadOptions<'static>,
        outputs: OutputFiles,
        as_json: bool,
    ) -> Result<ModelFile, u8> {
        let limits = CommandLimits::merged(&source.budget);
        let watchman = Watchman::new(&limits, as_json);
        let is_input = source.model == "-";
        let name = if is_input { "standard input".into() } else { visible_line(&source.model).into_owned() };
        let path = Path::new(if is_input { "/dev/stdin" } else { &source.model });
        outputs.spare(path, "the model itself").or_else(|message| usage_as(as_json, &message))?;
        let folders = ReadableFolders::new(Path::new(&source.model), &source.allow_files);
        let folders = folders.or_else(|message| usage_as(as_json, &message))?;
        let text = read_text(&source.model).or_else(|message| usage_as(as_json, &message))?;
        let overrides = Overrides { set: source.set.clone(), start: source.start.clone() };
        let budget = limits.counted();
        let mut workspace = Workspace::with_options(LoadOptions { overrides, budget, ..options });
        let conflict = Rc::new(RefCell::new(None));
        let found = Rc::clone(&conflict);
        workspace.open_with(move |name| read_table(&folders, &outputs, name, &found));
        workspace.set_text(&text);
        Ok(ModelFile { name, workspace, limits, watchman, conflict, as_json })
    }

    /// Answers a request; after that no limit on time and memory holds.
    pub fn ask(&mut self, request: &Request, monitor: &mut dyn Monitor) -> Answer {
        let answer = self.workspace.answer(request, monitor);
        self.watchman.dismiss();
        answer
    }

    /// What runs out of time or memory.
    pub fn spent(&self) -> SpentResource {
        self.watchman.spent()
    }

    /// The system behind the answers; ends the command if the model has errors.
    pub fn system(&mut self) -> Result<System, u8> {
        let system = self.workspace.system();
        system.or_else(|error| self.end(&error))
    }

    /// Ends a command that has no answer.
    pub fn fail<T>(&self, answer: &Answer) -> Result<T, u8> {
        match &answer.error {
            Some(error) => self.end(error),
            None => usage_as(self.as_json, "there is no answer to this request"),
        }
    }

    fn end<T>(&self, error: &Error) -> Result<T, u8> {
        match &*self.conflict.borrow() {
            Some(conflict) => usage_as(self.as_json, conflict),
            None => fail(&self.name, error, self.as_json),
        }
    }

    /// The name of the file without folder and extension.
    pub fn stem(&self) -> String {
        stem(Path::new(&self.name))
    }
}

/// The name of a file without folder and extension.
pub fn stem(path: &Path) -> String {
    path.file_stem().map_or("model".into(), |stem| stem.to_string_lossy().into_owned())
}

/// A table that a model names, read from a folder where it may.
fn read_table(
    folders: &ReadableFolders,
    outputs: &OutputFiles,
    name: &str,
    conflict: &RefCell<Option<String>>,
) -> Result<String, String> {
    let path = folders.find(name)?;
    if let Err(message) = outputs.spare(&path, "a table of the model") {
        *conflict.borrow_mut() = Some(message.clone());
        return Err(message);
    }
    text_of(std::fs::File::open(&path), name)
}

/// Largest size of a model file, in bytes; no text written by a person is nearly as long.
const LARGEST_FILE: u64 = 64 << 20;

/// The text of a file or of standard input, or the reason why it cannot be read.
pub fn read_text(path: &str) -> Result<String, String> {
    match path {
        "-" => text_of(Ok(std::io::stdin()), path),
        _ => text_of(std::fs::File::open(path), path),
    }
}

/// The text of an opened file, which messages call `path`.
fn text_of(file: std::io::Result<impl Read>, path: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = file.and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes));
    match read {
        Err(error) => return Err(format!("cannot read `{path}`: {error}")),
        Ok(n) if n as u64 > LARGEST_FILE => return Err(format!("`{path}` is larger than {} MB", LARGEST_FILE >> 20)),
        Ok(_) => {}
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("[Z001] `{path}` is not UTF-8 text: byte {at} begins no character; save it as UTF-8")
    })
}

/// The numbers that decide something, as the command line changes them.
fn settings(model: &OneModel) -> Result<Settings, u8> {
    let mut settings = Settings::default();
    if let Some(tolerance) = model.rank_tolerance {
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return usage_as(model.json, "--rank-tolerance must lie between 0 and 1, such as 1e-8");
        }
        settings.rank_tolerance = tolerance;
    }
    Ok(settings)
}
