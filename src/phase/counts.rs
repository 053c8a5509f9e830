//! How much every space holds, by the cluster's own count: compared before and after what must lose nothing.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nbctl_core::failure::Failure;
use nebula_wire::value::{DataSet as Table, Value};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::event::Sink;
use crate::graph::{GraphService, GraphSession};
use crate::interrupt;
use crate::phase::compact::job;
use crate::remote::Fleet;

/// How long they may take to be what they were.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_secs(1);

/// Vertices and edges by space.
pub type Counts = BTreeMap<String, Count>;

/// Of one space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// Rows `Space vertices` and `Space edges` of SHOW STATS.
    pub vertices: i64,
    /// As `vertices`.
    pub edges: i64,
}

/// Who counts.
#[derive(Debug)]
pub struct Counting<'a> {
    /// Hosts, for forwards.
    pub fleet: &'a Fleet,
    /// Login.
    pub graph: &'a GraphService,
    /// Progress.
    pub sink: &'a dyn Sink,
    /// Ctrl-C.
    pub cancel: &'a CancellationToken,
    /// A heartbeat: numbers of a job come to graphd with the next one, the old ones stay until then.
    pub heartbeat: Duration,
}

impl Counting<'_> {
    /// Counts every space.
    ///
    /// # Errors
    /// Nobody answers, or a job fails.
    pub async fn all(&self) -> Result<Counts, Failure> {
        let mut session = self.graph.session(self.fleet).await?;
        let counted = self.in_session(&mut session).await;
        session.close().await;
        counted
    }

    async fn in_session(&self, session: &mut GraphSession) -> Result<Counts, Failure> {
        let spaces = session.rows("SHOW SPACES").await?;
        let name = |row: &Vec<Value>| match row.first()? {
            Value::String(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        };
        let spaces: Vec<String> = spaces.rows.iter().filter_map(name).collect();
        for space in &spaces {
            session.rows(&format!("USE `{space}`")).await?;
            job(session, "STATS", self.sink, self.cancel).await?;
        }
        self.pause(self.heartbeat).await?;
        let mut all = Counts::new();
        for space in spaces {
            session.rows(&format!("USE `{space}`")).await?;
            all.insert(space, count(&session.rows("SHOW STATS").await?));
        }
        Ok(all)
    }

    /// Counts until the numbers are `before`.
    ///
    /// # Errors
    /// They stay different: the spaces, with both numbers.
    pub async fn same_as(&self, before: &Counts) -> Result<(), Failure> {
        let begun = Instant::now();
        loop {
            let now = self.all().await;
            if now.as_ref().is_ok_and(|now| now == before) {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(different(before, &now?));
            }
            self.pause(PAUSE).await?;
        }
    }

    async fn pause(&self, time: Duration) -> Result<(), Failure> {
        tokio::select! {
            () = tokio::time::sleep(time) => Ok(()),
            () = self.cancel.cancelled() => Err(interrupt::failure()),
        }
    }
}

fn different(before: &Counts, now: &Counts) -> Failure {
    let text = |count: Option<&Count>| {
        count.map_or_else(
            || "nothing".to_owned(),
            |c| format!("{} vertices, {} edges", c.vertices, c.edges),
        )
    };
    let spaces = before
        .keys()
        .chain(now.keys().filter(|space| !before.contains_key(*space)));
    let lines = spaces.filter(|space| before.get(*space) != now.get(*space));
    let lines = lines.map(|space| {
        let (was, is) = (text(before.get(space)), text(now.get(space)));
        format!("{space}: {was} before, {is} now")
    });
    Failure::cluster("the cluster does not hold what it held before").lines(lines)
}

/// Rows `Space, vertices, 5` and `Space, edges, 7`.
fn count(stats: &Table) -> Count {
    let is = |value: Option<&Value>, text: &str| matches!(value, Some(Value::String(bytes)) if bytes.eq_ignore_ascii_case(text.as_bytes()));
    let number = |name: &str| {
        let mut rows = stats.rows.iter();
        let row = rows.find(|row| is(row.first(), "space") && is(row.get(1), name))?;
        match row.get(2)? {
            Value::Int(count) => Some(*count),
            _ => None,
        }
    };
    Count {
        vertices: number("vertices").unwrap_or(0),
        edges: number("edges").unwrap_or(0),
    }
}
