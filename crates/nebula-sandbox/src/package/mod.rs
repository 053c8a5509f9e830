//! The package the sandbox ships in: official names, layout, modes, scripts, confs and checksum file.

mod conf;
mod deb;
mod layout;
mod rpm_file;
pub(crate) mod stamp;
mod tar_file;

use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use sha2::{Digest, Sha256};

use crate::line::Line;

/// Where the package installs when nothing else is asked for.
pub const PREFIX: &str = "/usr/local/nebula";

/// Kind of package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageType {
    Rpm,
    TarGz,
    Deb,
}

impl PackageType {
    /// File name as the releases have it, for the widest operating system of this kind.
    pub fn file_name(self, line: Line) -> String {
        let suffix = match self {
            Self::Rpm => "el7.x86_64.rpm",
            Self::TarGz => "el7.x86_64.tar.gz",
            Self::Deb => "ubuntu1604.amd64.deb",
        };
        format!("nebula-graph-{line}.{suffix}")
    }
}

/// The text names no kind of package.
#[derive(Debug, thiserror::Error)]
#[error("unknown package type {0:?}\nhint: rpm, tar.gz or deb")]
pub struct UnknownType(String);

impl FromStr for PackageType {
    type Err = UnknownType;

    fn from_str(text: &str) -> Result<Self, UnknownType> {
        match text {
            "rpm" => Ok(Self::Rpm),
            "tar.gz" => Ok(Self::TarGz),
            "deb" => Ok(Self::Deb),
            other => Err(UnknownType(other.to_owned())),
        }
    }
}

/// What a tar.gz is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// To be kept or sent.
    Small,
    /// For this machine, now: not compressed, the executable in it once and linked to.
    Quick,
}

/// How a package is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Making {
    /// Matters for a tar.gz only.
    pub effort: Effort,
    /// Smallest file, in bytes: incompressible filling makes it as large as one with debug symbols is.
    pub at_least: u64,
}

impl Making {
    /// To be kept or sent, nothing filled up.
    pub const SMALL: Self = Self {
        effort: Effort::Small,
        at_least: 0,
    };
    /// For this machine, now.
    pub const QUICK: Self = Self {
        effort: Effort::Quick,
        at_least: 0,
    };
}

/// Why a package was not built.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot build the rpm: {0}")]
    Rpm(String),
}

/// Builds the package of a line from the `nebula-sandbox` binary, and `<file>.sha256sum.txt` beside it. Answers the
/// package's path in `out_dir`, which is made when missing.
pub fn build(
    line: Line,
    kind: PackageType,
    binary: &Path,
    out_dir: &Path,
) -> Result<PathBuf, PackageError> {
    build_with(line, kind, binary, out_dir, Making::SMALL)
}

/// As [`build`], made as `making` says.
pub fn build_with(
    line: Line,
    kind: PackageType,
    binary: &Path,
    out_dir: &Path,
    making: Making,
) -> Result<PathBuf, PackageError> {
    let executable = fs::read(binary).map_err(|source| PackageError::Read {
        path: binary.to_owned(),
        source,
    })?;
    let mut entries = layout::entries(line, executable);
    let mut bytes = packed(line, kind, &entries, making.effort)?;
    let missing = making.at_least.saturating_sub(bytes.len() as u64);
    if missing > 0 {
        entries.push(layout::filling(missing));
        bytes = packed(line, kind, &entries, making.effort)?;
    }
    let name = kind.file_name(line);
    let path = out_dir.join(&name);
    write(out_dir, &path, &bytes)?;
    let sums = out_dir.join(format!("{name}.sha256sum.txt"));
    write(
        out_dir,
        &sums,
        checksum_text(line, &name, &bytes).as_bytes(),
    )?;
    Ok(path)
}

fn packed(
    line: Line,
    kind: PackageType,
    entries: &[layout::Entry],
    effort: Effort,
) -> Result<Vec<u8>, PackageError> {
    let wrong = |error: io::Error| PackageError::Rpm(error.to_string());
    match kind {
        PackageType::Rpm => rpm_file::build(line, entries),
        PackageType::TarGz => tar_file::build(line, entries, effort).map_err(wrong),
        PackageType::Deb => deb::build(line, entries).map_err(wrong),
    }
}

fn write(dir: &Path, path: &Path, bytes: &[u8]) -> Result<(), PackageError> {
    let result = fs::create_dir_all(dir).and_then(|()| fs::write(path, bytes));
    result.map_err(|source| PackageError::Write {
        path: path.to_owned(),
        source,
    })
}

/// The released checksum files name a folder of the build machine, so `sha256sum -c` fails as they are.
fn checksum_text(line: Line, name: &str, bytes: &[u8]) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(bytes) {
        write!(hex, "{byte:02x}").ok();
    }
    let dot = if line == Line::V2_0_1 { "" } else { "./" };
    format!("{hex}  {dot}pkg-build/cpack_output/{name}\n")
}
