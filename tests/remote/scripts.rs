//! Output, exit codes, deadlines, many at once.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use nbctl::remote::{ALREADY_SO, Link, MAX_STDOUT, unless};
use nbctl_core::failure::FailureKind;

use crate::sshd::Sshd;
use crate::{local, script};

/// Does the same over ssh and on this machine.
async fn both(test: impl AsyncFn(&Link)) {
    test(&local()).await;
    if let Some(sshd) = Sshd::start("").await {
        let fleet = sshd.fleet(&["h1"]).await;
        test(fleet.links().next().unwrap()).await;
        fleet.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_and_codes() {
    both(async |link| {
        let cases = [
            ("echo out; echo err >&2", 0, "out\n", "err\n"),
            ("exit 3", 3, "", ""),
            ("exit 255", 255, "", ""),
            ("exit 127", 127, "", ""),
            // A script cannot eat the rest of itself.
            ("cat; read -r x; echo \"[$x]\"", 0, "[]\n", ""),
            ("printf '%s' \"$LC_ALL $#\"", 0, "C 1", ""),
            ("cat <<'EOT'\n$HOME \"'\nEOT", 0, "$HOME \"'\n", ""),
            ("echo last # comment", 0, "last\n", ""),
        ];
        for (text, code, stdout, stderr) in cases {
            let output = link.run("case", &script(text, 20)).await.unwrap();
            assert_eq!(
                (output.code, output.stdout.as_str()),
                (code, stdout),
                "{text}"
            );
            // Start-up files of a login shell may add their own.
            assert!(output.stderr.ends_with(stderr), "{text}: {}", output.stderr);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_name_host_title_and_last_lines() {
    both(async |link| {
        let host = link.host().to_string();
        let failure = link
            .must("fetch", &script("nosuchprogram-x", 20))
            .await
            .unwrap_err();
        assert_eq!(failure.what, "fetch: exit code 127");
        assert_eq!(failure.place, Some(host));
        assert!(
            failure.to_string().contains("nosuchprogram-x: not found")
                || failure
                    .to_string()
                    .contains("nosuchprogram-x: command not found"),
            "{failure}"
        );
        assert!(failure.hint.is_some());

        let failure = link
            .run("shoot", &script("kill -9 $$", 20))
            .await
            .unwrap_err();
        assert!(failure.what.contains("killed by a signal"), "{failure}");

        let text = format!("head -c {} /dev/zero", MAX_STDOUT + 1);
        let failure = link.run("flood", &script(&text, 30)).await.unwrap_err();
        assert!(failure.what.contains("more than 16 MiB"), "{failure}");

        let text = "i=0; while [ $i -lt 20000 ]; do echo \"line $i\" >&2; i=$((i+1)); done; exit 1";
        let output = link.run("chatter", &script(text, 60)).await.unwrap();
        assert!(output.stderr.ends_with("line 19999\n") && output.stderr.len() < 100_000);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_did_not_arrive_whole_does_nothing() {
    both(async |link| {
        let output = link
            .run("half", &script("echo begun; if true; then", 20))
            .await
            .unwrap();
        assert_ne!(output.code, 0);
        assert_eq!(output.stdout, "");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_ends_the_whole_tree() {
    both(async |link| {
        let dir = tempfile::tempdir().unwrap();
        let pids = dir.path().join("pids");
        let text = format!(
            "trap '' TERM; echo before >&2; sleep 300 & echo $! >{0}; sh -c 'echo $$ >>{0}; sleep 300; :' & wait; wait; sleep 300",
            pids.display()
        );
        let begun = Instant::now();
        let failure = link.run("stuck", &script(&text, 1)).await.unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
        assert!(failure.what.contains("not done after 1 s"), "{failure}");
        assert!(failure.detail.contains(&"before".to_owned()), "{failure}");
        gone(&pids).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_given_up_ends_its_tree() {
    both(async |link| {
        let dir = tempfile::tempdir().unwrap();
        let pids = dir.path().join("pids");
        let text = format!("echo $$ >{}; sleep 300; true", pids.display());
        let script = script(&text, 300);
        let begun = async {
            while !std::fs::read_to_string(&pids).is_ok_and(|text| text.ends_with('\n')) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            ended = link.run("long", &script) => panic!("{ended:?}"),
            () = begun => {}
        }
        gone(&pids).await;
    })
    .await;
}

/// Waits until none of the processes lives; zombies do not count.
async fn gone(pids: &std::path::Path) {
    let text = std::fs::read_to_string(pids).unwrap();
    assert!(!text.is_empty());
    for pid in text.split_whitespace() {
        let stat = format!("/proc/{pid}/stat");
        let begun = Instant::now();
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            assert!(begun.elapsed() < Duration::from_secs(10), "{pid} lives");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_keeps_the_pipes_does_not_keep_us() {
    both(async |link| {
        let begun = Instant::now();
        let text = "setsid sleep 20 & echo started";
        let output = link.run("start", &script(text, 30)).await.unwrap();
        assert_eq!(output.stdout, "started\n");
        assert!(begun.elapsed() < Duration::from_secs(8));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_at_once_on_one_host() {
    for extra in ["", "MaxSessions 3"] {
        let Some(sshd) = Sshd::start(extra).await else {
            return;
        };
        let fleet = sshd.fleet(&["h1"]).await;
        let link = fleet.links().next().unwrap();
        let all = (0..20).map(|i| async move {
            let text = format!("sleep 0.1; echo {i}");
            link.must("many", &script(&text, 30))
                .await
                .map(|output| output.stdout)
        });
        let outputs: Vec<String> = join_all(all)
            .await
            .into_iter()
            .map(Result::unwrap)
            .collect();
        let expected: Vec<String> = (0..20).map(|i| format!("{i}\n")).collect();
        assert_eq!(outputs, expected, "{extra}");
        fleet.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_travel_with_their_action() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x").display().to_string();
    let text = unless(&format!("[ -e {file} ]"), &format!("echo made; : >{file}"));
    for expected in ["made", ALREADY_SO] {
        let output = local().must("make", &script(&text, 10)).await.unwrap();
        assert_eq!(output.stdout.trim(), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_host_is_noticed_within_its_deadline() {
    // Killed: the connection breaks. Stopped: silence, as of a host that lost its power.
    for signal in ["KILL", "STOP"] {
        let Some(sshd) = Sshd::start("").await else {
            return;
        };
        let fleet = sshd.fleet(&["h1"]).await;
        let link = fleet.links().next().unwrap();
        let long = script("sleep 60", 90);
        let hit = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let pids = sshd.serving();
            send(signal, &pids).await;
            pids
        };
        let begun = Instant::now();
        let (result, pids) = tokio::join!(link.run("long", &long), hit);
        let failure = result.unwrap_err();
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(15), "{signal}: {took:?}");
        assert_eq!(failure.kind, FailureKind::Host, "{failure}");
        assert!(failure.what.contains("connection was lost"), "{failure}");

        // The next command finds a new connection by itself.
        let output = link.must("again", &script("echo back", 10)).await.unwrap();
        assert_eq!(output.stdout, "back\n");
        fleet.close().await;
        if signal == "STOP" {
            send("KILL", &pids).await;
        }
    }
}

async fn send(signal: &str, pids: &[u32]) {
    for pid in pids {
        let text = format!("kill -s {signal} {pid}");
        local().must("kill", &script(&text, 5)).await.unwrap();
    }
}
