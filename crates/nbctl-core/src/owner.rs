//! Whose a folder on a host is.
//!
//! Purpose: every folder that nbctl fills and may one day delete carries a marker (design 7, 8.1).
//! Duties: write the marker so that two control machines cannot both win, read it, judge a folder.
//! The deletion itself looks for the marker again, on the host, at that moment.

use std::fmt;

use crate::facts::{HostFacts, PathFact};
use crate::inventory::Cluster;
use crate::units::RemotePath;

/// File in every folder of ours; the line `cluster_id=<id>` says whose.
pub const MARKER: &str = ".nbctl-owner";

/// Who claims.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// Name of the control machine.
    pub control: &'a str,
}

/// What a marker says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marker {
    /// Id of the cluster.
    pub cluster_id: String,
    /// Its name.
    pub cluster: String,
    /// The control machine that claimed the folder.
    pub control: String,
    /// When, in UTC.
    pub time: String,
}

impl Marker {
    /// Reads a marker; lines that are not known are skipped.
    pub fn parse(text: &str) -> Self {
        let mut marker = Self::default();
        for (key, value) in text.lines().filter_map(|line| line.split_once('=')) {
            match key {
                "cluster_id" => value.clone_into(&mut marker.cluster_id),
                "cluster" => value.clone_into(&mut marker.cluster),
                "control" => value.clone_into(&mut marker.control),
                "time" => value.clone_into(&mut marker.time),
                _ => {}
            }
        }
        marker
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cluster_id,
            cluster,
            control,
            time,
        } = self;
        write!(
            f,
            "cluster {cluster} ({cluster_id}), claimed from {control} at {time}"
        )
    }
}

/// Whose a folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nothing there, or an empty folder.
    Free,
    /// Marked by this cluster.
    Ours,
    /// Marked by another cluster.
    Foreign(Marker),
    /// Something is there that nobody marked; the first names in it.
    Unmarked(Vec<String>),
    /// No folder: a file, a link, or a folder reached through a link.
    Wrong(String),
}

/// Judges a folder by the facts of its host.
pub fn standing(path: &RemotePath, cluster_id: &str, facts: &HostFacts) -> Standing {
    match facts.paths.get(path) {
        None | Some(PathFact::None) => Standing::Free,
        Some(PathFact::Dir { real, .. }) if real != path.as_str() => {
            Standing::Wrong(format!("is really {real}"))
        }
        Some(PathFact::Dir { entries, .. }) => of_dir(path, cluster_id, entries, facts),
        Some(PathFact::Link { target, .. }) => Standing::Wrong(format!("is a link to {target}")),
        Some(PathFact::File { .. } | PathFact::Other) => Standing::Wrong("is not a folder".into()),
    }
}

fn of_dir(path: &RemotePath, cluster_id: &str, entries: &[String], facts: &HostFacts) -> Standing {
    if let Some(text) = facts.owners.get(path) {
        let marker = Marker::parse(text);
        return if marker.cluster_id == cluster_id {
            Standing::Ours
        } else {
            Standing::Foreign(marker)
        };
    }
    // A disk of its own has this folder from the start; a claim cut short leaves a marker half made, a deletion
    // cut short its lease.
    let ignored = |name: &&String| {
        name.as_str() != "lost+found"
            && !name.starts_with(".nbctl-owner.")
            && !name.starts_with(crate::lease::FILE)
    };
    let names: Vec<String> = entries.iter().filter(ignored).take(5).cloned().collect();
    if names.is_empty() {
        Standing::Free
    } else {
        Standing::Unmarked(names)
    }
}

impl Claim<'_> {
    /// Script that creates and marks `folders`, which belong to `user` afterwards.
    /// The marker appears whole or not at all; the first of two claims wins.
    pub fn script(&self, folders: &[&RemotePath], user: &str) -> String {
        let quote = crate::facts::quoted;
        let calls: Vec<String> = folders
            .iter()
            .map(|f| format!("claim {}", quote(f.as_str())))
            .collect();
        format!(
            "id={}\nname={}\ncontrol={}\nuser={}\n{}\n{}\n",
            quote(&self.cluster.id),
            quote(&self.cluster.name),
            quote(self.control),
            quote(user),
            include_str!("claim.sh"),
            calls.join("\n")
        )
    }
}
