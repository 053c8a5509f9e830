//! Mutates the recordings and feeds every decoder, for a number of rounds or a bounded time (`make fuzz`).

use std::time::Duration;

use nebula_wire::fuzz::{Campaign, Tally, fuzz_one};

use crate::support::{messages, values};

/// Bytes that mean something to the decoders.
const TELLING: [u8; 8] = [0, 1, 0x0C, 0x0F, 0x7F, 0x80, 0xFE, 0xFF];

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

fn run(campaign: &Campaign) -> Tally {
    let corpus = corpus();
    let mutant = |random: &mut nebula_wire::fuzz::Random| random.mutant(&corpus, &TELLING);
    campaign.run(mutant, fuzz_one).unwrap()
}

#[test]
fn decoders_survive_some_mutants() {
    let tally = run(&Campaign {
        name: "decoder",
        seed: 0x006E_6562_756C_6131,
        inputs: 20_000,
        time: Duration::MAX,
    });
    assert!(
        tally.accepted > 1000,
        "only {} accepted: the mutations are too wild to find anything",
        tally.accepted
    );
}

#[test]
#[ignore = "runs for NBCTL_FUZZ_SECONDS"]
fn decoders_survive_mutants_for_a_while() {
    let campaign = Campaign::from_env("decoder");
    let tally = run(&campaign);
    eprintln!("{}", tally.told(&campaign));
}

#[test]
fn what_ends_a_target_is_kept() {
    let campaign = Campaign {
        name: "broken",
        seed: 7,
        inputs: 100,
        time: Duration::MAX,
    };
    let broken = std::panic::catch_unwind(|| {
        campaign.run(
            |random| vec![random.next().to_le_bytes()[0]; 3],
            |input| {
                assert!(input[0] < 0x80, "found");
                1
            },
        )
    });
    let message = *broken.unwrap_err().downcast::<String>().unwrap();
    let (_, rest) = message.split_once("fails on ").unwrap();
    let (path, _) = rest.split_once(" (seed 7)").unwrap();
    let kept = std::fs::read(path).unwrap();
    std::fs::remove_file(path).unwrap();
    assert!(kept.len() == 3 && kept[0] >= 0x80, "{kept:?}");
}
