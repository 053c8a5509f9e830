//! What `scripts/nebula.service` says and what it leaves behind, with a metad.

use std::fs;

use super::Seen;
use crate::{
    root::Root,
    support::{command, http, wait},
};

#[test]
fn scripts() {
    super::play("scripts", scene);
}

fn scene(line: &'static str) -> Seen {
    let mut seen = Seen::new();
    let root = Root::unpack(line);
    starting(&root, &mut seen);
    stopping(&root, &mut seen);
    stranger(&root, &mut seen);
    let conf = root.dir.join("etc/nebula-storaged.conf.production");
    let conf = fs::read_to_string(conf).expect("conf");
    seen.push((
        "`nebula-storaged.conf.production` has the pid file of the listener and a 1.x metad port",
        conf.contains("pids/nebula-storaged-listener.pid") && conf.contains("192.168.2.1:45500"),
    ));
    seen
}

fn starting(root: &Root, seen: &mut Seen) {
    root.configure("--data_path=/dev/null/x\n");
    let (code, said) = root.service(&["start", "metad"]);
    assert!(
        said.contains("[INFO] Starting nebula-metad...\n[INFO] Done"),
        "{said}"
    );
    wait("metad ends", || root.is_gone());
    seen.push((
        "`start` says 0 although the daemon ends a moment later",
        code == 0,
    ));
    let (code, said) = root.service(&["status", "metad"]);
    assert!(said.contains(": Exited"), "{said}");
    seen.push(("`status` exits 0 whatever it says", code == 0));
    seen.push((
        "`status` names the git sha",
        said.contains("nebula-metad(5a4db0c): Exited"),
    ));
    // The last duplicate wins.
    root.configure("--sandbox_stop_ms=600000\n");
    assert_eq!(root.service(&["start", "metad"]).0, 0);
    wait("metad", || {
        http(root.http(), "GET", "/status", "").is_some()
    });
    let (_, said) = root.service(&["status", "metad"]);
    let (pid, _) = root.pid().expect("pid file");
    assert!(
        said.contains(&format!(": Running as {pid}, Listening on {}", root.port)),
        "{said}"
    );
    let (code, said) = root.service(&["start", "metad"]);
    assert!(
        said.contains(&format!("[ERROR] nebula-metad already running: {pid}")),
        "{said}"
    );
    seen.push(("`start` of a running daemon exits 0", code == 0));
}

fn stopping(root: &Root, seen: &mut Seen) {
    let (pid, _) = root.pid().expect("pid file");
    let (code, said) = root.service(&["-v", "stop", "metad"]);
    assert!(
        code == 0 && said.contains(&format!("[INFO] Send SIGTERM to {pid}")),
        "{said}"
    );
    seen.push((
        "`stop` returns while the daemon is still ending",
        root.lives(),
    ));
    let (_, said) = root.service(&["restart", "metad"]);
    root.kill();
    wait("metad ends", || root.is_gone());
    seen.push((
        "`restart` of a daemon that ends slowly starts nothing",
        said.contains(&format!("already running: {pid}")) && !root.lives(),
    ));
    seen.push(("the pid file stays after the end", root.pid_file().exists()));
    let (code, said) = root.service(&["-v", "stop", "metad"]);
    assert!(
        code == 0 && said.contains("[INFO] No such process"),
        "{said}"
    );
    let (code, said) = root.service(&["start", "nonsense"]);
    assert!(
        code == 1 && said.contains("[ERROR] Unknown daemon"),
        "{said}"
    );
    for name in ["nebula-metad.INFO", "metad-stdout.log", "metad-stderr.log"] {
        assert!(root.dir.join("logs").join(name).exists(), "{name}");
    }
}

fn stranger(root: &Root, seen: &mut Seen) {
    let me = std::process::id().to_string();
    fs::write(root.pid_file(), format!("{me}\n")).expect("pid file");
    let (_, said) = root.service(&["start", "metad"]);
    seen.push((
        "a pid file that points at a stranger keeps a daemon from starting",
        said.contains(&format!("already running: {me}")),
    ));
    let own = command(root.dir.join("bin/nebula-metad").to_str().expect("utf-8"))
        .args(["--flagfile", "etc/nebula-metad.conf"])
        .current_dir(&root.dir)
        .output()
        .expect("metad");
    let said = String::from_utf8_lossy(&own.stderr).into_owned();
    assert!(
        said.contains(&format!("Process `{me}' already existed")),
        "{said}"
    );
    fs::remove_file(root.pid_file()).expect("pid file");
}
