//! Import: the worker loads the data set, then the cluster is asked what it holds.

use std::time::{Duration, Instant};

use nbctl_core::failure::Failure;
use nbctl_core::playbook::{Import, Schema};
use nbctl_core::run::{CountCheck, ImportResult, PhaseResult};
use nebula_wire::value::{DataSet as Table, Value};

use crate::graph::GraphSession;
use crate::phase::bench::{Bench, Done};
use crate::phase::data::Placed;
use crate::phase::{compact, worker};
use crate::worker::job::{ImportJob, Work};
use crate::worker::message::{EncodedClock, Message};

/// Two heartbeats of the default interval, and some room.
const STATS_PATIENCE: Duration = Duration::from_secs(25);
/// Between two looks.
const STATS_PAUSE: Duration = Duration::from_millis(300);

/// Loads `placed` into the space of `schema`. Counts that differ are in the result, for the verdict.
///
/// # Errors
/// Rows that cannot be read, statements that fail for good, no graphd, a lost worker.
pub async fn run(
    bench: &Bench<'_>,
    wanted: &Import,
    schema: &Schema,
    placed: &Placed,
) -> Result<Done, Failure> {
    let work = Work::Import(job(bench, wanted, schema, placed));
    let ended = worker::run(bench, "import", &schema.space, work).await?;
    let Message::Import(done) = ended.result else {
        return Err(Failure::step("the worker answered another job"));
    };
    let mut result = done.result;
    result.series = ended.series;
    if wanted.check_counts {
        result.counts = counts(bench, &schema.space, result.counts).await?;
    }
    Ok(Done {
        notes: notes(&result, ended.notes),
        histograms: histograms(&done.histograms)?,
        window: Some(done.window),
        result: PhaseResult::Import(Box::new(result)),
    })
}

fn job(bench: &Bench<'_>, wanted: &Import, schema: &Schema, placed: &Placed) -> ImportJob {
    ImportJob {
        dir: placed.folder.as_str().into(),
        datetimes: false,
        vid: schema.vid.clone(),
        batch: wanted.batch,
        connections: wanted.connections,
        in_flight: wanted.in_flight,
        retries: wanted.retries,
        count: wanted.check_counts,
        temp: Some(bench.load_dir.as_str().into()),
    }
}

/// Distributions out of a worker's message.
pub(super) fn histograms(
    encoded: &[EncodedClock],
) -> Result<Vec<(String, hdrhistogram::Histogram<u64>)>, Failure> {
    let decode = |clock: &EncodedClock| Ok((clock.clock.clone(), clock.histogram()?));
    encoded.iter().map(decode).collect()
}

fn notes(result: &ImportResult, mut notes: Vec<String>) -> Vec<String> {
    let failed: u64 = result.files.iter().map(|file| file.failed_rows).sum();
    if failed > 0 {
        notes.push(format!("{failed} rows were given up"));
    }
    notes
}

/// Fills in what the cluster says it holds.
async fn counts(
    bench: &Bench<'_>,
    space: &str,
    mut expected: Vec<CountCheck>,
) -> Result<Vec<CountCheck>, Failure> {
    let mut session = bench.session(space).await?;
    let job = compact::job(&mut session, "STATS", &*bench.ctx.sink, &bench.cancel).await;
    let asked = match job {
        Ok(_) => ask(&mut session, &mut expected).await,
        Err(failure) => Err(failure),
    };
    session.close().await;
    asked.map(|()| expected)
}

/// Asks until the numbers agree: those of the job come to graphd with a later heartbeat, the old ones stay until then.
async fn ask(session: &mut GraphSession, expected: &mut [CountCheck]) -> Result<(), Failure> {
    let begun = Instant::now();
    loop {
        let stats = session.rows("SHOW STATS").await;
        let late = begun.elapsed() > STATS_PATIENCE;
        match stats {
            Ok(stats) => {
                for check in expected.iter_mut() {
                    check.found = found(&stats, &check.kind, &check.name);
                }
                if late || expected.iter().all(CountCheck::holds) {
                    return Ok(());
                }
            }
            Err(failure) if late => return Err(failure),
            Err(_) => {}
        }
        tokio::time::sleep(STATS_PAUSE).await;
    }
}

/// Count of one row of SHOW STATS; 0 when there is none.
fn found(stats: &Table, kind: &str, name: &str) -> u64 {
    let is = |value: Option<&Value>, text: &str| match value {
        Some(Value::String(bytes)) => bytes.eq_ignore_ascii_case(text.as_bytes()),
        _ => false,
    };
    let mut rows = stats.rows.iter();
    let row = rows.find(|row| is(row.first(), kind) && is(row.get(1), name));
    match row.and_then(|row| row.get(2)) {
        Some(Value::Int(count)) => u64::try_from(*count).unwrap_or_default(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_by_kind_and_name() {
        let text = |text: &str| Value::String(text.as_bytes().to_vec());
        let row = |kind, name, count| vec![text(kind), text(name), Value::Int(count)];
        let stats = Table {
            columns: Vec::new(),
            rows: vec![
                row("Tag", "Person", 7),
                row("Edge", "KNOWS", 9),
                row("Space", "vertices", 5),
            ],
        };
        let cases = [
            ("tag", "Person", 7),
            ("edge", "KNOWS", 9),
            ("space", "vertices", 5),
            ("tag", "KNOWS", 0),
        ];
        for (kind, name, expected) in cases {
            assert_eq!(found(&stats, kind, name), expected, "{kind} {name}");
        }
    }
}
