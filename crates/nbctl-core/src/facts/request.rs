//! The question: one POSIX `sh` script made of a fixed library and the calls of this request.
//!
//! Duty: quote what is put in, close standard input to every command (the script itself comes in by
//! it), and do nothing until the last line has arrived.

use std::borrow::Cow;

use crate::units::RemotePath;

/// First line of an answer; the number changes when old answers can no longer be read.
pub(super) const HEADER: &str = "nbctl-facts\t1";

/// What to ask a host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FactsRequest {
    /// Folders of ours: owner marker, what lies there, room, processes below them.
    pub roots: Vec<RemotePath>,
    /// Folders that daemons are installed in: programs of each version, packages in the cache.
    pub installs: Vec<RemotePath>,
    /// What lies there: links, folders, files.
    pub paths: Vec<RemotePath>,
    /// Digests wanted.
    pub files: Vec<RemotePath>,
    /// Room wanted, beside that of `roots`.
    pub space: Vec<RemotePath>,
    /// Names to be resolved.
    pub names: Vec<String>,
    /// The engine's socket.
    pub docker_socket: Option<RemotePath>,
    /// Package to look up in the RPM database.
    pub rpm: Option<String>,
    /// Whose number each of these pid files holds.
    pub pid_files: Vec<RemotePath>,
    /// What takes long to find out and no deploy needs: the firewall.
    pub thorough: bool,
    /// Only what tells how daemons are: nothing of the machine, its account, its programs and its room.
    pub daemons_only: bool,
    /// Look at processes and sockets of other users through `sudo -n`.
    pub sudo: bool,
}

const LIBRARY: &str = include_str!("facts.sh");
/// The part of it that root is asked, too; sudo reads it from its standard input, since its log shows command lines.
const LOOK: &str = include_str!("look.sh");

/// The script to give to `sh -s`; ends with exit code 0 whatever it finds.
pub fn script(request: &FactsRequest) -> String {
    let mut calls = vec![format!("printf '%s\\n' '{HEADER}'"), "clock start".into()];
    if request.daemons_only {
        calls.push("kernel".into());
    } else {
        calls.extend(["system", "user", "addresses"].map(str::to_owned));
    }
    calls.push(call("seen", &request.roots));
    calls.extend(request.names.iter().map(|name| call("resolve", [name])));
    calls.extend(of_paths(request));
    calls.extend(
        request
            .docker_socket
            .iter()
            .map(|socket| call("docker_socket", [socket])),
    );
    calls.extend(
        request
            .rpm
            .iter()
            .map(|package| call("rpm_package", [package])),
    );
    if request.thorough {
        calls.extend(["sudo_works".into(), "firewall".into()]);
    }
    calls.extend(["clock end".into(), "say end".into(), "return 0".into()]);
    let sudo = if request.sudo { "sudo -n" } else { "" };
    format!(
        "nb_sudo='{sudo}'\nnb_look={}\n{LOOK}\n{LIBRARY}\nmain() {{\n{}\n}}\nmain </dev/null\n",
        quoted(LOOK),
        calls.join("\n")
    )
}

fn of_paths(request: &FactsRequest) -> impl Iterator<Item = String> {
    let each = |name: &'static str, paths: &[RemotePath]| -> Vec<String> {
        paths.iter().map(|path| call(name, [path])).collect()
    };
    let roots = request.roots.as_slice();
    let room = if request.daemons_only { &[] } else { roots };
    [
        each("owner", roots),
        each("path", roots),
        each("install", &request.installs),
        each("path", &request.paths),
        each("space", room),
        each("space", &request.space),
        vec![call("digests", &request.files)],
        each("pid_file", &request.pid_files),
    ]
    .into_iter()
    .flatten()
}

fn call(name: &str, arguments: impl IntoIterator<Item = impl ToString>) -> String {
    let words = arguments
        .into_iter()
        .map(|argument| format!(" {}", quoted(&argument.to_string())));
    format!("{name}{}", words.collect::<String>())
}

/// As one word of `sh`. NUL cannot occur in a path or name that was checked; it would be dropped.
pub(crate) fn quoted(text: &str) -> String {
    let text: Cow<'_, str> = if text.contains('\0') {
        text.replace('\0', "").into()
    } else {
        text.into()
    };
    shlex::try_quote(&text)
        .map(Cow::into_owned)
        .unwrap_or_default()
}
