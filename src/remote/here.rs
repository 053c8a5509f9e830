//! Long local programs whose lines are shown as they come (the scripts of the test bed).
//!
//! Duty: tell lines, keep the last ones for the failure.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Stdio;

use nbctl_core::failure::Failure;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// Lines kept for a failure.
const KEPT: usize = 20;

/// A program of this machine.
#[derive(Debug)]
pub struct Here<'a> {
    /// Path of the program.
    pub program: &'a Path,
    /// Arguments.
    pub args: &'a [&'a str],
    /// Added to the environment; never a secret.
    pub env: &'a [(&'a str, String)],
}

impl Here<'_> {
    /// Runs it to its end; every line of its standard error goes to `line`, its standard output is given back.
    ///
    /// # Errors
    /// It cannot be started, or ends with another code than 0: its last lines are in the failure.
    pub async fn run(&self, mut line: impl FnMut(&str)) -> Result<String, Failure> {
        let shown = format!("{} {}", self.program.display(), self.args.join(" "));
        let io = |error: std::io::Error| {
            Failure::step(format!("cannot run it: {error}")).at(shown.clone())
        };
        let mut child = tokio::process::Command::new(self.program)
            .args(self.args)
            .envs(self.env.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(io)?;
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        let out = async {
            let mut text = String::new();
            if let Some(pipe) = stdout {
                drop(
                    tokio::io::AsyncReadExt::read_to_string(&mut BufReader::new(pipe), &mut text)
                        .await,
                );
            }
            text
        };
        let err = async {
            let mut last = VecDeque::new();
            if let Some(pipe) = stderr {
                let mut lines = BufReader::new(pipe).lines();
                while let Ok(Some(text)) = lines.next_line().await {
                    line(&text);
                    if last.len() == KEPT {
                        last.pop_front();
                    }
                    last.push_back(text);
                }
            }
            last
        };
        let (out, last) = tokio::join!(out, err);
        let status = child.wait().await.map_err(io)?;
        if status.success() {
            return Ok(out);
        }
        Err(Failure::step(format!("the program failed: {status}"))
            .at(shown)
            .lines(last))
    }
}
