//! Files to and from a host.
//!
//! Purpose: what lies under the name is the old file or the new one, never a part of it.
//! Duties: written beside the target, synced, its sha256 checked there, then renamed over it; nothing is sent or
//! changed when content and mode are so already; a local file goes as standard input itself, which is the
//! fastest way through a control master.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::time::Duration;

use nbctl_core::failure::Failure;
use nbctl_core::plan::Upload;
use nbctl_core::units::{RemotePath, Sha256};
use sha2::Digest as _;

use super::exec::{Input, Raw};
use super::output::Output;
use super::{Job, Link, Way, script};
use crate::event::{Event, Sink};

/// `$1` path, `$2` mode, `$3` sha256 of what comes on standard input. One line: the login shell may be any.
const PUT: &str = concat!(
    r#"set -eu; umask 077; p=$1; m=$2; s=$3; t="$p.nbctl-new"; "#,
    // Five times faster than coreutils where the processor knows SHA, and most hosts have it; small files need no second program.
    r#"sum() { if [ "$(stat -c %s "$1")" -gt 4194304 ] && o=$(openssl dgst -sha256 -r <"$1" 2>/dev/null); then :; "#,
    r#"else o=$(sha256sum <"$1"); fi; echo "${o%% *}"; }; "#,
    r#"if [ -d "$p" ]; then echo "$p is a folder" >&2; exit 1; fi; "#,
    r#"if [ -f "$p" ] && [ "$(sum "$p")" = "$s" ] && [ "$(stat -c %a "$p")" = "$m" ]; then echo same; exit 0; fi; "#,
    r#"d=${p%/*}; [ -d "${d:-/}" ] || (umask 022; mkdir -p "$d"); "#,
    r#"trap "exit 1" HUP INT TERM; trap "rm -f \"\$t\"" EXIT; rm -f "$t"; "#,
    r#"e=$(dd bs=1048576 conv=fsync of="$t" 2>&1) || { echo "$e" >&2; exit 1; }; "#,
    r#"if [ "$(sum "$t")" != "$s" ]; then echo "not what was sent" >&2; exit 66; fi; "#,
    r#"chmod "$m" "$t"; mv -f "$t" "$p"; echo written"#
);
/// Exit code of [`PUT`] when the digest differs.
const DAMAGED: i32 = 66;
const SAME: &str = "same";
const FETCH: &str = r#"exec cat <"$1""#;

/// For small files.
const SMALL: Duration = Duration::from_mins(1);
/// Slower than this is given up, in bytes a second.
const SLOWEST: u64 = 128 << 10;
/// Between two progress events.
const TICK: Duration = Duration::from_millis(250);

/// What a file transfer did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Content and mode were so already.
    AlreadySo,
    /// The file is there now.
    Changed,
}

impl Link {
    /// Puts `bytes` under `path` with `mode` (octal permissions). Missing folders above it are made.
    ///
    /// # Errors
    /// No connection, or the host's own words.
    pub async fn put(
        &self,
        path: &RemotePath,
        mode: u32,
        bytes: &[u8],
        sudo: bool,
    ) -> Result<Written, Failure> {
        let title = format!("put {path}");
        if let Way::Fake(fake) = &self.way {
            fake.note(title);
            return Ok(Written::Changed);
        }
        let job = put_job(&title, path, mode, Sha256::of(bytes), sudo, SMALL);
        let raw = self.execute(&job, &Input::Bytes(bytes.to_vec())).await?;
        self.written(&title, raw)
    }

    /// Sends a local file; both ends must agree on its sha256.
    ///
    /// # Errors
    /// The source cannot be read or is not what the plan says, no connection, or the host's own words.
    pub async fn upload(&self, upload: &Upload, sink: &dyn Sink) -> Result<Written, Failure> {
        let title = format!("upload {}", upload.path.name());
        if let Way::Fake(fake) = &self.way {
            fake.note(title);
            return Ok(Written::Changed);
        }
        let source = Path::new(&upload.source);
        let unreadable = |error| unreadable(source, &error);
        let file = File::open(source).map_err(unreadable)?;
        let position = file.try_clone().map_err(unreadable)?;
        let limit = SMALL + Duration::from_secs(upload.bytes / SLOWEST);
        let job = put_job(
            &title,
            &upload.path,
            upload.mode,
            upload.sha256,
            false,
            limit,
        );
        let input = Input::File(file);
        let raw = {
            let work = self.execute(&job, &input);
            self.watched(work, position, upload, sink).await?
        };
        if raw.code == DAMAGED {
            check_source(source, upload).await?;
        }
        self.written(&title, raw)
    }

    /// Content of a file, at most 16 MiB.
    ///
    /// # Errors
    /// No connection, no such file, or larger.
    pub async fn fetch(&self, path: &RemotePath, sudo: bool) -> Result<Vec<u8>, Failure> {
        let title = format!("fetch {path}");
        if let Way::Fake(fake) = &self.way {
            let script = super::fake_script(&title);
            return Ok(fake
                .answer(&self.host, &title, &script)?
                .stdout
                .into_bytes());
        }
        let token = script::token();
        let job = Job {
            title: &title,
            argv: script::data_argv(&token, sudo, &script::answering(FETCH), &[path.as_str()]),
            token,
            sudo,
            timeout: SMALL,
        };
        let mut raw = self.execute(&job, &Input::Bytes(Vec::new())).await?;
        let content = std::mem::take(&mut raw.stdout);
        self.ended(&title, raw)?;
        Ok(content)
    }

    fn written(&self, title: &str, raw: Raw) -> Result<Written, Failure> {
        let output = self.ended(title, raw)?;
        Ok(match output.stdout.trim() {
            SAME => Written::AlreadySo,
            _ => Written::Changed,
        })
    }

    fn ended(&self, title: &str, raw: Raw) -> Result<Output, Failure> {
        let output = Output::from(raw);
        output.check_sudo(&self.host)?;
        output.success(&self.host, title)
    }

    /// Tells how far the reading end of the file has come: the handles share one position.
    async fn watched<T>(
        &self,
        work: impl Future<Output = T>,
        mut position: File,
        upload: &Upload,
        sink: &dyn Sink,
    ) -> T {
        let mut work = std::pin::pin!(work);
        let mut tick = tokio::time::interval(TICK);
        tick.tick().await;
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = tick.tick() => sink.emit(Event::Progress {
                    phase: "upload".to_owned(),
                    done: position.stream_position().unwrap_or(0),
                    total: Some(upload.bytes),
                    unit: "bytes",
                    text: format!("{}: {}", self.host, upload.path.name()),
                }),
            }
        }
    }
}

fn put_job<'a>(
    title: &'a str,
    path: &RemotePath,
    mode: u32,
    sha256: Sha256,
    sudo: bool,
    timeout: Duration,
) -> Job<'a> {
    let token = script::token();
    let (mode, sha256) = (format!("{mode:o}"), sha256.to_string());
    let args = [path.as_str(), &mode, &sha256];
    Job {
        title,
        argv: script::data_argv(&token, sudo, &script::answering(PUT), &args),
        token,
        sudo,
        timeout,
    }
}

/// Tells a source that changed since the plan from damage on the way.
async fn check_source(source: &Path, upload: &Upload) -> Result<(), Failure> {
    let now = hash_file(source).await?;
    if now == upload.sha256 {
        return Ok(());
    }
    let what = format!(
        "the file is not what was planned: sha256 {now}, planned {}",
        upload.sha256
    );
    Err(Failure::data(what)
        .at(source.display().to_string())
        .hint("it changed while it was used; run the same command again"))
}

/// SHA-256 of a local file, read in pieces.
///
/// # Errors
/// When it cannot be read.
pub async fn hash_file(path: &Path) -> Result<Sha256, Failure> {
    let owned = path.to_owned();
    let work = tokio::task::spawn_blocking(move || digest(File::open(owned)?));
    let done = work
        .await
        .unwrap_or_else(|error| Err(std::io::Error::other(error)));
    done.map_err(|error| unreadable(path, &error))
}

fn digest(mut file: File) -> std::io::Result<Sha256> {
    let mut hasher = sha2::Sha256::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(Sha256::from_bytes(hasher.finalize().into())),
            count => hasher.update(&piece[..count]),
        }
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::data(format!("cannot read it: {error}")).at(path.display().to_string())
}
