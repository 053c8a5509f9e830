//! Packages of a Docker engine: a folder of the user's on the way in, one of the state folder on the way out.

use std::path::Path;

use nbctl_core::deploy::EngineFile;
use nbctl_core::failure::Failure;

use super::{Part, folder};
use crate::remote::hash_file;

/// Folder in the state folder with the engine of the bundle that was loaded last.
pub const ENGINE: &str = "bundled-engine";

/// What lies in `dir` for a bundle.
///
/// # Errors
/// The folder cannot be read or holds no package.
pub fn engine_parts(dir: &Path) -> Result<Vec<Part>, Failure> {
    let mut parts = folder(dir, "engine")?;
    parts.retain(|part| is_package(&part.path) && part.name.split('/').count() == 2);
    if parts.is_empty() {
        return Err(Failure::data("there is no .deb and no .rpm in it")
            .at(dir.display().to_string())
            .hint("all that an engine needs, as `apt-get install --download-only docker.io` or `dnf download --resolve moby-engine` fetches it"));
    }
    Ok(parts)
}

/// What a bundle brought; nothing when none did.
///
/// # Errors
/// A file cannot be read.
pub async fn engine(dir: &Path) -> Result<Vec<EngineFile>, Failure> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| is_package(path));
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let unreadable = |error: std::io::Error| {
            Failure::data(format!("cannot read a package: {error}")).at(path.display().to_string())
        };
        files.push(EngineFile {
            name: name.into_owned(),
            source: path.display().to_string(),
            bytes: std::fs::metadata(&path).map_err(unreadable)?.len(),
            sha256: hash_file(&path).await?,
        });
    }
    Ok(files)
}

fn is_package(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending == "deb" || ending == "rpm")
}
