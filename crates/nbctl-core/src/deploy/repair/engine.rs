//! A Docker engine from a bundle or from the host's own distribution, and the right to use it.

use super::{Change, INSTALL, QUICK};
use crate::deploy::Given;
use crate::facts::{DockerSocket, HostFacts, quoted};
use crate::plan::Upload;
use crate::units::{RemotePath, Sha256};

/// Folder of the login's home where packages wait for root.
const WAITING: &str = ".nbctl-engine";

/// A package on the control machine, of an engine or of something that it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineFile {
    /// `docker.io_20.10.24_amd64.deb`.
    pub name: String,
    /// Path on the control machine.
    pub source: String,
    /// Size.
    pub bytes: u64,
    /// Digest.
    pub sha256: Sha256,
}

/// Where an engine may come from.
#[derive(Debug, Clone, Copy, Default)]
pub struct EngineSources<'a> {
    /// Of a bundle; those for the host's kind and processor come before what its distribution offers.
    pub files: &'a [EngineFile],
    /// Whether hosts may fetch from their distribution.
    pub network: bool,
}

/// A program that installs packages.
struct Tool {
    name: &'static str,
    /// Ending of its packages, and what stands before it on x86-64, on ARM, and on every machine.
    ending: &'static str,
    machines: [&'static str; 3],
    fetch: &'static str,
    local: &'static str,
}

const TOOLS: [Tool; 3] = [
    Tool {
        name: "apt-get",
        ending: ".deb",
        machines: ["_amd64", "_arm64", "_all"],
        fetch: "apt-get update -qq && apt-get install -y -qq --no-install-recommends docker.io",
        local: "apt-get install -y -qq --no-install-recommends -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=/dev/null \"$files\"/*.deb",
    },
    Tool {
        name: "dnf",
        ending: ".rpm",
        machines: [".x86_64", ".aarch64", ".noarch"],
        fetch: "dnf install -y -q moby-engine || dnf install -y -q docker",
        local: "dnf install -y -q --disablerepo='*' \"$files\"/*.rpm",
    },
    Tool {
        name: "yum",
        ending: ".rpm",
        machines: [".x86_64", ".aarch64", ".noarch"],
        fetch: "yum install -y -q docker",
        local: "yum localinstall -y -q --disablerepo='*' \"$files\"/*.rpm",
    },
];

impl Tool {
    fn takes(&self, file: &EngineFile, arch: &str) -> bool {
        let [amd, arm, all] = self.machines;
        let own = if arch == "aarch64" { arm } else { amd };
        let stem = file.name.strip_suffix(self.ending);
        stem.is_some_and(|stem| stem.ends_with(own) || stem.ends_with(all))
    }
}

/// `None` when nothing that is known here would help.
pub(super) fn change(
    given: &Given<'_>,
    facts: &HostFacts,
    sources: &EngineSources<'_>,
) -> Option<Change> {
    let monitor = given.cluster.monitor.as_ref()?;
    let socket = quoted(monitor.docker_socket.as_str());
    match facts.docker.as_ref()? {
        DockerSocket::Denied(_) => (!monitor.docker_sudo).then(|| join_group(facts)),
        DockerSocket::None if facts.has("docker") => Some(Change {
            stage: "engine".to_owned(),
            title: "start the Docker engine that is installed".to_owned(),
            script: format!("start_engine {socket}"),
            undo: "systemctl disable --now docker 2>/dev/null || service docker stop".to_owned(),
            timeout: INSTALL,
            files: Vec::new(),
        }),
        DockerSocket::None => {
            let tool = TOOLS.iter().find(|tool| facts.has(tool.name))?;
            let change = of_bundle(tool, facts, sources.files)
                .or_else(|| sources.network.then(|| of_distribution(tool, facts)))?;
            Some(started(change, &socket, facts, monitor.docker_sudo))
        }
        DockerSocket::Usable => None,
    }
}

fn join_group(facts: &HostFacts) -> Change {
    let user = &facts.user.name;
    Change {
        stage: "engine".to_owned(),
        title: format!(
            "let {user} use the Docker socket (group docker, which is as much as root); counts for new logins"
        ),
        script: format!("usermod -aG docker {} || exit 1", quoted(user)),
        undo: format!("leave_group {} || exit 1", quoted(user)),
        timeout: QUICK,
        files: Vec::new(),
    }
}

fn of_distribution(tool: &Tool, facts: &HostFacts) -> Change {
    let (name, os) = (tool.name, &facts.system.os_name);
    installed(
        format!("install a Docker engine of {os} with {name}"),
        tool.fetch,
    )
}

/// All that fit: what is installed already is left as it is, what is missing is told by the tool.
fn of_bundle(tool: &Tool, facts: &HostFacts, files: &[EngineFile]) -> Option<Change> {
    let folder = RemotePath::new(&facts.user.home).ok()?.join(WAITING);
    let fit = files
        .iter()
        .filter(|file| tool.takes(file, &facts.system.arch));
    let fit: Vec<&EngineFile> = fit.collect();
    if fit.is_empty() {
        return None;
    }
    let (name, count) = (tool.name, fit.len());
    let mut change = installed(
        format!("install a Docker engine from the bundle ({count} packages) with {name}"),
        tool.local,
    );
    let words = fit
        .iter()
        .map(|file| format!("{} {}", file.sha256, quoted(&file.name)));
    let words: Vec<String> = words.collect();
    let take = format!("take_files {} {}", quoted(folder.as_str()), words.join(" "));
    change.script = format!("{take}\n{}", change.script);
    change.files = fit.iter().map(|file| upload(file, &folder)).collect();
    Some(change)
}

fn upload(file: &EngineFile, folder: &RemotePath) -> Upload {
    Upload {
        source: file.source.clone(),
        bytes: file.bytes,
        sha256: file.sha256,
        path: folder.join(&file.name),
        mode: 0o644,
    }
}

/// What comes with it is noted on the host, so that all of it can go again.
fn installed(title: String, command: &str) -> Change {
    Change {
        stage: "engine".to_owned(),
        title,
        script: format!("begin_install\n{{ {command}; }} || exit 1"),
        undo: "remove_new || exit 1".to_owned(),
        timeout: INSTALL,
        files: Vec::new(),
    }
}

fn started(mut change: Change, socket: &str, facts: &HostFacts, by_sudo: bool) -> Change {
    change.title = format!("{} and start it", change.title);
    change.script = format!("{}\nstart_engine {socket}", change.script);
    if !by_sudo {
        // The right comes first: an engine that does not start at once can be used when it does.
        let group = join_group(facts);
        change.title = format!("{}; {}", change.title, group.title);
        change.script = change.script.replace(
            "\nstart_engine",
            &format!("\n{}\nstart_engine", group.script),
        );
        change.undo = format!("{}\n{}", group.undo, change.undo);
    }
    change
}
