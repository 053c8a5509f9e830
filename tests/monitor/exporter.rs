//! The exporter against daemons' answers over real HTTP.

use std::time::Duration;

use nbctl::exporter::{Config, serve};
use nbctl::http;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const LIMIT: Duration = Duration::from_secs(5);

async fn daemon(counters: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    let status = r#"{"git_info_sha":"abc","status":"running"}"#;
    let answers = [
        (
            "/status",
            ResponseTemplate::new(200).set_body_string(status),
        ),
        ("/stats", counters),
    ];
    for (at, answer) in answers {
        Mock::given(method("GET"))
            .and(path(at))
            .respond_with(answer)
            .mount(&server)
            .await;
    }
    server
}

#[tokio::test]
async fn a_dead_and_a_hanging_daemon_do_not_hide_the_others() {
    let good =
        daemon(ResponseTemplate::new(200).set_body_string("num_queries{space=nba}.rate.5=3\n"))
            .await;
    let hangs = daemon(ResponseTemplate::new(200).set_delay(Duration::from_secs(30))).await;
    let gone = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let line = |role: &str, http: &str| {
        format!("  - {{role: {role}, host: h2, instance: \"10.0.0.2:1\", http: \"{http}\"}}\n")
    };
    let text = format!(
        "format: 1\nlisten: \"127.0.0.1:0\"\ntimeout_ms: 500\ntargets:\n{}{}{}",
        line("graphd", &good.address().to_string()),
        line("storaged", &hangs.address().to_string()),
        line("metad", &gone.to_string())
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let cancel = CancellationToken::new();
    let serving = tokio::spawn(serve(
        listener,
        Config::parse(&text).unwrap(),
        cancel.clone(),
    ));

    let page = http::get_text(&format!("{url}/metrics"), LIMIT)
        .await
        .unwrap();
    let labels = |role: &str| format!("{{host=\"h2\",instance=\"10.0.0.2:1\",role=\"{role}\"}}");
    assert!(
        page.contains(&format!("nebula_up{} 1\n", labels("graphd"))),
        "{page}"
    );
    assert!(
        page.contains(&format!("nebula_up{} 1\n", labels("storaged"))),
        "{page}"
    );
    assert!(
        page.contains(&format!("nebula_up{} 0\n", labels("metad"))),
        "{page}"
    );
    let queries = "nebula_graphd_num_queries_rate_5{host=\"h2\",instance=\"10.0.0.2:1\",role=\"graphd\",space=\"nba\"} 3";
    assert!(page.contains(queries), "{page}");
    assert!(!page.contains("nebula_storaged_"), "{page}");

    assert_eq!(
        http::get_text(&format!("{url}/health"), LIMIT)
            .await
            .unwrap(),
        "ok\n"
    );
    assert!(
        http::get_text(&format!("{url}/other"), LIMIT)
            .await
            .is_err()
    );
    cancel.cancel();
    serving.await.unwrap();
}
