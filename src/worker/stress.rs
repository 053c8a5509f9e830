//! Stress: a closed loop. Each lane sends its next request when the last one is answered.
//!
//! Duties: service time from send to last byte, server time as graphd says; warm-up kept apart; a request counts in
//! the window in which its answer came; what is in flight at the end is waited for and not counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nbctl_core::failure::Failure;
use nbctl_core::run::{StressResult, Window};
use nbctl_core::scenario::Template;
use nebula_wire::codes::ErrorKind;
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use tokio_util::sync::CancellationToken;

use super::cpu::{self, Cpu};
use super::job::{Job, StressJob};
use super::lane::{Backoff, Lane, Wrong};
use super::message::{EncodedClock, Message, Out, StressDone};
use super::parameters::{Parameters, below};
use super::tally::{Reader, Sample, Share, total};
use super::threads::{Common, Drive, Spread, Team};

const SECOND: Duration = Duration::from_secs(1);
/// Between "all are ready" and the first request, so that all lanes begin together.
const LEAD: Duration = Duration::from_millis(50);

/// What every lane knows.
struct Loop {
    common: Arc<Common>,
    template: Template,
    statement: String,
    parameters: Parameters,
    shares: Vec<Arc<Share>>,
    seed: u64,
    warmup: Duration,
    length: Duration,
}

/// Moments of a job.
#[derive(Debug, Clone, Copy)]
struct Times {
    measured: Instant,
    end: Instant,
}

/// Runs the job and tells its result.
pub(super) async fn run(
    job: &Job,
    stress: &StressJob,
    stop: &CancellationToken,
    out: &Out,
) -> Result<(), Failure> {
    let (template, parameters) = prepare(stress)?;
    let parameter_rows = parameters.len() as u64;
    let spread = spread(stress);
    let shares: Vec<Arc<Share>> = (0..spread.threads)
        .map(|_| Arc::new(Share::new()))
        .collect();
    let mut team = Team::start(job, spread, stop, |common| Loop {
        common: Arc::clone(common),
        template,
        statement: stress.statement.clone(),
        parameters,
        shares: shares.clone(),
        seed: stress.seed,
        warmup: Duration::from_secs(stress.warmup_s),
        length: Duration::from_secs(stress.duration_s),
    })?;
    let sessions = match team.ready().await {
        Ok(sessions) => sessions,
        Err(failure) => {
            team.finish().await;
            return Err(failure);
        }
    };
    out.emit(&Message::Ready {
        connections: stress.concurrency,
        sessions: u32::try_from(sessions).unwrap_or(u32::MAX),
        threads: u32::try_from(spread.threads).unwrap_or(u32::MAX),
    });
    let done = measure(stress, &mut team, &shares, out).await?;
    out.emit(&Message::Stress(Box::new(StressDone {
        parameter_rows,
        ..done
    })));
    Ok(())
}

fn prepare(stress: &StressJob) -> Result<(Template, Parameters), Failure> {
    let compiled = Template::compile(&stress.statement, &stress.forms);
    let template = compiled.map_err(|problem| {
        Failure::inventory(format!("scenario {}: {problem}", stress.scenario))
    })?;
    let parameters = match &stress.parameters {
        Some(file) if !template.columns().is_empty() => {
            Parameters::load(file, template.columns(), stress.seed)?
        }
        None if !template.columns().is_empty() => {
            let what = format!("scenario {} wants parameters and has none", stress.scenario);
            return Err(Failure::usage(what));
        }
        _ => Parameters::default(),
    };
    Ok((template, parameters))
}

fn spread(stress: &StressJob) -> Spread {
    let lanes = stress.concurrency.max(1) as usize;
    let cores = stress.threads.unwrap_or_else(cpu::cores).max(1) as usize;
    Spread {
        threads: cores.min(lanes),
        lanes,
        roams: false,
    }
}

/// The load from its first request to its result.
async fn measure(
    stress: &StressJob,
    team: &mut Team,
    shares: &[Arc<Share>],
    out: &Out,
) -> Result<StressDone, Failure> {
    let start = Instant::now() + LEAD;
    let start_ms = Timestamp::now().as_millisecond() + 50;
    team.go(start);
    let mut ticks = Ticks::new(start, start_ms, stress);
    while ticks.now < ticks.total {
        team.wait_until(start + SECOND * (ticks.now + 1)).await;
        if team.common.soft.is_cancelled() {
            break;
        }
        ticks.tick(shares, out);
    }
    let early = ticks.now < ticks.total;
    let failure = early.then(|| team.end());
    team.finish().await;
    ticks.last(shares, out);
    match failure.or_else(|| team.common.failure()) {
        Some(failure) => Err(failure),
        None => result(stress, shares, &ticks),
    }
}

/// Seconds of a job as they pass.
struct Ticks {
    reader: Reader,
    start_ms: i64,
    warmup: u32,
    total: u32,
    now: u32,
    cpu: Cpu,
    cpu_percent: f64,
}

impl Ticks {
    fn new(_start: Instant, start_ms: i64, stress: &StressJob) -> Self {
        let seconds = |s: u64| u32::try_from(s).unwrap_or(u32::MAX);
        let warmup = seconds(stress.warmup_s);
        Self {
            reader: Reader::new(),
            start_ms,
            warmup,
            total: warmup.saturating_add(seconds(stress.duration_s)),
            now: 0,
            cpu: Cpu::read(),
            cpu_percent: 0.0,
        }
    }

    /// A second has passed. The last one is told when nothing is in flight any more.
    fn tick(&mut self, shares: &[Arc<Share>], out: &Out) {
        self.now += 1;
        if self.now == self.warmup {
            self.cpu = Cpu::read();
        }
        if self.now == self.total {
            self.cpu_percent = Cpu::read().percent_since(self.cpu);
        } else {
            self.tell(shares, out, self.now - 1);
        }
    }

    fn last(&mut self, shares: &[Arc<Share>], out: &Out) {
        if self.now == self.total && self.total > 0 {
            self.tell(shares, out, self.total - 1);
        }
    }

    fn tell(&mut self, shares: &[Arc<Share>], out: &Out, number: u32) {
        let start_ms = self.start_ms + i64::from(number) * 1000;
        let (second, times) = self.reader.second(shares, start_ms);
        out.emit(&Message::Second {
            warmup: number < self.warmup,
            second,
            times,
            done: u64::from(number) + 1,
            total: Some(u64::from(self.total)),
        });
    }

    fn window(&self) -> Window {
        Window {
            start_ms: self.start_ms + i64::from(self.warmup) * 1000,
            end_ms: self.start_ms + i64::from(self.total) * 1000,
        }
    }
}

fn result(stress: &StressJob, shares: &[Arc<Share>], ticks: &Ticks) -> Result<StressDone, Failure> {
    let sum = total(shares);
    let result = StressResult {
        scenario: stress.scenario.clone(),
        protocol: stress.protocol.clone(),
        statement: stress.statement.clone(),
        concurrency: stress.concurrency,
        warmup_ms: stress.warmup_s * 1000,
        requests: sum.sums.requests,
        rows: sum.sums.rows,
        failed: sum.sums.failed,
        errors: sum.errors.list(),
        clocks: sum.clocks(),
        generator_cpu_percent: ticks.cpu_percent,
        generator_cores: cpu::cores(),
        ..StressResult::default()
    };
    Ok(StressDone {
        result,
        window: ticks.window(),
        histograms: vec![
            EncodedClock::new("service", &sum.sums.service)?,
            EncodedClock::new("server", &sum.sums.server)?,
        ],
        parameter_rows: 0,
    })
}

impl Drive for Loop {
    async fn drive(&self, lane: &mut Lane, number: usize, thread: usize) {
        let Some(start) = self.common.started().await else {
            return;
        };
        tokio::time::sleep_until(start.into()).await;
        let times = Times {
            measured: start + self.warmup,
            end: start + self.warmup + self.length,
        };
        let mut draw = ChaCha8Rng::seed_from_u64(self.seed.wrapping_add(number as u64));
        let (mut statement, mut backoff) = (Vec::new(), Backoff::new());
        let Some(share) = self.shares.get(thread) else {
            return;
        };
        loop {
            let sent = Instant::now();
            if sent >= times.end || self.common.soft.is_cancelled() {
                return;
            }
            if !lane.is_ready() {
                if let Err(wrong) = lane.ready().await {
                    self.record(share, times, sent, Instant::now(), &Err(wrong));
                    self.common.pause(backoff.next()).await;
                }
                continue;
            }
            backoff = Backoff::new();
            if !self.render(&mut draw, &mut statement) {
                return;
            }
            let sent = Instant::now();
            let answer = lane.ask(&statement).await;
            self.record(share, times, sent, answer.at, &answer.outcome);
        }
    }
}

impl Loop {
    /// Draws a row and writes the statement; false ends the job.
    fn render(&self, draw: &mut ChaCha8Rng, statement: &mut Vec<u8>) -> bool {
        statement.clear();
        let row = usize::try_from(below(draw, self.parameters.len() as u64)).unwrap_or_default();
        let written = self
            .template
            .render(|column| self.parameters.value(row, column), statement);
        if let Err(error) = &written {
            let failure = Failure::data(format!("a parameter does not fit: {error}"));
            self.common.fail(failure.line(self.statement.clone()));
        }
        written.is_ok()
    }

    fn record(
        &self,
        share: &Share,
        times: Times,
        sent: Instant,
        at: Instant,
        outcome: &Result<super::lane::Good, Wrong>,
    ) {
        if at >= times.end {
            return;
        }
        let micros = at.saturating_duration_since(sent).as_micros();
        share.record(&Sample {
            service_us: u64::try_from(micros).unwrap_or(u64::MAX),
            outcome: outcome.as_ref(),
            counts: at >= times.measured,
        });
        if let Err(wrong) = outcome
            && let Some(failure) = self.hopeless(wrong)
        {
            self.common.fail(failure);
        }
    }

    /// Errors that the next request will meet, too.
    fn hopeless(&self, wrong: &Wrong) -> Option<Failure> {
        let hint = match wrong.kind? {
            ErrorKind::Syntax => "check the scenario's text for this release",
            ErrorKind::Semantic => "check that the space holds the scenario's data set",
            ErrorKind::Permission => "check `nebula.user` and its password in the inventory",
            ErrorKind::TooMany => {
                "raise max_sessions_per_ip_per_user and max_allowed_connections of graphd"
            }
            _ => return None,
        };
        let failure = Failure::cluster(format!("graphd refuses the scenario: {}", wrong.class));
        Some(
            failure
                .line(wrong.text.clone())
                .line(self.statement.clone())
                .hint(hint),
        )
    }
}
