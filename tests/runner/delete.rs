//! What goes and what must stay.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nbctl::event::StepOutcome;
use nbctl::remote::Link;
use nbctl::runner::{OWNER_MARKER, delete, marker_line};
use nbctl_core::failure::Failure;
use nbctl_core::plan::Delete;
use nbctl_core::units::{HostName, RemotePath};

use crate::{Events, script};

const ID: &str = "0123456789ab";

/// A folder with `ours` (marked) and `outside` (not to be touched).
struct Ground {
    _dir: tempfile::TempDir,
    ours: PathBuf,
    outside: PathBuf,
}

impl Ground {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (ours, outside) = (base.join("ours"), base.join("outside"));
        for folder in [ours.join("data/a"), ours.join("logs"), outside.clone()] {
            fs::create_dir_all(folder).unwrap();
        }
        mark(&ours, ID);
        fs::write(outside.join("precious"), "x").unwrap();
        fs::write(ours.join("data/a/f"), "x").unwrap();
        Self {
            _dir: dir,
            ours,
            outside,
        }
    }

    fn untouched(&self) -> bool {
        fs::read_to_string(self.outside.join("precious")).is_ok_and(|text| text == "x")
    }
}

fn mark(folder: &Path, id: &str) {
    let text = format!("nbctl-owner 1\n{}\nhost=control\n", marker_line(id));
    fs::write(folder.join(OWNER_MARKER), text).unwrap();
}

async fn remove(path: &Path, root: &Path) -> Result<StepOutcome, Failure> {
    let remote = |path: &Path| RemotePath::new(path.to_str().unwrap()).unwrap();
    let what = Delete {
        path: remote(path),
        owner_root: remote(root),
        cluster_id: ID.to_owned(),
        sudo: false,
    };
    let link = Link::local(HostName::new("here"));
    delete(&link, "delete", &what, &Events::default()).await
}

async fn refused(path: &Path, root: &Path, why: &str) {
    let failure = remove(path, root).await.unwrap_err();
    assert!(
        failure.what.contains("refused") && failure.what.contains(why),
        "{failure}"
    );
}

#[tokio::test]
async fn ours_goes_and_is_gone_already_next_time() {
    let ground = Ground::new();
    let data = ground.ours.join("data");
    assert_eq!(
        remove(&data, &ground.ours).await.unwrap(),
        StepOutcome::Done
    );
    assert!(!data.exists() && ground.ours.join("logs").exists());
    assert_eq!(
        remove(&data, &ground.ours).await.unwrap(),
        StepOutcome::AlreadySo
    );
    fs::write(ground.ours.join("file"), "x").unwrap();
    remove(&ground.ours.join("file"), &ground.ours)
        .await
        .unwrap();
    assert!(!ground.ours.join("file").exists());
    assert_eq!(
        remove(&ground.ours, &ground.ours).await.unwrap(),
        StepOutcome::Done
    );
    assert!(!ground.ours.exists() && ground.untouched());
    assert_eq!(
        remove(&ground.ours, &ground.ours).await.unwrap(),
        StepOutcome::AlreadySo
    );
}

#[tokio::test]
async fn without_our_marker_nothing_goes() {
    let ground = Ground::new();
    refused(
        &ground.outside,
        &ground.outside,
        "no marker of this cluster",
    )
    .await;
    mark(&ground.ours, "ffffffffffff");
    refused(&ground.ours, &ground.ours, "no marker of this cluster").await;
    refused(
        &ground.ours.join("data"),
        &ground.ours,
        "no marker of this cluster",
    )
    .await;
    // An id that only contains ours.
    mark(&ground.ours, "0123456789abc");
    refused(&ground.ours, &ground.ours, "no marker of this cluster").await;
    // A marker that is a link to a good one elsewhere.
    fs::remove_file(ground.ours.join(OWNER_MARKER)).unwrap();
    mark(&ground.outside, ID);
    symlink(
        ground.outside.join(OWNER_MARKER),
        ground.ours.join(OWNER_MARKER),
    )
    .unwrap();
    refused(&ground.ours, &ground.ours, "no marker of this cluster").await;
    assert!(ground.ours.join("data/a/f").exists() && ground.untouched());
}

#[tokio::test]
async fn links_are_not_followed() {
    let ground = Ground::new();
    let link = ground.ours.join("link");
    symlink(&ground.outside, &link).unwrap();
    refused(&link, &ground.ours, "is a symlink").await;
    refused(
        &link.join("precious"),
        &ground.ours,
        "a symlink is in the path",
    )
    .await;
    let alias = ground.outside.join("alias");
    symlink(&ground.ours, &alias).unwrap();
    refused(&alias, &alias, "is a symlink").await;
    refused(&alias.join("data"), &alias, "a symlink is in the path").await;
    // Inside what is deleted, the link goes and its target stays.
    symlink(&ground.outside, ground.ours.join("data/out")).unwrap();
    remove(&ground.ours, &ground.ours).await.unwrap();
    assert!(!ground.ours.exists() && ground.untouched());
}

#[tokio::test]
async fn anothers_marker_below_stops_it() {
    let ground = Ground::new();
    mark(&ground.ours.join("data/a"), "ffffffffffff");
    refused(&ground.ours, &ground.ours, "belongs to another cluster").await;
    assert!(ground.ours.join("data/a/f").exists());
    mark(&ground.ours.join("data/a"), ID);
    remove(&ground.ours, &ground.ours).await.unwrap();
}

#[tokio::test]
async fn cut_short_it_can_be_taken_up_again() {
    let ground = Ground::new();
    // What is left when everything but the marker went, and when the marker went too.
    fs::remove_dir_all(ground.ours.join("data")).unwrap();
    fs::remove_dir_all(ground.ours.join("logs")).unwrap();
    remove(&ground.ours, &ground.ours).await.unwrap();
    fs::create_dir(&ground.ours).unwrap();
    assert_eq!(
        remove(&ground.ours, &ground.ours).await.unwrap(),
        StepOutcome::AlreadySo
    );
}

#[tokio::test]
async fn any_tree_goes_and_nothing_else() {
    let names = [
        "a",
        "-rf",
        "sp ace",
        "new\nline",
        "*",
        "[x]",
        "é",
        ".hidden",
        "q'u\"o",
        "$(id)",
        "lost+found",
    ];
    let mut seed = 7_usize;
    let mut next = |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for round in 0..12 {
        let ground = Ground::new();
        let mut folders = vec![ground.ours.clone()];
        for _ in 0..40 {
            let path = folders[next(folders.len())].join(names[next(names.len())]);
            if path.symlink_metadata().is_ok() {
                continue;
            }
            match next(4) {
                0 => symlink(&ground.outside, &path).unwrap(),
                1 => fs::write(&path, "x").unwrap(),
                _ => {
                    fs::create_dir(&path).unwrap();
                    folders.push(path);
                }
            }
        }
        remove(&ground.ours, &ground.ours).await.unwrap();
        assert!(!ground.ours.exists() && ground.untouched(), "round {round}");
    }
}

/// Mounts need rights a container may not give.
async fn mount(what: &str, at: &Path) -> bool {
    let at = shlex::try_quote(at.to_str().unwrap()).unwrap().into_owned();
    let text = format!("mkdir -p {at} && mount {what} {at}");
    let link = Link::local(HostName::new("here"));
    let output = link.run("mount", &script(text)).await.unwrap();
    if output.code != 0 {
        eprintln!("left out: no right to mount ({})", output.stderr.trim());
    }
    output.code == 0
}

async fn unmount(at: &Path) {
    let at = shlex::try_quote(at.to_str().unwrap()).unwrap().into_owned();
    let link = Link::local(HostName::new("here"));
    link.must("umount", &script(format!("umount {at}")))
        .await
        .unwrap();
}

#[tokio::test]
async fn mounts_below_stay_and_a_mount_itself_is_emptied() {
    let ground = Ground::new();
    let bound = ground.ours.join("data/bi nd[1]");
    let tmpfs = ground.ours.join("disk");
    let source = shlex::try_quote(ground.outside.to_str().unwrap())
        .unwrap()
        .into_owned();
    if !mount(&format!("--bind {source}"), &bound).await {
        return;
    }
    assert!(mount("-t tmpfs none", &tmpfs).await);
    fs::create_dir_all(tmpfs.join("nebula/space")).unwrap();
    fs::write(tmpfs.join("nebula/space/sst"), "x").unwrap();

    let result = remove(&ground.ours, &ground.ours).await;
    let kept = ground.untouched() && tmpfs.join("nebula/space/sst").exists();
    let emptied = remove(&tmpfs, &tmpfs).await;
    mark(&tmpfs, ID);
    let emptied_marked = remove(&tmpfs, &tmpfs).await;
    let left = fs::read_dir(&tmpfs).unwrap().count();
    let again = remove(&tmpfs, &tmpfs).await;
    unmount(&bound).await;
    unmount(&tmpfs).await;

    assert_eq!(result.unwrap(), StepOutcome::Done);
    assert!(kept && !ground.ours.join("data/a").exists() && !ground.ours.join("logs").exists());
    assert!(emptied.unwrap_err().what.contains("no marker"));
    assert_eq!(emptied_marked.unwrap(), StepOutcome::Done);
    assert_eq!((left, tmpfs.exists()), (0, true));
    assert_eq!(again.unwrap(), StepOutcome::AlreadySo);
}
