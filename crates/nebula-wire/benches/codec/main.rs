//! What the codec costs: `cargo bench -p nebula-wire --profile dev` (the crate is built at
//! opt-level 3 there, so nothing is compiled twice).
//!
//! Prints the machine, then a line a case: case, value, unit, goal, PASS or SHORT. Exit code 1 when
//! a goal is missed. Times are the best of several samples taken in turn with those they are
//! compared with; the loopback case counts CPU time, so that a busy machine does not spoil it.

mod loopback;

use std::cell::RefCell;
use std::hint::black_box;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use nebula_wire::client::Reply;
use nebula_wire::framing::next_frame;
use nebula_wire::message::{Call, write_call};
use nebula_wire::protocol::MessageType;
use nebula_wire::response::{self, ExecutionResponse, Latency, Response};
use nebula_wire::server::next_request;
use nebula_wire::{DataSet, Framing, MAX_FRAME_SIZE, Protocol, Value, WireError};

const SAMPLES: usize = 300;
const SAMPLE_NANOS: f64 = 200_000.0;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            drop(writeln!(io::stderr(), "codec bench: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Box<dyn std::error::Error>> {
    let mut out = io::stdout().lock();
    writeln!(out, "# {}", machine())?;
    let mut cases = decoding()?;
    cases.extend(encoding()?);
    let reads = loopback::reads_per_two_cores()?;
    cases.push(case(
        "loopback reads in 2 s of CPU time",
        reads,
        "reads/s",
        Goal::AtLeast(60_000.0),
    ));
    for case in &cases {
        writeln!(out, "{}", case.line())?;
    }
    Ok(cases.iter().all(Case::holds))
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name\t: "));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?").to_owned();
    format!(
        "{}, {cores} cores, load {load}",
        model.unwrap_or("unknown cpu")
    )
}

/// One line of the output.
struct Case {
    name: &'static str,
    value: f64,
    unit: &'static str,
    goal: Goal,
}

/// What the value must reach.
enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Case {
    fn holds(&self) -> bool {
        match self.goal {
            Goal::AtMost(limit) => self.value <= limit,
            Goal::AtLeast(limit) => self.value >= limit,
        }
    }

    fn line(&self) -> String {
        let (sign, limit) = match self.goal {
            Goal::AtMost(limit) => ("<=", limit),
            Goal::AtLeast(limit) => (">=", limit),
        };
        let verdict = if self.holds() { "PASS" } else { "SHORT" };
        format!(
            "{:<44} {:>10.1} {:<8} {sign} {limit:<8} {verdict}",
            self.name, self.value, self.unit
        )
    }
}

/// Best time of each of `subjects` in nanoseconds per call, sampled in turn. Samples are shorter than
/// a scheduler's slice, so that on a busy machine some of them run undisturbed.
fn best_of(subjects: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let calls: Vec<u32> = subjects.iter_mut().map(|s| calls_per_sample(*s)).collect();
    let mut best = vec![f64::INFINITY; subjects.len()];
    for _ in 0..SAMPLES {
        for ((best, subject), calls) in best.iter_mut().zip(subjects.iter_mut()).zip(&calls) {
            *best = best.min(sample(*calls, *subject));
        }
    }
    best
}

fn sample(calls: u32, subject: &mut dyn FnMut()) -> f64 {
    let started = Instant::now();
    for _ in 0..calls {
        subject();
    }
    started.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
}

fn calls_per_sample(subject: &mut dyn FnMut()) -> u32 {
    let mut calls = 1;
    while calls < 1 << 20 && sample(calls, subject) * f64::from(calls) < SAMPLE_NANOS {
        calls *= 2;
    }
    calls
}

/// `rows` rows of an id, a name and a date as a number: the shape of a one-hop read.
pub(crate) fn table(rows: i64) -> DataSet {
    let mut data = DataSet::with_columns(["id", "name", "since"]);
    data.rows = (0..rows)
        .map(|i| {
            vec![
                Value::Int(i),
                Value::from("Ada Lovelace"),
                Value::Int(20_120_101),
            ]
        })
        .collect();
    data
}

/// A request in `framing`, to reply to.
fn request(framing: Framing) -> Result<Vec<u8>, WireError> {
    let call = Call::Execute {
        session: 1,
        stmt: b"GO FROM 933 OVER KNOWS YIELD dst(edge)",
        with_parameter: false,
        params: None,
    };
    let mut out = Vec::new();
    write_call(&mut out, framing, MessageType::Call, 1, &call)?;
    Ok(out)
}

fn message(framing: Framing, rows: i64) -> Result<Vec<u8>, WireError> {
    let request = request(framing)?;
    let mut out = Vec::new();
    if let Some((request, _)) = next_request(&request, MAX_FRAME_SIZE)? {
        let data = Some(table(rows));
        let response = ExecutionResponse::ok(Latency::Wide(100), b"snb", data);
        request.reply().execution(&mut out, response)?;
    }
    Ok(out)
}

/// Has the compiler believe that the result is used.
fn keep<T>(result: T) {
    drop(black_box(Some(result)));
}

fn case(name: &'static str, value: f64, unit: &'static str, goal: Goal) -> Case {
    Case {
        name,
        value,
        unit,
        goal,
    }
}

fn decoding() -> Result<Vec<Case>, WireError> {
    let binary = Framing::Framed(Protocol::Binary);
    let (one, many) = (message(binary, 1)?, message(binary, 1000)?);
    let compact = message(Framing::Framed(Protocol::Compact), 1000)?;
    let now = Instant::now();
    let scan = |bytes: &[u8]| Reply::parse(&black_box(bytes)[4..], now).map(|r| r.row_count());
    let full = |bytes: &[u8]| {
        let frame = next_frame(black_box(bytes), MAX_FRAME_SIZE).ok().flatten();
        frame.map(|frame| response::decode(&frame).is_ok())
    };
    let times = best_of(&mut [
        &mut || keep(scan(&one)),
        &mut || keep(scan(&many)),
        &mut || keep(full(&many)),
        &mut || keep(full(&compact)),
    ]);
    let per_row = |i: usize| times[i] / 1000.0;
    Ok(vec![
        case("scan a reply of 1 row", times[0], "ns", Goal::AtMost(300.0)),
        case(
            "scan 1000 rows, per row",
            per_row(1),
            "ns",
            Goal::AtMost(100.0),
        ),
        case(
            "decode 1000 rows, per row",
            per_row(2),
            "ns",
            Goal::AtMost(400.0),
        ),
        case(
            "decode / scan",
            times[2] / times[1],
            "times",
            Goal::AtLeast(2.0),
        ),
        case(
            "decode compact / binary",
            times[3] / times[2],
            "times",
            Goal::AtMost(2.0),
        ),
    ])
}

fn encoding() -> Result<Vec<Case>, WireError> {
    let framing = Framing::Framed(Protocol::Binary);
    let bytes = request(framing)?;
    let Some((request, _)) = next_request(&bytes, MAX_FRAME_SIZE)? else {
        return Err(WireError::Truncated);
    };
    let table = |rows| {
        let execution = ExecutionResponse::ok(Latency::Wide(100), b"snb", Some(table(rows)));
        Response::Execution(execution)
    };
    let (one, many) = (table(1), table(1000));
    let out = RefCell::new(Vec::new());
    let reply = |response: &Response<'_>| {
        let mut out = out.borrow_mut();
        out.clear();
        request.reply().encode(&mut out, black_box(response))
    };
    let mut sent = Vec::new();
    let times = best_of(&mut [
        &mut || keep(reply(&one)),
        &mut || keep(reply(&many)),
        &mut || {
            sent.clear();
            let method = black_box(&request.method);
            keep(write_call(&mut sent, framing, MessageType::Call, 1, method));
        },
    ]);
    Ok(vec![
        case(
            "encode a reply of 1 row",
            times[0],
            "ns",
            Goal::AtMost(300.0),
        ),
        case(
            "encode 1000 rows, per row",
            times[1] / 1000.0,
            "ns",
            Goal::AtMost(100.0),
        ),
        case(
            "encode an execute request",
            times[2],
            "ns",
            Goal::AtMost(100.0),
        ),
    ])
}
