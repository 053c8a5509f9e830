//! Observe: what the running cluster says about itself.
//!
//! Purpose: `/status` and `/flags` of every daemon, SHOW HOSTS of the graph service, side by side.
//! Duties: silence is an answer, not an error; deploy and status decide what it means.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use nbctl_core::deploy::{Observed, parse_flags};
use nbctl_core::inventory::{Cluster, Daemon, DaemonRole};
use nbctl_core::status::Answer;
use serde::Deserialize;

use crate::graph::GraphService;
use crate::http;
use crate::remote::Fleet;

/// A daemon that is up answers far sooner.
const PATIENCE: Duration = Duration::from_secs(3);

/// Everything the daemons told.
#[derive(Debug, Default)]
pub struct Seen {
    /// For planning.
    pub observed: Observed,
    /// For the table, by daemon (`metad@s1`).
    pub answers: BTreeMap<String, Answer>,
}

#[derive(Deserialize)]
struct StatusBody {
    git_info_sha: Option<String>,
}

/// Asks every daemon, and one graphd for SHOW HOSTS.
pub async fn cluster(cluster: &Cluster, fleet: &Fleet, graph: &GraphService) -> Seen {
    let mut seen = Seen::default();
    let daemons = join_all(
        cluster
            .daemons
            .iter()
            .map(|daemon| of_daemon(daemon, fleet, graph)),
    );
    let (daemons, storageds) = tokio::join!(daemons, graph.storageds(fleet));
    seen.observed.storageds = storageds.ok();
    for (daemon, (answer, flags)) in cluster.daemons.iter().zip(daemons) {
        seen.answers.insert(daemon.id(), answer);
        if let Some(flags) = flags {
            seen.observed.flags.insert(daemon.id(), flags);
        }
    }
    seen
}

async fn of_daemon(
    daemon: &Daemon,
    fleet: &Fleet,
    graph: &GraphService,
) -> (Answer, Option<nbctl_core::deploy::ReadFlags>) {
    let Ok(address) = fleet.dial(&daemon.http_endpoint()).await else {
        return Default::default();
    };
    let (status, flags) = (
        format!("http://{address}/status"),
        format!("http://{address}/flags?format=json"),
    );
    let (status, flags) = tokio::join!(
        http::get_json::<StatusBody>(&status, PATIENCE),
        http::get_text(&flags, PATIENCE)
    );
    let mut answer = Answer::default();
    if let Ok(body) = status {
        answer.serves = true;
        answer.sha = body.git_info_sha;
    }
    // graphd answers /status before it has reached metad (`reference/deploy.md` 6.2).
    if daemon.role == DaemonRole::Graphd && answer.serves {
        answer.serves = graph.is_ready(fleet, &daemon.endpoint()).await;
    }
    (answer, flags.ok().and_then(|text| parse_flags(&text).ok()))
}
