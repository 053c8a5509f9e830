//! Data: find or make the data set, understand its files, bring them to the load host.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nbctl_core::dataset::{DataFile, Dates, Found, HeaderAt, Schema};
use nbctl_core::failure::Failure;
use nbctl_core::owner::Claim;
use nbctl_core::plan::{Script, Upload};
use nbctl_core::playbook::{Data, Volume};
use nbctl_core::run::Input;
use nbctl_core::units::{RemotePath, Sha256};

use crate::context::Context;
use crate::dataset::Folder;
use crate::event::{Event, Sink};
use crate::phase::bench::{Bench, Done};
use crate::remote::hash_file;

/// A data set of this machine, understood.
#[derive(Debug)]
pub struct DataSet {
    /// Its folder.
    pub folder: PathBuf,
    /// Files in import order, skipped ones left out.
    pub files: Vec<LocalFile>,
    /// Tags and edge types.
    pub schema: Schema,
    /// Rows (0 when not known before reading) and bytes.
    pub volume: Volume,
}

/// One file of it.
#[derive(Debug, Clone)]
pub struct LocalFile {
    /// Where it is and where its header is.
    pub found: Found,
    /// Columns and types.
    pub data: DataFile,
    /// Bytes.
    pub bytes: u64,
    /// Digest of its content.
    pub sha256: Sha256,
}

/// A data set on the load host.
#[derive(Debug)]
pub struct Placed {
    /// Folder on the load host.
    pub folder: RemotePath,
    /// The data set it is a copy of.
    pub set: DataSet,
}

/// Finds or generates, then sends what the load host does not have.
///
/// # Errors
/// A missing or damaged file, named; the load host has no room or is lost.
pub async fn run(bench: &Bench<'_>, wanted: &Data) -> Result<(Placed, Done), Failure> {
    let folder = match &wanted.folder {
        Some(folder) => PathBuf::from(folder),
        None => generated(bench.ctx, wanted)?,
    };
    let set = read(&folder).await?;
    let placed = place(bench, set).await?;
    let done = Done::plain(rows(wanted, &placed));
    Ok((placed, done))
}

/// The data set as inputs of a run.
pub fn inputs(set: &DataSet) -> Vec<Input> {
    let input = |file: &LocalFile| Input {
        path: set.folder.join(&file.found.path).display().to_string(),
        sha256: file.sha256.to_string(),
        bytes: file.bytes,
    };
    set.files.iter().map(input).collect()
}

fn rows(wanted: &Data, placed: &Placed) -> Vec<(String, String)> {
    let source = match &wanted.folder {
        Some(folder) => folder.clone(),
        None => format!(
            "generated, {} persons, seed {}",
            wanted.persons, wanted.seed
        ),
    };
    vec![
        ("source".to_owned(), source),
        ("files".to_owned(), placed.set.files.len().to_string()),
        ("bytes".to_owned(), placed.set.volume.bytes.to_string()),
    ]
}

/// The generated set of these parameters; made when it is not there whole.
fn generated(ctx: &Context, wanted: &Data) -> Result<PathBuf, Failure> {
    let folder = ctx
        .state_dir
        .join(format!("data/snb-{}-{}", wanted.persons, wanted.seed));
    if snb_datagen::Manifest::load(&folder)
        .ok()
        .flatten()
        .is_none()
    {
        generate(&folder, wanted.persons, wanted.seed, &*ctx.sink)?;
    }
    Ok(folder)
}

/// Writes a generated data set.
///
/// # Errors
/// The folder holds something else, or cannot be written.
pub fn generate(
    folder: &Path,
    persons: u64,
    seed: u64,
    sink: &dyn Sink,
) -> Result<Volume, Failure> {
    let config = snb_datagen::Config { persons, seed };
    let mut told = |progress: snb_datagen::Progress| {
        sink.emit(Event::Progress {
            phase: "generate data".to_owned(),
            done: progress.done,
            total: Some(progress.total),
            unit: "persons",
            text: format!("{} rows", progress.rows),
        });
    };
    let manifest = snb_datagen::generate(&config, folder, &mut told)
        .map_err(|error| Failure::data(error.to_string()).at(folder.display().to_string()))?;
    Ok(Volume {
        rows: manifest.rows(),
        bytes: manifest.bytes(),
    })
}

/// Finds and understands the files below `folder` (or its `social_network`).
///
/// # Errors
/// Files are missing, or one is not what its name says.
pub async fn read(folder: &Path) -> Result<DataSet, Failure> {
    let nested = folder.join("social_network");
    let folder = if nested.is_dir() {
        nested
    } else {
        folder.to_path_buf()
    };
    let mut files = Vec::new();
    for part in Folder::open(&folder, Dates::String)?.files {
        files.push(LocalFile {
            sha256: hash_file(&folder.join(&part.found.path)).await?,
            found: part.found,
            data: part.data,
            bytes: part.bytes,
        });
    }
    let data: Vec<DataFile> = files.iter().map(|file| file.data.clone()).collect();
    let schema = Schema::of(&data).map_err(|error| crate::dataset::failure(&folder, &error))?;
    let bytes = files.iter().map(|file| file.bytes).sum();
    let rows = snb_datagen::Manifest::load(&folder)
        .ok()
        .flatten()
        .map_or(0, |m| m.rows());
    Ok(DataSet {
        folder,
        files,
        schema,
        volume: Volume { rows, bytes },
    })
}

/// Sends the files to `<load_dir>/data/<digest of all files>`; those that are there already are left alone.
async fn place(bench: &Bench<'_>, set: DataSet) -> Result<Placed, Failure> {
    claim(bench).await?;
    let mut all = String::new();
    for file in &set.files {
        all.push_str(&file.sha256.to_string());
    }
    let folder = bench
        .load_dir
        .join(&format!("data/{}", Sha256::of(all.as_bytes()).short()));
    let link = bench.link()?;
    for file in &set.files {
        let mut names = vec![(file.found.path.clone(), file.bytes, file.sha256)];
        if let HeaderAt::File(name) = &file.found.header {
            let path = set.folder.join(name);
            let bytes = std::fs::metadata(&path)
                .map_err(|error| unreadable(&path, &error))?
                .len();
            names.push((name.clone(), bytes, hash_file(&path).await?));
        }
        for (name, bytes, sha256) in names {
            let upload = Upload {
                source: set.folder.join(&name).display().to_string(),
                bytes,
                sha256,
                path: folder.join(&name),
                mode: 0o644,
            };
            link.upload(&upload, &*bench.ctx.sink).await?;
        }
    }
    Ok(Placed { folder, set })
}

/// Marks the load folder as ours before anything is put there.
pub(super) async fn claim(bench: &Bench<'_>) -> Result<(), Failure> {
    let control = Context::control_name();
    let claim = Claim {
        cluster: &bench.ctx.cluster,
        control: &control,
    };
    let user = bench.load.ssh.user.clone().unwrap_or_default();
    let script = Script {
        text: claim.script(&[&bench.load_dir], &user),
        sudo: false,
        timeout: Duration::from_mins(1),
    };
    bench
        .link()?
        .must("mark the load folder", &script)
        .await
        .map(drop)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::data(format!("cannot read the data: {error}")).at(path.display().to_string())
}
