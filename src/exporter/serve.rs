//! The HTTP side: `GET /metrics` and `GET /health`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::config::Config;
use super::scrape;

/// Connections served at once; Prometheus needs one.
const CONNECTIONS: usize = 16;
/// Most time for a connection that answers one request.
const CONNECTION: Duration = Duration::from_secs(20);
/// What Prometheus expects.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Serves until `cancel`.
pub async fn serve(listener: TcpListener, config: Config, cancel: CancellationToken) {
    let (config, room) = (Arc::new(config), Arc::new(Semaphore::new(CONNECTIONS)));
    loop {
        let accepted = tokio::select! {
            () = cancel.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Out of descriptors, for example: the next try may go well.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        let config = Arc::clone(&config);
        drop(tokio::spawn(async move {
            connection(stream, config).await;
            drop(permit);
        }));
    }
}

async fn connection(stream: TcpStream, config: Arc<Config>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let config = Arc::clone(&config);
        async move { Ok::<_, Infallible>(answer(&request, &config).await) }
    });
    let served = http1::Builder::new()
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // A client that goes away half-way is nobody's problem.
    drop(tokio::time::timeout(CONNECTION, served).await);
}

async fn answer(request: &Request<Incoming>, config: &Config) -> Response<Full<Bytes>> {
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/metrics") => text(StatusCode::OK, scrape::all(config).await),
        (&Method::GET, "/health") => text(StatusCode::OK, "ok\n".to_owned()),
        _ => text(
            StatusCode::NOT_FOUND,
            "only GET /metrics and GET /health\n".to_owned(),
        ),
    }
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static(TEXT);
    response
        .headers_mut()
        .insert(hyper::header::CONTENT_TYPE, kind);
    response
}
