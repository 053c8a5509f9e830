//! One worker process, talked to as `phase::worker` does.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub(crate) struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Worker {
    pub(crate) fn start(address: &str, work: &Value) -> Self {
        let job = json!({
            "format": 1, "silence_s": null, "work": work,
            "graph": {"addresses": [address], "user": "root", "password": "nebula", "space": "snb"},
        });
        Self::raw(&format!("{job}\n"))
    }

    pub(crate) fn raw(input: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_nbctl"))
            .arg("worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            child,
            stdin: Some(stdin),
            lines,
        }
    }

    pub(crate) fn line(&mut self) -> Option<Value> {
        let line = self.lines.next()?.unwrap();
        Some(serde_json::from_str(&line).unwrap())
    }

    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn terminate(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").arg(pid).status().unwrap().success());
    }

    /// Exit code and last message.
    pub(crate) fn finish(mut self) -> (i32, Value) {
        let mut last = Value::Null;
        while let Some(value) = self.line() {
            last = value;
        }
        (self.child.wait().unwrap().code().unwrap_or(-1), last)
    }
}
