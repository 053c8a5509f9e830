//! `monitor down`: what is removed, and what stays.

use super::host::{EngineState, HostState, Standing};
use super::image_mark;
use crate::inventory::{Cluster, Component, Host};
use crate::plan::{Action, Delete, Plan, Removal, Step};
use crate::units::RemotePath;

/// What `monitor down` leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leave {
    /// Volumes, and the secrets that belong to them.
    pub data: bool,
    /// Images that nbctl brought.
    pub images: bool,
}

/// Plans one host: containers first, then what they used.
pub fn down(cluster: &Cluster, host: &Host, state: &HostState, leave: Leave) -> Plan {
    let engine = state.engine.clone().unwrap_or_default();
    let step = |title: String, action| Step::on(&host.name, title, action);
    let remove = |what: String, removal| step(format!("remove {what}"), Action::Remove(removal));
    let mut steps: Vec<Step> = engine
        .containers
        .keys()
        .map(|name| {
            remove(
                format!("container {name}"),
                Removal::Container(name.clone()),
            )
        })
        .collect();
    if !leave.data {
        let volumes = engine.volumes.iter();
        steps.extend(
            volumes.map(|name| remove(format!("volume {name}"), Removal::Volume(name.clone()))),
        );
    }
    if !leave.images {
        let images = marked(cluster, &engine);
        steps.extend(
            images
                .into_iter()
                .map(|name| remove(format!("image {name}"), Removal::Image(name))),
        );
    }
    if state.standing == Standing::Marked(cluster.id.clone())
        && let Some(dir) = &host.monitor_dir
    {
        let delete = |path| step(format!("delete {path}"), gone(cluster, dir, path));
        steps.extend(folders(state, &engine, dir, leave).into_iter().map(delete));
    }
    let mut plan = Plan::default();
    plan.stage(format!("{}: monitoring down", host.name), steps);
    plan
}

/// The second tags of images that we loaded or pulled.
fn marked(cluster: &Cluster, engine: &EngineState) -> Vec<String> {
    let prefix = format!("{}/", image_mark(&cluster.id));
    engine
        .images
        .keys()
        .filter(|name| name.starts_with(&prefix))
        .cloned()
        .collect()
}

/// All of it, or all but the secrets where volumes stay that know them.
fn folders(
    state: &HostState,
    engine: &EngineState,
    dir: &RemotePath,
    leave: Leave,
) -> Vec<RemotePath> {
    let keep = leave.data
        && !engine.volumes.is_empty()
        && state.files.keys().any(|name| name.contains("-secret/"));
    if !keep {
        return vec![dir.clone()];
    }
    let used = |component: &Component| {
        state
            .files
            .keys()
            .any(|name| name.starts_with(&format!("{}/", component.as_str())))
    };
    Component::ALL
        .into_iter()
        .filter(used)
        .map(|component| dir.join(component.as_str()))
        .collect()
}

fn gone(cluster: &Cluster, dir: &RemotePath, path: RemotePath) -> Action {
    Action::Delete(Delete {
        path,
        owner_root: dir.clone(),
        cluster_id: cluster.id.clone(),
        sudo: false,
    })
}
