//! Files from public servers.
//!
//! Duty: what a status means for somebody who wants a file: there, not there, try again, never.

use reqwest::header::{CONTENT_RANGE, RANGE};
use reqwest::{Response, StatusCode};

use super::{public_client, words};

/// What a server says to the wish for a file.
#[derive(Debug)]
pub enum Answer {
    /// The file from `from` on; `total` is its whole size where the server tells.
    Body {
        body: Body,
        from: u64,
        total: Option<u64>,
    },
    /// It has no such file.
    Missing,
    /// It may help to ask again: why.
    Again(String),
    /// It will not help to ask again: why.
    Refused(String),
}

/// A file on its way.
#[derive(Debug)]
pub struct Body(Option<Response>);

impl Body {
    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// It was cut.
    pub async fn next(&mut self) -> Result<Option<bytes::Bytes>, String> {
        match &mut self.0 {
            Some(response) => response.chunk().await.map_err(|error| words(&error)),
            None => Ok(None),
        }
    }

    /// All of it as text, at most `max` bytes.
    ///
    /// # Errors
    /// It was cut, or is longer.
    pub async fn text(&mut self, max: usize) -> Result<String, String> {
        let mut all = Vec::new();
        while let Some(piece) = self.next().await? {
            all.extend_from_slice(&piece);
            if all.len() > max {
                return Err(format!("more than {max} bytes"));
            }
        }
        Ok(String::from_utf8_lossy(&all).into_owned())
    }
}

/// Asks for the file at `url` from byte `from` on.
pub async fn download(url: &str, from: u64) -> Answer {
    let client = match public_client() {
        Ok(client) => client,
        Err(why) => return Answer::Refused(format!("cannot build an http client: {why}")),
    };
    let mut request = client.get(url);
    if from > 0 {
        request = request.header(RANGE, format!("bytes={from}-"));
    }
    match request.send().await {
        Ok(response) => judged(response, from),
        Err(error) if error.is_builder() => Answer::Refused(words(&error)),
        Err(error) => Answer::Again(words(&error)),
    }
}

fn judged(response: Response, from: u64) -> Answer {
    let status = response.status();
    match status {
        StatusCode::PARTIAL_CONTENT => match range(&response) {
            Some((start, total)) if start <= from => Answer::Body {
                body: Body(Some(response)),
                from: start,
                total,
            },
            _ => Answer::Refused("answers another range than was asked for".to_owned()),
        },
        // Whoever asked has it all already, or more: the digest tells.
        StatusCode::RANGE_NOT_SATISFIABLE => Answer::Body {
            body: Body(None),
            from,
            total: None,
        },
        StatusCode::NOT_FOUND | StatusCode::GONE => Answer::Missing,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
            Answer::Again(format!("http status {status}"))
        }
        _ if status.is_success() => {
            let total = response.content_length();
            Answer::Body {
                body: Body(Some(response)),
                from: 0,
                total,
            }
        }
        _ if status.is_server_error() => Answer::Again(format!("http status {status}")),
        _ => Answer::Refused(format!("http status {status}")),
    }
}

/// First byte and whole size of `bytes 100-199/200`.
fn range(response: &Response) -> Option<(u64, Option<u64>)> {
    let text = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    Some((start.parse().ok()?, total.parse().ok()))
}
