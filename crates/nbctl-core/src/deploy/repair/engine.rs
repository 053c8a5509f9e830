//! A Docker engine from the host's own distribution, and the right to use it.

use super::{Change, INSTALL, QUICK};
use crate::deploy::Given;
use crate::facts::{DockerSocket, HostFacts, quoted};

/// Program that installs packages, how it installs an engine, how it takes it away.
const SOURCES: [(&str, &str, &str); 3] = [
    (
        "apt-get",
        "export DEBIAN_FRONTEND=noninteractive\napt-get update -qq && apt-get install -y -qq --no-install-recommends docker.io || exit 1",
        "DEBIAN_FRONTEND=noninteractive apt-get remove -y -qq docker.io",
    ),
    (
        "dnf",
        "dnf install -y -q moby-engine || dnf install -y -q docker || exit 1",
        "dnf remove -y -q moby-engine docker",
    ),
    (
        "yum",
        "yum install -y -q docker || exit 1",
        "yum remove -y -q docker",
    ),
];

/// `None` when nothing that is known here would help.
pub(super) fn change(given: &Given<'_>, facts: &HostFacts, network: bool) -> Option<Change> {
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
        }),
        DockerSocket::None if network => install(facts, &socket, monitor.docker_sudo),
        DockerSocket::Usable | DockerSocket::None => None,
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
        undo: format!("gpasswd -d {} docker", quoted(user)),
        timeout: QUICK,
    }
}

fn install(facts: &HostFacts, socket: &str, by_sudo: bool) -> Option<Change> {
    let (tool, install, remove) = SOURCES.iter().find(|(tool, ..)| facts.has(tool))?;
    let mut change = Change {
        stage: "engine".to_owned(),
        title: format!(
            "install a Docker engine of {} with {tool} and start it",
            facts.system.os_name
        ),
        script: format!("{install}\nstart_engine {socket}"),
        undo: (*remove).to_owned(),
        timeout: INSTALL,
    };
    if !by_sudo {
        let group = join_group(facts);
        change.title = format!("{}; {}", change.title, group.title);
        change.script = format!("{}\n{}", change.script, group.script);
        change.undo = format!("{}\n{}", group.undo, change.undo);
    }
    Some(change)
}
