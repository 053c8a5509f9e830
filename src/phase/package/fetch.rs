//! One file from the first mirror that has it whole.
//!
//! Duties: the checksum file is asked for first, and what comes must have that digest; a mirror that lacks the file, is
//! down or lies is passed over, each with its reason in the failure when none is left.

use std::fs::File;
use std::path::PathBuf;

use nbctl_core::failure::Failure;
use nbctl_core::package::{checksum, urls};
use nbctl_core::units::Sha256;

use super::download::{Ended, download};
use super::{SUM, Shelf};
use crate::event::Sink;
use crate::http::{self, Answer};
use crate::remote::hash_file;

/// Where to fetch from.
#[derive(Debug, Clone, Copy)]
pub struct Mirrors<'a> {
    /// In order.
    pub mirrors: &'a [String],
    /// As in file names.
    pub version: &'a str,
    /// Takes progress.
    pub sink: &'a dyn Sink,
}

/// A file of the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where it lies.
    pub path: PathBuf,
    /// Its digest, verified.
    pub sha256: Sha256,
}

/// What one address came to.
enum Tried {
    Got(Fetched),
    /// Not there.
    Missing,
    /// Why not.
    Failed(String),
}

/// Fetches `file` into the cache; `None` when every mirror says that it has no such file.
///
/// # Errors
/// No mirror gave it whole, and not all of them for the reason that they do not have it.
pub async fn fetch(
    mirrors: &Mirrors<'_>,
    shelf: &Shelf,
    file: &str,
) -> Result<Option<Fetched>, Failure> {
    shelf.make()?;
    let mut reasons = Vec::new();
    let addresses = mirrors
        .mirrors
        .iter()
        .flat_map(|mirror| urls(mirror, mirrors.version, file));
    for url in addresses {
        match from(&url, shelf, file, mirrors.sink).await? {
            Tried::Got(fetched) => return Ok(Some(fetched)),
            Tried::Missing => {}
            Tried::Failed(why) => {
                mirrors.sink.warn(format!("{url}: {why}"));
                reasons.push(format!("{url}: {why}"));
            }
        }
    }
    if reasons.is_empty() {
        return Ok(None);
    }
    Err(Failure::data(format!("no mirror gave {file} whole"))
        .lines(reasons)
        .hint("what arrived is kept: the same command goes on from there"))
}

async fn from(url: &str, shelf: &Shelf, file: &str, sink: &dyn Sink) -> Result<Tried, Failure> {
    let sha256 = match wanted(url).await {
        Ok(Some(sha256)) => sha256,
        Ok(None) => return Ok(Tried::Missing),
        Err(why) => return Ok(Tried::Failed(why)),
    };
    let path = shelf.path(file, sha256);
    if shelf.has(file, sha256) {
        return Ok(Tried::Got(Fetched { path, sha256 }));
    }
    let part = shelf.part(file, sha256);
    // Two commands that fetch the same file take turns; the second one finds it there.
    let _turn = locked(&part).await?;
    if shelf.has(file, sha256) {
        return Ok(Tried::Got(Fetched { path, sha256 }));
    }
    let ended = download(url, &part, sink).await?;
    if std::fs::metadata(&part).is_ok_and(|meta| meta.len() == 0) {
        drop(std::fs::remove_file(&part));
    }
    match ended {
        Ended::Whole => {}
        Ended::Missing => return Ok(Tried::Missing),
        Ended::Failed(why) => return Ok(Tried::Failed(why)),
    }
    let got = hash_file(&part).await?;
    if got != sha256 {
        drop(std::fs::remove_file(&part));
        let why = format!("wrong checksum: sha256 {got}, its checksum file says {sha256}");
        return Ok(Tried::Failed(why));
    }
    let path = shelf.take(&part, file, sha256)?;
    sink.note(format!("fetched {url}"));
    Ok(Tried::Got(Fetched { path, sha256 }))
}

/// The digest a mirror names for its file; `None` when it has none.
async fn wanted(url: &str) -> Result<Option<Sha256>, String> {
    match http::download(&format!("{url}{SUM}"), 0).await {
        Answer::Missing => Ok(None),
        Answer::Again(why) | Answer::Refused(why) => Err(format!("checksum file: {why}")),
        Answer::Body { mut body, .. } => {
            let text = body.text(64 << 10).await?;
            checksum(&text)
                .map(Some)
                .map_err(|why| format!("checksum file: {why}"))
        }
    }
}

async fn locked(part: &std::path::Path) -> Result<File, Failure> {
    let lock = part.with_extension("lock");
    let cannot = |error: std::io::Error| {
        Failure::usage(format!("cannot lock a download: {error}")).at(lock.display().to_string())
    };
    let file = File::create(&lock).map_err(cannot)?;
    let work = tokio::task::spawn_blocking(move || file.lock().map(|()| file));
    let done = work
        .await
        .unwrap_or_else(|error| Err(std::io::Error::other(error)));
    done.map_err(cannot)
}
