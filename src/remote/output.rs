//! What a script printed, and how its end is told.
//!
//! Duty: exit codes and sudo's refusals to failures with the last lines and a hint.

use nbctl_core::failure::Failure;
use nbctl_core::units::HostName;

use super::exec::Raw;

/// Lines of evidence in a failure.
const SHOWN: usize = 12;

const SUDOERS: &str =
    "allow it without a password, e.g. in /etc/sudoers.d/nbctl: USER ALL=(ALL) NOPASSWD: ALL";

/// Texts of sudo and what helps.
const SUDO: [(&str, &str); 5] = [
    ("a password is required", SUDOERS),
    ("is not in the sudoers file", SUDOERS),
    ("is not allowed to", SUDOERS),
    (
        "must have a tty",
        "add to /etc/sudoers.d/nbctl: Defaults:USER !requiretty",
    ),
    (
        "sudo: not found",
        "install sudo on the host, or log in as root",
    ),
];

/// What a script ended with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// The end of standard error.
    pub stderr: String,
}

impl From<Raw> for Output {
    fn from(raw: Raw) -> Self {
        Self {
            code: raw.code,
            stdout: String::from_utf8_lossy(&raw.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&raw.stderr).into_owned(),
        }
    }
}

impl Output {
    /// Ended with 0 and this standard output.
    pub fn ok(stdout: impl Into<String>) -> Self {
        Self {
            stdout: stdout.into(),
            ..Self::default()
        }
    }

    /// Itself when the code is 0.
    ///
    /// # Errors
    /// Title, host, code and last lines otherwise.
    pub fn success(self, host: &HostName, title: &str) -> Result<Self, Failure> {
        if self.code == 0 {
            return Ok(self);
        }
        let failure = Failure::step(format!("{title}: exit code {}", self.code))
            .at(host.to_string())
            .lines(self.last_lines());
        Err(match self.code {
            127 => failure.hint("a program is missing on the host; its name is in the lines above"),
            126 => failure.hint("a program may not be executed there (noexec mount, permissions)"),
            _ => failure,
        })
    }

    /// The end of standard error, or of standard output when that says nothing.
    pub fn last_lines(&self) -> Vec<String> {
        let errors = tail(&self.stderr);
        if errors.is_empty() {
            tail(&self.stdout)
        } else {
            errors
        }
    }

    /// Tells a refusal of sudo from a failure of what ran under it.
    ///
    /// # Errors
    /// Sudo refused: why, and what to write into sudoers.
    pub fn check_sudo(&self, host: &HostName) -> Result<(), Failure> {
        if self.code == 0 || !self.stderr.contains("sudo: ") {
            return Ok(());
        }
        match SUDO.iter().find(|(part, _)| self.stderr.contains(part)) {
            Some((part, hint)) => Err(Failure::host(format!("sudo refuses: {part}"))
                .at(host.to_string())
                .lines(tail(&self.stderr))
                .hint(*hint)),
            None => Ok(()),
        }
    }
}

/// As [`Output::last_lines`].
pub(super) fn last_lines(raw: &Raw) -> Vec<String> {
    let text = if raw.stderr.is_empty() {
        &raw.stdout
    } else {
        &raw.stderr
    };
    tail(&String::from_utf8_lossy(text))
}

fn tail(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = lines.len().saturating_sub(SHOWN);
    lines
        .iter()
        .skip(from)
        .map(|&line| line.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sudo_and_missing_programs_are_told_apart() {
        let host = HostName::new("h1");
        let output = |code, stderr: &str| Output {
            code,
            stderr: stderr.to_owned(),
            ..Output::default()
        };
        let refused = output(1, "sudo: a password is required\n");
        assert_eq!(
            refused.check_sudo(&host).unwrap_err().hint.as_deref(),
            Some(SUDOERS)
        );
        assert_eq!(output(1, "cannot bind\n").check_sudo(&host), Ok(()));
        let missing = output(127, "sh: 3: curl: not found\n");
        let failure = missing.success(&host, "fetch").unwrap_err();
        assert_eq!(failure.detail, ["sh: 3: curl: not found"]);
        assert!(failure.hint.is_some());
    }
}
