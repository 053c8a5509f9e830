//! A cluster that was installed by hand, with data in it, is taken over.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::place::Place;
use crate::scale::{VERTICES, fill, rows};

#[tokio::test(flavor = "multi_thread")]
async fn takes_over_what_runs() {
    let Some(place) = Place::start().await else {
        return;
    };
    by_hand(&place);
    place
        .ask_when_up(&format!("ADD HOSTS {}", place.endpoint("storaged")))
        .await;
    place.online().await;
    fill(&place).await;
    place.nbctl(&["deploy", "--yes"]).fails(3).says("owner");

    let file = place.dir().join("adopted.yaml");
    let out = file.display().to_string();
    let ssh = place.ssh_arguments();
    let ssh: Vec<&str> = ssh.iter().map(String::as_str).collect();
    // Whatever else runs on this machine is not meant.
    let dir = place.root().display().to_string();
    let adopt = [
        &[
            "adopt",
            "life",
            "--host",
            "127.0.0.1",
            "--dir",
            &dir,
            "--out",
            &out,
            "--yes",
        ][..],
        &ssh,
    ]
    .concat();
    place
        .nbctl(&[&adopt[..], &["--dry-run"]].concat())
        .good()
        .says("release 3.8.0 runs")
        .says("mark");
    assert!(!file.exists());
    place.nbctl(&adopt).good().says("3 daemons taken over");
    let conf = place.root().join("etc/nebula-storaged.conf");
    assert!(conf.with_extension("conf.before-nbctl").exists());
    assert_eq!(place.daemons(), 3);

    then_deployed(&place, &file).await;
}

/// Under nbctl's own folders, with the same data.
async fn then_deployed(place: &Place, file: &std::path::Path) {
    let conf = place.root().join("etc/nebula-storaged.conf");
    // Its package is where the inventory looks for it, so a deploy can bring it under its own folders.
    let text = fs::read_to_string(file).unwrap();
    place.write(&text);
    let shown = place.nbctl(&["deploy", "--dry-run"]).good();
    shown.says("stop storaged@127.0.0.1: runs version adopted");
    let conf = fs::read_to_string(&conf).unwrap();
    assert!(!conf.contains("Written by nbctl"), "a dry run wrote");
    place
        .nbctl(&["deploy", "--yes"])
        .good()
        .says("deployed and verified");
    place.nbctl(&["status"]).good().says("equals its inventory");
    place
        .nbctl(&["deploy", "--yes"])
        .good()
        .says("nothing to do");
    assert_eq!(rows(place).await, VERTICES);
    assert!(
        place
            .root()
            .join("versions/adopted/bin/nebula-metad")
            .exists()
    );
    place
        .nbctl(&["teardown", "--yes", "--purge", "--cluster", "life"])
        .good();
    assert!(!place.root().exists());
}

/// As somebody would by the manual: unpack, copy the shipped files, change ports, start.
fn by_hand(place: &Place) {
    let root = place.root();
    fs::create_dir_all(&root).unwrap();
    let package = fs::read_dir(place.dir().join("packages"))
        .unwrap()
        .flatten();
    let package = package
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|e| e == "gz"));
    let unpacked = Command::new("tar")
        .args([
            "-xzf",
            &package.unwrap().display().to_string(),
            "--strip-components=1",
            "-C",
        ])
        .arg(&root)
        .status();
    assert!(unpacked.unwrap().success());
    let metad = place.endpoint("metad");
    for role in ["metad", "graphd", "storaged"] {
        let conf = root.join(format!("etc/nebula-{role}.conf"));
        let text =
            fs::read_to_string(root.join(format!("etc/nebula-{role}.conf.default"))).unwrap();
        let kept: Vec<&str> = text
            .lines()
            .filter(|line| {
                let own = [
                    "--port=",
                    "--ws_http_port=",
                    "--meta_server_addrs=",
                    "--local_ip=",
                    "--heartbeat_interval_secs=",
                ];
                !own.iter().any(|flag| line.starts_with(flag))
            })
            .collect();
        let port = place.port(role);
        let own = format!(
            "--port={port}\n--ws_http_port={}\n--meta_server_addrs={metad}\n--local_ip=127.0.0.1\n--heartbeat_interval_secs=1\n",
            port + 5
        );
        fs::write(&conf, format!("{}\n{own}", kept.join("\n"))).unwrap();
        fs::create_dir_all(root.join("pids")).unwrap();
        fs::create_dir_all(root.join("logs")).unwrap();
        let started = Command::new(root.join(format!("bin/nebula-{role}")))
            .args(["--flagfile", &format!("etc/nebula-{role}.conf")])
            .current_dir(&root)
            .status();
        assert!(started.unwrap().success(), "{role}");
        let end = Instant::now() + Duration::from_mins(1);
        while role == "metad" && std::net::TcpStream::connect(&metad).is_err() {
            assert!(Instant::now() < end, "metad does not come up");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}
