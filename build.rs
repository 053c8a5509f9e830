//! Embeds the folders people may edit (templates, monitoring, playbooks, example inventories, test-bed scripts)
//! as one table `path -> bytes`; `src/assets.rs` reads it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders that go into the binary, relative to the package.
const FOLDERS: [&str; 5] = [
    "inventory",
    "monitoring",
    "playbooks",
    "templates",
    "tests/bed",
];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?);
    let mut table = String::from("&[\n");
    for folder in FOLDERS {
        let dir = root.join(folder);
        cargo_line("rerun-if-changed", &dir);
        for file in files_below(&dir)? {
            let name = file.strip_prefix(&root).map_err(io::Error::other)?;
            writeln!(
                table,
                "({:?}, include_bytes!({:?})),",
                name.to_string_lossy(),
                file.to_string_lossy()
            )
            .map_err(io::Error::other)?;
        }
    }
    table.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    fs::write(out.join("assets.rs"), table)
}

fn cargo_line(key: &str, path: &Path) {
    println!("cargo::{key}={}", path.display());
}

/// Every file below `dir`, sorted; hidden files and a missing folder are left out.
fn files_below(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if !dir.is_dir() {
        return Ok(files);
    }
    let mut entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}
