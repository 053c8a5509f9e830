//! Hosts that fail: each command ends within its deadline, with one line that names the host.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::place::Place;

/// Longer than any deadline of the commands below, on a busy machine, too.
const LIMIT: Duration = Duration::from_mins(2);

fn signal(name: &str, pids: &[u32]) {
    for pid in pids {
        let status = Command::new("kill")
            .args([format!("-{name}"), pid.to_string()])
            .status();
        assert!(status.unwrap().success());
    }
}

fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < LIMIT, "not so in time: {what}");
        sleep(Duration::from_millis(5));
    }
}

/// Runs nbctl, does `meanwhile`, and gives exit code and standard error.
fn hit(place: &Place, args: &[&str], meanwhile: impl FnOnce()) -> (Option<i32>, String) {
    let mut child = place.spawn_heard(args);
    let mut pipe = child.stderr.take().unwrap();
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        text
    });
    meanwhile();
    let mut status = None;
    until("nbctl ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    (status.unwrap().code(), reading.join().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_host_is_one_line_and_the_others_go_on() {
    let Some(place) = Place::bare().await else {
        return;
    };
    let ran = place.nbctl(&["exec", "--", "echo well"]).fails(3);
    ran.says("one  well")
        .says("dead")
        .says("Connection refused");
    // What changes something begins only when every host is there.
    let refused = place.nbctl(&["deploy", "--yes"]).fails(3);
    refused.says("dead").says("Connection refused");
    assert!(!place.root().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_freezes_or_vanishes_is_noticed() {
    let Some(place) = Place::bare().await else {
        return;
    };
    for name in ["STOP", "KILL"] {
        let mark = place.dir().join(format!("began-{name}"));
        let text = format!("touch {}; sleep 100", mark.display());
        let mut stopped = Vec::new();
        let args = ["exec", "--host", "one", "--timeout", "100", "--", &text];
        let (code, errors) = hit(&place, &args, || {
            until("the command began", || mark.exists());
            stopped = place.serving();
            signal(name, &stopped);
        });
        assert_eq!(code, Some(3), "{name}: {errors}");
        assert!(
            errors.contains("the connection was lost"),
            "{name}: {errors}"
        );
        if name == "STOP" {
            signal("KILL", &stopped);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_lost_in_mid_upload_keeps_no_part_under_the_name() {
    let Some(place) = Place::bare().await else {
        return;
    };
    let local = place.dir().join("large");
    std::fs::File::create(&local)
        .unwrap()
        .set_len(512 << 20)
        .unwrap();
    let there = place.dir().join("there");
    let part = place.dir().join("there.nbctl-new");
    let (local, remote) = (local.display().to_string(), there.display().to_string());
    let (code, errors) = hit(&place, &["push", "--host", "one", &local, &remote], || {
        until("the upload began", || {
            std::fs::metadata(&part).is_ok_and(|meta| meta.len() > 1 << 20)
        });
        signal("KILL", &place.serving());
    });
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("the connection was lost"), "{errors}");
    assert!(!there.exists(), "a part lies under the name");
}

/// The host of the test, where this script is `sudo`.
async fn with_sudo(bin: &Path, text: &str) -> Option<Place> {
    let sudo = bin.join("sudo");
    std::fs::write(&sudo, text).unwrap();
    std::fs::set_permissions(&sudo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    Place::behind(&format!("SetEnv PATH={}:{path}", bin.display())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_sudo_is_one_line() {
    let bin = tempfile::tempdir().unwrap();
    let text = "#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n";
    let Some(place) = with_sudo(bin.path(), text).await else {
        return;
    };
    let ran = place
        .nbctl(&["exec", "--sudo", "--", "touch here"])
        .fails(3);
    ran.says("sudo refuses: a password is required").says("one");
    ran.says("hint: allow it without a password");
}

/// As one does whose PAM asks a server that is down.
#[tokio::test(flavor = "multi_thread")]
async fn a_sudo_that_hangs_is_one_line() {
    let bin = tempfile::tempdir().unwrap();
    let pipe = bin.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let text = format!("#!/bin/sh\nread -r never <{}\n", pipe.display());
    let Some(place) = with_sudo(bin.path(), &text).await else {
        return;
    };
    let ran = place.nbctl(&["exec", "--sudo", "--timeout", "2", "--", "touch here"]);
    let ran = ran.fails(3);
    ran.says("sudo has not begun after 2 s").says("one");
    ran.says("hint: log in there and try `sudo -n true`");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_says_so() {
    let Some(place) = Place::bare().await else {
        return;
    };
    let disk = place.dir().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "none"])
        .arg(&disk)
        .status();
    if !mount.is_ok_and(|status| status.success()) {
        eprintln!("left out: this account may not mount a small tmpfs");
        return;
    }
    let local = place.dir().join("large");
    std::fs::File::create(&local)
        .unwrap()
        .set_len(8 << 20)
        .unwrap();
    let remote = disk.join("there").display().to_string();
    let ran = place.nbctl(&[
        "push",
        "--host",
        "one",
        &local.display().to_string(),
        &remote,
    ]);
    let left = std::fs::read_dir(&disk).unwrap().count();
    let unmounted = Command::new("umount")
        .arg("-l")
        .arg(&disk)
        .status()
        .unwrap();
    assert!(unmounted.success());
    ran.fails(5).says("No space left on device").says("one");
    assert_eq!(left, 0, "the part was not taken away");
}
