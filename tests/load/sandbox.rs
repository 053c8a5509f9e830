//! A sandbox cluster of three processes on loopback, gone with the test.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nbctl_core::dataset::Schema;
use nebula_wire::client::{ConnectOptions, Connection};
use nebula_wire::value::{DataSet, Value};

pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
    binary: PathBuf,
    base: u16,
    daemons: Vec<Child>,
}

impl Sandbox {
    /// `None`, and a word about it, when the program was not built.
    pub(crate) fn start() -> Option<Self> {
        let binary = Path::new(env!("CARGO_BIN_EXE_nbctl")).with_file_name("nebula-sandbox");
        if !binary.exists() {
            eprintln!("left out: {} is not built", binary.display());
            return None;
        }
        let base = free_ports();
        let dir = tempfile::tempdir().unwrap();
        let mut sandbox = Self {
            dir,
            binary,
            base,
            daemons: Vec::new(),
        };
        for (role, port) in [("metad", 0), ("storaged", 8), ("graphd", 4)] {
            let child = sandbox.daemon(role, port);
            sandbox.daemons.push(child);
            // A storaged of 3.x opens its port once it was added.
            if role != "storaged" {
                sandbox.wait_for(port);
            }
        }
        sandbox.ask("", &format!("ADD HOSTS 127.0.0.1:{}", base + 8));
        Some(sandbox)
    }

    fn daemon(&self, role: &str, offset: u16) -> Child {
        let place = self.dir.path().join(role);
        std::fs::create_dir_all(&place).unwrap();
        let (port, http) = (self.base + offset, self.base + offset + 20);
        let mut command = Command::new(&self.binary);
        command
            .arg(role)
            .current_dir(&place)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.args([
            "--daemonize=false",
            "--local_ip=127.0.0.1",
            "--heartbeat_interval_secs=1",
        ]);
        command.arg(format!("--meta_server_addrs=127.0.0.1:{}", self.base));
        command.args([format!("--port={port}"), format!("--ws_http_port={http}")]);
        if role != "graphd" {
            command.args(["--data_path=data", "--minimum_reserved_bytes=1"]);
        }
        command.spawn().unwrap()
    }

    fn wait_for(&self, offset: u16) {
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", self.base + offset)).is_ok() {
                return;
            }
            sleep(Duration::from_millis(50));
        }
        panic!("the daemon at offset {offset} does not start");
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Of graphd.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.base + 4)
    }

    /// `PUT /flags` of a daemon.
    pub(crate) fn set_flags(&self, role: &str, flags: &str) {
        let offset = if role == "graphd" { 4 } else { 8 };
        let mut stream = TcpStream::connect(("127.0.0.1", self.base + offset + 20)).unwrap();
        let length = flags.len();
        write!(stream, "PUT /flags HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{flags}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// SIGKILL, a second of nothing, and a new one.
    pub(crate) fn restart_graphd(&mut self) {
        let mut graphd = self.daemons.pop().unwrap();
        graphd.kill().unwrap();
        graphd.wait().unwrap();
        sleep(Duration::from_secs(1));
        let child = self.daemon("graphd", 4);
        self.daemons.push(child);
        self.wait_for(4);
    }

    pub(crate) fn make_space(&self, name: &str, schema: &Schema) {
        let space =
            format!("CREATE SPACE {name}(partition_num=6, replica_factor=1, vid_type=int64)");
        self.ask("", &space);
        for statement in schema.create_types() {
            self.ask(name, &statement);
        }
    }

    /// Name and count of every row of `SHOW STATS`.
    pub(crate) fn stats(&self, space: &str) -> std::collections::BTreeSet<(String, u64)> {
        self.ask(space, "SUBMIT JOB STATS");
        // The numbers come with a later heartbeat.
        sleep(Duration::from_secs(4));
        let table = self.ask(space, "SHOW STATS");
        let row = |row: &Vec<Value>| match (&row[1], &row[2]) {
            (Value::String(name), Value::Int(count)) => (
                String::from_utf8_lossy(name).into_owned(),
                u64::try_from(*count).unwrap(),
            ),
            other => panic!("{other:?}"),
        };
        table.rows.iter().map(row).collect()
    }

    /// Repeats a statement until it is understood: schemas travel by heartbeat.
    fn ask(&self, space: &str, statement: &str) -> DataSet {
        let mut last = String::new();
        for _ in 0..200 {
            match self.once(space, statement) {
                Ok(table) => return table,
                Err(error) => last = error,
            }
            sleep(Duration::from_millis(100));
        }
        panic!("{statement}: {last}");
    }

    fn once(&self, space: &str, statement: &str) -> Result<DataSet, String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let text = |error: nebula_wire::client::ClientError| error.to_string();
            let options = ConnectOptions::default();
            let mut connection = Connection::connect(&self.address(), &options)
                .await
                .map_err(text)?;
            let session = connection
                .authenticate("root", "nebula")
                .await
                .map_err(text)?
                .id;
            if !space.is_empty() {
                let used = connection
                    .execute(session, format!("USE {space}").as_bytes())
                    .await;
                let used = used.map_err(text)?;
                if !used.is_ok() {
                    return Err(used.error_text().into_owned());
                }
            }
            let reply = connection
                .execute(session, statement.as_bytes())
                .await
                .map_err(text)?;
            let answer = if reply.is_ok() {
                Ok(reply.data().unwrap().unwrap_or_default())
            } else {
                Err(reply.error_text().into_owned())
            };
            connection.signout(session).await.ok();
            answer
        })
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        for child in &mut self.daemons {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// Forty ports in a row that nobody listens on, below the range the kernel hands out.
fn free_ports() -> u16 {
    let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let start = u16::try_from(std::process::id() % 100).unwrap() * 40 + 24_000;
    let mut bases = (start..32_000).step_by(40);
    bases.find(|base| (*base..base + 40).all(free)).unwrap()
}
