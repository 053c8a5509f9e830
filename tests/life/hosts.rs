//! `nbctl hosts`: reached, known and judged before anything is deployed.

use serde_json::Value;

use crate::place::Place;

/// The rows of one check, as `level: message`.
fn rows(table: &Value, host: &str, check: &str) -> Vec<String> {
    let all = table["checks"].as_array().unwrap();
    let mine = all
        .iter()
        .filter(|row| row["host"] == host && row["check"] == check);
    let text = |row: &Value| {
        format!(
            "{}: {}",
            row["level"].as_str().unwrap(),
            row["message"].as_str().unwrap()
        )
    };
    mine.map(text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_host_is_a_row_beside_the_others() {
    let Some(place) = Place::bare().await else {
        return;
    };
    let ping = place.nbctl(&["hosts", "ping"]).fails(3);
    ping.says("1 of 2 hosts reached")
        .says("ssh -F")
        .says("Connection refused");
    let dead = place
        .nbctl(&["hosts", "ping", "--output", "json"])
        .fails(3)
        .json();
    assert_eq!(
        (&dead[0]["host"], &dead[0]["reached"]),
        (&"dead".into(), &false.into())
    );
    assert!(dead[1]["round_trip_ms"].as_f64().unwrap() > 0.0, "{dead}");
    place.nbctl(&["hosts", "ping", "--host", "one"]).good();

    let table = place
        .nbctl(&["hosts", "check", "--output", "json"])
        .fails(3)
        .json();
    let lost = rows(&table, "dead", "connection");
    assert!(
        lost.len() == 1 && lost[0].contains("Connection refused"),
        "{table}"
    );
    assert_eq!(
        rows(&table, "one", "address"),
        ["pass: 127.0.0.1 is on an interface"]
    );
    // No package was put there, which is no reason to say nothing else.
    let none = ["fail: no package was chosen for this host"];
    assert_eq!(rows(&table, "one", "package"), none);
    let alone = place.nbctl(&["hosts", "check", "--host", "one"]).fails(4);
    alone
        .says("cannot read the package folder")
        .says("`nebula.packages` in the inventory names it");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_the_way_fails_and_what_is_ours_does_not() {
    let Some(place) = Place::start().await else {
        return;
    };
    place
        .nbctl(&["hosts", "check", "--verbose"])
        .good()
        .says(" 0 failed");
    let facts = place
        .nbctl(&["hosts", "facts", "--output", "json"])
        .good()
        .json();
    assert!(
        facts["one"]["system"]["memory"].as_u64().unwrap() > 1 << 20,
        "{facts}"
    );
    let taken = place.listen_on_metad();
    let table = place
        .nbctl(&["hosts", "check", "--output", "json"])
        .fails(4)
        .json();
    let ports = rows(&table, "one", "ports");
    assert!(
        ports
            .iter()
            .any(|row| row.contains("(metad rpc) is taken by")),
        "{ports:?}"
    );
    place
        .nbctl(&["deploy", "--yes"])
        .fails(3)
        .says("is taken by");
    drop(taken);
    assert!(!place.root().exists(), "a refused deploy changed something");
}
