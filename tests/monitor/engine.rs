//! Reconciling against an engine's answers, among them those a healthy engine of the bed does not give.

use std::collections::BTreeMap;

use nbctl::docker::Engine;
use nbctl::event::{Event, Sink, StepOutcome};
use nbctl_core::container::ContainerSpec;
use nbctl_core::plan::Removal;
use nbctl_core::units::HostName;
use serde_json::{Value, json};
use wiremock::matchers::{method, path_regex};
use wiremock::{Mock, MockServer, ResponseTemplate};

#[derive(Debug)]
pub(crate) struct Quiet;

impl Sink for Quiet {
    fn emit(&self, _event: Event) {}
}

fn spec() -> ContainerSpec {
    ContainerSpec {
        name: "nbctl-dev-prometheus".into(),
        component: "prometheus".into(),
        cluster_id: "abc123".into(),
        image: "x/prometheus:1".into(),
        image_id: None,
        entrypoint: Vec::new(),
        args: vec!["--a".into()],
        env: BTreeMap::new(),
        mounts: vec!["/etc/x:/x:ro".into(), "data:/prometheus".into()],
        host_network: false,
        host_pid: false,
        ports: vec!["10.0.0.1:8086:80".into()],
        cap_add: Vec::new(),
        read_only: true,
        user: String::new(),
        memory_mib: 64,
        check: Vec::new(),
        files: BTreeMap::new(),
    }
}

fn there(owner: &str, spec: &str, running: bool) -> Value {
    let labels = json!({"nbctl.owner": owner, "nbctl.cluster": "abc123", "nbctl.spec": spec});
    json!({"Id": "1", "Config": {"Labels": labels}, "State": {"Running": running}})
}

pub(crate) struct Fake {
    pub(crate) server: MockServer,
    pub(crate) engine: Engine,
}

impl Fake {
    pub(crate) async fn new(answers: &[(&str, &str, u16, Value)]) -> Self {
        let told = json!({"Version": "20.10.24", "ApiVersion": "1.41"});
        Self::of(told, answers).await
    }

    /// An engine that says `told` about its version.
    pub(crate) async fn of(told: Value, answers: &[(&str, &str, u16, Value)]) -> Self {
        let server = MockServer::start().await;
        let version = ("GET", "/version", 200, told);
        for (verb, path, status, body) in std::iter::once(&version).chain(answers) {
            // The client may put the version of the API before the path.
            let path = format!("^(/v[0-9.]+)?{path}$");
            let answer = ResponseTemplate::new(*status).set_body_json(body);
            Mock::given(method(*verb))
                .and(path_regex(path))
                .respond_with(answer)
                .mount(&server)
                .await;
        }
        let address = server.address().to_string();
        let engine = Engine::connect_tcp(HostName::new("h1"), &address)
            .await
            .unwrap();
        Self { server, engine }
    }

    /// Requests that change something, in order.
    pub(crate) async fn changes(&self) -> Vec<String> {
        let requests = self.server.received_requests().await.unwrap();
        let changing = requests
            .iter()
            .filter(|request| request.method.as_str() != "GET");
        let shown = changing.map(|request| {
            let path = request.url.path();
            let version = |part: &&str| part.starts_with('v') && part.contains('.');
            let rest: Vec<&str> = path.split('/').filter(|part| !version(part)).collect();
            let path = rest.join("/");
            format!("{} {path}", request.method)
        });
        shown.collect()
    }
}

const CONTAINER: &str = "/containers/nbctl-dev-prometheus";

fn makes() -> Vec<(&'static str, &'static str, u16, Value)> {
    let volume = json!({"Name": "data", "Driver": "local", "Mountpoint": "/x", "Scope": "local", "Options": {},
                        "Labels": {"nbctl.cluster": "abc123"}});
    vec![
        ("POST", "/volumes/create", 201, volume),
        (
            "POST",
            "/containers/create",
            201,
            json!({"Id": "2", "Warnings": []}),
        ),
        (
            "POST",
            "/containers/nbctl-dev-prometheus/start",
            204,
            Value::Null,
        ),
        (
            "DELETE",
            "/containers/nbctl-dev-prometheus",
            204,
            Value::Null,
        ),
    ]
}

const MADE: [&str; 3] = [
    "POST /volumes/create",
    "POST /containers/create",
    "POST /containers/nbctl-dev-prometheus/start",
];

#[tokio::test]
async fn a_container_is_made_kept_started_or_replaced() {
    let spec = spec();
    let hash = spec.hash().to_string();
    let missing = json!({"message": "No such container"});
    let [volume, create, start] = MADE;
    let removed = "DELETE /containers/nbctl-dev-prometheus";
    let replaced = vec![volume, removed, create, start];
    let cases = [
        ("missing", 404, missing, StepOutcome::Done, MADE.to_vec()),
        (
            "unchanged",
            200,
            there("nbctl", &hash, true),
            StepOutcome::AlreadySo,
            Vec::new(),
        ),
        (
            "stopped",
            200,
            there("nbctl", &hash, false),
            StepOutcome::Done,
            MADE[2..].to_vec(),
        ),
        (
            "changed",
            200,
            there("nbctl", "other", true),
            StepOutcome::Done,
            replaced,
        ),
    ];
    for (title, status, body, outcome, changes) in cases {
        let mut answers = makes();
        answers.push(("GET", "/containers/nbctl-dev-prometheus/json", status, body));
        let fake = Fake::new(&answers).await;
        assert_eq!(
            fake.engine.ensure_container(&spec).await.unwrap(),
            outcome,
            "{title}"
        );
        assert_eq!(fake.changes().await, changes, "{title}");
    }
}

#[tokio::test]
async fn what_is_asked_for_is_what_was_specified() {
    let mut answers = makes();
    answers.push((
        "GET",
        "/containers/nbctl-dev-prometheus/json",
        404,
        json!({"message": "no"}),
    ));
    let fake = Fake::new(&answers).await;
    fake.engine.ensure_container(&spec()).await.unwrap();
    let requests = fake.server.received_requests().await.unwrap();
    let create = requests
        .iter()
        .find(|request| request.url.path().ends_with("/containers/create"))
        .unwrap();
    let body: Value = serde_json::from_slice(&create.body).unwrap();
    let host = &body["HostConfig"];
    assert_eq!(host["CapDrop"], json!(["ALL"]));
    assert_eq!(host["SecurityOpt"], json!(["no-new-privileges"]));
    assert_eq!(host["ReadonlyRootfs"], json!(true));
    assert_eq!(host["Memory"], json!(64 << 20));
    assert_eq!(
        host["PortBindings"]["80/tcp"],
        json!([{"HostIp": "10.0.0.1", "HostPort": "8086"}])
    );
    assert_eq!(
        body["Labels"]["nbctl.spec"],
        json!(spec().hash().to_string())
    );
}

#[tokio::test]
async fn what_is_not_ours_is_never_touched() {
    for (owner, words) in [("", "nbctl did not make"), ("nbctl", "another cluster")] {
        let mut body = there(owner, "x", true);
        body["Config"]["Labels"]["nbctl.cluster"] = json!("other");
        let answers = [("GET", "/containers/nbctl-dev-prometheus/json", 200, body)];
        let fake = Fake::new(&answers).await;
        let failure = fake.engine.ensure_container(&spec()).await.unwrap_err();
        assert!(failure.what.contains(words), "{failure}");
        let removal = Removal::Container("nbctl-dev-prometheus".into());
        let failure = fake
            .engine
            .remove(&removal, "abc123", &Quiet)
            .await
            .unwrap_err();
        assert!(failure.what.contains(words), "{failure}");
        assert_eq!(fake.changes().await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_start_that_fails_shows_what_the_container_wrote() {
    let mut answers = makes();
    answers.retain(|(_, path, ..)| !path.ends_with("/start"));
    answers.push((
        "GET",
        "/containers/nbctl-dev-prometheus/json",
        404,
        json!({"message": "no"}),
    ));
    let start = format!("{CONTAINER}/start");
    answers.push((
        "POST",
        start.leak(),
        500,
        json!({"message": "path / is mounted on / but it is not a shared or slave mount"}),
    ));
    let fake = Fake::new(&answers).await;
    let failure = fake.engine.ensure_container(&spec()).await.unwrap_err();
    assert!(
        failure.what.contains("not a shared or slave mount"),
        "{failure}"
    );
}

#[tokio::test]
async fn a_configuration_that_the_check_refuses_leaves_what_runs_alone() {
    let answers = |code: i64| {
        let mut all = vec![("GET", CONTAINER_JSON, 200, there("nbctl", "old", true))];
        all.extend(makes());
        let check = "/containers/nbctl-dev-prometheus-check";
        all.push((
            "GET",
            CHECK_JSON,
            404,
            json!({"message": "no such container"}),
        ));
        all.push(("POST", CHECK_START, 204, Value::Null));
        all.push(("POST", CHECK_WAIT, 200, json!({"StatusCode": code})));
        all.push(("GET", CHECK_LOGS, 200, Value::Null));
        all.push(("DELETE", check, 204, Value::Null));
        all
    };
    for (code, replaced) in [(0, true), (1, false)] {
        let fake = Fake::new(&answers(code)).await;
        let mut wanted = spec();
        wanted.check = vec!["/bin/promtool".into(), "check".into()];
        let done = fake.engine.ensure_container(&wanted).await;
        assert_eq!(done.is_ok(), replaced, "{done:?}");
        let removed = format!("DELETE {CONTAINER}");
        let changes = fake.changes().await;
        assert_eq!(changes.contains(&removed), replaced, "{changes:?}");
        assert!(
            changes.contains(&format!("DELETE {CONTAINER}-check")),
            "{changes:?}"
        );
    }
}

const CONTAINER_JSON: &str = "/containers/nbctl-dev-prometheus/json";
const CHECK_JSON: &str = "/containers/nbctl-dev-prometheus-check/json";
const CHECK_START: &str = "/containers/nbctl-dev-prometheus-check/start";
const CHECK_WAIT: &str = "/containers/nbctl-dev-prometheus-check/wait";
const CHECK_LOGS: &str = "/containers/nbctl-dev-prometheus-check/logs";
