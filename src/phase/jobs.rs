//! Jobs of the running cluster that are asked for by hand: compaction and the balance of leaders.
//!
//! Duties: one space after the other; each is waited for until the line's own words say that it has finished.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nbctl_core::failure::Failure;
use nbctl_core::inventory::Version;
use nebula_wire::value::{DataSet as Table, Value};
use tokio_util::sync::CancellationToken;

use crate::event::Sink;
use crate::graph::{GraphService, GraphSession};
use crate::interrupt;
use crate::phase::compact::job;
use crate::remote::Fleet;

/// Between two looks at the leaders.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
/// Looks that must agree before leaders count as steady.
const SAME: u32 = 3;
/// Leaders that never stand still are no balance.
const LONGEST: Duration = Duration::from_mins(10);

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `SUBMIT JOB COMPACT`.
    Compact,
    /// `BALANCE LEADER`, a job since 3.0.
    Leaders,
}

/// Where, and how it is told and ended.
#[derive(Debug)]
pub struct Jobs<'a> {
    /// Hosts, for forwards.
    pub fleet: &'a Fleet,
    /// Login.
    pub graph: &'a GraphService,
    /// Decides what a balance is.
    pub version: Version,
    /// Progress.
    pub sink: &'a dyn Sink,
    /// Ctrl-C; what was submitted goes on.
    pub cancel: &'a CancellationToken,
}

/// A finished job.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Finished {
    /// Space; empty for a job of the whole cluster.
    pub space: String,
    /// Its id; `None` where the line makes no job of it.
    pub job: Option<i64>,
    /// How long it was waited for, in seconds.
    pub seconds: f64,
}

impl Jobs<'_> {
    /// Does it in `space`, or in every space.
    ///
    /// # Errors
    /// Nobody answers, a job fails, or the command is interrupted.
    pub async fn run(&self, kind: Kind, space: Option<&str>) -> Result<Vec<Finished>, Failure> {
        let mut session = self.graph.session(self.fleet).await?;
        let result = self.in_session(&mut session, kind, space).await;
        session.close().await;
        result
    }

    async fn in_session(
        &self,
        session: &mut GraphSession,
        kind: Kind,
        space: Option<&str>,
    ) -> Result<Vec<Finished>, Failure> {
        if kind == Kind::Leaders && !self.version.since(3, 0) {
            return Ok(vec![self.balance_at_once(session).await?]);
        }
        let spaces = match space {
            Some(space) => vec![space.to_owned()],
            None => names(&session.rows("SHOW SPACES").await?),
        };
        let statement = match kind {
            Kind::Compact => "COMPACT",
            Kind::Leaders => "BALANCE LEADER",
        };
        self.of_spaces(session, &spaces, statement).await
    }

    /// A job in every space, one after the other, each waited for.
    pub(super) async fn of_spaces(
        &self,
        session: &mut GraphSession,
        spaces: &[String],
        statement: &str,
    ) -> Result<Vec<Finished>, Failure> {
        let mut all = Vec::new();
        for space in spaces {
            let begun = Instant::now();
            session.rows(&format!("USE `{space}`")).await?;
            self.sink.note(format!("{space}: SUBMIT JOB {statement}"));
            let id = job(session, statement, self.sink, self.cancel).await?;
            all.push(Finished {
                space: space.clone(),
                job: Some(id),
                seconds: begun.elapsed().as_secs_f64(),
            });
        }
        Ok(all)
    }

    /// 2.x answers at once; that it has happened shows in SHOW HOSTS only.
    async fn balance_at_once(&self, session: &mut GraphSession) -> Result<Finished, Failure> {
        let begun = Instant::now();
        session.rows("BALANCE LEADER").await?;
        let (mut last, mut same) = (None, 0);
        while same < SAME {
            if begun.elapsed() > LONGEST {
                return Err(Failure::cluster("leaders do not stand still")
                    .hint("SHOW HOSTS tells where they are"));
            }
            let now = leaders(&session.rows("SHOW HOSTS").await?);
            same = if last.as_ref() == Some(&now) {
                same + 1
            } else {
                0
            };
            last = Some(now);
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = self.cancel.cancelled() => return Err(interrupt::failure()),
            }
        }
        Ok(Finished {
            space: String::new(),
            job: None,
            seconds: begun.elapsed().as_secs_f64(),
        })
    }

    /// Leaders by storaged host and port.
    ///
    /// # Errors
    /// Nobody answers.
    pub async fn leaders(&self) -> Result<BTreeMap<String, i64>, Failure> {
        let mut session = self.graph.session(self.fleet).await?;
        let table = session.rows("SHOW HOSTS").await;
        session.close().await;
        Ok(leaders(&table?))
    }
}

/// First column.
fn names(table: &Table) -> Vec<String> {
    let name = |row: &Vec<Value>| text(row.first()?);
    table.rows.iter().filter_map(name).collect()
}

/// Columns are found by name; the row `Total` has no port (`reference/deploy.md` 6.4).
fn leaders(table: &Table) -> BTreeMap<String, i64> {
    let column = |name: &str| table.columns.iter().position(|c| c == name.as_bytes());
    let (host, port, count) = (column("Host"), column("Port"), column("Leader count"));
    let row = |row: &Vec<Value>| {
        let (Value::Int(port), Value::Int(count)) = (row.get(port?)?, row.get(count?)?) else {
            return None;
        };
        Some((format!("{}:{port}", text(row.get(host?)?)?), *count))
    };
    table.rows.iter().filter_map(row).collect()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_row_counts_for_nobody() {
        let text = |text: &str| Value::String(text.into());
        let columns = ["Host", "Port", "HTTP port", "Status", "Leader count"];
        let table = Table {
            columns: columns.iter().map(|name| (*name).into()).collect(),
            rows: vec![
                vec![
                    text("10.0.0.1"),
                    Value::Int(9779),
                    Value::Int(19779),
                    text("ONLINE"),
                    Value::Int(5),
                ],
                vec![
                    text("Total"),
                    text(""),
                    text(""),
                    Value::Int(5),
                    text("a:5"),
                ],
            ],
        };
        assert_eq!(
            leaders(&table),
            BTreeMap::from([("10.0.0.1:9779".to_owned(), 5)])
        );
        assert_eq!(names(&table), ["10.0.0.1", "Total"]);
    }
}
