//! Output files: the format follows from the extension; a file is written completely or not at all.

use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde_json::{Value, json};
use zwang::visible::visible;

use crate::inputs::OutputFiles;
use crate::terminal::{Exit, SUCCESS, USAGE, eprint, print, usage, usage_as};

/// The format of a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Comma-separated values.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// NumPy arrays.
    Npz,
    /// The output of `--json`, with the samples.
    Json,
    /// The plots.
    Svg,
    /// The plots as pixels.
    Png,
    /// The page.
    Html,
    /// The derivation, the motion and the audit as LaTeX.
    Tex,
    /// The derivation, the motion and the audit as Markdown.
    Markdown,
}

const KINDS: [(&str, FileKind); 9] = [
    ("csv", FileKind::Csv),
    ("parquet", FileKind::Parquet),
    ("npz", FileKind::Npz),
    ("json", FileKind::Json),
    ("svg", FileKind::Svg),
    ("png", FileKind::Png),
    ("html", FileKind::Html),
    ("tex", FileKind::Tex),
    ("md", FileKind::Markdown),
];

impl FileKind {
    /// True if the format contains the samples.
    pub fn is_table(self) -> bool {
        matches!(self, FileKind::Csv | FileKind::Parquet | FileKind::Npz | FileKind::Json)
    }

    /// True if the format shows curves.
    pub fn is_picture(self) -> bool {
        matches!(self, FileKind::Svg | FileKind::Png | FileKind::Html | FileKind::Tex | FileKind::Markdown)
    }
}

impl FileKind {
    /// True if this program was built with the writer.
    fn is_compiled(self) -> bool {
        let optional = [(FileKind::Parquet, cfg!(feature = "parquet")), (FileKind::Png, cfg!(feature = "png"))];
        optional.iter().all(|(other, is_there)| *other != self || *is_there)
    }
}

/// A file to write, or standard output.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Path of the file; `None` for standard output.
    pub path: Option<PathBuf>,
    /// Format of the file.
    pub kind: FileKind,
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Destination, String> {
        if text == "-" {
            return Ok(Destination { path: None, kind: FileKind::Csv });
        }
        let path = PathBuf::from(text);
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
        match KINDS.iter().find(|(name, _)| *name == extension) {
            Some((_, kind)) => Ok(Destination { path: Some(path), kind: *kind }),
            None => {
                let known: Vec<String> = KINDS.iter().map(|(name, _)| format!(".{name}")).collect();
                let known = known.join(" ");
                Err(match extension.as_str() {
                    "" => format!("the name needs an extension that says what to write: {known}"),
                    other => format!("nothing is written as .{other}; the extensions are {known}"),
                })
            }
        }
    }
}

impl Destination {
    /// Name as the user wrote it.
    pub fn name(&self) -> String {
        self.path.as_ref().map_or("standard output".into(), |path| path.display().to_string())
    }

    /// Checks before the simulation that the file can be written.
    pub fn probe(&self) -> Result<(), String> {
        let Some(path) = &self.path else { return Ok(()) };
        let refused = |why: &str| Err(format!("cannot write `{}`: {why}", path.display()));
        let target = real(path);
        match fs::metadata(&target) {
            Ok(data) if data.is_dir() => return refused("it is a folder"),
            Ok(data) if data.permissions().readonly() => return refused("it is write-protected"),
            Ok(data) if !data.is_file() => return Ok(()),
            _ => {}
        }
        let folder = folder(&target);
        match fs::metadata(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return refused(&format!("the folder `{}` does not exist", folder.display()));
            }
            Err(error) => return refused(&error.to_string()),
            Ok(data) if !data.is_dir() => return refused(&format!("`{}` is no folder", folder.display())),
            Ok(_) => {}
        }
        let (temporary, created) = temporary(&target);
        match created {
            Err(error) => refused(&error.to_string()),
            Ok(_) => {
                let _ = fs::remove_file(temporary);
                Ok(())
            }
        }
    }

    /// Writes the complete contents, or leaves the old file unchanged.
    pub fn write(&self, bytes: &[u8]) -> Result<(), String> {
        let written = match &self.path {
            Some(path) => write_whole(path, bytes),
            None => match io::stdout().write_all(bytes).and_then(|()| io::stdout().flush()) {
                // the reader closed the pipe
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                other => other,
            },
        };
        written.map_err(|error| format!("cannot write `{}`: {error}", self.name()))
    }
}

/// Reports problems with the files before the computation starts; `allowed` says why a command does not write one.
pub fn check_outputs(
    outputs: &[Destination],
    as_json: bool,
    allowed: impl Fn(&Destination) -> Result<(), String>,
) -> Result<OutputFiles, u8> {
    for to in outputs {
        allowed(to).or_else(|why| usage_as(as_json, &why))?;
    }
    if as_json && outputs.iter().any(|to| to.path.is_none()) {
        return usage_as(true, "`-o -` and --json both want standard output; write the CSV to a file");
    }
    for to in outputs {
        if !to.kind.is_compiled() {
            return usage_as(as_json, &format!("this zwang was built without the writer of `{}`", to.name()));
        }
        if let Err(message) = to.probe() {
            return usage_as(as_json, &message);
        }
    }
    Ok(OutputFiles::new(outputs.iter().filter_map(|to| to.path.as_deref())))
}

/// The result of writing each file.
pub struct WrittenFiles(Vec<(Destination, Result<(), String>)>);

/// Writes every file whose contents can be made.
pub fn write_files(
    outputs: &[Destination],
    mut bytes: impl FnMut(&Destination) -> Result<Vec<u8>, String>,
) -> WrittenFiles {
    let mut one = |to: &Destination| {
        let bytes = bytes(to).map_err(|why| format!("cannot write `{}`: {why}", to.name()));
        (to.clone(), bytes.and_then(|bytes| to.write(&bytes)))
    };
    WrittenFiles(outputs.iter().map(&mut one).collect())
}

impl WrittenFiles {
    /// Reports the reason for each failure.
    pub fn report_errors(&self) {
        for message in self.0.iter().filter_map(|(_, result)| result.as_ref().err()) {
            eprint(&format!("error: {message}\n"));
        }
    }

    /// The exit code: success if all were written.
    pub fn exit_code(&self) -> u8 {
        if self.0.iter().all(|(_, result)| result.is_ok()) { SUCCESS } else { USAGE }
    }

    /// True if a file of this kind was written.
    pub fn has(&self, kind: FileKind) -> bool {
        self.0.iter().any(|(to, result)| to.kind == kind && result.is_ok())
    }

    /// The files that were written, without standard output.
    fn done(&self) -> impl Iterator<Item = &Destination> {
        self.0.iter().filter(|(to, result)| result.is_ok() && to.path.is_some()).map(|(to, _)| to)
    }

    /// The names of the files that were written.
    pub fn names(&self) -> Vec<String> {
        self.done().map(Destination::name).collect()
    }

    /// `wrote double.csv (1001 rows), double.html`; empty if nothing was written.
    pub fn line(&self, n_rows: Option<usize>) -> String {
        let name = |to: &Destination| match n_rows.filter(|_| to.kind.is_table()) {
            Some(n) => format!("{} ({n} rows)", to.name()),
            None => to.name(),
        };
        let names: Vec<String> = self.done().map(name).collect();
        if names.is_empty() { String::new() } else { format!("  wrote {}\n", names.join(", ")) }
    }

    /// The names and errors, as JSON.
    pub fn json(&self) -> Value {
        self.0.iter().map(|(to, result)| json!({ "path": to.name(), "error": result.as_ref().err() })).collect()
    }
}

/// A drawing in the format of its file.
pub fn drawing(svg: String, kind: FileKind) -> Result<Vec<u8>, String> {
    match kind {
        #[cfg(feature = "png")]
        FileKind::Png => zwang_view::png(&svg),
        #[cfg(not(feature = "png"))]
        FileKind::Png => Err("this zwang was built without it".into()),
        _ => Ok(svg.into_bytes()),
    }
}

/// Prints a text, or writes it to a file and reports that.
pub fn print_or_write(text: &str, output: Option<&Path>) -> Exit {
    match output {
        None => print(text),
        Some(path) => match write_text(path, &visible(text)) {
            Ok(()) => print(&format!("  wrote {}\n", path.display())),
            Err(message) => usage(&message),
        },
    }
}

/// Writes the complete text, or leaves the old file unchanged.
pub fn write_text(path: &Path, text: &str) -> Result<(), String> {
    write_whole(path, text.as_bytes()).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}

/// The target of a link.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// A new file next to the target. Those of runs that were killed are removed from its folder first.
fn temporary(target: &Path) -> (PathBuf, io::Result<fs::File>) {
    let folder = folder(target);
    remove_abandoned(&folder);
    // with its marks the name must not become too long for the system
    let name: String = target.file_name().map_or("zwang".into(), |n| n.to_string_lossy()).chars().take(50).collect();
    let path = folder.join(format!(".{name}{TEMPORARY}{}-{}.tmp", machine(), std::process::id()));
    let file = fs::OpenOptions::new().write(true).create_new(true).open(&path);
    (path, file)
}

/// The mark of temporary files, between the name of the target and that of the process.
const TEMPORARY: &str = ".zwang-";

/// The age from which a temporary file is abandoned whoever made it.
const OLD: Duration = Duration::from_secs(24 * 3600);

/// Removes the temporary files in a folder whose process is gone, and those that are a day old.
fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(owner) else { continue };
        let Ok(data) = entry.metadata() else { continue };
        let is_old = data.modified().ok().and_then(|time| time.elapsed().ok()).is_some_and(|age| age > OLD);
        if data.is_file() && (is_old || is_gone(owner)) {
            // another program may have removed it, and nothing depends on it
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Machine and process of a temporary file; `None` if the name is no such file's.
fn owner(name: &str) -> Option<(&str, u32)> {
    let (_, owner) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once(TEMPORARY)?;
    let (machine, process) = owner.split_once('-')?;
    Some((machine, process.parse().ok()?))
}

/// True if a process of this machine has ended; of others nothing is known.
fn is_gone((of, process): (&str, u32)) -> bool {
    let is_here = of == machine() && Path::new("/proc/self").exists();
    is_here && (process == std::process::id() || !Path::new(&format!("/proc/{process}")).exists())
}

/// A mark of this start of this machine and of its numbering of processes, where the system tells both.
fn machine() -> String {
    let started = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let numbering = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let mut hasher = std::hash::DefaultHasher::new();
    (started, numbering).hash(&mut hasher);
    format!("{:08x}", hasher.finish() as u32)
}

/// Writes a temporary file in the same folder and renames it; a device or a pipe is written directly.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = real(path);
    let before = fs::metadata(&target).ok();
    if before.as_ref().is_some_and(|data| !data.is_file()) {
        return fs::OpenOptions::new().write(true).open(&target)?.write_all(bytes);
    }
    let (temporary, file) = temporary(&target);
    let mut file = file?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| before.map_or(Ok(()), |data| fs::set_permissions(&temporary, data.permissions())))
        .and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}
