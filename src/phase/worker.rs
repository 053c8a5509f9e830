//! Worker: this program on the load host, doing one job there.
//!
//! Duties: put there by its digest like a package; the password goes with the job over standard input; what it
//! tells becomes events; a worker that ends without a result is a failure with its last words.

use std::path::PathBuf;
use std::time::Duration;

use nbctl_core::failure::Failure;
use nbctl_core::monitor::course::Load;
use nbctl_core::plan::Upload;
use nbctl_core::run::Second;
use nbctl_core::units::RemotePath;

use crate::event::Event;
use crate::interrupt;
use crate::phase::bench::Bench;
use crate::phase::data;
use crate::remote::{Dialogue, hash_file};
use crate::worker::job::{FORMAT, GraphTarget, Job, Password, TlsTarget, Work};
use crate::worker::message::Message;

/// Signs of life to the worker.
const BEAT: Duration = Duration::from_secs(2);
/// The worker ends after this long without one.
const SILENCE_S: u64 = 30;

/// What a worker came to.
#[derive(Debug)]
pub(super) struct Ended {
    /// Its result.
    pub(super) result: Message,
    /// Seconds of the window.
    pub(super) series: Vec<Second>,
    /// Remarks.
    pub(super) notes: Vec<String>,
}

/// Runs `work` in `space` on the load host.
pub(super) async fn run(
    bench: &Bench<'_>,
    phase: &str,
    space: &str,
    work: Work,
) -> Result<Ended, Failure> {
    let program = place(bench).await?;
    let job = job(bench, space, work);
    let mut first = serde_json::to_vec(&job)
        .map_err(|error| Failure::step(format!("cannot write the job: {error}")))?;
    first.push(b'\n');
    let mut heard = Heard::new(bench, phase, &job.work);
    let dialogue = Dialogue {
        title: phase,
        argv: &[program.as_str(), "worker"],
        first: &first,
        beat: BEAT,
        sudo: None,
        cancel: &bench.cancel,
    };
    let output = bench
        .link()?
        .converse(&dialogue, &mut |line| heard.take(line))
        .await?;
    if bench.cancel.is_cancelled() {
        return Err(interrupt::failure());
    }
    match (heard.result, heard.failure) {
        (Some(result), None) => Ok(Ended {
            result,
            series: heard.series,
            notes: heard.notes,
        }),
        (_, Some(failure)) => Err(placed(failure, bench)),
        (None, None) => Err(Failure::step(format!(
            "{phase}: the worker ended without a result: exit code {}",
            output.code
        ))
        .at(bench.load.name.to_string())
        .lines(output.last_lines())),
    }
}

/// A failure told by the worker happened on the load host.
fn placed(mut failure: Failure, bench: &Bench<'_>) -> Failure {
    let host = &bench.load.name;
    failure.place = Some(match failure.place.take() {
        Some(place) => format!("{host}: {place}"),
        None => host.to_string(),
    });
    failure
}

fn job(bench: &Bench<'_>, space: &str, work: Work) -> Job {
    let (user, password) = bench.graph.login();
    Job {
        format: FORMAT,
        silence_s: Some(SILENCE_S),
        graph: GraphTarget {
            addresses: bench.graph.endpoints().to_vec(),
            user: user.to_owned(),
            password: Password::new(password),
            space: space.to_owned(),
            tls: bench
                .graph
                .tls()
                .map(|tls| TlsTarget { ca: tls.ca.clone() }),
        },
        work,
    }
}

/// Puts this program on the load host.
async fn place(bench: &Bench<'_>) -> Result<RemotePath, Failure> {
    data::claim(bench).await?;
    let own: PathBuf = std::env::current_exe()
        .map_err(|error| Failure::step(format!("cannot find this program: {error}")))?;
    let sha256 = hash_file(&own).await?;
    let size = std::fs::metadata(&own).map_or(0, |meta| meta.len());
    let upload = Upload {
        source: own.display().to_string(),
        bytes: size,
        sha256,
        path: bench
            .load_dir
            .join(&format!("bin/nbctl-{}", sha256.short())),
        mode: 0o755,
    };
    bench.link()?.upload(&upload, &*bench.ctx.sink).await?;
    Ok(upload.path)
}

fn load(work: &Work) -> Load {
    match work {
        Work::Stress(job) => Load {
            scenario: Some(job.scenario.clone()),
            in_flight: job.concurrency,
        },
        Work::Import(job) => Load {
            scenario: None,
            in_flight: job.in_flight,
        },
    }
}

/// What was heard so far.
struct Heard<'a> {
    bench: &'a Bench<'a>,
    phase: &'a str,
    unit: &'static str,
    load: Load,
    result: Option<Message>,
    failure: Option<Failure>,
    series: Vec<Second>,
    notes: Vec<String>,
}

impl<'a> Heard<'a> {
    fn new(bench: &'a Bench<'a>, phase: &'a str, work: &Work) -> Self {
        Self {
            bench,
            phase,
            unit: match work {
                Work::Stress(_) => "s",
                Work::Import(_) => "bytes",
            },
            load: load(work),
            result: None,
            failure: None,
            series: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn take(&mut self, line: &str) {
        match serde_json::from_str(line) {
            Ok(Message::Second {
                warmup,
                second,
                times,
                done,
                total,
            }) => {
                self.tell(second, done, total);
                let course = &self.bench.course;
                course.second(&self.load, warmup, &second, times.as_ref());
                if !warmup {
                    self.series.push(second);
                }
            }
            Ok(Message::Note { text }) => self.notes.push(text),
            Ok(Message::Ready { .. }) => {}
            Ok(Message::Failed { failure }) => self.failure = Some(failure),
            Ok(result) => self.result = Some(result),
            Err(error) => self
                .notes
                .push(format!("not understood: {error}: {line:.80}")),
        }
    }

    fn tell(&self, second: Second, done: u64, total: Option<u64>) {
        let Second {
            requests,
            failed,
            rows,
            p99_us,
            ..
        } = second;
        let errors = if failed > 0 {
            format!(", {failed} FAILED")
        } else {
            String::new()
        };
        self.bench.ctx.sink.emit(Event::Progress {
            phase: self.phase.to_owned(),
            done,
            total,
            unit: self.unit,
            text: format!("{requests} requests/s, {rows} rows/s, p99 {p99_us} µs{errors}"),
        });
    }
}
