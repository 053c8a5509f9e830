//! Which package of NebulaGraph fits which host.
//!
//! Purpose: file names, checksum files and the choice between builds (`nebula-graph-<version>.<build>.<arch>.<format>`).
//! Where it can be fetched from is said by mirrors, in order.
//! Duties: names are read, never guessed; the host's own C library and processor decide; when nothing
//! fits, the failure says what was there, why each file does not fit, and what to get.
//! The digests are computed by the caller, which has the files.

mod choose;
mod mirror;
mod name;
mod promise;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::failure::Failure;
use crate::units::{HostName, Sha256};

pub use choose::{HostNeeds, choose};
pub use mirror::{candidates, is_date, strange_mirror, urls, wanted_version};
pub use name::{Arch, Build, Format, PackageName};
pub use promise::{Promise, is_commit, unpromised};

/// A package file of the control machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Package {
    /// What its name says.
    pub name: PackageName,
    /// Path on the control machine.
    pub source: String,
    /// Size.
    pub bytes: u64,
    /// Digest of the file, computed.
    pub sha256: Sha256,
}

/// The package of every host that gets one.
pub type PackageChoice = BTreeMap<HostName, Package>;

/// The digest in a `.sha256sum.txt`: its first field. The name behind it is a path of the machine that
/// built the package, which is why `sha256sum -c` cannot be used.
///
/// # Errors
/// The text does not begin with a digest.
pub fn checksum(text: &str) -> Result<Sha256, String> {
    let field = text.split_whitespace().next().unwrap_or_default();
    // A leading backslash is how sha256sum marks an escaped file name.
    Sha256::parse(field.trim_start_matches('\\'))
}

/// Compares a package with its checksum file (`file`, `text`).
///
/// # Errors
/// The checksum file cannot be read as such, or names another digest.
pub fn verify(package: &Package, file: &str, text: &str) -> Result<(), Failure> {
    let wanted = checksum(text)
        .map_err(|why| Failure::data(format!("cannot read checksum: {why}")).at(file))?;
    if wanted == package.sha256 {
        return Ok(());
    }
    Err(Failure::data(format!("wrong checksum of {}", package.name))
        .at(package.source.clone())
        .line(format!("sha256 of the file  {}", package.sha256))
        .line(format!("sha256 by {file}  {wanted}"))
        .hint("the download was cut short or the file belongs to another build: fetch both files again"))
}
