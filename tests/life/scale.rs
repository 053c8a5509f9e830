//! A second host joins and leaves again while there is data, on every line.

use std::time::Duration;

use crate::place::Place;

/// Vertices put in.
pub(crate) const VERTICES: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn grows_and_shrinks_2_0_1() {
    grows_and_shrinks("2.0.1").await;
}

/// And becomes another version afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn grows_and_shrinks_2_6_2() {
    grows_and_shrinks("2.6.2").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn grows_and_shrinks_3_8_0() {
    grows_and_shrinks("3.8.0").await;
}

async fn grows_and_shrinks(line: &str) {
    let Some(place) = Place::of_line(line).await else {
        return;
    };
    place.nbctl(&["deploy", "--yes"]).good();
    fill(&place).await;
    place.append(&place.second());
    grows(&place, line).await;
    shrinks(&place).await;
    // What is not named any more does not count.
    place.edit(&place.second(), "");
    if line.starts_with('3') {
        place.nbctl(&["status"]).good().says("equals its inventory");
    }
    assert_eq!(rows(&place).await, VERTICES);
    if line == "2.6.2" {
        crate::upgrade::upgrades(&place).await;
    }
    place
        .nbctl(&["teardown", "--yes", "--purge", "--cluster", "life"])
        .good();
}

async fn grows(place: &Place, line: &str) {
    place
        .nbctl(&["scale", "out", "--dry-run"])
        .good()
        .says("start storaged@two");
    if line.starts_with('3') {
        // Moving data is an experiment there; it has to be allowed.
        let closed = place.nbctl(&["scale", "out", "--yes"]).good();
        closed.says("graphd moves none without enable_experimental_feature");
        place
            .nbctl(&[
                "scale", "in", "--host", "one", "--role", "storaged", "--yes",
            ])
            .fails(2)
            .says("enable_experimental_feature is off");
        place.edit(
            "heartbeat_interval_secs: 1}",
            "heartbeat_interval_secs: 1}, graphd: {flags: {enable_experimental_feature: true}}",
        );
        place
            .nbctl(&["scale", "out", "--yes"])
            .fails(2)
            .says("would be restarted");
        place.nbctl(&["config", "roll", "--yes"]).good();
    }
    place
        .nbctl(&["scale", "out", "--yes"])
        .good()
        .says("data and leaders balanced");
    place
        .nbctl(&["scale", "out", "--yes"])
        .good()
        .says("nothing to deploy; data lies evenly");
    assert_eq!(place.daemons(), 5);
    assert_eq!(rows(place).await, VERTICES);
}

async fn shrinks(place: &Place) {
    place
        .nbctl(&["scale", "in", "--host", "one", "--yes"])
        .fails(2)
        .says("metad@one: metads cannot be added or removed");
    place
        .nbctl(&["scale", "in", "--host", "*", "--role", "graphd", "--yes"])
        .fails(2)
        .says("no other graphd stays");
    let two = ["scale", "in", "--host", "two", "--yes"];
    place
        .nbctl(&["scale", "in", "--host", "two", "--dry-run"])
        .good()
        .says("move the partitions of s away");
    place
        .nbctl(&two)
        .good()
        .says("taken out, verified")
        .says("two");
    assert_eq!(place.daemons(), 3);
    assert!(!place.dir().join("second").exists());
    place.nbctl(&two).good().says("nothing to do");
    assert_eq!(rows(place).await, VERTICES);
}

/// A space of eight partitions with something in it.
pub(crate) async fn fill(place: &Place) {
    place
        .ask("CREATE SPACE s(partition_num=8, replica_factor=1, vid_type=int64)")
        .await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    place.ask("USE s; CREATE TAG t(a int)").await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let values: Vec<String> = (0..VERTICES).map(|n| format!("{n}:({n})")).collect();
    place
        .ask(&format!(
            "USE s; INSERT VERTEX t(a) VALUES {}",
            values.join(", ")
        ))
        .await;
    assert_eq!(rows(place).await, VERTICES);
}

/// How many of them are found.
pub(crate) async fn rows(place: &Place) -> usize {
    let ids: Vec<String> = (0..VERTICES).map(|n| n.to_string()).collect();
    place
        .ask(&format!(
            "USE s; FETCH PROP ON t {} YIELD t.a",
            ids.join(", ")
        ))
        .await
}
