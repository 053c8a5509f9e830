//! From a bundle to the places where an offline command looks.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use nbctl_core::failure::Failure;
use nbctl_core::units::Sha256;
use sha2::Digest as _;

use super::{Entry, MANIFEST, Manifest, no_bundle, open, progress, read};
use crate::event::Sink;
use crate::phase::package::Shelf;

/// Where the parts of a bundle belong.
#[derive(Debug, Clone)]
pub struct Places {
    /// The package cache.
    pub packages: PathBuf,
    /// The images; those of an earlier bundle are replaced.
    pub images: PathBuf,
    /// The packages of a Docker engine; those of an earlier bundle are replaced.
    pub engine: PathBuf,
    /// The data sets, each in a folder of its name.
    pub data: PathBuf,
    /// Where everything is verified first; on the same file system as the others, emptied before and after.
    pub staging: PathBuf,
}

/// Verifies a bundle and puts its parts in their places.
///
/// # Errors
/// It is damaged, or names something else than these; a data set of that name is there with other
/// content; the disk says no. Then nothing was put anywhere.
pub fn load(file: &Path, places: &Places, sink: &dyn Sink) -> Result<Manifest, Failure> {
    let manifest = read(file)?;
    let refused = |why: String| no_bundle(file, &why);
    for entry in &manifest.files {
        known(&entry.name).map_err(refused)?;
    }
    let done = unpack(file, &manifest, places, sink).and_then(|()| settle(&manifest, places));
    drop(fs::remove_dir_all(&places.staging));
    done?;
    Ok(manifest)
}

fn unpack(
    file: &Path,
    manifest: &Manifest,
    places: &Places,
    sink: &dyn Sink,
) -> Result<(), Failure> {
    drop(fs::remove_dir_all(&places.staging));
    let total: u64 = manifest.files.iter().map(|entry| entry.bytes).sum();
    let mut done = 0;
    each(file, manifest, |entry, content| {
        let path = places.staging.join(&entry.name);
        fs::create_dir_all(path.parent().unwrap_or(&places.staging))?;
        let mut out = File::create(path)?;
        io::copy(content, &mut out)?;
        out.sync_all()?;
        done += entry.bytes;
        progress(sink, done, total, &entry.name);
        Ok(())
    })
}

/// Gives every file of the bundle to `take`, and compares sizes and digests with the manifest.
pub(super) fn each(
    file: &Path,
    manifest: &Manifest,
    mut take: impl FnMut(&Entry, &mut dyn Read) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut tar = open(file)?;
    let words = |error: io::Error| no_bundle(file, &error.to_string());
    let mut wanted = manifest.files.iter();
    for content in tar.entries().map_err(words)?.skip(1) {
        let content = content.map_err(words)?;
        let name = content.path().map_err(words)?.display().to_string();
        let entry = wanted.next().filter(|entry| entry.name == name);
        let entry =
            entry.ok_or_else(|| no_bundle(file, &format!("{name} is not in its {MANIFEST}")))?;
        let mut hashed = HashingReader {
            from: content,
            hasher: sha2::Sha256::new(),
            bytes: 0,
        };
        take(entry, &mut hashed).map_err(|error| {
            Failure::usage(format!("cannot unpack {name}: {error}")).at(file.display().to_string())
        })?;
        if (hashed.bytes, hashed.sha256()) != (entry.bytes, entry.sha256) {
            return Err(no_bundle(
                file,
                &format!("{name} has another checksum than {MANIFEST} says"),
            ));
        }
    }
    match wanted.next() {
        Some(missing) => Err(no_bundle(file, &format!("{} is missing", missing.name))),
        None => Ok(()),
    }
}

struct HashingReader<R> {
    from: R,
    hasher: sha2::Sha256,
    bytes: u64,
}

impl<R> HashingReader<R> {
    fn sha256(&self) -> Sha256 {
        Sha256::from_bytes(self.hasher.clone().finalize().into())
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        self.hasher.update(into.get(..count).unwrap_or_default());
        self.bytes += count as u64;
        Ok(count)
    }
}

/// Below one of the known folders, by plain names only.
fn known(name: &str) -> Result<(), String> {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let depth = Path::new(name).components().count();
    let fits = match name.split('/').next() {
        Some("packages" | "images" | "engine") => depth == 2,
        Some("data") => depth >= 3,
        _ => false,
    };
    if fits && Path::new(name).components().all(plain) && !name.contains('\\') {
        return Ok(());
    }
    Err(format!(
        "it holds `{}`, which belongs nowhere",
        name.escape_debug()
    ))
}

/// Data sets first: they are what may refuse.
fn settle(manifest: &Manifest, places: &Places) -> Result<(), Failure> {
    let cannot = |error: io::Error| {
        Failure::usage(format!("cannot put the bundle in its place: {error}"))
            .at(places.staging.display().to_string())
    };
    let staged = |kind: &str| places.staging.join(kind);
    let sets = fs::read_dir(staged("data")).into_iter().flatten().flatten();
    let sets: Vec<PathBuf> = sets.map(|set| set.path()).collect();
    for set in &sets {
        settle_data(manifest, set, &places.data)?;
    }
    let shelf = Shelf::open(&places.packages);
    for entry in &manifest.files {
        if let Some(name) = entry.name.strip_prefix("packages/") {
            shelf.make()?;
            shelf.take(&places.staging.join(&entry.name), name, entry.sha256)?;
        }
    }
    for (kind, place) in [("images", &places.images), ("engine", &places.engine)] {
        if staged(kind).is_dir() {
            drop(fs::remove_dir_all(place));
            fs::rename(staged(kind), place).map_err(cannot)?;
        }
    }
    Ok(())
}

/// A data set that is there already stays when it is the same.
fn settle_data(manifest: &Manifest, set: &Path, data: &Path) -> Result<(), Failure> {
    let name = set.file_name().unwrap_or_default();
    let target = data.join(name);
    let cannot = |error: io::Error| {
        Failure::usage(format!("cannot put the data set in its place: {error}"))
            .at(target.display().to_string())
    };
    if !target.exists() {
        fs::create_dir_all(data).map_err(cannot)?;
        return fs::rename(set, &target).map_err(cannot);
    }
    let prefix = Path::new("data").join(name);
    let mut files = manifest
        .files
        .iter()
        .filter(|entry| Path::new(&entry.name).starts_with(&prefix));
    let same = |entry: &Entry| {
        let path = target.join(Path::new(&entry.name).strip_prefix(&prefix)?);
        let mut hashed = HashingReader {
            from: File::open(path)?,
            hasher: sha2::Sha256::new(),
            bytes: 0,
        };
        io::copy(&mut hashed, &mut io::sink())?;
        Ok::<bool, Box<dyn std::error::Error>>(hashed.sha256() == entry.sha256)
    };
    if files.all(|entry| same(entry).unwrap_or(false)) {
        return Ok(());
    }
    Err(
        Failure::usage("another data set of that name is there; nothing was loaded")
            .at(target.display().to_string())
            .hint("move it away, or choose another folder with --state-dir"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::{Part, save};
    use super::*;

    #[derive(Debug)]
    struct Silent;

    impl Sink for Silent {
        fn emit(&self, _event: crate::event::Event) {}
    }

    fn places(root: &Path) -> Places {
        let state = root.join("state");
        Places {
            packages: state.join("packages"),
            images: state.join("images"),
            engine: state.join("engine"),
            data: root.join("data"),
            staging: state.join("bundle.new"),
        }
    }

    fn bundle(root: &Path) -> PathBuf {
        fs::create_dir_all(root.join("in")).unwrap();
        let parts = [
            ("packages/nebula-graph-3.8.0.el7.x86_64.rpm", "package"),
            ("images/index.yaml", "format: 1"),
            ("engine/docker.io_1_amd64.deb", "engine"),
            ("data/snb/dynamic/person.csv", "id|name"),
        ];
        let parts = parts.map(|(name, text)| {
            let path = root.join("in").join(name.replace('/', "_"));
            fs::write(&path, text).unwrap();
            Part {
                name: name.to_owned(),
                path,
            }
        });
        let file = root.join("b.tar");
        save(&file, "3.8.0", &parts, &Silent).unwrap();
        file
    }

    #[test]
    fn what_was_saved_is_loaded_where_it_is_looked_for() {
        let root = tempfile::tempdir().unwrap();
        let (file, places) = (bundle(root.path()), places(root.path()));
        assert_eq!(read(&file).unwrap().files.len(), 4);
        load(&file, &places, &Silent).unwrap();
        load(&file, &places, &Silent).unwrap();
        let text = |path: PathBuf| fs::read_to_string(path).unwrap();
        let shelf = Shelf::open(&places.packages);
        let name = "nebula-graph-3.8.0.el7.x86_64.rpm";
        assert_eq!(text(shelf.path(name, Sha256::of(b"package"))), "package");
        assert_eq!(text(places.images.join("index.yaml")), "format: 1");
        assert_eq!(text(places.engine.join("docker.io_1_amd64.deb")), "engine");
        assert_eq!(text(places.data.join("snb/dynamic/person.csv")), "id|name");
        assert!(!places.staging.exists());

        fs::write(places.data.join("snb/dynamic/person.csv"), "mine").unwrap();
        let failure = load(&file, &places, &Silent).unwrap_err();
        assert!(failure.what.contains("another data set"), "{failure}");
    }

    #[test]
    fn a_damaged_bundle_puts_nothing_anywhere() {
        let root = tempfile::tempdir().unwrap();
        let (file, places) = (bundle(root.path()), places(root.path()));
        let good = fs::read(&file).unwrap();
        let at = good
            .windows(7)
            .rposition(|window| window == b"package")
            .unwrap();
        let mut bad = good.clone();
        bad[at] = b'P';
        for (bytes, why) in [
            (bad.as_slice(), "checksum"),
            (&good[..good.len() - 2600], "bundle"),
        ] {
            fs::write(&file, bytes).unwrap();
            let failure = load(&file, &places, &Silent).unwrap_err();
            assert!(failure.to_string().contains(why), "{failure}");
            assert!(!places.packages.exists() && !places.data.exists() && !places.staging.exists());
        }
    }

    #[test]
    fn names_cannot_lead_out() {
        for good in [
            "packages/a",
            "engine/a.deb",
            "images/index.yaml",
            "data/snb/a/b.csv",
        ] {
            assert!(known(good).is_ok(), "{good}");
        }
        let bad = [
            "/etc/passwd",
            "packages/../a",
            "data/snb",
            "packages/a/b",
            "etc/a",
            "data/../../a",
            "images\\a",
        ];
        for name in bad {
            assert!(known(name).is_err(), "{name}");
        }
    }
}
