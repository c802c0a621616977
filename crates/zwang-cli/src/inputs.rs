//! Files that a command reads: those that a model may name, and none that the same command would replace.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// A regular file, whatever it is called: its path without links, and its inode where the system has them.
#[derive(Clone, Debug, PartialEq)]
struct FileIdentity {
    path: PathBuf,
    inode: Option<(u64, u64)>,
}

impl FileIdentity {
    /// The identity of a file that exists or is to be made; `None` for a device, a pipe or a folder.
    fn of(path: &Path) -> Option<FileIdentity> {
        let data = fs::metadata(path).ok();
        if data.as_ref().is_some_and(|data| !data.is_file()) {
            return None;
        }
        Some(FileIdentity { path: resolved(path), inode: data.as_ref().and_then(inode) })
    }

    fn is(&self, other: &FileIdentity) -> bool {
        self.path == other.path || self.inode.is_some() && self.inode == other.inode
    }
}

#[cfg(unix)]
fn inode(data: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((data.dev(), data.ino()))
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// The path without links; of a file that does not exist yet, that of its folder and its name.
fn resolved(path: &Path) -> PathBuf {
    let missing = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(missing).unwrap_or_else(|| path.to_path_buf())
}

/// The files that a command writes, which it must not read: an output would replace its own input.
#[derive(Clone, Debug, Default)]
pub struct OutputFiles(Vec<(String, FileIdentity)>);

impl OutputFiles {
    /// The files that will be written.
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p Path>) -> OutputFiles {
        let named = |path: &Path| Some((path.display().to_string(), FileIdentity::of(path)?));
        OutputFiles(paths.into_iter().filter_map(named).collect())
    }

    /// Fails, with the remedy, if an output would replace the file at `input`; `what` says what it is.
    pub fn spare(&self, input: &Path, what: &str) -> Result<(), String> {
        let Some(input) = FileIdentity::of(input) else { return Ok(()) };
        match self.0.iter().find(|(_, output)| output.is(&input)) {
            Some((name, _)) => Err(format!("`{name}` is {what}; choose another name")),
            None => Ok(()),
        }
    }
}

/// The folders from which a model may name files: its own and those of `--allow-files`, with all below them.
#[derive(Clone, Debug)]
pub struct ReadableFolders {
    /// The folder of the model, as written.
    own: PathBuf,
    /// All folders, without links.
    folders: Vec<PathBuf>,
}

impl ReadableFolders {
    /// The folder of the model at this path, and others; fails if one of these is no folder.
    pub fn new(model: &Path, allowed: &[PathBuf]) -> Result<ReadableFolders, String> {
        let own = match model.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let mut folders: Vec<PathBuf> = fs::canonicalize(&own).into_iter().collect();
        for folder in allowed {
            match fs::canonicalize(folder) {
                Ok(path) if path.is_dir() => folders.push(path),
                _ => return Err(format!("--allow-files: `{}` is no folder", folder.display())),
            }
        }
        Ok(ReadableFolders { own, folders })
    }

    /// The path without links of a file that the model names.
    pub fn find(&self, name: &str) -> Result<PathBuf, String> {
        let written = self.own.join(name);
        let path = fs::canonicalize(&written);
        // whether a file exists elsewhere is not told either
        let place = path.as_ref().map_or_else(|_| without_dots(&resolved(&self.own).join(name)), PathBuf::clone);
        if !self.folders.iter().any(|folder| place.starts_with(folder)) {
            return Err(
                "it lies outside the folder of the model; move it there, or allow its folder with --allow-files".into(),
            );
        }
        let path = path.map_err(|error| format!("cannot read `{name}`: {error}"))?;
        match fs::metadata(&path) {
            Ok(data) if data.is_file() => Ok(path),
            Ok(_) => Err("it is not a regular file".into()),
            Err(error) => Err(format!("cannot read `{name}`: {error}")),
        }
    }
}

/// The path with `.` and `..` taken out by their letters.
fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
