//! A server whose first folder says how it behaves.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use nbctl_core::units::Sha256;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::Asked;

/// Large enough for several pieces.
pub(crate) fn body() -> Vec<u8> {
    (0..300_000_u32).flat_map(u32::to_le_bytes).collect()
}

#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Asked>>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Asked::new()));
        let log = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&log)));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self, behaviour: &str) -> String {
        format!("http://{}/{behaviour}", self.address)
    }

    /// First bytes asked for, request by request.
    pub(crate) fn asked(&self, path: &str) -> Vec<Option<u64>> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.get(path).cloned().unwrap_or_default()
    }
}

/// One request a connection; how it ends does not matter here.
async fn serve(stream: TcpStream, log: Arc<Mutex<Asked>>) {
    let mut stream = BufReader::new(stream);
    let (mut path, mut from) = (String::new(), None);
    let mut line = String::new();
    while stream.read_line(&mut line).await.is_ok_and(|read| read > 2) {
        if let Some(rest) = line.strip_prefix("GET ") {
            path = rest.split(' ').next().unwrap().to_owned();
        }
        let lower = line.to_ascii_lowercase();
        if let Some(range) = lower.strip_prefix("range: bytes=") {
            from = range.split('-').next().unwrap().parse().ok();
        }
        line.clear();
    }
    let seen = {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = log.entry(path.clone()).or_default();
        seen.push(from);
        seen.len()
    };
    let behaviour = path.split('/').nth(1).unwrap_or_default().to_owned();
    let answer = answer(&behaviour, path.ends_with(".sha256sum.txt"), from, seen);
    drop(stream.get_mut().write_all(&answer).await);
    drop(stream.get_mut().shutdown().await);
}

/// Bytes on the wire; fewer than the header promises is a cut.
fn answer(behaviour: &str, checksum: bool, from: Option<u64>, seen: usize) -> Vec<u8> {
    if checksum {
        return match behaviour {
            "missing" | "no-checksum" => status("404 Not Found"),
            "no-sum" => whole(b"<html>not found</html>"),
            _ => whole(
                format!("{}  ./pkg-build/cpack_output/x.rpm\n", Sha256::of(&body())).as_bytes(),
            ),
        };
    }
    match behaviour {
        "missing" => status("404 Not Found"),
        "forbidden" => status("403 Forbidden"),
        "stumbles" if seen <= 2 => status("503 Service Unavailable"),
        "liar" => whole(b"something else altogether"),
        "cut-without-range" if seen == 1 => cut(part(None), 500_000),
        "cut-without-range" => part(None),
        "breaks" if seen > 1 => status("500 Internal Server Error"),
        "cut" | "breaks" => cut(part(from), 500_000),
        _ => part(from),
    }
}

fn cut(mut bytes: Vec<u8>, at: usize) -> Vec<u8> {
    bytes.truncate(at);
    bytes
}

fn part(from: Option<u64>) -> Vec<u8> {
    let body = body();
    let Some(from) = from else {
        return whole(&body);
    };
    let from = usize::try_from(from).unwrap();
    if from >= body.len() {
        return status("416 Range Not Satisfiable");
    }
    let rest = &body[from..];
    let head = format!(
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{}/{}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len() - 1,
        body.len(),
        rest.len()
    );
    [head.as_bytes(), rest].concat()
}

fn whole(body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn status(line: &str) -> Vec<u8> {
    format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").into_bytes()
}
