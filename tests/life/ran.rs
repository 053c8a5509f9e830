//! A run of the program: how it ended and what it said.

use std::path::Path;
use std::process::{Command, Output, Stdio};

pub(crate) struct Ran {
    args: String,
    output: Output,
}

/// The program in `folder`, with an inventory. What follows `--` is the command of `exec`, so the inventory comes before.
#[expect(clippy::disallowed_methods, reason = "the program under test")]
pub(crate) fn nbctl(folder: &Path, inventory: &Path, args: &[&str]) -> Command {
    let at = args.iter().position(|arg| *arg == "--");
    let (before, behind) = args.split_at(at.unwrap_or(args.len()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_nbctl"));
    command.args(before).arg("-i").arg(inventory).args(behind);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

impl Ran {
    pub(crate) fn of(mut command: Command, args: &[&str]) -> Self {
        Self {
            args: args.join(" "),
            output: command.output().expect("nbctl starts"),
        }
    }

    /// Its result, of `--output json`.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out()).expect("json")
    }

    /// Its standard output.
    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// It ended well.
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        self.fails(0)
    }

    /// It ended with this code.
    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> Self {
        assert_eq!(
            self.output.status.code(),
            Some(code),
            "nbctl {}\n{}",
            self.args,
            self.text()
        );
        self
    }

    /// Its output says so.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        let all = self.text();
        assert!(
            all.contains(text),
            "nbctl {} does not say `{text}`:\n{all}",
            self.args
        );
        self
    }

    /// All it said.
    pub(crate) fn text(&self) -> String {
        let (out, err) = (&self.output.stdout, &self.output.stderr);
        format!(
            "{}\n{}",
            String::from_utf8_lossy(out),
            String::from_utf8_lossy(err)
        )
    }
}
