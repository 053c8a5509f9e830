//! Put, upload, fetch.

use std::os::unix::fs::MetadataExt as _;

use nbctl::event::Event;
use nbctl::remote::{Link, Written};
use nbctl_core::failure::FailureKind;
use nbctl_core::plan::Upload;
use nbctl_core::units::{RemotePath, Sha256};

use crate::sshd::{Sshd, noise};
use crate::{Events, local, script};

async fn both(test: impl AsyncFn(&Link)) {
    test(&local()).await;
    if let Some(sshd) = Sshd::start("").await {
        let fleet = sshd.fleet(&["h1"]).await;
        test(fleet.links().next().unwrap()).await;
        fleet.close().await;
    }
}

fn remote(path: &std::path::Path) -> RemotePath {
    RemotePath::new(path.to_str().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn put_changes_only_what_differs() {
    both(async |link| {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a b/it's.conf");
        let path = remote(&file);
        let cases = [
            ("one", 0o644, Written::Changed),
            ("one", 0o644, Written::AlreadySo),
            ("one", 0o600, Written::Changed),
            ("two $HOME `x`\n", 0o600, Written::Changed),
            ("", 0o600, Written::Changed),
        ];
        for (text, mode, expected) in cases {
            let written = link.put(&path, mode, text.as_bytes(), false).await.unwrap();
            assert_eq!(written, expected, "{text:?}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
            assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o7777, mode);
        }
        assert_eq!(link.fetch(&path, false).await.unwrap(), b"");
        let folder = remote(dir.path());
        assert!(
            link.put(&folder, 0o644, b"x", false)
                .await
                .unwrap_err()
                .to_string()
                .contains("is a folder")
        );
        let missing = remote(&dir.path().join("none"));
        assert!(link.fetch(&missing, false).await.is_err());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_never_see_a_part() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    let path = remote(&file);
    let contents = ["a", "b"].map(|letter| letter.repeat(1 << 20));
    std::fs::write(&file, &contents[0]).unwrap();
    let link = local();
    let write = async {
        for round in 0..20 {
            link.put(&path, 0o644, contents[(round + 1) % 2].as_bytes(), false)
                .await
                .unwrap();
        }
    };
    let mut write = std::pin::pin!(write);
    loop {
        tokio::select! {
            () = &mut write => break,
            () = tokio::time::sleep(std::time::Duration::from_micros(300)) => {
                let seen = std::fs::read_to_string(&file).unwrap();
                assert!(contents.contains(&seen), "{} bytes", seen.len());
            }
        }
    }
    let names = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(names, 1, "a temporary file stays");
}

fn upload(source: &std::path::Path, to: &std::path::Path, sha256: Sha256) -> Upload {
    Upload {
        source: source.display().to_string(),
        bytes: std::fs::metadata(source).unwrap().len(),
        sha256,
        path: remote(to),
        mode: 0o640,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_are_verified_and_skipped_by_content() {
    both(async |link| {
        let dir = tempfile::tempdir().unwrap();
        let source = noise(dir.path(), 20 << 20);
        let content = std::fs::read(&source).unwrap();
        let target = dir.path().join("cache/package.rpm");
        let events = Events::default();
        let good = upload(&source, &target, Sha256::of(&content));
        for expected in [Written::Changed, Written::AlreadySo] {
            assert_eq!(link.upload(&good, &events).await.unwrap(), expected);
        }
        assert!(std::fs::read(&target).unwrap() == content);
        assert_eq!(std::fs::metadata(&target).unwrap().mode() & 0o777, 0o640);
        let seen = events.0.lock().unwrap();
        let bytes = |event: &Event| match event {
            Event::Progress { done, total, .. } => *done <= 20 << 20 && *total == Some(20 << 20),
            _ => false,
        };
        assert!(seen.iter().all(bytes), "{seen:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_upload_leaves_the_old_file() {
    both(async |link| {
        let dir = tempfile::tempdir().unwrap();
        let source = noise(dir.path(), 1 << 20);
        let target = dir.path().join("package.rpm");
        std::fs::write(&target, "old").unwrap();
        let planned = Sha256::of(b"something else");
        let failure = link
            .upload(&upload(&source, &target, planned), &Events::default())
            .await;
        let failure = failure.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Data, "{failure}");
        assert!(failure.what.contains("not what was planned"), "{failure}");
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "old");
        let listing = format!("ls {}", dir.path().display());
        let listing = link
            .must("list", &script(&listing, 5))
            .await
            .unwrap()
            .stdout;
        assert_eq!(listing, "noise\npackage.rpm\n");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_is_whole_or_a_failure() {
    both(async |link| {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("archive");
        let lines = "yes 0123456789 | head -n 300000";
        for (text, expected) in [
            (lines, "0123456789\n".repeat(300_000)),
            ("printf short", "short".to_owned()),
            (":", String::new()),
        ] {
            let bytes = link.download("get", &script(text, 60), &to).await.unwrap();
            assert_eq!(bytes, expected.len() as u64, "{text}");
            assert!(std::fs::read_to_string(&to).unwrap() == expected, "{text}");
        }
        let failure = link
            .download("get", &script("echo half; exit 4", 60), &to)
            .await
            .unwrap_err();
        assert_eq!(failure.what, "get: exit code 4");
    })
    .await;
}
