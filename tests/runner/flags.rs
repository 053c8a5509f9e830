//! Flags of running daemons: set, read back, left alone, refused.

use std::collections::BTreeMap;

use nbctl::runner::{Applied, NoJournal};
use nbctl_core::failure::Failure;
use nbctl_core::plan::{Action, Plan, SetFlags, Step};
use nbctl_core::units::HostName;
use serde_json::json;
use wiremock::matchers::{body_json, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::{Events, fleet, runner};

/// What a daemon answers before and after a PUT, and to the PUT itself.
async fn set(before: &str, answer: &str, after: &str) -> (Result<Applied, Failure>, usize) {
    let server = MockServer::start().await;
    let flags = |value: &str| {
        let value: serde_json::Value = serde_json::from_str(value).unwrap();
        ResponseTemplate::new(200)
            .set_body_json(json!({"flags": [{"name": "wal_ttl", "value": value}]}))
    };
    let get = || Mock::given(method("GET")).and(path("/flags"));
    get()
        .respond_with(flags(before))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    get().respond_with(flags(after)).mount(&server).await;
    Mock::given(method("PUT"))
        .and(path("/flags"))
        .and(body_json(json!({"wal_ttl": "600"})))
        .respond_with(ResponseTemplate::new(200).set_body_string(answer))
        .mount(&server)
        .await;
    let http = server.address().to_string();
    let flags = BTreeMap::from([("wal_ttl".to_owned(), "600".to_owned())]);
    let mut plan = Plan::default();
    let action = Action::Flags(SetFlags { http, flags });
    plan.stage(
        "set",
        vec![Step::on(&HostName::new("a"), "set wal_ttl", action)],
    );
    let (fleet, events) = (fleet(&["a"]), Events::default());
    let applied = runner(&fleet, &events, &NoJournal).apply(&plan).await;
    let asked = server.received_requests().await.unwrap();
    (
        applied,
        asked.iter().filter(|r| r.method.as_str() == "PUT").count(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_are_set_and_read_back() {
    let cases = [
        ("14400", r#"{"errCode": 0}"#, "600", Ok((1, 0)), 1),
        ("600", "", "600", Ok((0, 1)), 0),
        // Refused, with a status that says all is well.
        (
            "14400",
            r#"{"failedOptions": ["wal_ttl"]}"#,
            "14400",
            Err("refused [\"wal_ttl\"]"),
            1,
        ),
        (
            "14400",
            r#"{"errCode": 0}"#,
            "14400",
            Err("wal_ttl is 14400, not 600"),
            1,
        ),
        (
            "null",
            r#"{"errCode": 0}"#,
            "null",
            Err("no flag wal_ttl"),
            1,
        ),
    ];
    for (before, answer, after, expected, puts) in cases {
        let (applied, asked) = set(before, answer, after).await;
        assert_eq!(asked, puts, "{before} {answer}");
        match (applied, expected) {
            (Ok(applied), Ok(counts)) => assert_eq!((applied.changed, applied.already), counts),
            (Err(failure), Err(part)) => assert!(failure.to_string().contains(part), "{failure}"),
            (applied, _) => panic!("{before} {answer} {after}: {applied:?}"),
        }
    }
}
