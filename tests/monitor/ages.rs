//! Engines of every age: what they are asked must be in a version of the API that they speak.

use nbctl::docker::Engine;
use nbctl_core::units::HostName;
use serde_json::json;
use wiremock::matchers::{method, path_regex};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// Engines and the API versions they speak: newest, oldest. A request names none, or one between them.
const ENGINES: [(&str, &str, &str); 7] = [
    ("20.10.24", "1.41", "1.12"),
    ("23.0.6", "1.42", "1.12"),
    ("24.0.9", "1.43", "1.12"),
    ("25.0.5", "1.44", "1.24"),
    ("27.5.1", "1.47", "1.24"),
    ("28.3.0", "1.51", "1.24"),
    ("29.0.0", "1.52", "1.44"),
];

fn minor(version: &str) -> u32 {
    version.rsplit('.').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn engines_from_20_10_to_29_are_asked_in_a_version_they_speak() {
    for (name, newest, oldest) in ENGINES {
        let server = MockServer::start().await;
        let version = json!({"Version": name, "ApiVersion": newest, "MinAPIVersion": oldest});
        for (path, body) in [
            ("version", version),
            ("containers/json", json!([])),
            ("volumes", json!({"Volumes": null, "Warnings": null})),
            ("images/json", json!([])),
        ] {
            Mock::given(method("GET"))
                .and(path_regex(format!("^(/v[0-9.]+)?/{path}$")))
                .respond_with(ResponseTemplate::new(200).set_body_json(body))
                .mount(&server)
                .await;
        }
        let address = server.address().to_string();
        let engine = Engine::connect_tcp(HostName::new("h1"), &address)
            .await
            .unwrap();
        let state = engine.state("abc123").await.unwrap();
        assert_eq!(state.version, name);
        for request in server.received_requests().await.unwrap() {
            let first = request.url.path().split('/').nth(1).unwrap();
            let asked = first
                .strip_prefix('v')
                .filter(|rest| rest.starts_with("1."));
            let fits =
                asked.is_none_or(|asked| (minor(oldest)..=minor(newest)).contains(&minor(asked)));
            // The first question is how the version is found out.
            assert!(
                fits || request.url.path().ends_with("/version"),
                "{name}: {}",
                request.url
            );
        }
    }
}
