//! Server side: answers the requests of a connection in their order, one write per batch of requests read.

use std::{future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::{Buf, BytesMut};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{HEAD, MAX_FRAME, frame_head};

/// What answers requests.
pub trait Service: Send + Sync + 'static {
    /// Appends the answer's body to `out` and returns its status.
    fn call(&self, op: u8, body: &[u8], out: &mut Vec<u8>) -> impl Future<Output = u8> + Send;
}

/// Binds a port on all interfaces, as the daemons do whatever their `local_ip` is.
pub fn listen(port: u16) -> io::Result<TcpListener> {
    let listener = std::net::TcpListener::bind(SocketAddr::from(([0, 0, 0, 0], port)))?;
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// Accepts connections for ever.
pub async fn serve<S: Service>(listener: TcpListener, service: Arc<S>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(connection(stream, Arc::clone(&service)))),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn connection<S: Service>(mut stream: TcpStream, service: Arc<S>) {
    stream.set_nodelay(true).ok();
    let mut input = BytesMut::with_capacity(64 << 10);
    let mut output = Vec::new();
    loop {
        input.reserve(16 << 10);
        match stream.read_buf(&mut input).await {
            Ok(count) if count > 0 => {}
            _ => return,
        }
        if answer_all(&mut input, &mut output, &*service)
            .await
            .is_err()
        {
            return;
        }
        if stream.write_all(&output).await.is_err() {
            return;
        }
        output.clear();
    }
}

async fn answer_all<S: Service>(
    input: &mut BytesMut,
    output: &mut Vec<u8>,
    service: &S,
) -> Result<(), ()> {
    while let Some((whole, number, op)) = frame_head(input) {
        if !(HEAD..=MAX_FRAME).contains(&whole) {
            return Err(());
        }
        let Some(frame) = input.get(..whole) else {
            return Ok(());
        };
        let start = output.len();
        super::put_frame(output, number, 0, &[]);
        let status = service.call(op, &frame[HEAD..], output).await;
        let length = u32::try_from(output.len() - start - 4).unwrap_or(u32::MAX);
        output[start..start + 4].copy_from_slice(&length.to_le_bytes());
        output[start + 8] = status;
        input.advance(whole);
    }
    Ok(())
}
