//! `nbctl push LOCAL REMOTE`, `nbctl pull REMOTE [DIR]`: files to and from many hosts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::Selection;
use nbctl_core::plan::{Script, Upload};
use nbctl_core::units::{RemotePath, counted};

use crate::cli::{Pick, Pull, Push};
use crate::context::Context;
use crate::interrupt;
use crate::phase::many::Many;
use crate::remote::{Link, Written, hash_file};

pub(super) async fn push(ctx: &Context, pick: &Pick, args: &Push) -> anyhow::Result<ExitCode> {
    let selection = Selection::new(&ctx.cluster, &pick.host, &pick.role)?;
    let uploads = uploads(&args.local, &remote(&args.remote)?).await?;
    let cancel = interrupt::token();
    let many = Many::connect(ctx, &selection).await?;
    let result = many
        .each(&cancel, |link| {
            let (many, uploads) = (&many, &uploads);
            async move {
                let mut changed = 0;
                for upload in uploads {
                    let _permit = many.fleet.upload_permit().await;
                    let written = link.upload(upload, &*ctx.sink).await?;
                    changed += usize::from(written == Written::Changed);
                }
                Ok(changed)
            }
        })
        .await;
    many.fleet.close().await;
    let all = result?;
    let changed: usize = all.iter().map(|(_, changed)| changed).sum();
    let (files, hosts) = (uploads.len(), all.len());
    let text = format!(
        "{} on {} as they are here; {changed} sent",
        counted(files, "file"),
        counted(hosts, "host")
    );
    let value = serde_json::json!({"files": files, "hosts": hosts, "sent": changed});
    ctx.reporter.result(&text, &value)?;
    Ok(ExitCode::Good)
}

fn remote(text: &str) -> Result<RemotePath, Failure> {
    RemotePath::new(text).map_err(|why| {
        Failure::usage(format!("`{text}` is no path of a host: {why}"))
            .hint("give an absolute path")
    })
}

/// A file goes to the path itself; what is in a folder goes below it.
async fn uploads(local: &Path, remote: &RemotePath) -> Result<Vec<Upload>, Failure> {
    let mut all = Vec::new();
    for (file, path) in files(local, remote).map_err(|error| unreadable(local, &error))? {
        let meta = fs::metadata(&file).map_err(|error| unreadable(&file, &error))?;
        all.push(Upload {
            source: file.display().to_string(),
            bytes: meta.len(),
            sha256: hash_file(&file).await?,
            path,
            mode: meta.permissions().mode() & 0o777,
        });
    }
    Ok(all)
}

fn files(local: &Path, remote: &RemotePath) -> std::io::Result<Vec<(PathBuf, RemotePath)>> {
    if !local.is_dir() {
        return Ok(vec![(local.to_owned(), remote.clone())]);
    }
    let mut all = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(local)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        all.extend(files(&entry.path(), &remote.join(&name.to_string_lossy()))?);
    }
    Ok(all)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot read it: {error}")).at(path.display().to_string())
}

pub(super) async fn pull(ctx: &Context, pick: &Pick, args: &Pull) -> anyhow::Result<ExitCode> {
    let selection = Selection::new(&ctx.cluster, &pick.host, &pick.role)?;
    let path = remote(&args.remote)?;
    let script = Script {
        text: format!(
            "d={}\nn={}\n{}",
            quote(path.parent().as_str())?,
            quote(path.name())?,
            "cd -- \"$d\" && [ -e \"$n\" ] || { echo \"there is no $d/$n\" >&2; exit 1; }\nexec tar -cf - -- \"$n\"\n"
        ),
        sudo: args.sudo,
        timeout: Duration::from_secs(args.timeout),
    };
    let cancel = interrupt::token();
    let many = Many::connect(ctx, &selection).await?;
    let result = many
        .each(&cancel, |link| one(link, &script, &args.dir))
        .await;
    many.fleet.close().await;
    let all = result?;
    let bytes: u64 = all.iter().map(|(_, bytes)| bytes).sum();
    let hosts = all.len();
    let dir = args.dir.display();
    let text = format!(
        "{path} of {} is in {dir}/HOST/ ({} KiB)",
        counted(hosts, "host"),
        bytes >> 10
    );
    let value = serde_json::json!({"folder": dir.to_string(), "hosts": hosts, "bytes": bytes});
    ctx.reporter.result(&text, &value)?;
    Ok(ExitCode::Good)
}

fn quote(text: &str) -> Result<String, Failure> {
    let quoted = shlex::try_quote(text).map(std::borrow::Cow::into_owned);
    quoted.map_err(|error| Failure::usage(format!("cannot send `{text}`: {error}")))
}

/// Into a folder of the host's name; an archive that was cut off is not unpacked to the end and says so.
async fn one(link: &Link, script: &Script, dir: &Path) -> Result<u64, Failure> {
    let folder = dir.join(link.host().as_str());
    let cannot = |error: std::io::Error| {
        Failure::usage(format!("cannot write it: {error}")).at(folder.display().to_string())
    };
    fs::create_dir_all(&folder).map_err(cannot)?;
    let archive = folder.join(".incoming.tar");
    let pulled = link.download("pull", script, &archive).await;
    let (from, to) = (archive.clone(), folder.clone());
    let unpacked = match pulled {
        Err(failure) => Err(failure),
        Ok(bytes) => {
            let work = tokio::task::spawn_blocking(move || {
                tar::Archive::new(fs::File::open(from)?).unpack(to)
            });
            let done = work
                .await
                .unwrap_or_else(|error| Err(std::io::Error::other(error)));
            done.map(|()| bytes).map_err(cannot)
        }
    };
    fs::remove_file(&archive).ok();
    unpacked
}
