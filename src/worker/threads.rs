//! Threads of the engine: one a core, each with its own runtime; connections stay on the thread they were made on.
//!
//! Duties: start them, know when all are ready and when all are done, carry the first fatal failure; two ways to
//! end: `soft` sends nothing more, `hard` gives up what is still in flight.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nbctl_core::failure::Failure;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::LocalSet;
use tokio_util::sync::CancellationToken;

use super::job::Job;
use super::lane::{Backoff, Graph, Lane, Wrong};

/// How long a first connection is tried for.
const CONNECT_BUDGET: Duration = Duration::from_secs(15);
/// What is in flight may take this long after the end.
const DRAIN: Duration = Duration::from_secs(5);

/// Shared by all threads of a job.
#[derive(Debug)]
pub(super) struct Common {
    /// No more requests.
    pub(super) soft: CancellationToken,
    /// Nor answers.
    pub(super) hard: CancellationToken,
    fatal: Mutex<Option<Failure>>,
    told: UnboundedSender<Told>,
    /// When the load begins; lanes wait for it.
    start: watch::Receiver<Option<Instant>>,
}

#[derive(Debug)]
enum Told {
    Ready { sessions: usize },
    Done,
}

/// All threads as their owner sees them.
#[derive(Debug)]
pub(super) struct Team {
    pub(super) common: Arc<Common>,
    threads: usize,
    heard: UnboundedReceiver<Told>,
    go: watch::Sender<Option<Instant>>,
    done: usize,
}

/// How lanes are spread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    pub(super) threads: usize,
    pub(super) lanes: usize,
    /// Lanes change to another graphd when theirs does not answer.
    pub(super) roams: bool,
}

impl Spread {
    /// Lanes of a thread: every `threads`-th.
    fn lanes_of(self, thread: usize) -> impl Iterator<Item = usize> {
        (thread..self.lanes).step_by(self.threads.max(1))
    }
}

impl Common {
    /// Ends the job with a failure; the first one counts.
    pub(super) fn fail(&self, failure: Failure) {
        let mut fatal = self.fatal.lock().unwrap_or_else(PoisonError::into_inner);
        fatal.get_or_insert(failure);
        self.soft.cancel();
    }

    /// The failure that ended the job.
    pub(super) fn failure(&self) -> Option<Failure> {
        let fatal = self.fatal.lock().unwrap_or_else(PoisonError::into_inner);
        fatal.clone()
    }

    /// Waits for the start; `None` when there will be none.
    pub(super) async fn started(&self) -> Option<Instant> {
        let mut start = self.start.clone();
        tokio::select! {
            begun = start.wait_for(Option::is_some) => begun.ok().and_then(|begun| *begun),
            () = self.soft.cancelled() => None,
        }
    }

    /// Pauses, unless the job ends before.
    pub(super) async fn pause(&self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = self.soft.cancelled() => {}
        }
    }
}

/// What each lane does once the load has begun.
pub(super) trait Drive: Send + Sync + 'static {
    /// Works until the job ends; `number` is the lane's, `thread` that of its thread.
    fn drive(&self, lane: &mut Lane, number: usize, thread: usize) -> impl Future<Output = ()>;
}

impl Team {
    /// Starts the threads; they connect at once and wait for [`Self::go`].
    pub(super) fn start<D: Drive>(
        job: &Job,
        spread: Spread,
        stop: &CancellationToken,
        drive: impl FnOnce(&Arc<Common>) -> D,
    ) -> Result<Self, Failure> {
        let (told, heard) = unbounded_channel();
        let (go, start) = watch::channel(None);
        let common = Arc::new(Common {
            soft: stop.child_token(),
            hard: CancellationToken::new(),
            fatal: Mutex::new(None),
            told,
            start,
        });
        let drive = Arc::new(drive(&common));
        for thread in 0..spread.threads {
            let (job, common, drive) = (job.clone(), Arc::clone(&common), Arc::clone(&drive));
            let name = format!("load-{thread}");
            let body = move || run_thread(&job, spread, thread, &common, &*drive);
            let started = std::thread::Builder::new().name(name).spawn(body);
            started.map_err(|error| Failure::step(format!("cannot start a thread: {error}")))?;
        }
        Ok(Self {
            common,
            threads: spread.threads,
            heard,
            go,
            done: 0,
        })
    }

    /// Waits until every lane stands; gives the number of sessions.
    pub(super) async fn ready(&mut self) -> Result<usize, Failure> {
        let (mut ready, mut sum) = (0, 0);
        while ready < self.threads {
            match self.next().await {
                Some(Told::Ready { sessions }) => {
                    ready += 1;
                    sum += sessions;
                }
                _ if self.common.soft.is_cancelled() => return Err(self.end()),
                _ => {}
            }
        }
        Ok(sum)
    }

    /// Lets the load begin.
    pub(super) fn go(&self, start: Instant) {
        self.go.send(Some(start)).ok();
    }

    /// Why it ended before its time.
    pub(super) fn end(&self) -> Failure {
        self.common.failure().unwrap_or_else(super::stopped)
    }

    /// All threads are done.
    pub(super) fn is_done(&self) -> bool {
        self.done >= self.threads
    }

    /// Waits for a thread to tell something, or for the end.
    async fn next(&mut self) -> Option<Told> {
        tokio::select! {
            told = self.heard.recv() => {
                self.done += usize::from(matches!(told, Some(Told::Done)));
                told
            }
            () = self.common.soft.cancelled() => None,
        }
    }

    /// Waits until `until`, the end of all threads, or the end of the job.
    pub(super) async fn wait_until(&mut self, until: Instant) {
        while !self.is_done() && !self.common.soft.is_cancelled() {
            let told = tokio::time::timeout_at(until.into(), self.next()).await;
            if told.is_err() {
                return;
            }
        }
    }

    /// Ends the load and waits for the threads: first for answers, then without.
    pub(super) async fn finish(&mut self) {
        self.common.soft.cancel();
        if tokio::time::timeout(DRAIN, self.drained()).await.is_err() {
            self.common.hard.cancel();
            drop(tokio::time::timeout(DRAIN, self.drained()).await);
        }
    }

    async fn drained(&mut self) {
        while !self.is_done() {
            match self.heard.recv().await {
                Some(Told::Done) => self.done += 1,
                Some(Told::Ready { .. }) => {}
                None => return,
            }
        }
    }
}

/// Tells that the thread is done, however it ends.
struct TellDone(UnboundedSender<Told>);

impl Drop for TellDone {
    fn drop(&mut self) {
        drop(self.0.send(Told::Done));
    }
}

fn run_thread<D: Drive>(job: &Job, spread: Spread, thread: usize, common: &Arc<Common>, drive: &D) {
    let _done = TellDone(common.told.clone());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => {
            let work = lanes(job, spread, thread, common, drive);
            runtime.block_on(LocalSet::new().run_until(work));
        }
        Err(error) => common.fail(Failure::step(format!("cannot start a runtime: {error}"))),
    }
}

async fn lanes<D: Drive>(
    job: &Job,
    spread: Spread,
    thread: usize,
    common: &Arc<Common>,
    drive: &D,
) {
    let numbers: Vec<usize> = spread.lanes_of(thread).collect();
    let graph = Graph::new(job.graph.clone(), numbers.len(), spread.threads);
    let places = numbers.iter().enumerate();
    // By its place within the thread, shifted by the thread: lanes of one session meet on one graphd.
    let all = places.map(|(place, _)| Lane::new(&graph, place, place + thread, spread.roams));
    let all: Vec<Lane> = all.collect();
    let mut connected = Vec::new();
    for mut lane in all {
        if let Err(wrong) = first_connection(&mut lane, common).await {
            common.fail(no_connection(job, &wrong));
        }
        connected.push(lane);
    }
    drop(common.told.send(Told::Ready {
        sessions: graph.sessions(),
    }));
    let work = connected
        .iter_mut()
        .zip(&numbers)
        .map(|(lane, number)| async move {
            tokio::select! {
                () = drive.drive(lane, *number, thread) => {}
                () = common.hard.cancelled() => {}
            }
        });
    futures_util::future::join_all(work).await;
    leave(connected, &graph).await;
}

/// Signs out, with a limit: graphd may be gone.
async fn leave(mut lanes: Vec<Lane>, graph: &Rc<Graph>) {
    let first = lanes.iter_mut().take(graph.sessions());
    let all = futures_util::future::join_all(first.map(Lane::leave));
    drop(tokio::time::timeout(Duration::from_secs(3), all).await);
}

async fn first_connection(lane: &mut Lane, common: &Common) -> Result<(), Wrong> {
    let (begun, mut backoff) = (Instant::now(), Backoff::new());
    loop {
        let wrong = match lane.ready().await {
            Ok(()) => return Ok(()),
            Err(wrong) => wrong,
        };
        let answered = wrong.kind.is_some_and(|kind| !kind.retryable());
        if answered || begun.elapsed() > CONNECT_BUDGET || common.soft.is_cancelled() {
            return Err(wrong);
        }
        common.pause(backoff.next()).await;
    }
}

fn no_connection(job: &Job, wrong: &Wrong) -> Failure {
    use nebula_wire::codes::ErrorKind;
    let hint = match wrong.kind {
        None => "see whether graphd runs and can be reached from the load host: `nbctl status`",
        Some(ErrorKind::Permission) => "check `nebula.user` and its password in the inventory",
        Some(ErrorKind::TooMany) => {
            "raise max_sessions_per_ip_per_user and max_allowed_connections of graphd"
        }
        Some(_) => "make the space first: `nbctl import`, or the schema phase of a playbook",
    };
    let space = &job.graph.space;
    Failure::cluster(format!("no session in space `{space}`: {}", wrong.class))
        .line(wrong.text.clone())
        .hint(hint)
}
