//! Mutates the recordings and feeds every decoder, for a number of rounds or a bounded time.
//!
//! `NBCTL_FUZZ_SECONDS=60 cargo test -p nebula-wire --test it fuzz -- --ignored --nocapture`

use std::time::{Duration, Instant};

use nebula_wire::fuzz::fuzz_one;

use crate::support::{messages, values};

/// xorshift64*: enough for mutations, and a failure is repeated from its seed alone.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 8
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).unwrap() % limit.max(1)
    }

    fn byte(&mut self) -> u8 {
        const TELLING: [u8; 8] = [0, 1, 0x0C, 0x0F, 0x7F, 0x80, 0xFE, 0xFF];
        let any = self.next().to_le_bytes()[0];
        if any & 1 == 0 {
            TELLING[self.below(8)]
        } else {
            any
        }
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let values = values()
        .into_iter()
        .flat_map(|(_, binary, compact)| [binary, compact]);
    messages()
        .into_iter()
        .map(|m| m.bytes)
        .chain(values)
        .collect()
}

/// One of the corpus, changed in up to eight places; sometimes spliced with another.
fn mutant(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.byte()),
            2 => {
                let other = &corpus[random.below(corpus.len())];
                bytes.extend_from_slice(&other[random.below(other.len())..]);
            }
            3 if !bytes.is_empty() => drop(bytes.remove(at)),
            _ if !bytes.is_empty() => bytes[at] = random.byte(),
            _ => {}
        }
    }
    bytes
}

fn run(seed: u64, mut go_on: impl FnMut(u64) -> bool) -> (u64, usize) {
    let corpus = corpus();
    let mut random = Random(seed);
    let (mut rounds, mut accepted) = (0, 0);
    while go_on(rounds) {
        let state = random.0;
        let bytes = mutant(&corpus, &mut random);
        let outcome = std::panic::catch_unwind(|| fuzz_one(&bytes));
        accepted +=
            outcome.unwrap_or_else(|_| panic!("round {rounds} of seed {state}: {bytes:02x?}"));
        rounds += 1;
    }
    (rounds, accepted)
}

#[test]
fn decoders_survive_some_mutants() {
    let (_, accepted) = run(0x006E_6562_756C_6131, |rounds| rounds < 20_000);
    assert!(
        accepted > 1000,
        "only {accepted} accepted: the mutations are too wild to find anything"
    );
}

#[test]
#[ignore = "runs for NBCTL_FUZZ_SECONDS"]
fn decoders_survive_mutants_for_a_while() {
    let seconds = std::env::var("NBCTL_FUZZ_SECONDS").map_or(10, |s| s.parse().unwrap());
    let started = Instant::now();
    let seed =
        std::env::var("NBCTL_FUZZ_SEED").map_or_else(|_| fresh_seed(), |s| s.parse().unwrap());
    let limit = Duration::from_secs(seconds);
    let (rounds, accepted) = run(seed, |_| started.elapsed() < limit);
    eprintln!("fuzz nebula-wire: seed {seed}, {rounds} inputs, {accepted} accepted, {seconds} s");
}

/// Differs from run to run: where the heap happens to be.
fn fresh_seed() -> u64 {
    let address = std::ptr::from_ref(Box::new(0_u8).as_ref()).addr();
    u64::try_from(address).unwrap() ^ u64::from(std::process::id()).rotate_left(32) | 1
}
