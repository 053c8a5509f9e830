//! Which commit the wanted build is made from, by the inventory or by what lies beside the package.

use std::fs;
use std::path::Path;

use nbctl_core::inventory::{Cluster, PackageSource};
use nbctl_core::package::Promise;

/// Published beside packages from 3.3.
const FILE: &str = "commit.txt";
/// Longer files are none of ours, in bytes.
const LONGEST: u64 = 64 << 10;

/// `nebula.commit`, else the `commit.txt` beside the package; a cache and a bundle have none.
pub fn promise(cluster: &Cluster) -> Option<Promise> {
    if let Some(commit) = &cluster.commit {
        return Some(Promise {
            commit: commit.clone(),
            by: "nebula.commit".to_owned(),
        });
    }
    let folder = match &cluster.package {
        PackageSource::File(file) => file.parent()?,
        PackageSource::Folder(folder) => folder,
    };
    beside(folder)
}

fn beside(folder: &Path) -> Option<Promise> {
    let path = folder.join(FILE);
    let short = fs::metadata(&path).is_ok_and(|meta| meta.len() <= LONGEST);
    let text = short.then(|| fs::read_to_string(&path).ok())??;
    Promise::read(&text, &path.display().to_string())
}
