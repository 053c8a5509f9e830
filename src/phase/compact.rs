//! Compact: `SUBMIT JOB COMPACT`, waited for; also the other jobs that must have finished before numbers count.

use std::time::{Duration, Instant};

use nbctl_core::failure::Failure;
use nebula_wire::value::{DataSet as Table, Value};
use tokio_util::sync::CancellationToken;

use crate::event::Sink;
use crate::graph::GraphSession;
use crate::phase::bench::{Bench, Done};

/// Between two looks at a job.
const PAUSE: Duration = Duration::from_millis(500);
/// A job that nobody runs is given up; a running one may take hours.
const QUEUED: Duration = Duration::from_mins(2);

/// Compacts the space.
///
/// # Errors
/// The job fails or stays in the queue.
pub async fn run(bench: &Bench<'_>, space: &str) -> Result<Done, Failure> {
    let begun = Instant::now();
    let mut session = bench.session(space).await?;
    let done = job(&mut session, "COMPACT", &*bench.ctx.sink, &bench.cancel).await;
    session.close().await;
    let id = done?;
    Ok(Done::plain(vec![
        ("job".to_owned(), id.to_string()),
        (
            "seconds".to_owned(),
            format!("{:.1}", begun.elapsed().as_secs_f64()),
        ),
    ]))
}

/// Submits a job of the session's space and waits until it has finished; answers its id.
///
/// # Errors
/// It fails, is stopped, stays in the queue, or the command is interrupted.
pub async fn job(
    session: &mut GraphSession,
    name: &str,
    sink: &dyn Sink,
    cancel: &CancellationToken,
) -> Result<i64, Failure> {
    let table = session.rows(&format!("SUBMIT JOB {name}")).await?;
    let id = table.rows.first().and_then(|row| int(row.first()?));
    let id = id.ok_or_else(|| Failure::cluster(format!("SUBMIT JOB {name} gave no job id")))?;
    let begun = Instant::now();
    loop {
        let status = status(&session.rows(&format!("SHOW JOB {id}")).await?, id);
        if has_finished((id, name), &status, begun.elapsed())? {
            return Ok(id);
        }
        sink.emit(crate::event::Event::Progress {
            phase: format!("job {name}"),
            done: begun.elapsed().as_secs(),
            total: None,
            unit: "s",
            text: status.to_lowercase(),
        });
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = cancel.cancelled() => return Err(crate::interrupt::failure()),
        }
    }
}

/// Whether a job has finished by its status; `waited` since it was submitted.
fn has_finished((id, name): (i64, &str), status: &str, waited: Duration) -> Result<bool, Failure> {
    match status {
        "FINISHED" => Ok(true),
        "QUEUE" if waited > QUEUED => Err(Failure::cluster(format!(
            "job {id} ({name}) stays in the queue"
        ))
        .hint("SHOW JOBS tells what runs before it")),
        "QUEUE" | "RUNNING" => Ok(false),
        other => Err(
            Failure::cluster(format!("job {id} ({name}) ended as {other}")).hint(format!(
                "SHOW JOB {id} tells which host failed, SHOW HOSTS which are OFFLINE"
            )),
        ),
    }
}

/// Status of the row whose id is the job's; tasks have the same id on some lines, so the first row counts.
fn status(table: &Table, id: i64) -> String {
    let column = table.columns.iter().position(|name| name == b"Status");
    let row = table
        .rows
        .iter()
        .find(|row| row.first().and_then(int) == Some(id));
    match row.zip(column).and_then(|(row, column)| row.get(column)) {
        Some(Value::String(text)) => String::from_utf8_lossy(text).into_owned(),
        _ => "unknown".to_owned(),
    }
}

fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_fails_or_hangs_ends_the_wait() {
        let judge = |status, seconds| {
            let judged = has_finished((7, "BALANCE DATA"), status, Duration::from_secs(seconds));
            judged.map_err(|failure| failure.what)
        };
        assert_eq!(judge("FINISHED", 1), Ok(true));
        assert_eq!(judge("RUNNING", 100_000), Ok(false));
        assert_eq!(judge("QUEUE", 1), Ok(false));
        let stuck = "job 7 (BALANCE DATA) stays in the queue".to_owned();
        assert_eq!(judge("QUEUE", 121), Err(stuck));
        for status in ["FAILED", "STOPPED", "INVALID", "unknown"] {
            let ended = format!("job 7 (BALANCE DATA) ended as {status}");
            assert_eq!(judge(status, 1), Err(ended));
        }
    }

    #[test]
    fn the_row_of_the_job_counts() {
        let text = |text: &str| Value::String(text.into());
        let table = Table {
            columns: vec!["Job Id(TaskId)".into(), "Command".into(), "Status".into()],
            rows: vec![
                vec![Value::Int(7), text("DATA_BALANCE"), text("FAILED")],
                vec![Value::Int(0), text("0:8->9"), text("FINISHED")],
            ],
        };
        assert_eq!(status(&table, 7), "FAILED");
        assert_eq!(status(&table, 8), "unknown");
    }
}
