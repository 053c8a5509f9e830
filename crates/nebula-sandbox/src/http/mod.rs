//! The daemons' HTTP admin service: a small HTTP/1.1 server on a thread of its own, so that it answers while the
//! daemon works.

mod message;
mod routes;

use std::{
    io,
    net::{SocketAddr, TcpListener as StdListener},
    sync::Arc,
    time::Duration,
};

pub use message::{Request, Response};
pub use routes::{Extra, Router};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

/// Seconds after which an idle connection is closed.
const IDLE: Duration = Duration::from_mins(1);
/// Bytes of the largest request taken.
const MAX_REQUEST: usize = 1 << 20;

/// Binds `address` and serves `router` until the process ends. Fails when the port is taken.
pub fn serve(address: SocketAddr, router: Arc<Router>) -> io::Result<()> {
    let listener = StdListener::bind(address)?;
    listener.set_nonblocking(true)?;
    std::thread::Builder::new()
        .name("http".to_owned())
        .spawn(move || run(listener, &router))
        .map(drop)
}

fn run(listener: StdListener, router: &Arc<Router>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async move {
        let Ok(listener) = TcpListener::from_std(listener) else {
            return;
        };
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(connection(stream, Arc::clone(router)))),
                // Out of file descriptors: wait for some to be closed.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    });
}

async fn connection(mut stream: TcpStream, router: Arc<Router>) {
    let mut buffer = Vec::new();
    while let Ok(Ok(Some(request))) = timeout(IDLE, next_request(&mut stream, &mut buffer)).await {
        let close = request.close;
        let reply = router.answer(&request).bytes(close);
        if stream.write_all(&reply).await.is_err() || close {
            return;
        }
    }
}

async fn next_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<Request>> {
    loop {
        if let Some((request, used)) = message::parse(buffer)? {
            buffer.drain(..used);
            return Ok(Some(request));
        }
        if buffer.len() > MAX_REQUEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}
