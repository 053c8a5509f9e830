//! One-hop reads over loopback: a server on one core, the client on another, both of this crate.

use std::io;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nebula_wire::Line;
use nebula_wire::client::{ConnectOptions, Connection};
use nebula_wire::message::Call;
use nebula_wire::response::{ExecutionResponse, Latency};
use nebula_wire::server::{DEFAULT_MAX_REQUEST, next_request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

use crate::table;

const CONNECTIONS: usize = 16;
const ROWS: i64 = 10;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(1);

type Failure = Box<dyn std::error::Error>;

/// Reads per second that two cores are good for, client and server together: closed loop over
/// [`CONNECTIONS`] connections, [`ROWS`] rows a reply, divided by the CPU time it took;
/// the best of [`ROUNDS`].
pub(crate) fn reads_per_two_cores() -> Result<f64, Failure> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let served = runtime().and_then(|runtime| runtime.block_on(serve(&tell)));
        drop(served);
    });
    let addr = told.recv()?;
    let runtime = runtime()?;
    let mut best = 0.0_f64;
    for _ in 0..ROUNDS {
        best = best.max(runtime.block_on(read_from(&addr))?);
    }
    Ok(best)
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

async fn read_from(addr: &str) -> Result<f64, Failure> {
    let (started, cpu) = (Instant::now(), cpu_seconds()?);
    let mut readers = Vec::new();
    for _ in 0..CONNECTIONS {
        let addr = addr.to_owned();
        readers.push(tokio::spawn(read(addr, started + ROUND)));
    }
    let mut reads = 0.0;
    for reader in readers {
        reads += reader.await??;
    }
    Ok(2.0 * reads / (cpu_seconds()? - cpu))
}

/// User and system time of this process; the kernel counts in hundredths of a second.
fn cpu_seconds() -> Result<f64, Failure> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat
        .rsplit_once(')')
        .ok_or("no command name in /proc/self/stat")?;
    let ticks = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>()? / 100.0)
}

async fn read(addr: String, until: Instant) -> Result<f64, nebula_wire::client::ClientError> {
    let options = ConnectOptions {
        line: Some(Line::V3),
        ..ConnectOptions::default()
    };
    let mut connection = Connection::connect(&addr, &options).await?;
    let mut reads = 0.0;
    while Instant::now() < until {
        let reply = connection
            .execute(1, b"GO FROM 933 OVER KNOWS YIELD dst(edge)")
            .await?;
        assert_eq!(
            i64::try_from(reply.row_count()),
            Ok(ROWS),
            "rows are missing"
        );
        reads += 1.0;
    }
    Ok(reads)
}

async fn serve(tell: &mpsc::Sender<String>) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    drop(tell.send(listener.local_addr()?.to_string()));
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(answer(stream));
    }
}

async fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut received, mut replies) = (Vec::with_capacity(16 * 1024), Vec::new());
    while stream.read_buf(&mut received).await? > 0 {
        let mut done = 0;
        while let Ok(Some((request, consumed))) =
            next_request(&received[done..], DEFAULT_MAX_REQUEST)
        {
            if matches!(request.method, Call::Execute { .. }) {
                let data = Some(table(ROWS));
                let response = ExecutionResponse::ok(Latency::Wide(100), b"snb", data);
                request
                    .reply()
                    .execution(&mut replies, response)
                    .map_err(io::Error::other)?;
            }
            done += consumed;
        }
        received.drain(..done);
        stream.write_all(&replies).await?;
        replies.clear();
    }
    Ok(())
}
