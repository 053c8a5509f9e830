//! Partitions on their way to other storageds: `BALANCE DATA`, waited for in each line's own words.
//!
//! Duties: 2.x makes a plan of the whole cluster, one at a time, and calls a balanced cluster an error; 3.x makes a job
//! of every space. What was begun goes on when this program ends, so the next run waits for it instead of failing.

use std::time::Instant;

use nbctl_core::failure::Failure;
use nbctl_core::scale::Moving;
use nebula_wire::value::{DataSet as Table, Value};

use super::jobs::{Finished, Jobs, PAUSE};
use crate::event::Event;
use crate::graph::GraphSession;
use crate::interrupt;

/// What 2.x says when there is nothing to do.
const BALANCED: &str = "cluster is balanced";
/// What 2.x says while a plan runs.
const RUNNING: &str = "balancer is running";

impl Jobs<'_> {
    /// Spreads the partitions of `spaces` over the storageds without those that go `away` (as statements name them), and
    /// waits until all have moved. 2.x moves those of every space.
    ///
    /// # Errors
    /// A move fails, nobody answers, or the command is interrupted.
    pub async fn move_data(
        &self,
        spaces: &[String],
        away: &[String],
    ) -> Result<Vec<Finished>, Failure> {
        let statement = if away.is_empty() {
            "BALANCE DATA".to_owned()
        } else {
            format!("BALANCE DATA REMOVE {}", away.join(","))
        };
        let mut session = self.graph.session(self.fleet).await?;
        let result = match Moving::of(self.version) {
            Moving::Plan => self.plan(&mut session, &statement).await,
            Moving::Job => self.of_spaces(&mut session, spaces, &statement).await,
            Moving::Zones => Err(Failure::cluster(format!(
                "{} moves data between zones only",
                self.version
            ))),
        };
        session.close().await;
        result
    }

    async fn plan(
        &self,
        session: &mut GraphSession,
        statement: &str,
    ) -> Result<Vec<Finished>, Failure> {
        let begun = Instant::now();
        let id = loop {
            match session.rows(statement).await {
                Ok(table) => break first_int(&table),
                Err(failure) if failure.what.contains(BALANCED) => return Ok(Vec::new()),
                // A plan of an earlier command goes on; it is waited for.
                Err(failure) if failure.what.contains(RUNNING) => self.progress(begun, RUNNING),
                Err(failure) => return Err(failure),
            }
            self.pause().await?;
        };
        let id = id.ok_or_else(|| Failure::cluster("BALANCE DATA gave no id"))?;
        loop {
            let seen = Moves::of(&session.rows(&format!("BALANCE DATA {id}")).await?);
            if seen.failed > 0 {
                return Err(Failure::cluster(format!(
                    "{} of {} partitions could not move (BALANCE DATA {id})",
                    seen.failed, seen.total
                ))
                .hint("run it again: the line takes the failed plan up again"));
            }
            if seen.open == 0 {
                break;
            }
            let text = format!("{} of {} partitions to move", seen.open, seen.total);
            self.progress(begun, &text);
            self.pause().await?;
        }
        Ok(vec![Finished {
            space: String::new(),
            job: Some(id),
            seconds: begun.elapsed().as_secs_f64(),
        }])
    }

    fn progress(&self, begun: Instant, text: &str) {
        self.sink.emit(Event::Progress {
            phase: "balance data".to_owned(),
            done: begun.elapsed().as_secs(),
            total: None,
            unit: "s",
            text: text.to_owned(),
        });
    }

    async fn pause(&self) -> Result<(), Failure> {
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => Ok(()),
            () = self.cancel.cancelled() => Err(interrupt::failure()),
        }
    }
}

/// The last row of `BALANCE DATA <id>`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Moves {
    total: u64,
    open: u64,
    /// Failed or given up.
    failed: u64,
}

impl Moves {
    /// `Total:4, Succeeded:1, Failed:0, In Progress:3, Invalid:0`.
    fn of(table: &Table) -> Self {
        let texts = table.rows.iter().filter_map(|row| match row.first()? {
            Value::String(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        });
        let mut texts = texts.filter(|text| text.starts_with("Total:"));
        let line = texts.next().unwrap_or_default();
        let number = |name: &str| {
            let mut parts = line
                .split(',')
                .filter_map(|part| part.trim().split_once(':'));
            let found = parts.find(|(key, _)| *key == name);
            found.and_then(|(_, n)| n.trim().parse().ok()).unwrap_or(0)
        };
        Self {
            total: number("Total"),
            open: number("In Progress"),
            failed: number("Failed") + number("Invalid"),
        }
    }
}

fn first_int(table: &Table) -> Option<i64> {
    match table.rows.first()?.first()? {
        Value::Int(id) => Some(*id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_row_of_a_plan_counts() {
        let text = |text: &str| Value::String(text.into());
        let table = |total: &str| Table {
            columns: vec![
                "balanceId, spaceId:partId, src->dst".into(),
                "status".into(),
            ],
            rows: vec![
                vec![text("[1, 1:1, a:1->b:1]"), text("SUCCEEDED")],
                vec![text(total), Value::Float(25.0)],
            ],
        };
        let total = "Total:4, Succeeded:1, Failed:1, In Progress:2, Invalid:0";
        let expected = Moves {
            total: 4,
            open: 2,
            failed: 1,
        };
        assert_eq!(Moves::of(&table(total)), expected);
        assert_eq!(Moves::of(&table("x")), Moves::default());
    }
}
