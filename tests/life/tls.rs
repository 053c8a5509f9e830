//! A cluster whose graph service is encrypted: deployed, changed, loaded.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_service_is_encrypted() {
    let Some(place) = Place::start().await else {
        return;
    };
    if !certificates(place.dir()) {
        eprintln!("left out: no openssl(1), which makes the certificates");
        return;
    }
    place.edit(
        "deploy_dir:",
        "tls: {ca: ca.pem, cert: server.pem, key: server.key}, deploy_dir:",
    );
    place.edit(
        "[metad, graphd, storaged]",
        "[metad, graphd, storaged, load]",
    );
    place.deployed();
    place.nbctl(&["status"]).good().says("equals its inventory");
    place.nbctl(&["config", "diff"]).good();
    assert!(!place.lets_in_plain().await, "a plain client was let in");
    let key = place.root().join("etc/tls/key.pem");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&key).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let journal = crate::kill::Hosts::journal(&place);
    assert!(
        !journal.contains("PRIVATE KEY"),
        "the key is in the journal"
    );
    place
        .nbctl(&["import", "--persons", "20", "--partitions", "4", "--yes"])
        .good();

    // Another certificate: graphd takes it, nobody else is restarted.
    let storaged = place.pid("nebula-storaged");
    assert!(certificates(place.dir()));
    place
        .nbctl(&["deploy", "--dry-run"])
        .good()
        .says("stop graphd@one: its certificate changed");
    place.nbctl(&["deploy", "--yes"]).good();
    place.nbctl(&["status"]).good();
    assert_eq!(place.pid("nebula-storaged"), storaged);
    // Signed by somebody else than the inventory says.
    fs::copy(place.dir().join("other.pem"), place.dir().join("ca.pem")).unwrap();
    place.nbctl(&["status"]).fails(4).says("graphd");
    place
        .nbctl(&["teardown", "--yes", "--purge", "--cluster", "life"])
        .good();
}

/// An authority, a server that it signed, and another authority.
fn certificates(dir: &Path) -> bool {
    fs::write(dir.join("names"), "subjectAltName=IP:127.0.0.1").unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let steps = [
        format!("req -x509 {key} -keyout ca.key -out ca.pem -days 30 -subj /CN=ca"),
        format!("req -x509 {key} -keyout other.key -out other.pem -days 30 -subj /CN=other"),
        format!("req {key} -keyout server.key -out server.csr -subj /CN=graphd"),
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 30 -extfile names".to_owned(),
    ];
    let run = |step: &String| {
        let output = Command::new("openssl")
            .args(step.split(' '))
            .current_dir(dir)
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    steps.iter().all(run)
}
