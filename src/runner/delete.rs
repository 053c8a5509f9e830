//! Deletion of what is ours, and of nothing else (design 8.1).
//!
//! Duty: one fixed POSIX script, `delete.sh`, that decides on the host from what is there at that moment. It
//! refuses symlinks, system folders, homes and everything without this cluster's marker; it never crosses
//! into another mount.

use std::time::Duration;

use nbctl_core::failure::Failure;
use nbctl_core::inventory::protected_path;
use nbctl_core::plan::{Delete, Script};

use crate::event::{Sink, StepOutcome};
use crate::remote::{ALREADY_SO, Link};

/// File in every folder of ours; the line [`marker_line`] says whose.
pub const OWNER_MARKER: &str = ".nbctl-owner";
/// Exit code of the script when it refuses.
const REFUSED: i32 = 65;
/// Databases can hold many files.
const LIMIT: Duration = Duration::from_mins(30);

/// The line in [`OWNER_MARKER`] that names the cluster.
pub fn marker_line(cluster_id: &str) -> String {
    format!("cluster_id={cluster_id}")
}

/// Deletes; `title` names it in failures.
///
/// # Errors
/// A refusal with its reason, or what could not be removed.
pub async fn delete(
    link: &Link,
    title: &str,
    delete: &Delete,
    sink: &dyn Sink,
) -> Result<StepOutcome, Failure> {
    let output = link.run(title, &script(delete)?).await?;
    if output.code == REFUSED {
        let reason = output.stderr.lines().last().unwrap_or_default();
        return Err(Failure::step(format!("{title}: {reason}"))
            .at(link.host().to_string())
            .hint(
                "nbctl deletes only what it marked as its own; look at it and remove it by hand",
            ));
    }
    let output = output.success(link.host(), title)?;
    if output.stdout.trim() == ALREADY_SO {
        return Ok(StepOutcome::AlreadySo);
    }
    for line in output.stdout.lines() {
        sink.note(format!("{}: {line}", link.host()));
    }
    Ok(StepOutcome::Done)
}

/// The script for one path.
///
/// # Errors
/// When the path is not below the folder that is marked, or the cluster has no proper id.
fn script(delete: &Delete) -> Result<Script, Failure> {
    let Delete {
        path,
        owner_root,
        cluster_id,
        sudo,
    } = delete;
    if !path.is_within(owner_root) {
        let what = format!("refused to delete {path}: it is not below {owner_root}");
        return Err(Failure::step(what));
    }
    if let Some(why) = protected_path(path).or_else(|| protected_path(owner_root)) {
        let what = format!("refused to delete {path}: it is {why}");
        return Err(Failure::step(what));
    }
    let proper = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if cluster_id.len() < 4 || !cluster_id.chars().all(proper) {
        let what = format!("refused to delete {path}: `{cluster_id}` is no cluster id");
        return Err(Failure::step(what));
    }
    let head = format!(
        "p={}\nroot={}\nid={cluster_id}\n",
        quote(path.as_str())?,
        quote(owner_root.as_str())?
    );
    Ok(Script {
        text: head + include_str!("delete.sh"),
        sudo: *sudo,
        timeout: LIMIT,
    })
}

fn quote(text: &str) -> Result<String, Failure> {
    let quoted = shlex::try_quote(text).map(std::borrow::Cow::into_owned);
    quoted.map_err(|error| Failure::step(format!("cannot quote `{text}`: {error}")))
}

#[cfg(test)]
mod tests {
    use nbctl_core::units::{HostName, RemotePath};

    use super::*;

    fn target(path: &str, root: &str) -> Delete {
        Delete {
            path: RemotePath::new(path).unwrap(),
            owner_root: RemotePath::new(root).unwrap(),
            cluster_id: "0123456789ab".to_owned(),
            sudo: false,
        }
    }

    #[test]
    fn refused_before_anything_is_sent() {
        let cases = [
            ("/data/nebula", "/data/other"),
            ("/data/nebula2", "/data/nebula"),
            ("/", "/"),
            ("/usr/local", "/usr/local"),
            ("/etc/nebula", "/etc/nebula"),
            ("/home/user", "/home/user"),
            ("/opt/nebula", "/opt"),
        ];
        for (path, root) in cases {
            assert!(script(&target(path, root)).is_err(), "{path} {root}");
        }
        let mut empty = target("/data/nebula", "/data/nebula");
        for id in ["", "x", "a b c d", ".*.*", "$(id)xyz"] {
            id.clone_into(&mut empty.cluster_id);
            assert!(script(&empty).is_err(), "{id}");
        }
    }

    /// The script knows by itself, whoever made it.
    #[tokio::test]
    async fn the_host_refuses_system_folders_and_homes() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let home = base.join("a/home");
        std::fs::create_dir_all(&home).unwrap();
        let home_above = base.join("a");
        let link = Link::local(HostName::new("here"));
        let good = script(&target("/data/x", "/data/x")).unwrap();
        let text = good.text.split_once("\nid=").unwrap().1;
        let cases = [
            ("/", "folder of the system"),
            ("/usr/lib/x", "folder of the system"),
            ("/home/somebody", "folder of the system"),
            ("/var/lib", "folder of the system"),
            (home.to_str().unwrap(), "or holds a home"),
            (home_above.to_str().unwrap(), "or holds a home"),
        ];
        for (path, why) in cases {
            let text = format!("HOME={}\np={path}\nroot={path}\nid={text}", home.display());
            let script = Script {
                text,
                ..good.clone()
            };
            let output = link.run("delete", &script).await.unwrap();
            assert_eq!(output.code, REFUSED, "{path}");
            assert!(output.stderr.contains(why), "{path}: {}", output.stderr);
        }
        assert!(home.exists());
    }
}
