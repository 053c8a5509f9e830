//! One process of a cluster.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::{BINARY, http};

/// One process.
#[derive(Debug)]
pub struct Daemon {
    pub role: &'static str,
    pub port: u16,
    pub http: u16,
    pub dir: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) line: &'static str,
    pub(super) child: Option<Child>,
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
