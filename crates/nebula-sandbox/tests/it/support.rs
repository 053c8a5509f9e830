//! A cluster of real processes on loopback ports in a temporary folder, and a client for it.
#![allow(
    dead_code,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    unreachable_pub,
    reason = "each test binary uses its own part of this"
)]

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU16, Ordering},
    thread::sleep,
    time::{Duration, Instant},
};

use nebula_wire::{
    DataSet, Value,
    client::{ClientError, ConnectOptions, Connection},
};
use tempfile::TempDir;

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

/// One process.
#[derive(Debug)]
pub struct Daemon {
    pub role: &'static str,
    pub port: u16,
    pub http: u16,
    pub dir: PathBuf,
    args: Vec<String>,
    line: &'static str,
    child: Option<Child>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests start the daemons themselves"
)]
pub fn command(program: &str) -> Command {
    Command::new(program)
}

impl Daemon {
    /// Unless it runs.
    pub fn start_once(&mut self) {
        if self.child.is_none() {
            self.start();
        }
    }

    pub fn start(&mut self) {
        assert!(self.child.is_none(), "{} runs already", self.role);
        let log = fs::File::create(self.dir.join("output.txt")).expect("output file");
        let child = command(BINARY)
            .arg(self.role)
            .args(&self.args)
            .env("NEBULA_SANDBOX_LINE", self.line)
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        self.child = Some(child.expect("starts"));
    }

    /// One more flag, from the next start on; the last of its kind wins.
    pub fn with(&mut self, flag: impl Into<String>) -> &mut Self {
        self.args.push(flag.into());
        self
    }

    /// The text of a log file, by severity.
    pub fn log(&self, severity: &str) -> String {
        let path = self
            .dir
            .join(format!("logs/nebula-{}.{severity}", self.role));
        fs::read_to_string(path).unwrap_or_default()
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().ok();
            child.wait().expect("ends");
        }
    }

    /// SIGTERM; nobody waits for the end.
    pub fn terminate(&self) {
        let pid = self.pid().to_string();
        command("kill").arg(pid).status().expect("kill");
    }

    /// SIGTERM, and how long the end took.
    pub fn stop(&mut self) -> Duration {
        let started = Instant::now();
        if let Some(mut child) = self.child.take() {
            let pid = child.id().to_string();
            command("kill").arg(pid).status().expect("kill");
            child.wait().expect("ends");
        }
        started.elapsed()
    }

    /// The exit code when the process has ended.
    pub fn ended(&mut self) -> Option<i32> {
        let status = self.child.as_mut()?.try_wait().expect("wait")?;
        Some(status.code().unwrap_or(-1))
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("runs").id()
    }

    pub fn output(&self) -> String {
        fs::read_to_string(self.dir.join("output.txt")).unwrap_or_default()
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Body of an HTTP GET, `None` while nobody answers.
    pub fn get(&self, target: &str) -> Option<String> {
        http(self.http, "GET", target, "").map(|(_, body)| body)
    }

    pub fn set_flag(&self, name: &str, value: &str) {
        let body = format!("{{\"{name}\":\"{value}\"}}");
        let answer = http(self.http, "PUT", "/flags", &body).expect("http");
        assert_eq!(answer.1, "{\"errCode\": 0}", "{name}={value}");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
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

/// A blocking client.
#[derive(Debug)]
pub struct Client {
    runtime: tokio::runtime::Runtime,
    connection: Connection,
    pub session: i64,
}

pub type Answer = Result<Option<DataSet>, (i32, String)>;

impl Client {
    pub fn connect(port: u16) -> Self {
        Self::try_connect(port).expect("a session")
    }

    /// Why there is no session else.
    pub fn try_connect(port: u16) -> Result<Self, ClientError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("runtime");
        let address = format!("127.0.0.1:{port}");
        let (connection, session) = runtime.block_on(async {
            let options = ConnectOptions::default();
            let mut connection = Connection::connect(&address, &options).await?;
            let session = connection.authenticate("root", "nebula").await?;
            Ok::<_, ClientError>((connection, session.id))
        })?;
        Ok(Self {
            runtime,
            connection,
            session,
        })
    }

    /// A further session on the same connection.
    pub fn authenticate(&mut self, user: &str, password: &str) -> Result<i64, (i32, String)> {
        let made = self
            .runtime
            .block_on(self.connection.authenticate(user, password));
        match made {
            Ok(session) => Ok(session.id),
            Err(ClientError::Refused { code, message, .. }) => Err((code, message)),
            Err(error) => Err((0, error.to_string())),
        }
    }

    /// Ends a session.
    pub fn sign_out(&mut self, session: i64) {
        let sent = self.runtime.block_on(self.connection.signout(session));
        sent.expect("signout");
    }

    /// Runs a statement; a broken connection is error 0.
    pub fn run(&mut self, statement: &str) -> Answer {
        self.runtime.block_on(async {
            let reply = self
                .connection
                .execute(self.session, statement.as_bytes())
                .await;
            let reply = reply.map_err(|error| (0, error.to_string()))?;
            if reply.is_ok() {
                return Ok(reply.data().expect("decodes"));
            }
            Err((reply.code(), reply.error_text().into_owned()))
        })
    }

    /// The table of a statement that must succeed (empty when it has none).
    pub fn ok(&mut self, statement: &str) -> DataSet {
        match self.run(statement) {
            Ok(table) => table.unwrap_or_default(),
            Err(error) => panic!("{statement}: {error:?}"),
        }
    }

    /// Repeats a statement until it succeeds: schema changes take a heartbeat to arrive.
    pub fn until(&mut self, statement: &str) -> DataSet {
        let mut last = None;
        for _ in 0..400 {
            match self.run(statement) {
                Ok(table) => return table.unwrap_or_default(),
                Err(error) => last = Some(error),
            }
            sleep(Duration::from_millis(50));
        }
        panic!("{statement}: {last:?}");
    }

    /// Code and text of a statement that must fail.
    pub fn fails(&mut self, statement: &str) -> (i32, String) {
        match self.run(statement) {
            Ok(table) => panic!("{statement} succeeded: {table:?}"),
            Err(error) => error,
        }
    }

    /// Runs a job to its end.
    pub fn job(&mut self, statement: &str) {
        let id = self.ok(statement).rows[0][0].as_int().expect("job id");
        wait(statement, || {
            let table = self.ok(&format!("SHOW JOB {id}"));
            table.rows[0][2] == Value::from("FINISHED")
        });
    }

    /// Rows of `SHOW STATS` as (name, count), once graphd knows them.
    pub fn counts(&mut self) -> Vec<(String, i64)> {
        self.job("SUBMIT JOB STATS");
        // The numbers come with the next heartbeat.
        sleep(Duration::from_millis(1700));
        let table = self.until("SHOW STATS");
        let row = |row: &Vec<Value>| {
            (
                row[1].as_str().expect("name").to_owned(),
                row[2].as_int().expect("count"),
            )
        };
        table.rows.iter().map(row).collect()
    }
}
