//! What was acknowledged is there: a load through graphd while daemons are killed one after the other.
//!
//! The short version runs with every test; the full one (a million edges, thirty kills) is `make faults`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::sleep,
    time::{Duration, Instant},
};

use nebula_wire::{
    client::{ClientError, ConnectOptions, Connection},
    fuzz::Random,
};

use crate::support::{Client, Cluster, is_open, wait};

/// Edges of one INSERT.
const BATCH: u64 = 250;
/// Edges of one source.
const FAN: u64 = 50;
const LOADERS: u64 = 4;
/// An INSERT that is refused for longer than this is a failure, not a fault that heals.
const PATIENCE: Duration = Duration::from_mins(2);

/// graphd's code for a session that nobody knows (any more).
const SESSION_INVALID: i32 = -1002;

/// What the loaders have done so far.
#[derive(Debug, Default)]
struct Progress {
    /// INSERTs acknowledged.
    acknowledged: AtomicU64,
    /// INSERTs sent again.
    again: AtomicU64,
}

/// Edges `batch * BATCH ..`: the n-th goes from `n / FAN` to a vertex of its own, and carries `n`.
fn insert(batch: u64) -> String {
    let edge = |n: u64| format!("{}->{}:({n})", n / FAN, target(n));
    let edges: Vec<_> = (batch * BATCH..(batch + 1) * BATCH).map(edge).collect();
    format!("INSERT EDGE E(n) VALUES {}", edges.join(","))
}

const fn target(n: u64) -> u64 {
    1_000_000_000 + n
}

/// One loader: a session, and a connection that is made anew whenever something goes wrong with it. The session
/// outlives both, or three hundred of them would be there soon.
struct Loader {
    address: String,
    session: Option<i64>,
    connection: Option<Connection>,
}

/// Why an attempt came to nothing.
struct Refused {
    text: String,
    session_gone: bool,
}

impl From<ClientError> for Refused {
    fn from(error: ClientError) -> Self {
        Self {
            text: error.to_string(),
            session_gone: false,
        }
    }
}

impl Loader {
    async fn connect(&self) -> Result<Connection, ClientError> {
        let options = ConnectOptions {
            request_timeout: Duration::from_secs(10),
            ..ConnectOptions::default()
        };
        Connection::connect(&self.address, &options).await
    }

    /// Once; whatever is not an acknowledgement is an error.
    async fn attempt(&mut self, statement: &str) -> Result<(), Refused> {
        let mut connection = match self.connection.take() {
            Some(open) => open,
            None => self.connect().await?,
        };
        let session = if let Some(session) = self.session {
            session
        } else {
            let session = connection.authenticate("root", "nebula").await?.id;
            *self.session.insert(session)
        };
        // The space is the session's, which may be one that has not got it yet.
        for statement in ["USE s", statement] {
            let reply = connection.execute(session, statement.as_bytes()).await?;
            if !reply.is_ok() {
                return Err(Refused {
                    text: format!("{}: {}", reply.code(), reply.error_text()),
                    session_gone: reply.code() == SESSION_INVALID,
                });
            }
        }
        self.connection = Some(connection);
        Ok(())
    }

    async fn load(&mut self, batch: u64, progress: &Progress) {
        let statement = insert(batch);
        let begun = Instant::now();
        while let Err(refused) = self.attempt(&statement).await {
            let text = refused.text;
            assert!(begun.elapsed() < PATIENCE, "batch {batch}: {text}");
            if refused.session_gone {
                self.session = None;
            }
            progress.again.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        progress.acknowledged.fetch_add(1, Ordering::Relaxed);
    }
}

fn load(address: &str, batches: u64, progress: &Arc<Progress>) -> std::thread::JoinHandle<()> {
    let (address, progress) = (address.to_owned(), Arc::clone(progress));
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("runtime").block_on(async {
            let loaders = (0..LOADERS).map(|first| {
                let (address, progress) = (address.clone(), Arc::clone(&progress));
                async move {
                    let mut loader = Loader {
                        address,
                        session: None,
                        connection: None,
                    };
                    for batch in (first..batches).step_by(usize::try_from(LOADERS).expect("few")) {
                        loader.load(batch, &progress).await;
                    }
                }
            });
            futures_util::future::join_all(loaders).await;
        });
    })
}

/// Kills daemons by chance, evenly over the load; who was killed comes back before the next one goes.
fn kill_around(
    cluster: &mut Cluster,
    kills: u64,
    batches: u64,
    progress: &Progress,
    seed: u64,
) -> [u64; 3] {
    let mut random = Random::new(seed);
    let mut killed = [0; 3];
    for kill in 1..=kills {
        let due = kill * batches / (kills + 1);
        wait_long("the load goes on", || {
            progress.acknowledged.load(Ordering::Relaxed) >= due
        });
        let role = random.below(3);
        killed[role] += 1;
        let daemon = match role {
            0 => &mut cluster.metads[0],
            1 => &mut cluster.graphd,
            _ => {
                let at = random.below(cluster.storageds.len());
                &mut cluster.storageds[at]
            }
        };
        daemon.kill();
        sleep(Duration::from_millis(random.next() % 400));
        daemon.start();
        let port = daemon.port;
        wait_long("the killed daemon is back", || is_open(port));
    }
    killed
}

/// As [`wait`], for what can take its time on a busy machine.
fn wait_long(what: &str, mut ready: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(5);
    while !ready() {
        assert!(Instant::now() < deadline, "timed out: {what}");
        sleep(Duration::from_millis(5));
    }
}

/// Outgoing and incoming edges by `GO`, with what they carry, so that both ends and the rows are looked at.
fn every_edge_is_there(client: &mut Client, edges: u64) {
    let sources = edges / FAN;
    for first in (0..sources).step_by(200) {
        let end = (first + 200).min(sources);
        let list = |of: &mut dyn Iterator<Item = u64>| {
            of.map(|n| n.to_string()).collect::<Vec<_>>().join(",")
        };
        let from = list(&mut (first..end));
        let found = client.ok(&format!(
            "GO FROM {from} OVER E YIELD E.n AS n, id($$) AS d"
        ));
        let mut numbers: Vec<_> = found
            .rows
            .iter()
            .map(|row| (row[0].as_int(), row[1].as_int()))
            .collect();
        numbers.sort_unstable();
        let signed = |n: u64| Some(i64::try_from(n).expect("small"));
        let expected: Vec<_> = (first * FAN..end * FAN)
            .map(|n| (signed(n), signed(target(n))))
            .collect();
        assert_eq!(numbers, expected, "from {first} to {end}");
        let ends = list(&mut (first * FAN..end * FAN).map(target));
        let back = client.ok(&format!("GO FROM {ends} OVER E REVERSELY YIELD E.n AS n"));
        assert_eq!(
            back.rows.len() as u64,
            (end - first) * FAN,
            "to {first}..{end}"
        );
    }
}

fn survives(edges: u64, kills: u64, seed: u64) {
    let mut cluster = Cluster::start("3.8.0", 2);
    let mut client = cluster.space("int64", "CREATE EDGE E(n int)");
    client.until("INSERT EDGE E(n) VALUES 0->1000000000:(0)");
    let batches = edges / BATCH;
    let progress = Arc::new(Progress::default());
    let begun = Instant::now();
    let loading = load(&cluster.graphd.address(), batches, &progress);
    let [metad, graphd, storaged] = kill_around(&mut cluster, kills, batches, &progress, seed);
    loading
        .join()
        .expect("every batch is acknowledged in the end");
    let spent = begun.elapsed();
    // Once more, everybody: what counts is what is on disk.
    cluster.graphd.kill();
    for daemon in cluster.metads.iter_mut().chain(&mut cluster.storageds) {
        daemon.kill();
    }
    for daemon in cluster.metads.iter_mut().chain(&mut cluster.storageds) {
        daemon.start();
    }
    cluster.graphd.start();
    let port = cluster.graphd.port;
    wait("graphd", || is_open(port));
    cluster.wait_storage();
    let mut client = cluster.client();
    client.until("USE s");
    let counts = client.counts();
    let count = |name: &str| {
        counts
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, n)| *n)
    };
    let expected = i64::try_from(edges).ok();
    assert_eq!(
        (count("E"), count("edges")),
        (expected, expected),
        "seed {seed}"
    );
    every_edge_is_there(&mut client, edges);
    eprintln!(
        "{edges} edges, {kills} kills (metad {metad}, graphd {graphd}, storaged {storaged}), {} batches of {BATCH} sent \
         again, {:.1} s, seed {seed}: counts are exact",
        progress.again.load(Ordering::Relaxed),
        spent.as_secs_f64(),
    );
}

#[test]
fn acknowledged_edges_survive_a_few_kills() {
    survives(50_000, 5, 11);
}

#[test]
#[ignore = "a million edges and thirty kills: make faults"]
fn acknowledged_edges_survive_thirty_kills() {
    let number = |name: &str, default| {
        std::env::var(name).map_or(default, |text| text.trim().parse().expect("a number"))
    };
    let seed = number("NBCTL_FAULT_SEED", u64::from(std::process::id()));
    survives(
        number("NBCTL_FAULT_EDGES", 1_000_000),
        number("NBCTL_FAULT_KILLS", 30),
        seed,
    );
}
