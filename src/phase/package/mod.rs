//! Package: from folder, cache or mirrors to one verified file a host.
//!
//! Duties: the folder that the inventory names comes first, then what was fetched or loaded from a bundle before, then
//! the mirrors in their order; the core chooses by the hosts' own C library and processor; every file is compared with
//! its checksum before anything is sent.

mod digests;
mod download;
mod fetch;
mod promise;
mod shelf;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nbctl_core::deploy::Facts;
use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Cluster, Install, PackageSource};
use nbctl_core::package::{self, HostNeeds, Package, PackageChoice, PackageName};
use nbctl_core::units::{HostName, Sha256};

pub use self::digests::Digests;
pub use self::fetch::{Fetched, Mirrors, fetch};
pub use self::promise::promise;
pub use self::shelf::Shelf;

use crate::context::Context;

/// Folder of the cache in the state folder.
pub const SHELF: &str = "packages";

/// A file that can be chosen.
#[derive(Debug, Clone)]
struct Offer {
    path: PathBuf,
    /// Digest that the cache keeps it under; otherwise it is in the checksum file beside it.
    known: Option<Sha256>,
}

impl From<Fetched> for Offer {
    fn from(fetched: Fetched) -> Self {
        Self {
            path: fetched.path,
            known: Some(fetched.sha256),
        }
    }
}

/// Files by their published name.
type Offers = BTreeMap<String, Offer>;

/// Hosts with the file each of them gets.
type Names = BTreeMap<HostName, PackageName>;

/// What is on the control machine.
struct Near {
    shelf: Shelf,
    /// What the inventory names, or why it cannot be read.
    folder: Result<Offers, Failure>,
    /// The inventory names one file, so nothing else counts.
    only: bool,
}

impl Near {
    fn of(ctx: &Context, cluster: &Cluster) -> Self {
        Self {
            shelf: Shelf::open(&ctx.state_dir.join(SHELF)),
            folder: listing(&cluster.package),
            only: matches!(cluster.package, PackageSource::File(_)),
        }
    }

    fn in_folder(&self) -> Offers {
        self.folder.as_ref().cloned().unwrap_or_default()
    }

    /// The folder and the cache; the first of two files of one name counts.
    fn all(&self) -> Offers {
        let mut offers = self.in_folder();
        let more = if self.only {
            Offers::new()
        } else {
            self.shelf.offers()
        };
        for (name, offer) in more {
            offers.entry(name).or_insert(offer);
        }
        offers
    }

    /// The folder counts when it has something for every host, the cache beside it otherwise.
    fn choose(&self, cluster: &Cluster, facts: &Facts) -> (Offers, Result<Names, Failure>) {
        let offers = self.in_folder();
        if let Ok(names) = choice(&offers, cluster, facts) {
            return (offers, Ok(names));
        }
        let offers = self.all();
        let names = choice(&offers, cluster, facts);
        (offers, names)
    }
}

/// Chooses and verifies the package of every host with daemons, of those in the folder and in the cache.
///
/// # Errors
/// The folder cannot be read, nothing fits, the checksum is wrong.
pub async fn at_hand(
    ctx: &Context,
    cluster: &Cluster,
    facts: &Facts,
) -> Result<PackageChoice, Failure> {
    let near = Near::of(ctx, cluster);
    let (offers, names) = near.choose(cluster, facts);
    let names = names.map_err(|failure| near.folder.err().unwrap_or(failure))?;
    verified(&offers, names, near.shelf.digests()).await
}

/// As [`at_hand`], and what is not there comes from a mirror.
///
/// # Errors
/// Those of [`at_hand`]; no mirror has what fits; a mirror is needed and `--offline` forbids it.
pub async fn obtain(
    ctx: &Context,
    cluster: &Cluster,
    facts: &Facts,
) -> Result<PackageChoice, Failure> {
    let near = Near::of(ctx, cluster);
    let (mut offers, names) = near.choose(cluster, facts);
    let names = match names {
        Ok(names) => names,
        Err(failure) if cluster.mirrors.is_empty() => {
            return Err(near.folder.err().unwrap_or(failure));
        }
        Err(failure) if ctx.global.offline => {
            return Err(failure.hint(
                "--offline: put the package into the folder, or bring it with `nbctl bundle load`",
            ));
        }
        Err(_) => from_mirrors(ctx, cluster, facts, &near.shelf, &mut offers).await?,
    };
    verified(&offers, names, near.shelf.digests()).await
}

/// Every package of the wanted version that is at hand, verified, by name; the one that runs on most hosts is fetched when
/// there is none.
///
/// # Errors
/// There is none and no mirror has one; a checksum is wrong.
pub async fn all(ctx: &Context) -> Result<Vec<(String, PathBuf)>, Failure> {
    let cluster = &ctx.cluster;
    let near = Near::of(ctx, cluster);
    let mut offers = near.all();
    let version = package::wanted_version(cluster);
    let of_version =
        |file: &String| PackageName::parse(file).is_ok_and(|name| name.version == version);
    offers.retain(|file, _| of_version(file));
    if offers.is_empty() && !ctx.global.offline {
        widest(ctx, &version, &near.shelf, &mut offers).await?;
    }
    let mut files = Vec::new();
    for (file, offer) in &offers {
        let name = PackageName::parse(file).map_err(Failure::data)?;
        verify(offer, name, near.shelf.digests()).await?;
        files.push((file.clone(), offer.path.clone()));
    }
    if files.is_empty() {
        let none = Failure::data(format!("there is no package of {version}"));
        return Err(near
            .folder
            .err()
            .unwrap_or(none)
            .hint("put one into the folder that `nebula.packages` names, or name mirrors"));
    }
    Ok(files)
}

/// The build for the oldest C library runs everywhere.
async fn widest(
    ctx: &Context,
    version: &str,
    shelf: &Shelf,
    offers: &mut Offers,
) -> Result<(), Failure> {
    let mirrors = Mirrors {
        mirrors: &ctx.cluster.mirrors,
        version,
        sink: &*ctx.sink,
    };
    let rpm = ctx.cluster.install == Install::Rpm;
    let endings: &[&str] = if rpm { &["rpm"] } else { &["tar.gz", "rpm"] };
    for ending in endings {
        let file = format!("nebula-graph-{version}.el7.x86_64.{ending}");
        if let Some(fetched) = fetch(&mirrors, shelf, &file).await? {
            offers.insert(file, fetched.into());
            break;
        }
    }
    Ok(())
}

fn choice(offers: &Offers, cluster: &Cluster, facts: &Facts) -> Result<Names, Failure> {
    let files: Vec<String> = offers.keys().cloned().collect();
    package::choose(
        &files,
        &package::wanted_version(cluster),
        &needs(cluster, facts),
    )
}

/// Fetches what fits best of what the mirrors have: names they lack are struck off until the choice stands.
async fn from_mirrors(
    ctx: &Context,
    cluster: &Cluster,
    facts: &Facts,
    shelf: &Shelf,
    offers: &mut Offers,
) -> Result<Names, Failure> {
    let version = package::wanted_version(cluster);
    let mirrors = Mirrors {
        mirrors: &cluster.mirrors,
        version: &version,
        sink: &*ctx.sink,
    };
    let mut published = package::candidates(&version);
    loop {
        let all = offers.keys().chain(&published).cloned();
        let all: Vec<String> = all.collect();
        let needs = needs(cluster, facts);
        let names = package::choose(&all, &version, &needs)
            .map_err(|failure| nowhere(&cluster.mirrors, failure))?;
        let missing = names.values().map(PackageName::file);
        let missing = missing.filter(|file| !offers.contains_key(*file));
        let Some(file) = missing.map(str::to_owned).next() else {
            return Ok(names);
        };
        published.retain(|name| *name != file);
        if let Some(fetched) = fetch(&mirrors, shelf, &file).await? {
            offers.insert(file, fetched.into());
        }
    }
}

fn nowhere(mirrors: &[String], mut failure: Failure) -> Failure {
    failure.what = format!("{}, and no mirror has one that does", failure.what);
    failure.lines(mirrors.iter().map(|mirror| format!("asked {mirror}")))
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

/// What a source offers.
fn listing(source: &PackageSource) -> Result<Offers, Failure> {
    let offer = |path: PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some((name, Offer { path, known: None }))
    };
    match source {
        PackageSource::File(path) => Ok(offer(path.clone()).into_iter().collect()),
        PackageSource::Folder(folder) => {
            let entries = std::fs::read_dir(folder).map_err(|error| {
                Failure::data(format!("cannot read the package folder: {error}"))
                    .at(folder.display().to_string())
                    .hint("`nebula.packages` in the inventory names it; `nebula.mirrors` would fetch into a cache")
            })?;
            let paths = entries.flatten().map(|entry| entry.path());
            Ok(paths.filter_map(offer).collect())
        }
    }
}

/// Hashes each chosen file once.
async fn verified(
    offers: &Offers,
    names: Names,
    digests: &Digests,
) -> Result<PackageChoice, Failure> {
    let mut packages: BTreeMap<String, Package> = BTreeMap::new();
    let mut choice = PackageChoice::new();
    for (host, name) in names {
        let file = name.file().to_owned();
        if let Some(offer) = offers.get(&file)
            && !packages.contains_key(&file)
        {
            packages.insert(file.clone(), verify(offer, name, digests).await?);
        }
        if let Some(package) = packages.get(&file) {
            choice.insert(host, package.clone());
        }
    }
    Ok(choice)
}

/// Compares the file with the digest of the cache, or with `<file>.sha256sum.txt` beside it.
async fn verify(offer: &Offer, name: PackageName, digests: &Digests) -> Result<Package, Failure> {
    let path = &offer.path;
    let bytes = std::fs::metadata(path)
        .map_err(|error| unreadable(path, &error))?
        .len();
    let sha256 = digests.of(path).await?;
    let package = Package {
        name,
        source: path.display().to_string(),
        bytes,
        sha256,
    };
    let (place, text) = match offer.known {
        Some(known) => (format!("the name of {}", path.display()), known.to_string()),
        None => checksum_beside(path)?,
    };
    package::verify(&package, &place, &text)?;
    Ok(package)
}

/// Path and text of the checksum file.
fn checksum_beside(path: &Path) -> Result<(String, String), Failure> {
    let mut sum = path.as_os_str().to_owned();
    sum.push(SUM);
    let sum = PathBuf::from(sum);
    let place = sum.display().to_string();
    match std::fs::read_to_string(&sum) {
        Ok(text) => Ok((place, text)),
        Err(error) => Err(Failure::data(format!("cannot read the checksum file: {error}"))
            .at(place)
            .hint(
                "fetch the .sha256sum.txt that belongs to the package, or write one with sha256sum",
            )),
    }
}

/// Ending of checksum files.
const SUM: &str = ".sha256sum.txt";

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::data(format!("cannot read the package: {error}")).at(path.display().to_string())
}
