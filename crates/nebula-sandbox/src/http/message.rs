//! HTTP/1.1 requests and responses, as far as the admin service needs them.

use std::io;

/// A parsed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    /// Path without query and without a slash at the end (`/` becomes empty).
    pub path: String,
    pub query: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The client wants the connection closed.
    pub close: bool,
}

impl Request {
    /// First value of a query parameter.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// A comma list in a query parameter.
    pub fn list(&self, name: &str) -> Vec<&str> {
        let text = self.param(name).unwrap_or_default();
        text.split(',').filter(|item| !item.is_empty()).collect()
    }
}

/// The first whole request in `buffer` and how many bytes it took.
pub(super) fn parse(buffer: &[u8]) -> io::Result<Option<(Request, usize)>> {
    let Some(head) = buffer.windows(4).position(|w| w == b"\r\n\r\n") else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&buffer[..head]).map_err(|_| io::ErrorKind::InvalidData)?;
    let mut lines = text.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let headers: Vec<_> = lines.filter_map(|line| line.split_once(':')).collect();
    let header = |name: &str| {
        let found = headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    };
    let length: usize = header("content-length")
        .and_then(|v| v.parse().ok())
        .unwrap_or(0);
    let end = head + 4 + length;
    if buffer.len() < end {
        return Ok(None);
    }
    let mut request = request_line(first).ok_or(io::ErrorKind::InvalidData)?;
    request.body = buffer[head + 4..end].to_vec();
    request.close |= header("connection").is_some_and(|v| v.eq_ignore_ascii_case("close"));
    Ok(Some((request, end)))
}

fn request_line(line: &str) -> Option<Request> {
    let mut parts = line.split(' ');
    let (method, target, version) = (parts.next()?, parts.next()?, parts.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Some(Request {
        method: method.to_owned(),
        path: path.trim_end_matches('/').to_owned(),
        query: query.split('&').filter_map(pair).collect(),
        body: Vec::new(),
        close: version == "HTTP/1.0",
    })
}

fn pair(text: &str) -> Option<(String, String)> {
    let (key, value) = text.split_once('=')?;
    Some((decode(key), decode(value)))
}

/// Undoes percent encoding.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            out.push(byte);
            at += 3;
        } else {
            out.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What is sent back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub body: String,
}

impl Response {
    /// 200 with a body.
    pub fn ok(body: impl Into<String>) -> Self {
        Self {
            status: 200,
            body: body.into(),
        }
    }

    /// A status without a body.
    pub fn empty(status: u16) -> Self {
        Self {
            status,
            body: String::new(),
        }
    }

    pub(super) fn bytes(&self, close: bool) -> Vec<u8> {
        let reason = match self.status {
            200 => "OK",
            400 => "Bad Request",
            404 => "Not Found",
            _ => "Internal Server Error",
        };
        let connection = if close { "close" } else { "keep-alive" };
        format!(
            "HTTP/1.1 {} {reason}\r\nContent-Length: {}\r\nConnection: {connection}\r\n\r\n{}",
            self.status,
            self.body.len(),
            self.body
        )
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let cases = [
            ("GET /status HTTP/1.1\r\n\r\n", Some(("GET", "/status", 0))),
            (
                "GET /status/?a=b HTTP/1.1\r\nHost: x\r\n\r\n",
                Some(("GET", "/status", 0)),
            ),
            ("GET / HTTP/1.1\r\n\r\n", Some(("GET", "", 0))),
            (
                "PUT /flags HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
                Some(("PUT", "/flags", 2)),
            ),
            ("PUT /flags HTTP/1.1\r\ncontent-length: 3\r\n\r\n{}", None),
            ("GET /status HTTP/1.1\r\n", None),
        ];
        for (text, expected) in cases {
            let found = parse(text.as_bytes()).expect("valid").map(|(r, _)| r);
            let found = found
                .as_ref()
                .map(|r| (r.method.as_str(), r.path.as_str(), r.body.len()));
            assert_eq!(found, expected, "{text:?}");
        }
        assert!(parse(b"nonsense\r\n\r\n").is_err());
        assert_eq!(decode("a%2Cb+c%zz"), "a,b c%zz");
    }
}
