//! HTTP to daemons, engines' neighbours and monitoring servers.
//!
//! Purpose: the only place that builds a client (design 3).
//! Duties: no certificates of the system (a static binary in an empty image has none), no proxy of the environment
//! (hosts of a lab are not behind it), a deadline on every request, failures that name the URL.

mod download;

use std::sync::OnceLock;
use std::time::Duration;

pub use self::download::{Answer, Body, download};
use nbctl_core::failure::Failure;
use reqwest::{Client, Method, RequestBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A download that brings nothing for so long is given up.
const SILENCE: Duration = Duration::from_secs(20);
/// Most of a body that is shown in a failure, in characters.
const SHOWN: usize = 300;

/// Body of a GET that answers 2xx.
///
/// # Errors
/// No answer in time, or another status.
pub async fn get_text(url: &str, timeout: Duration) -> Result<String, Failure> {
    send(url, request(Method::GET, url, timeout)?).await
}

/// JSON body of a GET that answers 2xx.
///
/// # Errors
/// Those of [`get_text`], or another shape.
pub async fn get_json<T: DeserializeOwned>(url: &str, timeout: Duration) -> Result<T, Failure> {
    parse(url, &get_text(url, timeout).await?)
}

/// PUT of `body` as JSON; the JSON that comes back.
///
/// # Errors
/// Those of [`get_json`].
pub async fn put_json<T: DeserializeOwned>(
    url: &str,
    body: &impl Serialize,
    timeout: Duration,
) -> Result<T, Failure> {
    let request = request(Method::PUT, url, timeout)?.json(body);
    parse(url, &send(url, request).await?)
}

/// POST of form fields; the text that comes back.
///
/// # Errors
/// Those of [`get_text`].
pub async fn post_form(
    url: &str,
    fields: &[(&str, &str)],
    timeout: Duration,
) -> Result<String, Failure> {
    let mut form = reqwest::Url::parse("http://form/").map_err(|error| refused(url, &error))?;
    form.query_pairs_mut().extend_pairs(fields);
    let body = form.query().unwrap_or_default().to_owned();
    let request = request(Method::POST, url, timeout)?;
    let kind = "application/x-www-form-urlencoded";
    send(url, request.header("content-type", kind).body(body)).await
}

/// A request of the shared client.
///
/// # Errors
/// When no client can be built.
pub fn request(method: Method, url: &str, timeout: Duration) -> Result<RequestBuilder, Failure> {
    Ok(client()?.request(method, url).timeout(timeout))
}

/// Sends a request; the text of an answer that is 2xx.
///
/// # Errors
/// Those of [`get_text`].
pub async fn send(url: &str, request: RequestBuilder) -> Result<String, Failure> {
    let answer = request.send().await.map_err(|error| refused(url, &error))?;
    let status = answer.status();
    let text = answer.text().await.map_err(|error| refused(url, &error))?;
    if status.is_success() {
        return Ok(text);
    }
    let shown: String = text.trim().chars().take(SHOWN).collect();
    Err(Failure::step(format!("http status {status}"))
        .at(url.to_owned())
        .lines(shown.lines()))
}

fn parse<T: DeserializeOwned>(url: &str, text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| {
        let shown: String = text.trim().chars().take(SHOWN).collect();
        Failure::step(format!("unexpected answer: {error}"))
            .at(url.to_owned())
            .line(shown)
    })
}

/// One client for all, so that connections are used again.
fn client() -> Result<&'static Client, Failure> {
    static CLIENT: OnceLock<Result<Client, String>> = OnceLock::new();
    let client = CLIENT.get_or_init(|| build().map_err(|error| words(&error)));
    let cannot = |error: &String| Failure::step(format!("cannot build an http client: {error}"));
    client.as_ref().map_err(cannot)
}

/// For servers out there: the environment's proxy, the system's certificates; no deadline, but for silence.
fn public_client() -> Result<&'static Client, String> {
    static CLIENT: OnceLock<Result<Client, String>> = OnceLock::new();
    let client = CLIENT.get_or_init(|| {
        let builder = builder().read_timeout(SILENCE).connect_timeout(SILENCE);
        builder.build().map_err(|error| words(&error))
    });
    client.as_ref().map_err(Clone::clone)
}

fn builder() -> reqwest::ClientBuilder {
    let provider = rustls::crypto::ring::default_provider();
    // Somebody else may have set it; any will do.
    drop(provider.install_default());
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that builds clients"
    )]
    let builder = Client::builder();
    builder.user_agent(concat!("nbctl/", env!("CARGO_PKG_VERSION")))
}

fn build() -> reqwest::Result<Client> {
    builder()
        .no_proxy()
        .tls_certs_only([])
        .connect_timeout(Duration::from_secs(5))
        .build()
}

fn refused(url: &str, error: &dyn std::error::Error) -> Failure {
    Failure::step(format!("no http answer: {}", words(error))).at(url.to_owned())
}

/// The innermost cause says why; the outer ones repeat the URL.
fn words(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
