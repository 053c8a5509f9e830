//! Connections: whom they reach, whom not, and what is said about it.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::time::Instant;

use nbctl::remote::Fleet;
use nbctl_core::failure::ExitCode;
use nbctl_core::inventory::{KnownHosts, Reach};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::script;
use crate::sshd::{Sshd, free_port};

#[tokio::test(flavor = "multi_thread")]
async fn every_unreachable_host_is_listed_with_its_ssh_line() {
    let Some(sshd) = Sshd::start("").await else {
        return;
    };
    let dirs = sshd.dirs();
    let mut closed = sshd.target("closed");
    closed.ssh.port = Some(free_port());
    let mut strange = sshd.target("strange");
    strange.ssh.host = "no-such-host.invalid".to_owned();
    let mut keyless = sshd.target("keyless");
    keyless.ssh.identity_file = Some(sshd.dir.path().join("missing"));
    let mut wrong = sshd.target("wrong");
    wrong.ssh.identity_file = Some(sshd.dir.path().join("host"));
    let targets = vec![sshd.target("good"), closed, strange, keyless, wrong];
    let failure = Fleet::connect(targets, &dirs).await.unwrap_err();
    assert_eq!(failure.exit_code(), ExitCode::Host);
    assert_eq!(failure.what, "4 of 5 hosts cannot be reached");
    let line = |host: &str| {
        let start = format!("{host}: ");
        failure
            .detail
            .iter()
            .find(|line| line.starts_with(&start))
            .unwrap()
    };
    assert!(line("closed").contains("Connection refused"), "{failure}");
    assert!(line("strange").contains("Could not resolve"), "{failure}");
    assert!(
        line("keyless").contains("cannot read the ssh key"),
        "{failure}"
    );
    assert!(line("wrong").contains("Permission denied"), "{failure}");
    for host in ["closed", "strange", "wrong"] {
        let config = dirs.config.join(format!("{host}.conf"));
        let by_hand = format!("try: ssh -F {} ", config.display());
        assert!(line(host).contains(&by_hand), "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn host_keys_are_checked() {
    let Some(sshd) = Sshd::start("").await else {
        return;
    };
    let dirs = sshd.dirs();
    let mut strict = sshd.target("h1");
    strict.ssh.known_hosts = KnownHosts::Strict;
    let refused = Fleet::connect(vec![strict.clone()], &dirs)
        .await
        .unwrap_err();
    assert!(
        refused.hint.as_deref().unwrap().contains("ssh-keyscan"),
        "{refused}"
    );

    // Once seen, the key is good under either policy.
    sshd.fleet(&["h1"]).await.close().await;
    Fleet::connect(vec![strict], &dirs)
        .await
        .unwrap()
        .close()
        .await;

    // Another key under the same name is refused, also by accept-new.
    let known = dirs.config.join("known_hosts");
    let text = std::fs::read_to_string(&known).unwrap();
    let key = std::fs::read_to_string(sshd.dir.path().join("key.pub")).unwrap();
    let place = text.split(' ').next().unwrap();
    let kind_and_key = key.split(' ').take(2).collect::<Vec<_>>().join(" ");
    std::fs::write(&known, format!("{place} {kind_and_key}\n")).unwrap();
    let refused = Fleet::connect(vec![sshd.target("h1")], &dirs)
        .await
        .unwrap_err();
    assert!(
        refused.hint.as_deref().unwrap().contains("ssh-keygen -R"),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_hosts_behind_one_sshd_get_in() {
    // The stock limit begins to drop connections at random beyond ten that are not yet logged in.
    let Some(sshd) = Sshd::start("MaxStartups 4:60:100").await else {
        return;
    };
    let names: Vec<String> = (0..12).map(|i| format!("h{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let fleet = sshd.fleet(&names).await;
    let outputs = fleet
        .each(|host, link| async move {
            let text = format!("echo {host}");
            Ok(link.must("name", &script(&text, 20)).await?.stdout)
        })
        .await
        .unwrap();
    assert_eq!(outputs.len(), 12);
    assert!(
        outputs
            .iter()
            .all(|(host, out)| out.trim() == host.as_str())
    );
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_and_ports_are_forwarded() {
    let Some(sshd) = Sshd::start("").await else {
        return;
    };
    let socket = sshd.dir.path().join("engine.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        let mut word = [0; 4];
        peer.read_exact(&mut word).unwrap();
        peer.write_all(&word).unwrap();
    });
    let mut target = sshd.target("h1");
    target.ssh.reach = Reach::Ssh;
    target.address = "127.0.0.1".to_owned();
    let fleet = Fleet::connect(vec![target], &sshd.dirs()).await.unwrap();
    let link = fleet.links().next().unwrap();
    let local = link.forward_unix(socket.to_str().unwrap()).await.unwrap();
    assert_eq!(
        link.forward_unix(socket.to_str().unwrap()).await.unwrap(),
        local
    );
    let mut peer = tokio::net::UnixStream::connect(&local).await.unwrap();
    peer.write_all(b"ping").await.unwrap();
    let mut word = [0; 4];
    peer.read_exact(&mut word).await.unwrap();
    assert_eq!(&word, b"ping");

    // sshd itself is a port that answers.
    let address = fleet
        .dial(&format!("127.0.0.1:{}", sshd.port))
        .await
        .unwrap();
    assert_ne!(address.port(), sshd.port);
    let mut peer = tokio::net::TcpStream::connect(address).await.unwrap();
    peer.read_exact(&mut word).await.unwrap();
    assert_eq!(&word, b"SSH-");
    fleet.close().await;
    assert!(!local.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn jump_hosts_are_gone_through_with_the_same_key_and_policy() {
    let Some(sshd) = Sshd::start("").await else {
        return;
    };
    let mut target = sshd.target("h1");
    target.ssh.jump = vec![format!("localhost:{}", sshd.port)];
    let fleet = Fleet::connect(vec![target], &sshd.dirs()).await.unwrap();
    let link = fleet.links().next().unwrap();
    let output = link.must("hello", &script("echo hello", 10)).await.unwrap();
    assert_eq!(output.stdout, "hello\n");
    assert_eq!(sshd.serving().len(), 2, "one through the other");
    let known = std::fs::read_to_string(sshd.dirs().config.join("known_hosts")).unwrap();
    assert!(
        known.contains("[localhost]") && known.contains("[127.0.0.1]"),
        "{known}"
    );
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_master_saves_the_next_handshake() {
    let Some(sshd) = Sshd::start("").await else {
        return;
    };
    let mut target = sshd.target("h1");
    target.ssh.persist_minutes = 1;
    let mut took = Vec::new();
    for _ in 0..2 {
        let begun = Instant::now();
        let fleet = Fleet::connect(vec![target.clone()], &sshd.dirs())
            .await
            .unwrap();
        took.push(begun.elapsed());
        let link = fleet.links().next().unwrap();
        link.must("hello", &script("echo hello", 10)).await.unwrap();
        fleet.close().await;
        assert_eq!(sshd.serving().len(), 1, "one master, kept");
    }
    eprintln!("first {:?}, second {:?}", took[0], took[1]);

    // Told to end, nothing stays, neither kept ones nor others.
    let kept = Fleet::connect(vec![target.clone()], &sshd.dirs())
        .await
        .unwrap();
    target.ssh.persist_minutes = 0;
    let fleet = Fleet::connect(vec![target], &sshd.dirs()).await.unwrap();
    fleet.close().await;
    kept.end().await;
    let begun = Instant::now();
    while !sshd.serving().is_empty() {
        assert!(begun.elapsed().as_secs() < 5, "a master stays");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}
