//! Output files: the format follows from the extension; a file is written completely or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

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

/// A new file next to the target.
fn temporary(target: &Path) -> (PathBuf, io::Result<fs::File>) {
    let name = target.file_name().map_or("zwang".into(), |n| n.to_string_lossy().into_owned());
    let path = folder(target).join(format!(".{name}.{}.tmp", std::process::id()));
    let file = fs::OpenOptions::new().write(true).create_new(true).open(&path);
    (path, file)
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
