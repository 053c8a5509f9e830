//! Failures that users of the real thing met in the field, provoked on the stand-in: `docs/design/failures.md`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use nbctl::dataset::Folder;
use nbctl::graph::GraphService;
use nbctl::runner::Graph as _;
use nbctl_core::dataset::{Dates, Schema};
use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Source, load};
use serde_json::Value;

use crate::sandbox::Sandbox;
use crate::worker::Worker;
use crate::{import, stress};

fn generated(folder: &Path) -> Schema {
    let config = snb_datagen::Config {
        persons: 40,
        seed: 7,
    };
    snb_datagen::generate(&config, folder, &mut |_| {}).unwrap();
    let files: Vec<_> = Folder::open(folder, Dates::String)
        .unwrap()
        .files
        .iter()
        .map(|part| part.data.clone())
        .collect();
    Schema::of(&files).unwrap()
}

fn ended_well(job: &Value, sandbox: &Sandbox) -> Value {
    let (code, last) = Worker::start(&sandbox.address(), job).finish();
    assert_eq!(code, 0, "{last}");
    last["result"].clone()
}

fn classes(result: &Value) -> Vec<&str> {
    let errors = result["errors"].as_array().unwrap();
    errors
        .iter()
        .map(|e| e["class"].as_str().unwrap())
        .collect()
}

/// Slow storages, moved leaders, full raft buffers: told by class under load, and no row of an import is lost by them.
#[test]
fn storage_errors_are_told_by_class_and_imports_outlast_them() {
    let Some(sandbox) = Sandbox::start() else {
        return;
    };
    let dir = sandbox.dir().join("data");
    sandbox.make_space("snb", &generated(&dir));

    sandbox.set_flags(
        "graphd",
        r#"{"sandbox_error_rate":"0.3","sandbox_error_code":"-1005","sandbox_error_text":"Storage Error: RPC failure, probably timeout."}"#,
    );
    let result = ended_well(&stress(&dir, "YIELD 1", 2), &sandbox);
    assert_eq!(classes(&result), ["E_RPC_FAILURE"], "{result}");
    let (failed, all) = (result["failed"].as_u64(), result["requests"].as_u64());
    assert!(failed > Some(0) && failed < all, "{result}");
    sandbox.set_flags("graphd", r#"{"sandbox_error_rate":"0.1"}"#);
    sandbox.set_flags(
        "storaged",
        r#"{"sandbox_leader_change_rate":"0.1","sandbox_raft_rate":"400"}"#,
    );
    let result = ended_well(&import(&dir), &sandbox);
    let files = result["files"].as_array().unwrap();
    assert!(
        files.iter().all(|file| file["failed_rows"] == 0),
        "{result}"
    );
    assert!(result["retries"].as_u64() > Some(0), "{result}");
    let seen = classes(&result);
    for class in ["E_RPC_FAILURE", "E_LEADER_CHANGED"] {
        assert!(seen.contains(&class), "{class} in {seen:?}");
    }
}

/// graphd takes 300 sessions of a user from one address: more connections share them.
#[test]
fn many_connections_stay_below_the_limit_of_sessions() {
    let Some(sandbox) = Sandbox::start() else {
        return;
    };
    let dir = sandbox.dir().join("data");
    sandbox.make_space("snb", &generated(&dir));
    let mut job = stress(&dir, "YIELD 1", 2);
    job["stress"]["concurrency"] = 330.into();
    let result = ended_well(&job, &sandbox);
    assert_eq!(result["failed"], 0, "{result}");
    assert!(result["requests"].as_u64() > Some(330), "{result}");
}

/// `/status` says running and the port is open, with authorization nobody can log in and without everybody can: only a
/// question that metad answers proves that graphd has its metad.
#[tokio::test(flavor = "multi_thread")]
async fn a_graphd_without_its_metad_is_not_ready() {
    let binary = Path::new(env!("CARGO_BIN_EXE_nbctl")).with_file_name("nebula-sandbox");
    if !binary.exists() {
        eprintln!("left out: {} is not built", binary.display());
        return;
    }
    let (open, closed) = tokio::join!(alone(&binary, false), alone(&binary, true));
    for (authorize, (status, failure)) in [(false, open), (true, closed)] {
        assert!(status.contains("running"), "{status}");
        let failure = failure.expect_err("it has no metad");
        assert!(
            !authorize || failure.what.contains("Bad username/password"),
            "{failure}"
        );
    }
}

/// `/status` and the answer to "are you ready" of a graphd of 2.0.1 without a metad, once it listens.
async fn alone(binary: &Path, authorize: bool) -> (String, Result<(), Failure>) {
    let dir = tempfile::tempdir().unwrap();
    let ports = [(); 3].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let [port, http, nobody] = ports.map(|listener| listener.local_addr().unwrap().port());
    let mut graphd = Command::new(binary)
        .env("NEBULA_SANDBOX_LINE", "2.0.1")
        .args(["graphd", "--daemonize=false", "--local_ip=127.0.0.1"])
        .arg(format!("--meta_server_addrs=127.0.0.1:{nobody}"))
        .arg(format!("--enable_authorize={authorize}"))
        .args([format!("--port={port}"), format!("--ws_http_port={http}")])
        .current_dir(dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let text = "format: 1\ncluster: c\nssh: {user: v}\nnebula: {version: 2.0.1, deploy_dir: /home/v/nebula}\n\
                hosts: [{address: 127.0.0.1, roles: [metad, graphd, storaged]}]\n";
    let cluster = load(&Source::new("inv.yaml", text)).cluster.unwrap();
    let service = GraphService::new(&cluster).await.unwrap();
    for _ in 0..1200 {
        if tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .is_ok()
        {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let url = format!("http://127.0.0.1:{http}/status");
    let status = nbctl::http::get_text(&url, Duration::from_secs(30)).await;
    let answer = service.ready(([127, 0, 0, 1], port).into()).await;
    graphd.kill().unwrap();
    graphd.wait().unwrap();
    (status.unwrap(), answer)
}
