//! Package: list the folder, let the core choose, hash, compare with the checksum file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nbctl_core::deploy::Facts;
use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Cluster, Install, PackageSource};
use nbctl_core::package::{self, HostNeeds, Package, PackageChoice, PackageName};
use nbctl_core::units::{HostName, Sha256};

use crate::remote::hash_file;

/// Chooses and verifies the package of every host with daemons.
///
/// # Errors
/// The folder cannot be read, nothing fits, the checksum is wrong.
pub async fn choose(cluster: &Cluster, facts: &Facts) -> Result<PackageChoice, Failure> {
    let (folder, files) = listing(&cluster.package)?;
    let needs = needs(cluster, facts);
    let names = package::choose(&files, &cluster.version.to_string(), &needs)?;
    let mut packages: BTreeMap<String, Package> = BTreeMap::new();
    let mut choice = PackageChoice::new();
    for (host, name) in names {
        let file = name.file().to_owned();
        if !packages.contains_key(&file) {
            packages.insert(file.clone(), verified(&folder, name).await?);
        }
        if let Some(package) = packages.get(&file) {
            choice.insert(host, package.clone());
        }
    }
    Ok(choice)
}

fn needs<'a>(cluster: &'a Cluster, facts: &'a Facts) -> BTreeMap<HostName, HostNeeds<'a>> {
    let rpm_database = cluster.install == Install::Rpm;
    let with_daemons = cluster.daemons.iter().map(|daemon| &daemon.host);
    with_daemons
        .filter_map(|host| {
            Some((
                host.clone(),
                HostNeeds {
                    facts: facts.get(host)?,
                    rpm_database,
                },
            ))
        })
        .collect()
}

/// Folder and file names of a source.
fn listing(source: &PackageSource) -> Result<(PathBuf, Vec<String>), Failure> {
    match source {
        PackageSource::File(path) => {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let folder = path.parent().unwrap_or(Path::new(".")).to_path_buf();
            Ok((folder, name.into_iter().collect()))
        }
        PackageSource::Folder(folder) => {
            let entries = std::fs::read_dir(folder).map_err(|error| {
                Failure::data(format!("cannot read the package folder: {error}"))
                    .at(folder.display().to_string())
                    .hint("`nebula.packages` in the inventory names it")
            })?;
            let names = entries
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned());
            Ok((folder.clone(), names.collect()))
        }
    }
}

/// Hashes the file and compares it with `<file>.sha256sum.txt` beside it.
async fn verified(folder: &Path, name: PackageName) -> Result<Package, Failure> {
    let path = folder.join(name.file());
    let bytes = std::fs::metadata(&path)
        .map_err(|error| unreadable(&path, &error))?
        .len();
    let sha256: Sha256 = hash_file(&path).await?;
    let package = Package {
        name,
        source: path.display().to_string(),
        bytes,
        sha256,
    };
    let sum = folder.join(format!("{}.sha256sum.txt", package.name.file()));
    let text = std::fs::read_to_string(&sum).map_err(|error| {
        Failure::data(format!("cannot read the checksum file: {error}"))
            .at(sum.display().to_string())
            .hint(
                "fetch the .sha256sum.txt that belongs to the package, or write one with sha256sum",
            )
    })?;
    package::verify(&package, &sum.display().to_string(), &text)?;
    Ok(package)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::data(format!("cannot read the package: {error}")).at(path.display().to_string())
}
