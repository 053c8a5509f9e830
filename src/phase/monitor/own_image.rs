//! The image of `nbctl exporter`: this very binary and nothing else, as an archive an engine can load.
//!
//! Duties: the same binary gives the same image id; made once for a binary and kept in the state folder; a binary that
//! needs a dynamic loader is refused, since the image has none.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nbctl_core::container::{LABEL_COMPONENT, LABEL_OWNER, OWNER};
use nbctl_core::failure::Failure;
use nbctl_core::monitor::OwnImage;
use nbctl_core::units::Sha256;
use serde_json::json;
use sha2::Digest as _;

const EXE: &str = "/proc/self/exe";
/// Its name in the image: the exporter must not be counted among the load generators called `nbctl`.
const PROGRAM: &str = "nbctl-exporter";

/// The image under `name`, its archive in `folder`.
pub(super) fn make(folder: &Path, name: &str) -> Result<OwnImage, Failure> {
    let cannot = |error: io::Error| {
        Failure::usage(format!("cannot make the exporter's image: {error}"))
            .at(folder.display().to_string())
    };
    let mut exe = File::open(EXE).map_err(cannot)?;
    if has_loader(&mut exe).map_err(cannot)? {
        return Err(Failure::usage("this nbctl is not a static binary and cannot run in an image of its own")
            .hint("build it with the target of .cargo/config.toml, or leave `exporter` out of monitor.components"));
    }
    let place = Place::new(folder, &exe).map_err(cannot)?;
    match place.known(name) {
        Some(image) => Ok(image),
        None => place.write(&mut exe, name).map_err(cannot),
    }
}

/// Files of the image of one binary.
struct Place {
    folder: PathBuf,
    key: String,
}

impl Place {
    /// A binary that was not written to since has the same size, time and number.
    fn new(folder: &Path, exe: &File) -> io::Result<Self> {
        let meta = exe.metadata()?;
        let facts = format!(
            "{} {} {} {}",
            meta.len(),
            meta.mtime(),
            meta.mtime_nsec(),
            meta.ino()
        );
        let key = Sha256::of(facts.as_bytes()).short();
        Ok(Self {
            folder: folder.to_owned(),
            key,
        })
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("exporter-{}.{ending}", self.key))
    }

    /// Made before: the note beside the archive names the id.
    fn known(&self, name: &str) -> Option<OwnImage> {
        let note = std::fs::read_to_string(self.path("id")).ok()?;
        let (layer, id) = note.trim_end().split_once(' ')?;
        let archive = self.path("tar");
        archive.exists().then(|| image(name, layer, id, &archive))
    }

    fn write(&self, exe: &mut File, name: &str) -> io::Result<OwnImage> {
        std::fs::create_dir_all(&self.folder)?;
        self.forget_older()?;
        let layer_path = self.path("layer");
        let layer = write_layer(exe, &layer_path)?;
        let config = config(layer);
        let id = Sha256::of(config.as_bytes()).to_string();
        let archive = self.path("tar");
        let fresh = self.path("new");
        let image = image(name, &layer.to_string(), &format!("sha256:{id}"), &archive);
        let mut tar = tar::Builder::new(File::create(&fresh)?);
        append(&mut tar, &format!("{id}.json"), config.as_bytes())?;
        let manifest = json!([{
            "Config": format!("{id}.json"), "RepoTags": [image.reference], "Layers": ["layer.tar"],
        }]);
        append(&mut tar, "manifest.json", manifest.to_string().as_bytes())?;
        tar.append_file("layer.tar", &mut File::open(&layer_path)?)?;
        tar.into_inner()?.sync_all()?;
        std::fs::remove_file(&layer_path)?;
        std::fs::rename(&fresh, &archive)?;
        std::fs::write(self.path("id"), format!("{layer} {}\n", image.id))?;
        Ok(image)
    }

    /// Archives of earlier binaries.
    fn forget_older(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("exporter-") {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

fn image(name: &str, layer: &str, id: &str, archive: &Path) -> OwnImage {
    let version: String = layer.chars().take(12).collect();
    OwnImage {
        reference: format!("{name}:{version}"),
        id: id.to_owned(),
        tarball: archive.to_string_lossy().into_owned(),
        layers: vec![format!("sha256:{layer}")],
    }
}

/// The layer with the binary; its digest.
fn write_layer(exe: &mut File, path: &Path) -> io::Result<Sha256> {
    exe.rewind()?;
    let mut header = header(exe.metadata()?.len(), 0o755);
    let mut tar = tar::Builder::new(Hashed {
        file: File::create(path)?,
        hash: sha2::Sha256::new(),
    });
    tar.append_data(&mut header, PROGRAM, exe)?;
    let hashed = tar.into_inner()?;
    Ok(Sha256::from_bytes(hashed.hash.finalize().into()))
}

fn append(tar: &mut tar::Builder<File>, name: &str, bytes: &[u8]) -> io::Result<()> {
    tar.append_data(&mut header(bytes.len() as u64, 0o644), name, bytes)
}

/// Nothing of this machine or this moment, so that the id is that of the content.
fn header(size: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// The image's configuration.
fn config(layer: Sha256) -> String {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    json!({
        "architecture": architecture,
        "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {
            "Entrypoint": [format!("/{PROGRAM}")],
            "User": "65534:65534",
            "WorkingDir": "/",
            "Labels": {LABEL_OWNER: OWNER, LABEL_COMPONENT: "exporter"},
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer}")]},
        "history": [{"created": "1970-01-01T00:00:00Z", "created_by": "nbctl"}],
    })
    .to_string()
}

/// Writes and hashes.
struct Hashed {
    file: File,
    hash: sha2::Sha256,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whether an ELF file (64 bits, little endian) names a dynamic loader.
fn has_loader(exe: &mut File) -> io::Result<bool> {
    const INTERP: u32 = 3;
    let mut head = [0; 64];
    exe.rewind()?;
    exe.read_exact(&mut head)?;
    let [.., s0, s1, n0, n1, _, _, _, _, _, _] = head;
    let (size, count) = (u16::from_le_bytes([s0, s1]), u16::from_le_bytes([n0, n1]));
    let table = head
        .get(32..40)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u64::from_le_bytes);
    for number in 0..u64::from(count) {
        exe.seek(io::SeekFrom::Start(table + number * u64::from(size)))?;
        let mut kind = [0; 4];
        exe.read_exact(&mut kind)?;
        if u32::from_le_bytes(kind) == INTERP {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_binary_is_the_same_image() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        let first = make(&one, "nbctl/exporter").unwrap();
        let again = make(&one, "nbctl/exporter").unwrap();
        let elsewhere = make(&two, "nbctl/exporter").unwrap();
        assert_eq!(first, again);
        assert_eq!(
            (&first.id, &first.reference),
            (&elsewhere.id, &elsewhere.reference)
        );
        let mut archive = tar::Archive::new(File::open(&first.tarball).unwrap());
        let names: Vec<String> = archive
            .entries()
            .unwrap()
            .map(|entry| entry.unwrap().path().unwrap().display().to_string())
            .collect();
        let config = format!("{}.json", first.id.trim_start_matches("sha256:"));
        assert_eq!(names, [config.as_str(), "manifest.json", "layer.tar"]);
    }
}
