//! Probes against real processes and sockets.

use std::time::{Duration, Instant};

use nbctl::runner::NoJournal;
use nbctl_core::failure::{Failure, FailureKind};
use nbctl_core::plan::{Action, Plan, Probe, Script, Step, Wait};
use nbctl_core::units::{HostName, RemotePath};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::{Events, fleet, runner};

async fn wait(probe: Probe, millis: u64) -> Result<(), Failure> {
    let timeout = Duration::from_millis(millis);
    let wait = Wait {
        probe,
        timeout,
        hopeless: None,
    };
    wait_for(wait).await
}

async fn wait_for(wait: Wait) -> Result<(), Failure> {
    let mut plan = Plan::default();
    plan.stage(
        "wait",
        vec![Step::on(
            &HostName::new("a"),
            "wait for it",
            Action::Wait(wait),
        )],
    );
    let (fleet, events) = (fleet(&["a"]), Events::default());
    runner(&fleet, &events, &NoJournal)
        .apply(&plan)
        .await
        .map(drop)
}

/// A daemon that has died is told long before the wait is over, with what it said.
#[tokio::test(flavor = "multi_thread")]
async fn a_hopeless_wait_ends_early() {
    let hopeless = Some(Script {
        text: "echo 'Could not create logging file' >&2; exit 1".to_owned(),
        sudo: false,
        timeout: Duration::from_secs(5),
    });
    let exe = RemotePath::new("/nowhere/nebula-metad").unwrap();
    let wait = Wait {
        probe: Probe::ProcessUp { exe },
        timeout: Duration::from_mins(10),
        hopeless,
    };
    let failure = wait_for(wait).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cluster);
    assert!(failure.to_string().contains("logging file"), "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_are_found_by_their_executable() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let real = base.join("versions/1/nebula-metad");
    std::fs::create_dir_all(real.parent().unwrap()).unwrap();
    std::fs::copy("/bin/sleep", &real).unwrap();
    std::os::unix::fs::symlink(base.join("versions/1"), base.join("current")).unwrap();
    let exe = RemotePath::new(base.join("current/nebula-metad").to_str().unwrap()).unwrap();
    let up = || Probe::ProcessUp { exe: exe.clone() };
    let gone = || Probe::ProcessGone { exe: exe.clone() };

    let failure = wait(up(), 300).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cluster);
    assert!(failure.detail[0].contains("no process runs"), "{failure}");
    wait(gone(), 300).await.unwrap();

    let mut child = tokio::process::Command::new(&real)
        .arg("60")
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let pid = child.id().unwrap();
    wait(up(), 5000).await.unwrap();
    let failure = wait(gone(), 300).await.unwrap_err();
    assert!(
        failure.detail[0].contains(&format!("pid {pid}")),
        "{failure}"
    );
    // Replaced while it runs: still the same process.
    std::fs::remove_file(&real).unwrap();
    wait(up(), 5000).await.unwrap();
    let end = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        child.kill().await.unwrap();
    };
    let (result, ()) = tokio::join!(wait(gone(), 10_000), end);
    result.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_is_up_when_both_ports_say_so() {
    let server = MockServer::start().await;
    let http = server.address().to_string();
    let status = Mock::given(method("GET")).and(path("/status"));
    let body = r#"{"git_info_sha":"db3c1b3","status":"running"}"#;
    status
        .respond_with(ResponseTemplate::new(200).set_body_string(body))
        .mount(&server)
        .await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let rpc = listener.local_addr().unwrap().to_string();
    let probe = || Probe::DaemonUp {
        rpc: rpc.clone(),
        http: http.clone(),
    };
    wait(probe(), 5000).await.unwrap();
    drop(listener);
    let begun = Instant::now();
    let failure = wait(probe(), 600).await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(
        failure.detail[0].contains(&format!("port of {rpc}")),
        "{failure}"
    );

    let url = |path: &str| Probe::HttpOk {
        url: format!("http://{http}{path}"),
    };
    wait(url("/status"), 5000).await.unwrap();
    let failure = wait(url("/nothing"), 300).await.unwrap_err();
    assert!(failure.detail[0].contains("404"), "{failure}");
}
