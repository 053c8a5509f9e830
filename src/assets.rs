//! The files people may edit: embedded in the binary, overridden file by file by a folder.
//!
//! Purpose: `templates/`, `monitoring/`, `playbooks/`, example inventories and the test-bed scripts travel with the
//! binary; `--assets DIR`, or a folder found beside the inventory, wins file by file (design 2).
//! Duties: find a file by its name below the project's root; write all of them out for `nbctl init`.

use std::borrow::Cow;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use nbctl_core::failure::Failure;

/// `path -> bytes`, made by `build.rs`.
static EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Where assets come from.
#[derive(Debug, Clone, Default)]
pub struct Assets {
    folders: Vec<PathBuf>,
}

impl Assets {
    /// `folders` win over the embedded files, the first one most.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }

    /// Content of `name`, e.g. `templates/nebula/metad.conf.tera`.
    ///
    /// # Errors
    /// When no folder and no embedded file has it, or it cannot be read.
    pub fn bytes(&self, name: &str) -> Result<Cow<'static, [u8]>, Failure> {
        for folder in &self.folders {
            let path = folder.join(name);
            match std::fs::read(&path) {
                Ok(bytes) => return Ok(Cow::Owned(bytes)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(unreadable(&path, &error)),
            }
        }
        EMBEDDED
            .iter()
            .find(|(path, _)| *path == name)
            .map(|(_, bytes)| Cow::Borrowed(*bytes))
            .ok_or_else(|| {
                Failure::usage(format!("no file `{name}` among the embedded assets"))
                    .hint("`nbctl init DIR` writes every asset out to look at")
            })
    }

    /// Content of `name` as text.
    ///
    /// # Errors
    /// As [`Assets::bytes`], and when it is not UTF-8.
    pub fn text(&self, name: &str) -> Result<String, Failure> {
        String::from_utf8(self.bytes(name)?.into_owned())
            .map_err(|_| Failure::usage(format!("asset `{name}` is not UTF-8 text")))
    }

    /// Names below `prefix`, embedded ones and those the folders add, sorted.
    pub fn list(&self, prefix: &str) -> Vec<String> {
        let mut names: Vec<String> = embedded(prefix)
            .map(|(name, _)| (*name).to_owned())
            .collect();
        for folder in &self.folders {
            names.extend(files_below(folder, prefix));
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Writes every embedded file below `prefix` into `dir`, never over an existing file.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_out(prefix: &str, dir: &Path) -> Result<Vec<PathBuf>, Failure> {
        let mut written = Vec::new();
        for (name, bytes) in embedded(prefix) {
            let path = dir.join(name);
            if path.exists() {
                continue;
            }
            let parent = path.parent().unwrap_or(dir);
            std::fs::create_dir_all(parent).map_err(|error| unwritable(parent, &error))?;
            std::fs::write(&path, bytes).map_err(|error| unwritable(&path, &error))?;
            written.push(path);
        }
        Ok(written)
    }

    /// Writes every embedded file below `prefix` into `dir`, over what is there; `*.sh` may be executed.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_programs(prefix: &str, dir: &Path) -> Result<(), Failure> {
        for (name, bytes) in embedded(prefix) {
            let path = dir.join(name);
            let parent = path.parent().unwrap_or(dir);
            std::fs::create_dir_all(parent).map_err(|error| unwritable(parent, &error))?;
            std::fs::write(&path, bytes).map_err(|error| unwritable(&path, &error))?;
            let mode = if has_extension(&path, "sh") {
                0o755
            } else {
                0o644
            };
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))
                .map_err(|error| unwritable(&path, &error))?;
        }
        Ok(())
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn embedded(prefix: &str) -> impl Iterator<Item = &'static (&'static str, &'static [u8])> {
    EMBEDDED
        .iter()
        .filter(move |(name, _)| name.starts_with(prefix))
}

/// Names (relative to `folder`) of the files directly below `folder/prefix`.
fn files_below(folder: &Path, prefix: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder.join(prefix)) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            format!(
                "{}/{}",
                prefix.trim_end_matches('/'),
                entry.file_name().display()
            )
        })
        .collect()
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot read asset: {error}")).at(path.display().to_string())
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write: {error}")).at(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_wins_file_by_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("templates")).unwrap();
        std::fs::write(dir.path().join("templates/own.txt"), "mine").unwrap();
        let assets = Assets::new(vec![dir.path().to_owned()]);
        assert_eq!(assets.text("templates/own.txt").unwrap(), "mine");
        assert!(
            assets
                .list("templates")
                .contains(&"templates/own.txt".to_owned())
        );
        let missing = assets.text("templates/none.txt").unwrap_err();
        assert!(missing.what.contains("templates/none.txt"));
    }
}
