//! The HTTP client against a real server.

use std::time::Duration;

use nbctl::http;
use serde_json::{Value, json};
use wiremock::matchers::{body_json, body_string, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const LIMIT: Duration = Duration::from_secs(5);

#[tokio::test]
async fn methods_bodies_and_failures() {
    let server = MockServer::start().await;
    let url = |path: &str| format!("{}{path}", server.uri());
    let flags = json!({"wal_ttl": "600"});
    let answers = [
        (
            Mock::given(method("PUT"))
                .and(path("/flags"))
                .and(body_json(&flags)),
            ResponseTemplate::new(200).set_body_json(json!({"errCode": 0})),
        ),
        (
            Mock::given(method("POST"))
                .and(path("/query"))
                .and(body_string("q=a+%26b&db=%C3%A9")),
            ResponseTemplate::new(200).set_body_string("fine"),
        ),
        (
            Mock::given(path("/slow")),
            ResponseTemplate::new(200).set_delay(Duration::from_secs(3)),
        ),
        (
            Mock::given(path("/bad")),
            ResponseTemplate::new(500).set_body_string("out of memory"),
        ),
    ];
    for (mock, answer) in answers {
        mock.respond_with(answer).mount(&server).await;
    }
    let answer: Value = http::put_json(&url("/flags"), &flags, LIMIT).await.unwrap();
    assert_eq!(answer, json!({"errCode": 0}));
    let fields = [("q", "a &b"), ("db", "é")];
    assert_eq!(
        http::post_form(&url("/query"), &fields, LIMIT)
            .await
            .unwrap(),
        "fine"
    );

    let failure = http::get_text(&url("/slow"), Duration::from_millis(200))
        .await
        .unwrap_err();
    assert!(failure.what.contains("no http answer"), "{failure}");
    let failure = http::get_text(&url("/bad"), LIMIT).await.unwrap_err();
    assert_eq!(
        (failure.what.as_str(), &failure.detail[..]),
        (
            "http status 500 Internal Server Error",
            &["out of memory".to_owned()][..]
        )
    );
    let failure = http::get_json::<Value>(&url("/bad2"), LIMIT)
        .await
        .unwrap_err();
    assert!(failure.what.contains("404"), "{failure}");
    let failure = http::get_text("http://127.0.0.1:1/x", LIMIT)
        .await
        .unwrap_err();
    assert!(
        failure.to_string().contains("refused") && failure.to_string().contains("127.0.0.1:1"),
        "{failure}"
    );
}
