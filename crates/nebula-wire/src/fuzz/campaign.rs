//! Runs a target on inputs made from a seed, and keeps the one that ended it.
//!
//! Duties: the input is in a file before the target sees it, so it is there after an abort, a kill or a hang, too;
//! the seed and the number of inputs are told whatever happens; nothing else of this crate touches a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Random;

/// An input that takes longer is a hang. Generous: the machine may be busy.
const HANG: Duration = Duration::from_secs(20);

/// What a target is fed with, and for how long.
#[derive(Debug)]
pub struct Campaign {
    /// Name of the target, for what is told and for the file.
    pub name: &'static str,
    /// Where the inputs come from; the same seed gives the same inputs.
    pub seed: u64,
    /// Ends after this many inputs …
    pub inputs: u64,
    /// … or after this time.
    pub time: Duration,
}

/// How a campaign went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Inputs tried.
    pub inputs: u64,
    /// Sum of what the target returned: how many were accepted.
    pub accepted: usize,
}

impl Tally {
    /// One line about it.
    pub fn told(&self, campaign: &Campaign) -> String {
        let Campaign { name, seed, .. } = campaign;
        let Self { inputs, accepted } = self;
        format!("fuzz {name}: seed {seed}, {inputs} inputs, {accepted} accepted, no failure")
    }
}

impl Campaign {
    /// As the environment says: `NBCTL_FUZZ_SECONDS` (default 10) and `NBCTL_FUZZ_SEED` (default: a fresh one).
    pub fn from_env(name: &'static str) -> Self {
        let number = |name: &str| std::env::var(name).ok()?.trim().parse().ok();
        Self {
            name,
            seed: number("NBCTL_FUZZ_SEED").unwrap_or_else(fresh_seed),
            inputs: u64::MAX,
            time: Duration::from_secs(number("NBCTL_FUZZ_SECONDS").unwrap_or(10)),
        }
    }

    /// Feeds `target` with what `make` makes.
    ///
    /// # Panics
    /// When the target does; the message names the file with the input. A hang ends the process.
    #[expect(
        clippy::panic,
        reason = "the target's own panic goes on, with its input named"
    )]
    pub fn run(
        &self,
        mut make: impl FnMut(&mut Random) -> Vec<u8>,
        target: impl Fn(&[u8]) -> usize,
    ) -> io::Result<Tally> {
        let path = self.file();
        let file = File::create(&path)?;
        let watch = Watch::start(self.describe(&path));
        let begun = Instant::now();
        let mut random = Random::new(self.seed);
        let mut tally = Tally {
            inputs: 0,
            accepted: 0,
        };
        while tally.inputs < self.inputs && begun.elapsed() < self.time {
            let input = make(&mut random);
            file.set_len(input.len() as u64)?;
            file.write_all_at(&input, 0)?;
            watch.beat();
            let ended = catch_unwind(AssertUnwindSafe(|| target(&input)));
            tally.accepted += ended
                .unwrap_or_else(|_| panic!("input {}: {}", tally.inputs, self.describe(&path)));
            tally.inputs += 1;
        }
        watch.end();
        std::fs::remove_file(path)?;
        Ok(tally)
    }

    fn file(&self) -> PathBuf {
        let folder = std::env::var_os("NBCTL_FUZZ_DIR").map_or_else(std::env::temp_dir, Into::into);
        folder.join(format!("fuzz-{}-{}.input", self.name, std::process::id()))
    }

    fn describe(&self, path: &std::path::Path) -> String {
        let (name, seed) = (self.name, self.seed);
        format!("{name} fails on {} (seed {seed})", path.display())
    }
}

/// Ends the process when no input was finished for [`HANG`].
#[derive(Debug)]
struct Watch {
    /// Inputs begun; `u64::MAX` = over.
    beats: Arc<AtomicU64>,
}

impl Watch {
    fn start(text: String) -> Self {
        let beats = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&beats);
        drop(std::thread::spawn(move || watch(&seen, &text)));
        Self { beats }
    }

    fn beat(&self) {
        self.beats.fetch_add(1, Ordering::Relaxed);
    }

    fn end(&self) {
        self.beats.store(u64::MAX, Ordering::Relaxed);
    }
}

#[expect(
    clippy::print_stderr,
    clippy::exit,
    reason = "nothing else can end a target that does not return"
)]
fn watch(beats: &AtomicU64, text: &str) {
    let (mut last, mut since) = (0, Instant::now());
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let now = beats.load(Ordering::Relaxed);
        if now == u64::MAX {
            return;
        }
        if now != last {
            (last, since) = (now, Instant::now());
        }
        if since.elapsed() > HANG {
            eprintln!("a hang: {text}");
            std::process::exit(1);
        }
    }
}

/// Differs from run to run: where the heap happens to be.
fn fresh_seed() -> u64 {
    let address = std::ptr::from_ref(Box::new(0_u8).as_ref()).addr() as u64;
    address ^ u64::from(std::process::id()).rotate_left(32) | 1
}
