//! How fast the stand-in is, with its client on the same machine: it must not be what limits a measurement.
//!
//! `make bench-sandbox`; or one part of it, with numbers: `cargo bench -p nebula-sandbox -- speed edges=1000000
//! reads=300000`, `-- memory vertices=3000000 edges=17000000`. Prints one line a case, `case  value unit  goal
//! PASS|SHORT`, and fails when a goal is missed.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench prints its result and ends when its cluster fails"
)]

mod memory;
#[path = "../../tests/it/support/mod.rs"]
#[expect(clippy::panic, reason = "shared with the tests")]
mod support;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use nebula_wire::client::{ConnectOptions, Connection};
use support::Cluster;

/// Edges of one INSERT.
const BATCH: u64 = 256;
/// Statements in flight on a connection that loads or reads in bulk.
const DEPTH: usize = 8;

pub(crate) fn parameter(name: &str, default: u64) -> u64 {
    let prefix = format!("{name}=");
    let found = std::env::args().find_map(|arg| arg.strip_prefix(&prefix)?.parse().ok());
    found.unwrap_or(default)
}

fn main() -> ExitCode {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("machine: {cores} cores; 1 graphd, 2 storaged, client in this process");
    let asked = |part: &str| std::env::args().any(|arg| arg == part);
    let all = !asked("speed") && !asked("memory");
    let mut good = true;
    if all || asked("speed") {
        good &= speed();
    }
    if all || asked("memory") {
        good &= memory::sf1();
    }
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn speed() -> bool {
    let cluster = Cluster::start("3.8.0", 2);
    let mut client = cluster.space("int64", "CREATE EDGE KNOWS(creationDate datetime)");
    client.until("INSERT EDGE KNOWS(creationDate) VALUES 1->2:(NULL)");
    let (edges, reads) = (parameter("edges", 1_000_000), parameter("reads", 300_000));
    let vertices = edges / 10;
    let mut good = true;
    let address = cluster.graphd.address();
    let before = cpu_ticks(&cluster);
    let rate = run(&address, 4, DEPTH, edges / BATCH, move |n| {
        insert(n, vertices)
    }) * BATCH;
    cost("insert edges", cpu_ticks(&cluster) - before, edges);
    good &= line("insert edges", rate, "edges/s", 200_000);
    let go = move |n: u64| {
        format!(
            "GO 1 STEP FROM {} OVER KNOWS YIELD KNOWS.creationDate",
            n * 7919 % vertices
        )
    };
    let before = cpu_ticks(&cluster);
    let rate = run(&address, 16, DEPTH, reads, go);
    cost("one-hop reads", cpu_ticks(&cluster) - before, reads);
    good &= line("one-hop reads", rate, "reads/s", 60_000);
    // For comparison: nobody waits less than a round trip, so this is about system calls.
    let reads = reads / 4;
    let before = cpu_ticks(&cluster);
    let rate = run(&address, 16, 1, reads, go);
    println!("one-hop reads, one in flight  {rate} reads/s");
    cost(
        "one-hop reads, one in flight",
        cpu_ticks(&cluster) - before,
        reads,
    );
    good
}

/// Processor time of all daemons and this client, in hundredths of a second. On a busy machine this says more than
/// the rate does.
fn cpu_ticks(cluster: &Cluster) -> u64 {
    let daemons = cluster
        .storageds
        .iter()
        .chain([&cluster.graphd])
        .map(support::Daemon::pid);
    daemons.chain([std::process::id()]).map(ticks_of).sum()
}

fn ticks_of(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("stat");
    let (_, rest) = stat.rsplit_once(')').expect("name");
    let fields = rest.split_whitespace().skip(11).take(2);
    fields
        .map(|field| field.parse::<u64>().expect("ticks"))
        .sum()
}

fn cost(case: &str, ticks: u64, count: u64) {
    println!(
        "{case}, processor time  {} ns each, client included",
        ticks * 10_000_000 / count.max(1)
    );
}

fn line(case: &str, value: u64, unit: &str, goal: u64) -> bool {
    told(case, value, unit, &format!(">= {goal}"), value >= goal)
}

/// One line of the result.
fn told(case: &str, value: u64, unit: &str, goal: &str, good: bool) -> bool {
    let word = if good { "PASS" } else { "SHORT" };
    println!("{case}  {value} {unit}  goal {goal}  {word}");
    good
}

fn insert(batch: u64, vertices: u64) -> String {
    use std::fmt::Write;
    let mut text = String::from("INSERT EDGE KNOWS(creationDate) VALUES ");
    for n in batch * BATCH..(batch + 1) * BATCH {
        let (src, dst) = (n % vertices, n * 48_271 % vertices);
        let comma = if n % BATCH == 0 { "" } else { "," };
        write!(
            text,
            "{comma}{src}->{dst}:(datetime(\"2012-05-06T07:08:09.{:03}\"))",
            n % 1000
        )
        .ok();
    }
    text
}

/// Statements per second of `connections` together, each with several in flight, over `count` statements.
fn run(
    address: &str,
    connections: u64,
    depth: usize,
    count: u64,
    statement: impl Fn(u64) -> String + Copy + Send + 'static,
) -> u64 {
    let started = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("runtime");
    runtime.block_on(async {
        let mut workers = Vec::new();
        for worker in 0..connections {
            let address = address.to_owned();
            workers.push(tokio::spawn(async move {
                let numbers = (worker..count).step_by(usize::try_from(connections).expect("few"));
                drive(&address, depth, numbers, statement).await;
            }));
        }
        for worker in workers {
            worker.await.expect("worker");
        }
    });
    let elapsed = started.elapsed().max(Duration::from_micros(1));
    u64::try_from(u128::from(count) * 1_000_000 / elapsed.as_micros()).unwrap_or(u64::MAX)
}

async fn drive(
    address: &str,
    depth: usize,
    mut numbers: impl Iterator<Item = u64>,
    statement: impl Fn(u64) -> String,
) {
    let mut connection = Connection::connect(address, &ConnectOptions::default())
        .await
        .expect("connect");
    let session = connection
        .authenticate("root", "nebula")
        .await
        .expect("authenticate")
        .id;
    assert!(
        connection
            .execute(session, b"USE s")
            .await
            .expect("use")
            .is_ok()
    );
    loop {
        while connection.in_flight() < depth {
            let Some(number) = numbers.next() else { break };
            let text = statement(number);
            let queued = connection.queue_execute(session, text.as_bytes());
            queued.expect("queue");
        }
        if connection.in_flight() == 0 {
            break;
        }
        connection.flush().await.expect("send");
        // Half of them: graphd has the other half to do meanwhile.
        for _ in 0..connection.in_flight().div_ceil(2) {
            receive(&mut connection).await;
        }
    }
    connection.signout(session).await.expect("sign out");
}

async fn receive(connection: &mut Connection) {
    let reply = connection.receive().await.expect("reply");
    assert!(reply.is_ok(), "{}", reply.error_text());
}

pub(crate) fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("status");
    let row = status
        .lines()
        .find_map(|row| row.strip_prefix("VmRSS:"))
        .expect("VmRSS");
    row.trim()
        .trim_end_matches("kB")
        .trim()
        .parse::<u64>()
        .expect("number")
        * 1024
}
