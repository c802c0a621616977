//! The model of a command: its file, opened, and the workspace that answers about it.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zwang::syntax::Overrides;
use zwang::{Background, LoadOptions, Monitor, System};
use zwang_motion::{RouteName, Settings};
use zwang_workspace::{Answer, Request, Workspace};

use crate::arguments::{ModelSource, OneModel};
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
    as_json: bool,
}

impl ModelFile {
    /// Reads the text of a command that states no settings; a problem with the file is a mistake of the command line.
    pub fn open(source: &ModelSource, as_json: bool) -> Result<ModelFile, u8> {
        let options = LoadOptions { background: Some(Arc::new(Threads)), ..LoadOptions::default() };
        ModelFile::open_with(source, options, as_json)
    }

    /// Reads the text for a command that checks or runs the model.
    pub fn open_one(model: &OneModel) -> Result<ModelFile, u8> {
        let settings = settings(model)?;
        let (route, fix_start): (RouteName, bool) = (model.route, model.fix_start);
        let background: Option<Arc<dyn Background>> = Some(Arc::new(Threads));
        let options = LoadOptions { settings, route, fix_start, background, ..LoadOptions::default() };
        ModelFile::open_with(&model.source, options, model.json)
    }

    fn open_with(source: &ModelSource, options: LoadOptions<'static>, as_json: bool) -> Result<ModelFile, u8> {
        let name = if source.model == "-" { "standard input".to_string() } else { source.model.clone() };
        let text = read_text(&source.model).or_else(|message| usage_as(as_json, &message))?;
        let overrides = Overrides { set: source.set.clone(), start: source.start.clone() };
        let mut workspace = Workspace::with_options(LoadOptions { overrides, ..options });
        let folder = Path::new(&name).parent().map(PathBuf::from).unwrap_or_default();
        workspace.open_with(move |name| read_table(&folder, name));
        workspace.set_text(&text);
        Ok(ModelFile { name, workspace, as_json })
    }

    /// Answers a request.
    pub fn ask(&mut self, request: &Request, monitor: &mut dyn Monitor) -> Answer {
        self.workspace.answer(request, monitor)
    }

    /// The system behind the answers; ends the command if the model has errors.
    pub fn system(&mut self) -> Result<System, u8> {
        self.workspace.system().or_else(|error| fail(&self.name, &error, self.as_json))
    }

    /// Ends a command that has no answer.
    pub fn fail<T>(&self, answer: &Answer) -> Result<T, u8> {
        match &answer.error {
            Some(error) => fail(&self.name, error, self.as_json),
            None => usage_as(self.as_json, "there is no answer to this request"),
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

/// A table that a model names, read from the folder of the model.
fn read_table(folder: &Path, name: &str) -> Result<String, String> {
    match name {
        "-" => Err("a table is a file".into()),
        _ => read_text(&folder.join(name).to_string_lossy()),
    }
}

/// Largest size of a model file, in bytes; no text written by a person is nearly as long.
const LARGEST_FILE: u64 = 64 << 20;

/// The text of a file or of standard input, or the reason why it cannot be read.
pub fn read_text(path: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        std::io::stdin().take(LARGEST_FILE + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes))
    };
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
