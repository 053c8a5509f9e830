//! Facts: one script a host, one round trip, everything the next phases ask.

use std::time::Duration;

use nbctl_core::deploy::{Facts, facts_request, status_request};
use nbctl_core::facts::{self, FactsRequest, HostFacts};
use nbctl_core::failure::Failure;
use nbctl_core::inventory::Cluster;
use nbctl_core::plan::Script;

use crate::remote::{Fleet, Link};

/// A host that takes longer is not well.
const PATIENCE: Duration = Duration::from_mins(1);

/// Facts of every connected host.
///
/// # Errors
/// One line for every host that did not answer.
pub async fn gather(cluster: &Cluster, fleet: &Fleet) -> Result<Facts, Failure> {
    let ask = |host: &_, link| asked(facts_request(cluster, host), link);
    fleet.each(ask).await
}

/// What a status needs of every connected host.
///
/// # Errors
/// One line for every host that did not answer.
pub async fn of_daemons(cluster: &Cluster, fleet: &Fleet) -> Result<Facts, Failure> {
    let ask = |host: &_, link| asked(status_request(cluster, host), link);
    fleet.each(ask).await
}

/// Facts of one host, with what takes long to find out.
///
/// # Errors
/// It did not answer.
pub async fn thorough(cluster: &Cluster, link: &Link) -> Result<HostFacts, Failure> {
    let mut request = facts_request(cluster, link.host());
    request.thorough = true;
    asked(request, link).await
}

async fn asked(request: FactsRequest, link: &Link) -> Result<HostFacts, Failure> {
    let script = Script {
        text: facts::script(&request),
        sudo: false,
        timeout: PATIENCE,
    };
    let sent = now_ms();
    let output = link.must("ask for facts", &script).await?;
    let received = now_ms();
    let mut facts =
        HostFacts::parse(&output.stdout).map_err(|failure| failure.at(link.host().to_string()))?;
    facts.observe_clock(sent, received);
    Ok(facts)
}

/// The control machine's clock, Unix ms.
pub fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
