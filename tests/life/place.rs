//! One host: this machine behind an sshd of the test, and the program under test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use nebula_wire::client::{ConnectOptions, Connection};

use crate::bed::journal;
use crate::kill::Hosts;
use crate::ran::{Ran, nbctl};
use crate::sshd::{Sshd, free_port};

pub(crate) struct Place {
    sshd: Sshd,
    work: tempfile::TempDir,
    inventory: PathBuf,
    base: u16,
}

impl Place {
    /// `None`, and a word about it, when something is missing here.
    pub(crate) async fn start() -> Option<Self> {
        Self::of_line("3.8.0").await
    }

    /// With the package of a line.
    pub(crate) async fn of_line(line: &str) -> Option<Self> {
        let sandbox = Path::new(env!("CARGO_BIN_EXE_nbctl")).with_file_name("nebula-sandbox");
        if !sandbox.exists() {
            eprintln!("left out: {} is not built", sandbox.display());
            return None;
        }
        let place = Self::with("", "").await?;
        if line != "3.8.0" {
            place.edit("version: 3.8.0", &format!("version: {line}"));
        }
        place.package(line);
        Some(place)
    }

    /// Port of a daemon of the first host.
    pub(crate) fn port(&self, role: &str) -> u16 {
        match role {
            "metad" => self.base,
            "graphd" => self.base + 10,
            _ => self.base + 20,
        }
    }

    /// Address and port of it.
    pub(crate) fn endpoint(&self, role: &str) -> String {
        format!("127.0.0.1:{}", self.port(role))
    }

    /// How `adopt` gets in.
    pub(crate) fn ssh_arguments(&self) -> Vec<String> {
        let path = |name: &str| self.sshd.dir.path().join(name).display().to_string();
        let port = self.sshd.port.to_string();
        [
            ("--ssh-port", port),
            ("--identity", path("key")),
            ("--ssh-config", path("empty")),
        ]
        .into_iter()
        .flat_map(|(name, value)| [name.to_owned(), value])
        .collect()
    }

    /// Whether graphd talks to who does not encrypt.
    pub(crate) async fn lets_in_plain(&self) -> bool {
        self.asked("YIELD 1").await
    }

    /// Asks until it succeeds: a graphd that was just started may not be up.
    pub(crate) async fn ask_when_up(&self, statement: &str) {
        let end = std::time::Instant::now() + Duration::from_mins(1);
        while !self.asked(statement).await {
            assert!(std::time::Instant::now() < end, "{statement}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn asked(&self, statement: &str) -> bool {
        let options = ConnectOptions::default();
        let Ok(mut connection) = Connection::connect(&self.endpoint("graphd"), &options).await
        else {
            return false;
        };
        let Ok(session) = connection.authenticate("root", "nebula").await else {
            return false;
        };
        let reply = connection.execute(session.id, statement.as_bytes()).await;
        let good = reply.is_ok_and(|reply| reply.is_ok());
        drop(connection.signout(session.id).await);
        good
    }

    /// Until the storaged listens: it does once it was added.
    pub(crate) async fn online(&self) {
        let end = std::time::Instant::now() + Duration::from_mins(1);
        while std::net::TcpStream::connect(self.endpoint("storaged")).is_err() {
            assert!(std::time::Instant::now() < end, "storaged does not come up");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Makes the package of a line.
    pub(crate) fn package(&self, line: &str) {
        let packages = self.dir().join("packages").display().to_string();
        let made = [
            "sandbox", "package", "--type", "tar.gz", "--line", line, "--out", &packages,
        ];
        self.nbctl(&made).good();
    }

    /// The entry of a second host, which is this machine again with folders and ports of its own.
    pub(crate) fn second(&self) -> String {
        let base = self.base + 30;
        let ports =
            |role: &str, port: u16| format!("{role}: {{port: {port}, http_port: {}}}", port + 5);
        format!(
            "  - {{name: two, address: 127.0.0.1, roles: [graphd, storaged], deploy_dir: {}, {}, {}}}\n",
            self.dir().join("second").display(),
            ports("graphd", base + 10),
            ports("storaged", base + 20)
        )
    }

    /// Without a package, and with a second host that is dead.
    pub(crate) async fn bare() -> Option<Self> {
        let port = free_port();
        let dead =
            "  - {name: dead, address: 127.0.0.1, roles: [load], ssh: {host: 127.0.0.1, port: ";
        Self::with(&format!("{dead}{port}}}}}\n"), "").await
    }

    /// Without a package, and with lines for the configuration of sshd.
    pub(crate) async fn behind(sshd: &str) -> Option<Self> {
        Self::with("", sshd).await
    }

    async fn with(more_hosts: &str, sshd: &str) -> Option<Self> {
        let sshd = Sshd::start(sshd).await?;
        let work = tempfile::Builder::new()
            .prefix("nbl")
            .tempdir_in("/tmp")
            .unwrap();
        let inventory = work.path().join("inventory.yaml");
        let place = Self {
            sshd,
            work,
            inventory,
            base: base_port(),
        };
        fs::write(&place.inventory, place.text() + more_hosts).unwrap();
        Some(place)
    }

    fn text(&self) -> String {
        let dir = self.dir().display();
        let base = self.base;
        let key = self.sshd.dir.path().join("key");
        let empty = self.sshd.dir.path().join("empty");
        fs::write(&empty, "").unwrap();
        let ports =
            |role: &str, port: u16| format!("{role}: {{port: {port}, http_port: {}}}", port + 5);
        format!(
            "format: 1\ncluster: life\nnebula: {{version: 3.8.0, packages: {dir}/packages, deploy_dir: {}, \
             flags: {{heartbeat_interval_secs: 1}}}}\n\
             ssh: {{port: {}, identity_file: {}, config_file: {}}}\nload: {{dir: {dir}/load}}\nhosts:\n  - {{name: one, address: 127.0.0.1, \
             roles: [metad, graphd, storaged], {}, {}, {}}}\n",
            self.root().display(),
            self.sshd.port,
            key.display(),
            empty.display(),
            ports("metad", base),
            ports("graphd", base + 10),
            ports("storaged", base + 20),
        )
    }

    /// What the inventory says.
    pub(crate) fn inventory(&self) -> String {
        fs::read_to_string(&self.inventory).unwrap()
    }

    /// The inventory says something else from now on.
    pub(crate) fn write(&self, text: &str) {
        fs::write(&self.inventory, text).unwrap();
    }

    /// A part of it is another one.
    pub(crate) fn edit(&self, from: &str, to: &str) {
        let text = self.inventory();
        assert!(text.contains(from), "{text}");
        self.write(&text.replace(from, to));
    }

    /// Another host, for instance.
    pub(crate) fn append(&self, text: &str) {
        self.write(&(self.inventory() + text));
    }

    /// Number of rows of the answer of graphd.
    pub(crate) async fn ask(&self, statement: &str) -> usize {
        let address = format!("127.0.0.1:{}", self.base + 10);
        let options = ConnectOptions::default();
        let mut connection = Connection::connect(&address, &options).await.unwrap();
        let session = connection.authenticate("root", "nebula").await.unwrap().id;
        let reply = connection
            .execute(session, statement.as_bytes())
            .await
            .unwrap();
        assert!(reply.is_ok(), "{statement}: {}", reply.error_text());
        let rows = reply.data().unwrap().unwrap_or_default().rows.len();
        connection.signout(session).await.unwrap();
        rows
    }

    /// Processes of the sshd that serve connections.
    pub(crate) fn serving(&self) -> Vec<u32> {
        self.sshd.serving()
    }

    pub(crate) fn dir(&self) -> &Path {
        self.work.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir().join("nebula")
    }

    pub(crate) fn nbctl(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args), args)
    }

    /// Deploys; a second time there is nothing to do.
    #[track_caller]
    pub(crate) fn deployed(&self) {
        let deploy = ["deploy", "--yes"];
        self.nbctl(&deploy).good().says("deployed and verified");
        self.nbctl(&deploy).good().says("nothing to do");
    }

    /// Started with standard error as a pipe, and left to the caller.
    pub(crate) fn spawn_heard(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("nbctl starts")
    }

    /// The process of this program.
    pub(crate) fn pid(&self, program: &str) -> u32 {
        let runs = |pid: &u32| {
            let exe = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
            exe.ends_with(program)
        };
        let pids: Vec<u32> = self.processes().into_iter().filter(runs).collect();
        assert_eq!(pids.len(), 1, "{program}");
        pids[0]
    }

    fn processes(&self) -> Vec<u32> {
        let root = self.dir();
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let ours = |pid: &u32| {
            let exe = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
            let name = exe.file_name().unwrap_or_default().to_string_lossy();
            exe.starts_with(root) && name.starts_with("nebula-")
        };
        pids.filter(ours).collect()
    }

    /// How many daemons of this place run.
    pub(crate) fn daemons(&self) -> usize {
        self.processes().len()
    }

    pub(crate) fn leases(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root()).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.contains("lease")).collect()
    }

    /// Takes the port of metad.
    pub(crate) fn listen_on_metad(&self) -> std::net::TcpListener {
        std::net::TcpListener::bind(("127.0.0.1", self.base)).unwrap()
    }

    /// Somebody on another machine works here, and renewed so many seconds ago.
    pub(crate) fn foreign_lease(&self, age: u64) {
        let path = self.root().join(".nbctl-lease");
        let text = "nbctl-lease 1\ntoken=feed\ncommand=upgrade\nuser=mia\ncontrol=far-away\nmachine=other\npid=1\n\
                    started=1\nscripts=nbctl-00000000000000ff\ntime=2026-11-30T15:00:00Z\n";
        fs::write(&path, text).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        let time = SystemTime::now() - Duration::from_secs(age);
        file.set_modified(time).unwrap();
    }

    /// A pid file of graphd that names the sshd; its pid.
    pub(crate) fn stale_pid_file(&self) -> u32 {
        let pid = self.sshd.child.id().unwrap();
        let file = self.root().join("pids/nebula-graphd.pid");
        fs::write(file, format!("{pid}\n")).unwrap();
        pid
    }
}

impl Hosts for Place {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = nbctl(self.dir(), &self.inventory, args);
        command.env("XDG_RUNTIME_DIR", self.sshd.dir.path());
        command
    }

    fn journal(&self) -> String {
        journal(self.dir())
    }

    fn remains(&self) -> String {
        format!(
            "{} daemons, folder: {}",
            self.daemons(),
            self.root().exists()
        )
    }
}

/// Whatever a failed assertion left running.
impl Drop for Place {
    fn drop(&mut self) {
        for pid in self.processes() {
            drop(
                Command::new("kill")
                    .args(["-KILL", &pid.to_string()])
                    .status(),
            );
        }
    }
}

/// Ports below the kernel's own range, so that no client socket of another test takes one meanwhile.
fn base_port() -> u16 {
    for _ in 0..200 {
        let base = 10_000 + free_port() % 20_000;
        let free = |offset| std::net::TcpListener::bind(("127.0.0.1", base + offset)).is_ok();
        if (0..60).all(free) {
            return base;
        }
    }
    panic!("no free ports");
}
