//! Looks at the hosts: one script, then their engines.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Host, Monitor};
use nbctl_core::monitor::{self, DockerAccess, HostState, StackFile};
use nbctl_core::plan::Script;
use nbctl_core::units::HostName;

use super::Sources;
use crate::context::Context;
use crate::docker::Engines;
use crate::remote::{Fleet, FleetDirs, Link, Target, default_control_dir};

/// For the script.
const LOOK: Duration = Duration::from_secs(30);

/// The hosts as they are.
#[derive(Debug)]
pub struct Seen {
    /// Connected hosts.
    pub fleet: Fleet,
    /// Engines of the connected hosts.
    pub engines: Engines,
    /// Hosts that can be worked on.
    pub hosts: BTreeMap<HostName, (HostState, Vec<StackFile>)>,
    /// Hosts that cannot: no connection, no engine, no permission.
    pub lost: Vec<(HostName, Failure)>,
}

/// Connects every host that has a part of the stack and looks at it.
///
/// # Errors
/// What concerns all hosts: templates, the folder for sockets.
pub async fn look(ctx: &Context, monitor: &Monitor, sources: &Sources) -> Result<Seen, Failure> {
    let cluster = &ctx.cluster;
    let hosts: Vec<&Host> = cluster
        .hosts
        .iter()
        .filter(|host| host.monitor_dir.is_some())
        .collect();
    let dirs = FleetDirs {
        config: ctx.cluster_dir(),
        control: default_control_dir()?,
    };
    let targets = hosts.iter().map(|host| Target::from(*host)).collect();
    let (fleet, mut lost) = Fleet::connect_reachable(targets, &dirs).await?;
    let engines = Engines::new(monitor.docker_socket.clone(), cluster.id.clone());
    let mut work = Vec::new();
    for host in hosts {
        let Ok(link) = fleet.on(&host.name) else {
            continue;
        };
        let files = sources.files(cluster, host)?;
        let script = script(ctx, monitor, sources, host, &files)?;
        let engines = &engines;
        work.push(async move {
            let state = one(ctx, monitor, engines, link, &script).await;
            (host.name.clone(), state, files)
        });
    }
    let mut seen = BTreeMap::new();
    for (host, state, files) in join_all(work).await {
        match state {
            Ok(state) => drop(seen.insert(host, (state, files))),
            Err(failure) => lost.push((host, failure)),
        }
    }
    Ok(Seen {
        fleet,
        engines,
        hosts: seen,
        lost,
    })
}

fn script(
    ctx: &Context,
    monitor: &Monitor,
    sources: &Sources,
    host: &Host,
    files: &[StackFile],
) -> Result<Script, Failure> {
    let Some(dir) = &host.monitor_dir else {
        return Err(Failure::inventory(format!(
            "{} has no monitoring folder",
            host.name
        )));
    };
    let watched = monitor::watched(&ctx.cluster, host, &sources.stack, files)?;
    let text = monitor::script(dir, &monitor.docker_socket, monitor.docker_sudo, &watched)?;
    Ok(Script {
        text,
        sudo: false,
        timeout: LOOK,
    })
}

async fn one(
    ctx: &Context,
    monitor: &Monitor,
    engines: &Engines,
    link: &Link,
    script: &Script,
) -> Result<HostState, Failure> {
    let output = link.must("look at the host", script).await?;
    let mut state =
        HostState::parse(&output.stdout).map_err(|failure| failure.at(link.host().to_string()))?;
    state.check_docker(link.host().as_str(), &monitor.docker_socket)?;
    if state.docker == DockerAccess::Sudo {
        engines.under_sudo(link.host()).await;
    }
    state.engine = Some(engines.on(link).await?.state(&ctx.cluster.id).await?);
    Ok(state)
}
