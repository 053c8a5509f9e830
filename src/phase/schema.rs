//! Schema: a space, its tags and edge types, usable when this returns.
//!
//! Duties: daemons learn of a schema at their next heartbeat (`reference/deploy.md` 6.2), so every statement is
//! tried again until it is understood, instead of sleeping for a fixed time.

use std::time::{Duration, Instant};

use nbctl_core::dataset::{SpaceOptions, VidType};
use nbctl_core::failure::Failure;
use nbctl_core::playbook::Schema as Wanted;

use crate::graph::GraphSession;
use crate::phase::bench::{Bench, Done};
use crate::phase::data::DataSet;

/// Two heartbeats of the default interval, and room for a busy host.
const PATIENCE: Duration = Duration::from_mins(1);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(250);

/// Creates the space and its types.
///
/// # Errors
/// A statement is refused, or the space does not become usable in time.
pub async fn run(bench: &Bench<'_>, wanted: &Wanted, set: &DataSet) -> Result<Done, Failure> {
    let mut session = bench.graph.session(bench.fleet).await?;
    let made = create(&mut session, wanted, set).await;
    session.close().await;
    made?;
    Ok(Done::plain(vec![
        ("space".to_owned(), wanted.space.clone()),
        ("partitions".to_owned(), wanted.partitions.to_string()),
        ("replica factor".to_owned(), wanted.replicas.to_string()),
        ("vertex ids".to_owned(), wanted.vid.clone()),
        ("tags".to_owned(), set.schema.tags.len().to_string()),
        ("edge types".to_owned(), set.schema.edges.len().to_string()),
    ]))
}

async fn create(session: &mut GraphSession, wanted: &Wanted, set: &DataSet) -> Result<(), Failure> {
    let deadline = Instant::now() + PATIENCE;
    if wanted.fresh {
        session
            .rows(&format!("DROP SPACE IF EXISTS `{}`", wanted.space))
            .await?;
    }
    let options = SpaceOptions {
        name: wanted.space.clone(),
        partitions: wanted.partitions,
        replicas: wanted.replicas,
        vid: vid(&wanted.vid)?,
    };
    let text = options
        .create()
        .map_err(|error| Failure::inventory(error.to_string()))?;
    session.rows(&text).await?;
    until(session, &format!("USE `{}`", wanted.space), deadline).await?;
    for statement in set.schema.create_types() {
        until(session, &statement, deadline).await?;
    }
    known(session, set, deadline).await
}

/// Every type is understood by graphd and its storageds: a fetch of a vertex that does not exist succeeds.
async fn known(
    session: &mut GraphSession,
    set: &DataSet,
    deadline: Instant,
) -> Result<(), Failure> {
    for tag in &set.schema.tags {
        until(session, &format!("DESC TAG `{}`", tag.name), deadline).await?;
    }
    for edge in &set.schema.edges {
        until(session, &format!("DESC EDGE `{}`", edge.name), deadline).await?;
    }
    Ok(())
}

async fn until(
    session: &mut GraphSession,
    statement: &str,
    deadline: Instant,
) -> Result<(), Failure> {
    loop {
        match session.rows(statement).await {
            Ok(_) => return Ok(()),
            Err(failure) if Instant::now() >= deadline => return Err(failure),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// `int64` or `fixed_string(N)`.
///
/// # Errors
/// Anything else.
pub fn vid(text: &str) -> Result<VidType, Failure> {
    if text == "int64" {
        return Ok(VidType::Int64);
    }
    let length = text
        .strip_prefix("fixed_string(")
        .and_then(|rest| rest.strip_suffix(')'));
    length
        .and_then(|length| length.trim().parse().ok())
        .map(|length| VidType::FixedString {
            length,
            prefixed: true,
        })
        .ok_or_else(|| {
            Failure::inventory(format!("no vertex id type `{text}`"))
                .hint("int64 or fixed_string(N)")
        })
}
