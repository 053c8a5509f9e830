//! A host that is gone for good is given up, as far as no data goes with it.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nebula_wire::client::{ConnectOptions, Connection};

use crate::bed::Bed;
use crate::kill::Hosts as _;
use crate::ran::Ran;

/// A host is given up by ssh after ten seconds, and is OFFLINE after five heartbeats.
const LIMIT: Duration = Duration::from_mins(2);

/// Frozen: it answers nothing any more. Comes back however the test ends.
struct Frozen(&'static str);

impl Frozen {
    fn new(host: &'static str) -> Self {
        hosts("pause", host);
        Self(host)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        hosts("unpause", self.0);
    }
}

fn hosts(what: &str, host: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bed/hosts.sh");
    let status = Command::new(script).args([what, host]).status().unwrap();
    assert!(status.success(), "{what} {host}");
}

async fn ask(bed: &Bed, statement: &str) {
    let graphd = format!("{}:9669", bed.address("h2"));
    let end = Instant::now() + LIMIT;
    loop {
        let options = ConnectOptions::default();
        let mut connection = Connection::connect(&graphd, &options).await.unwrap();
        let session = connection.authenticate("root", "nebula").await.unwrap().id;
        let reply = connection.execute(session, statement.as_bytes()).await;
        let refused = reply.unwrap();
        let refused = (!refused.is_ok()).then(|| refused.error_text().to_string());
        drop(connection.signout(session).await);
        let Some(refused) = refused else { return };
        assert!(Instant::now() < end, "{statement}: {refused}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Until it says so: it takes some heartbeats until SHOW HOSTS knows.
fn says_at_last(bed: &Bed, args: &[&str], text: &str) -> Ran {
    let end = Instant::now() + LIMIT;
    loop {
        let ran = Ran::of(bed.command(args), args);
        if ran.text().contains(text) {
            return ran;
        }
        assert!(Instant::now() < end, "{text}:\n{}", ran.text());
    }
}

/// `make faults`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs test hosts and a minute; make faults runs it"]
async fn a_host_gone_for_good_on_test_hosts() {
    let bed = Bed::find().expect("test hosts, NBCTL_BED_DIR");
    let gone = [
        "scale",
        "in",
        "--host",
        "h4",
        "--role",
        "graphd,storaged",
        "--yes",
    ];
    let lost = [&gone[..], &["--lost"]].concat();
    bed.good(&["deploy", "--yes"]);
    ask(
        &bed,
        "CREATE SPACE s(partition_num=6, replica_factor=1, vid_type=int64)",
    )
    .await;
    let frozen = Frozen::new("h4");
    Ran::of(bed.command(&gone), &gone)
        .fails(3)
        .says("give --lost");
    says_at_last(&bed, &lost, "space s: no copy of partitions").fails(2);
    ask(&bed, "DROP SPACE s").await;
    says_at_last(&bed, &lost, "taken out, verified")
        .good()
        .says("h4: /home/vesoft/nebula stays as it is")
        .says("its metad stays one of 3");
    bed.good(&lost).says("nothing to do");
    drop(frozen);
    // What was left behind goes once the host is there again.
    bed.good(&gone).says("taken out, verified");
    let listing = "ls nebula/etc; pgrep -a nebula-";
    let left = bed.good(&["exec", "--host", "h4", "--", listing]);
    left.says("nebula-metad.conf");
    assert!(!left.out().contains("storaged"), "{}", left.out());
    bed.good(&["teardown", "--yes", "--purge"]);
}
