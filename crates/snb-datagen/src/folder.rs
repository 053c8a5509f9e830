//! The output folder: taking it over only when it is empty or ours, and marking in it whether the data set is
//! complete.
//!
//! Exactly one of two files marks a folder as ours: `manifest.json.partial` from the first moment on, and
//! `manifest.json` once everything is written. Both together are a complete data set whose last step, removing
//! the partial one, did not happen.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use crate::Error;
use crate::files::FILES;
use crate::manifest::{MANIFEST, Manifest};

const PARTIAL: &str = "manifest.json.partial";
const TEMPORARY: &str = "manifest.json.tmp";

/// Takes `dir` over: creates it, or checks that all it holds was written by this generator, and marks it incomplete.
pub(crate) fn claim(dir: &Path, plan: &Manifest) -> Result<(), Error> {
    fs::create_dir_all(dir).map_err(Error::io(dir, "create"))?;
    refuse_foreign(dir)?;
    write(dir, PARTIAL, plan)?;
    remove(&dir.join(MANIFEST))?;
    for sub in ["dynamic", "static"] {
        let sub = dir.join(sub);
        fs::create_dir_all(&sub).map_err(Error::io(&sub, "create"))?;
    }
    Ok(())
}

/// Marks `dir` complete.
pub(crate) fn complete(dir: &Path, manifest: &Manifest) -> Result<(), Error> {
    write(dir, MANIFEST, manifest)?;
    remove(&dir.join(PARTIAL))
}

fn refuse_foreign(dir: &Path) -> Result<(), Error> {
    let mut found = Vec::new();
    walk(dir, "", &mut found)?;
    if found.is_empty() {
        return Ok(());
    }
    let marks = [
        Manifest::read(&dir.join(MANIFEST))?,
        Manifest::read(&dir.join(PARTIAL))?,
    ];
    let owned = marks.iter().any(Option::is_some);
    match found.iter().find(|path| !owned || !is_ours(path)) {
        Some(path) => Err(Error::Foreign(dir.join(path))),
        None => Ok(()),
    }
}

fn is_ours(path: &str) -> bool {
    let marks = [MANIFEST, PARTIAL, TEMPORARY, "dynamic/", "static/"];
    marks.contains(&path) || FILES.iter().any(|file| file.path == path)
}

/// Lists what `dir` holds; folders end in `/`, links in `@`, so that neither passes for a file of ours.
fn walk(dir: &Path, prefix: &str, found: &mut Vec<String>) -> Result<(), Error> {
    for entry in fs::read_dir(dir).map_err(Error::io(dir, "list"))? {
        let entry = entry.map_err(Error::io(dir, "list"))?;
        let kind = entry
            .file_type()
            .map_err(Error::io(&entry.path(), "inspect"))?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if kind.is_dir() {
            let name = name + "/";
            // Only our own two folders can be ours; looking into others could take for ever.
            if is_ours(&name) {
                walk(&entry.path(), &name, found)?;
            }
            found.push(name);
        } else {
            found.push(if kind.is_file() { name } else { name + "@" });
        }
    }
    Ok(())
}

/// Writes so that the name appears with its whole content or not at all.
fn write(dir: &Path, name: &str, manifest: &Manifest) -> Result<(), Error> {
    let (temporary, path) = (dir.join(TEMPORARY), dir.join(name));
    let text = serde_json::to_vec_pretty(manifest).map_err(std::io::Error::other);
    let text = text.map_err(Error::io(&path, "write"))?;
    let mut file = File::create(&temporary).map_err(Error::io(&temporary, "create"))?;
    file.write_all(&text)
        .map_err(Error::io(&temporary, "write"))?;
    file.sync_all().map_err(Error::io(&temporary, "sync"))?;
    fs::rename(&temporary, &path).map_err(Error::io(&path, "rename into place"))?;
    // The name itself must survive a power cut too.
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(Error::io(dir, "sync"))
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io(path, "remove")(error))
        }
        _ => Ok(()),
    }
}
