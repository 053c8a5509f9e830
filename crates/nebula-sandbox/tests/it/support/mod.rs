//! A cluster of real processes on loopback ports in a temporary folder, and a client for it.
#![allow(
    dead_code,
    unused_imports,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    unreachable_pub,
    reason = "each test binary uses its own part of this"
)]

mod client;
mod daemon;

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::atomic::{AtomicU16, Ordering},
    thread::sleep,
    time::{Duration, Instant},
};

use tempfile::TempDir;

pub use self::{
    client::Client,
    daemon::{Daemon, command},
};

/// The program under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_nebula-sandbox");

static NEXT: AtomicU16 = AtomicU16::new(0);

/// Forty ports in a row that nobody listens on, below the range the kernel hands out.
pub fn free_ports() -> u16 {
    let seed = u16::try_from(std::process::id() % 500).expect("small");
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let base = 12_000 + (seed + step * 37) % 500 * 40;
        let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if (base..base + 40).all(free) {
            return base;
        }
    }
}

/// Status and body.
pub fn http(port: u16, method: &str, target: &str, body: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let length = body.len();
    write!(
        stream,
        "{method} {target} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}

/// Waits until `ready` holds; fails after half a minute.
pub fn wait(what: &str, mut ready: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !ready() {
        assert!(Instant::now() < deadline, "timed out: {what}");
        sleep(Duration::from_millis(30));
    }
}

pub fn is_open(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// Processes of one cluster.
#[derive(Debug)]
pub struct Cluster {
    pub metads: Vec<Daemon>,
    pub graphd: Daemon,
    pub storageds: Vec<Daemon>,
    pub line: &'static str,
    dir: TempDir,
}

impl Cluster {
    /// Nothing is started yet.
    pub fn plan(line: &'static str, metads: u16, storageds: u16) -> Self {
        let dir = tempfile::tempdir().expect("tempdir");
        let base = free_ports();
        let meta_ports: Vec<_> = (0..metads).map(|n| base + 2 * n).collect();
        let addresses: Vec<_> = meta_ports
            .iter()
            .map(|port| format!("127.0.0.1:{port}"))
            .collect();
        let addresses = addresses.join(",");
        let daemon = |role, port: u16, http, extra: &[&str]| {
            let place = dir.path().join(format!("{role}-{port}"));
            fs::create_dir_all(&place).expect("folder");
            let mut args = vec![
                "--daemonize=false".to_owned(),
                "--local_ip=127.0.0.1".to_owned(),
                format!("--port={port}"),
                format!("--ws_http_port={http}"),
                format!("--meta_server_addrs={addresses}"),
                "--heartbeat_interval_secs=1".to_owned(),
            ];
            if !line.starts_with('3') {
                // Any port: nobody asks there.
                args.push("--ws_h2_port=0".to_owned());
            }
            args.extend(extra.iter().map(|arg| (*arg).to_owned()));
            Daemon {
                role,
                port,
                http,
                dir: place,
                args,
                line,
                child: None,
            }
        };
        let reserve = if line == "2.0.1" {
            "--v=0"
        } else {
            "--minimum_reserved_bytes=1"
        };
        let meta = |n: u16| {
            let extra = ["--data_path=data/meta", "--sandbox_job_ms=100", reserve];
            daemon("metad", base + 2 * n, base + 30 + n, &extra)
        };
        let storage = |n: u16| {
            daemon(
                "storaged",
                base + 12 + 4 * n,
                base + 36 + n,
                &["--data_path=data/storage", reserve],
            )
        };
        Self {
            metads: (0..metads).map(meta).collect(),
            graphd: daemon("graphd", base + 8, base + 35, &[]),
            storageds: (0..storageds).map(storage).collect(),
            line,
            dir,
        }
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Everything up, hosts added and online.
    pub fn start(line: &'static str, storageds: u16) -> Self {
        let mut cluster = Self::plan(line, 1, storageds);
        cluster.start_all();
        cluster
    }

    pub fn start_all(&mut self) {
        self.start_rest();
    }

    /// Starts what does not run yet, as `start_all`.
    pub fn start_rest(&mut self) {
        for metad in &mut self.metads {
            metad.start_once();
        }
        for metad in &self.metads {
            wait("metad", || is_open(metad.port) || !is_open(metad.http));
        }
        wait("metad leads", || is_open(self.metads[0].port));
        for storaged in &mut self.storageds {
            storaged.start();
        }
        self.graphd.start();
        wait("graphd", || is_open(self.graphd.port));
        if self.line.starts_with('3') {
            let mut client = self.client();
            for storaged in &self.storageds {
                client.ok(&format!("ADD HOSTS {}", storaged.address()));
            }
        }
        self.wait_storage();
    }

    pub fn wait_storage(&self) {
        for storaged in &self.storageds {
            wait("storaged", || storaged.get("/status").is_some());
        }
    }

    pub fn client(&self) -> Client {
        Client::connect(self.graphd.port)
    }

    /// A space that every daemon knows, with tag and edge types made by `schema`.
    pub fn space(&self, vid_type: &str, schema: &str) -> Client {
        let mut client = self.client();
        client.ok(&format!(
            "CREATE SPACE s(partition_num=10, replica_factor=1, vid_type={vid_type})"
        ));
        client.until("USE s");
        client.ok(schema);
        client
    }
}
