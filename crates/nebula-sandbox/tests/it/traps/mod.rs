//! Where NebulaGraph hurts: one table of traps by line, checked against running daemons of every line and against the
//! page that promises them.

mod alone;
mod cluster;
mod metads;
mod scripts;
mod storageds;
mod wipes;

use std::{fs, path::Path, thread};

/// What is seen at a scene: the trap's name, whether it is there.
type Seen = Vec<(&'static str, bool)>;

const LINES: [&str; 3] = ["2.0.1", "2.6.2", "3.8.0"];

const YES: bool = true;
const NO: bool = false;

/// Scene, trap, and on which of the lines it is.
const TRAPS: &[(&str, &str, [bool; 3])] = &[
    (
        "scripts",
        "`start` says 0 although the daemon ends a moment later",
        [YES, YES, YES],
    ),
    (
        "scripts",
        "`status` exits 0 whatever it says",
        [YES, YES, YES],
    ),
    ("scripts", "`status` names the git sha", [NO, YES, YES]),
    (
        "scripts",
        "`start` of a running daemon exits 0",
        [YES, YES, NO],
    ),
    (
        "scripts",
        "`stop` returns while the daemon is still ending",
        [YES, YES, YES],
    ),
    (
        "scripts",
        "`restart` of a daemon that ends slowly starts nothing",
        [YES, YES, YES],
    ),
    (
        "scripts",
        "the pid file stays after the end",
        [YES, YES, YES],
    ),
    (
        "scripts",
        "a pid file that points at a stranger keeps a daemon from starting",
        [YES, YES, YES],
    ),
    (
        "scripts",
        "`nebula-storaged.conf.production` has the pid file of the listener and a 1.x metad port",
        [NO, NO, YES],
    ),
    (
        "alone",
        "unknown flags and bad values in a conf are ignored without a word, the last duplicate wins",
        [YES, YES, YES],
    ),
    (
        "alone",
        "`/status` of graphd says running before metad was reached",
        [YES, YES, YES],
    ),
    (
        "alone",
        "graphd serves although it never reached a metad",
        [YES, NO, NO],
    ),
    (
        "alone",
        "storaged ends when it does not reach a metad",
        [NO, YES, NO],
    ),
    (
        "alone",
        "`local_ip` must be on an interface",
        [NO, YES, YES],
    ),
    (
        "alone",
        "metad ends when its disk has less than `minimum_reserved_bytes` left",
        [NO, YES, YES],
    ),
    ("alone", "log lines carry the year", [NO, NO, YES]),
    (
        "alone",
        "log files can have names without a time",
        [NO, NO, YES],
    ),
    (
        "cluster",
        "storaged opens nothing before ADD HOSTS",
        [NO, NO, YES],
    ),
    (
        "cluster",
        "ADD HOSTS believes any address, and spaces are placed on it",
        [NO, NO, YES],
    ),
    ("cluster", "ADD HOSTS adds all or nothing", [NO, NO, YES]),
    (
        "cluster",
        "DROP HOSTS refuses a host that holds partitions",
        [NO, NO, YES],
    ),
    (
        "cluster",
        "a new space, tag or edge is unknown for up to a heartbeat",
        [YES, YES, YES],
    ),
    (
        "cluster",
        "the Total row of SHOW HOSTS is one cell short",
        [NO, NO, YES],
    ),
    (
        "cluster",
        "metad remembers mutable flags, and its values win over the conf",
        [YES, NO, NO],
    ),
    (
        "cluster",
        "UPDATE CONFIGS finds nothing because files rule",
        [NO, YES, YES],
    ),
    (
        "cluster",
        "`PUT /flags` answers 200 to what it did not set",
        [YES, YES, YES],
    ),
    (
        "cluster",
        "`PUT /flags` without a body ends the daemon",
        [YES, YES, NO],
    ),
    (
        "cluster",
        "`/stats` of all metrics takes two lines each",
        [YES, NO, NO],
    ),
    ("cluster", "SHOW JOBS lists every space", [YES, NO, NO]),
    (
        "cluster",
        "BALANCE DATA is refused unless a flag allows it",
        [NO, NO, YES],
    ),
    (
        "metads",
        "metad opens nothing until a majority of them is there",
        [YES, YES, YES],
    ),
    (
        "metads",
        "a metad that ended is shown OFFLINE",
        [NO, NO, YES],
    ),
    (
        "metads",
        "another metad leads when the leader ends, and knows everything",
        [YES, YES, YES],
    ),
    (
        "metads",
        "without a majority of metads nothing can be asked",
        [YES, YES, YES],
    ),
    (
        "storageds",
        "a silent host is OFFLINE after five heartbeats",
        [YES, YES, YES],
    ),
    (
        "storageds",
        "a silent host is forgotten after `removed_threshold_sec`",
        [YES, YES, NO],
    ),
    (
        "storageds",
        "a storaged that comes back leads nothing until BALANCE LEADER",
        [YES, YES, YES],
    ),
    (
        "storageds",
        "BALANCE LEADER is done at once and for the whole cluster",
        [YES, YES, NO],
    ),
    (
        "storageds",
        "BALANCE DATA is a plan of the whole cluster with an id of its own",
        [YES, YES, NO],
    ),
    (
        "storageds",
        "BALANCE DATA with nothing to do is an error",
        [YES, YES, NO],
    ),
    (
        "storageds",
        "a failed balance comes back at the next BALANCE DATA until it is reset",
        [YES, YES, NO],
    ),
    (
        "wipes",
        "a `cluster.id` from before metad was wiped never fits",
        [NO, NO, YES],
    ),
    (
        "wipes",
        "data from before metad was wiped is adopted by the new space of the same id",
        [YES, YES, NO],
    ),
    (
        "wipes",
        "spaces that metad does not know are deleted when storaged starts",
        [NO, NO, YES],
    ),
    (
        "wipes",
        "the data of a dropped space stays on disk",
        [YES, YES, NO],
    ),
];

/// Plays a scene on every line at once and compares what is seen with the table.
fn play(scene: &str, act: fn(&'static str) -> Seen) {
    thread::scope(|scope| {
        let played = LINES.map(|line| scope.spawn(move || act(line)));
        for (column, line) in played.into_iter().enumerate() {
            let mut seen = line.join().expect(LINES[column]);
            let mine = TRAPS.iter().filter(|(at, ..)| *at == scene);
            let mut wanted: Seen = mine.map(|(_, name, on)| (*name, on[column])).collect();
            seen.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(seen, wanted, "{scene} on {}", LINES[column]);
        }
    });
}

/// The page's table of traps has the same rows.
#[test]
fn the_page_tells_the_same() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/design/sandbox.md");
    let page = fs::read_to_string(page).expect("page");
    let (_, rest) = page.split_once("## Traps").expect("section");
    let rows = rest
        .lines()
        .skip_while(|row| !row.starts_with("|---"))
        .skip(1);
    let rows = rows.take_while(|row| row.starts_with('|'));
    let told: Vec<_> = rows
        .map(|row| row.trim().trim_matches('|'))
        .map(row_of)
        .collect();
    let known: Vec<_> = TRAPS
        .iter()
        .map(|(_, name, on)| ((*name).to_owned(), *on))
        .collect();
    assert_eq!(told, known);
}

fn row_of(row: &str) -> (String, [bool; 3]) {
    let cells: Vec<_> = row.split('|').map(str::trim).collect();
    let [name, lines @ ..] = cells.as_slice() else {
        panic!("{row}");
    };
    let on = lines.iter().map(|cell| cell.starts_with('✓'));
    (
        name.to_string(),
        on.collect::<Vec<_>>().try_into().expect(row),
    )
}
