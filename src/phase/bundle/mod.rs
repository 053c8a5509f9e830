//! Bundle: one tar with everything a cluster needs, and its checksums in front.
//!
//! Duties: nothing is put in its place before all of it was verified; a name in a bundle cannot lead out of its folder;
//! nothing is compressed, since packages and images are already.

mod engine;
mod load;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use nbctl_core::failure::Failure;
use nbctl_core::units::Sha256;
use serde::{Deserialize, Serialize};
use sha2::Digest as _;

pub use self::engine::{ENGINE, engine, engine_parts};
pub use self::load::{Places, load};

use crate::event::{Event, Sink};

/// Name of the first file in the tar.
const MANIFEST: &str = "bundle.json";
/// Version of the format.
const FORMAT: u32 = 1;
/// Largest manifest that is read, in bytes.
const MAX_MANIFEST: u64 = 8 << 20;

/// What a bundle holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// 1.
    pub format: u32,
    /// Version of `NebulaGraph`.
    pub version: String,
    /// In the order of the tar.
    pub files: Vec<Entry>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// `packages/…`, `images/…`, `engine/…` or `data/<set>/…`.
    pub name: String,
    /// Size.
    pub bytes: u64,
    /// Digest.
    pub sha256: Sha256,
}

/// A file to be put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Name in the bundle.
    pub name: String,
    /// Where it is now.
    pub path: PathBuf,
}

/// Every file below `dir`, under `prefix`.
///
/// # Errors
/// The folder cannot be read, is empty, or holds something that is neither file nor folder.
pub fn folder(dir: &Path, prefix: &str) -> Result<Vec<Part>, Failure> {
    let mut parts = Vec::new();
    walk(dir, prefix, &mut parts).map_err(|error| {
        Failure::data(format!("cannot read a folder of the bundle: {error}"))
            .at(dir.display().to_string())
    })?;
    if parts.is_empty() {
        return Err(Failure::data("there is no file in it").at(dir.display().to_string()));
    }
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(parts)
}

fn walk(dir: &Path, prefix: &str, parts: &mut Vec<Part>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        let kind = std::fs::metadata(entry.path())?;
        if kind.is_dir() {
            walk(&entry.path(), &name, parts)?;
        } else if kind.is_file() {
            parts.push(Part {
                name,
                path: entry.path(),
            });
        }
    }
    Ok(())
}

/// Writes `parts` into `file`, whole or not at all.
///
/// # Errors
/// A part cannot be read or changes meanwhile; the disk says no.
pub fn save(
    file: &Path,
    version: &str,
    parts: &[Part],
    sink: &dyn Sink,
) -> Result<Manifest, Failure> {
    let hashed = parts.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    let manifest = Manifest {
        format: FORMAT,
        version: version.to_owned(),
        files: hashed,
    };
    let fresh = file.with_extension("new");
    let written =
        write(&fresh, &manifest, parts, sink).and_then(|()| std::fs::rename(&fresh, file));
    written.map_err(|error| {
        drop(std::fs::remove_file(&fresh));
        Failure::usage(format!("cannot write the bundle: {error}")).at(file.display().to_string())
    })?;
    // What was hashed is what was written, or the next load would refuse it.
    check(file, &manifest)?;
    Ok(manifest)
}

fn entry(part: &Part) -> Result<Entry, Failure> {
    let digest = || {
        let mut file = File::open(&part.path)?;
        let mut copy = Hashing::new(std::io::sink());
        let bytes = std::io::copy(&mut file, &mut copy)?;
        Ok((bytes, copy.sha256()))
    };
    let (bytes, sha256) = digest().map_err(|error: std::io::Error| {
        Failure::data(format!("cannot read it: {error}")).at(part.path.display().to_string())
    })?;
    Ok(Entry {
        name: part.name.clone(),
        bytes,
        sha256,
    })
}

fn write(path: &Path, manifest: &Manifest, parts: &[Part], sink: &dyn Sink) -> std::io::Result<()> {
    let mut tar = tar::Builder::new(File::create(path)?);
    let text = serde_json::to_vec_pretty(manifest)?;
    tar.append_data(&mut header(text.len() as u64), MANIFEST, text.as_slice())?;
    let total: u64 = manifest.files.iter().map(|entry| entry.bytes).sum();
    let mut done = 0;
    for (part, entry) in parts.iter().zip(&manifest.files) {
        let file = File::open(&part.path)?.take(entry.bytes);
        tar.append_data(&mut header(entry.bytes), &entry.name, file)?;
        done += entry.bytes;
        progress(sink, done, total, &entry.name);
    }
    tar.into_inner()?.sync_all()
}

fn header(bytes: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o644);
    header
}

fn progress(sink: &dyn Sink, done: u64, total: u64, name: &str) {
    sink.emit(Event::Progress {
        phase: "bundle".to_owned(),
        done,
        total: Some(total),
        unit: "bytes",
        text: name.to_owned(),
    });
}

/// The manifest of a bundle.
///
/// # Errors
/// The file is no bundle, or one of another format.
pub fn read(file: &Path) -> Result<Manifest, Failure> {
    let mut tar = open(file)?;
    manifest(&mut tar).map_err(|why| no_bundle(file, &why))
}

fn open(file: &Path) -> Result<tar::Archive<File>, Failure> {
    let opened = File::open(file).map_err(|error| no_bundle(file, &error.to_string()))?;
    Ok(tar::Archive::new(opened))
}

fn no_bundle(file: &Path, why: &str) -> Failure {
    Failure::data(format!("cannot read the bundle: {why}"))
        .at(file.display().to_string())
        .hint("`nbctl bundle save` writes one; copy it again when it was cut short")
}

fn manifest(tar: &mut tar::Archive<File>) -> Result<Manifest, String> {
    let words = |error: std::io::Error| error.to_string();
    let mut entries = tar.entries().map_err(words)?;
    let first = entries.next().ok_or("it is empty")?.map_err(words)?;
    if first.path().map_err(words)?.as_os_str() != MANIFEST {
        return Err(format!("its first file is not {MANIFEST}"));
    }
    let mut text = Vec::new();
    first
        .take(MAX_MANIFEST)
        .read_to_end(&mut text)
        .map_err(words)?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    if manifest.format != FORMAT {
        return Err(format!("format {} is not known", manifest.format));
    }
    Ok(manifest)
}

/// Reads all of a bundle and compares it with its manifest.
fn check(file: &Path, manifest: &Manifest) -> Result<(), Failure> {
    load::each(file, manifest, |_, content| {
        std::io::copy(content, &mut std::io::sink()).map(drop)
    })
}

/// Passes on what is written, and hashes it.
struct Hashing<W> {
    to: W,
    hasher: sha2::Sha256,
}

impl<W> Hashing<W> {
    fn new(to: W) -> Self {
        Self {
            to,
            hasher: sha2::Sha256::new(),
        }
    }

    fn sha256(self) -> Sha256 {
        Sha256::from_bytes(self.hasher.finalize().into())
    }
}

impl<W: std::io::Write> std::io::Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.hasher.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}
