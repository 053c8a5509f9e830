//! What is left behind when metad's data goes and storaged's stays, and when a space is dropped.

use std::{fs, thread::sleep, time::Duration};

use super::Seen;
use crate::support::{Client, Cluster, is_open, wait};

#[test]
fn wipes() {
    super::play("wipes", scene);
}

fn make(client: &mut Client, space: &str) {
    client.until(&format!(
        "CREATE SPACE {space}(partition_num=2, replica_factor=1, vid_type=int64)"
    ));
    client.until(&format!("USE {space}"));
    client.ok("CREATE TAG T(n int)");
}

fn scene(line: &'static str) -> Seen {
    let mut seen = Seen::new();
    let mut cluster = Cluster::start(line, 1);
    let mut client = cluster.client();
    wait("a host", || client.ok("SHOW HOSTS").rows.len() == 2);
    make(&mut client, "s");
    client.until("INSERT VERTEX T(n) VALUES 1:(7)");
    drop_space(&cluster, &mut client, &mut seen);
    cluster.storageds[0].stop();
    cluster.metads[0].stop();
    fs::remove_dir_all(cluster.metads[0].dir.join("data")).expect("wipe");
    cluster.metads[0].start();
    wait("metad", || is_open(cluster.metads[0].port));
    let mut client = cluster.client();
    come_back(&mut cluster, &mut client, &mut seen);
    make(&mut client, "s");
    let found = client.until("FETCH PROP ON T 1 YIELD T.n").rows.len();
    seen.push((
        "data from before metad was wiped is adopted by the new space of the same id",
        found == 1,
    ));
    seen
}

fn drop_space(cluster: &Cluster, client: &mut Client, seen: &mut Seen) {
    make(client, "gone");
    client.until("INSERT VERTEX T(n) VALUES 1:(7)");
    let storaged = &cluster.storageds[0];
    let open = || {
        storaged
            .get("/rocksdb_stats")
            .is_some_and(|text| text.contains("space.2."))
    };
    wait("the space is open", open);
    client.ok("DROP SPACE gone");
    wait("the space is closed", || !open());
    let folder = storaged.dir.join("data/storage/nebula/2");
    let stays = (0..20).all(|_| {
        sleep(Duration::from_millis(50));
        folder.exists()
    });
    seen.push(("the data of a dropped space stays on disk", stays));
}

/// Starts storaged again beside a metad that knows nothing.
fn come_back(cluster: &mut Cluster, client: &mut Client, seen: &mut Seen) {
    let added = cluster.line == "3.8.0";
    if added {
        let address = cluster.storageds[0].address();
        client.until(&format!("ADD HOSTS {address}"));
    }
    let storaged = &mut cluster.storageds[0];
    let data = storaged.dir.join("data/storage/nebula/1");
    assert!(data.exists());
    storaged.start();
    wait("storaged decides", || {
        storaged.get("/status").is_some() || storaged.log("ERROR").contains("Wrong cluster!")
    });
    let refused = storaged.get("/status").is_none();
    seen.push((
        "a `cluster.id` from before metad was wiped never fits",
        refused,
    ));
    if refused {
        storaged.stop();
        fs::remove_file(storaged.dir.join("cluster.id")).expect("cluster.id");
        storaged.start();
        wait("storaged", || storaged.get("/status").is_some());
    }
    seen.push((
        "spaces that metad does not know are deleted when storaged starts",
        !data.exists(),
    ));
}
