//! Images and the engine's own version, against an engine's answers.

use nbctl::event::StepOutcome;
use nbctl_core::container::{ImageSpec, RegistryImage};
use serde_json::{Value, json};

use crate::engine::{Fake, Quiet};

/// Version, and the newest and oldest API it speaks.
const ENGINES: [(&str, &str, &str); 9] = [
    ("20.10.24", "1.41", "1.12"),
    ("23.0.6", "1.42", "1.12"),
    ("24.0.9", "1.43", "1.12"),
    ("25.0.5", "1.44", "1.24"),
    ("26.1.4", "1.45", "1.24"),
    ("27.5.1", "1.47", "1.24"),
    ("28.0.4", "1.48", "1.24"),
    ("28.5.1", "1.51", "1.24"),
    ("29.0.0", "1.52", "1.44"),
];

#[tokio::test]
async fn every_engine_is_asked_in_a_version_that_it_speaks() {
    let number = |api: &str| -> u32 { api.split_once('.').unwrap().1.parse().unwrap() };
    for (version, newest, oldest) in ENGINES {
        let told = json!({"Version": version, "ApiVersion": newest, "MinAPIVersion": oldest});
        let lists = [
            ("GET", "/containers/json", 200, json!([])),
            ("GET", "/images/json", 200, json!([])),
            (
                "GET",
                "/volumes",
                200,
                json!({"Volumes": [], "Warnings": []}),
            ),
        ];
        let fake = Fake::of(told, &lists).await;
        let state = fake.engine.state("abc123").await.unwrap();
        assert_eq!(state.version, version);
        for request in fake.server.received_requests().await.unwrap() {
            let first = request.url.path().split('/').nth(1).unwrap().to_owned();
            // Without a version an engine takes the newest that it speaks.
            if let Some(api) = first.strip_prefix("v1.") {
                let asked = number(&format!("1.{api}"));
                let spoken = number(oldest)..=number(newest);
                let first_question = request.url.path().ends_with("/version");
                assert!(
                    first_question || spoken.contains(&asked),
                    "{version}: {}",
                    request.url
                );
            }
        }
    }
}

#[tokio::test]
async fn what_a_registry_of_the_users_own_has_gets_its_usual_name() {
    let with_folder = "/images/create";
    let answers = [
        (
            "GET",
            "/images/influxdb:1.8/json",
            404,
            json!({"message": "No such image"}),
        ),
        ("GET", "/images/json", 200, json!([])),
        ("POST", with_folder, 200, json!({"status": "done"})),
        (
            "POST",
            "/images/reg.lab:5000/influxdb:1.8/tag",
            201,
            Value::Null,
        ),
        (
            "DELETE",
            "/images/reg.lab:5000/influxdb:1.8",
            200,
            json!([]),
        ),
    ];
    let fake = Fake::new(&answers).await;
    let image = ImageSpec {
        reference: "influxdb:1.8".into(),
        tarball: None,
        id: None,
        layers: Vec::new(),
        registry: Some(RegistryImage {
            address: "reg.lab:5000".into(),
            forwarded: false,
            names: vec!["influxdb:1.8".into()],
        }),
    };
    // The answers never say that it is there now.
    let ended = fake.engine.ensure_image(&image, "abc123", &Quiet).await;
    let failure = ended.unwrap_err();
    assert!(failure.what.contains("reg.lab:5000"), "{failure}");
    assert_eq!(
        fake.changes().await,
        [
            "POST /images/create",
            "POST /images/reg.lab:5000/influxdb:1.8/tag",
            "DELETE /images/reg.lab:5000/influxdb:1.8",
        ]
    );
}

#[tokio::test]
async fn a_registry_out_of_reach_is_told_with_what_helps() {
    let words =
        "Get https://registry-1.docker.io/v2/: dial tcp: lookup registry-1.docker.io: no such host";
    let answers = [
        (
            "GET",
            "/images/.*/json",
            404,
            json!({"message": "No such image"}),
        ),
        ("GET", "/images/json", 200, json!([])),
        ("POST", "/images/create", 500, json!({"message": words})),
    ];
    let fake = Fake::new(&answers).await;
    let image = ImageSpec {
        reference: "prom/prometheus:v3.5.0".into(),
        tarball: None,
        id: None,
        layers: Vec::new(),
        registry: None,
    };
    let failure = fake
        .engine
        .ensure_image(&image, "abc123", &Quiet)
        .await
        .unwrap_err();
    assert!(failure.what.contains("no such host"), "{failure}");
    assert!(failure.hint.unwrap().contains("monitor.images"));
}

#[tokio::test]
async fn an_image_with_another_id_and_the_same_layers_is_the_same() {
    let there = json!({"Id": "sha256:manifest", "RootFS": {"Type": "layers", "Layers": ["sha256:a", "sha256:b"]}});
    let fake = Fake::new(&[("GET", "/images/x/y:1/json", 200, there)]).await;
    let image = |layers: &[&str]| ImageSpec {
        reference: "x/y:1".into(),
        tarball: Some("/nowhere.tar".into()),
        id: Some("sha256:config".into()),
        layers: layers.iter().map(|layer| (*layer).to_owned()).collect(),
        registry: None,
    };
    let same = image(&["sha256:a", "sha256:b"]);
    let outcome = fake
        .engine
        .ensure_image(&same, "abc123", &Quiet)
        .await
        .unwrap();
    assert_eq!(outcome, StepOutcome::AlreadySo);
    let other = image(&["sha256:a"]);
    assert!(
        fake.engine
            .ensure_image(&other, "abc123", &Quiet)
            .await
            .is_err()
    );
}
