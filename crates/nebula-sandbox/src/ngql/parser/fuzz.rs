//! The parser on mutated statements and on sentences of a loose grammar: no panic, no hang, no stack or memory
//! without bound (`make fuzz`).

use std::{collections::HashMap, time::Duration};

use nebula_wire::fuzz::{Campaign, Random, Tally};

use super::{parse, tests::GOOD};

/// Bytes that mean something in a statement.
const TELLING: &[u8] = b"()[]{}\"'`\\|;:,.$@-+*/<>=!#0x \n\xc3\xff";
/// Longest input, in bytes.
const MAX_INPUT: usize = 256 << 10;
/// Resident memory of the whole test, in KiB, that no such input may need.
const MAX_RESIDENT: u64 = 1 << 20;

/// `<name>` stands for a line of this; alternatives are parted by ` | `, `\p` is the sign itself, `%` is nothing.
const GRAMMAR: &str = include_str!("grammar.txt");

/// Sentences from [`GRAMMAR`].
struct Grammar(HashMap<&'static str, Vec<&'static str>>);

impl Grammar {
    fn new() -> Self {
        let rules = GRAMMAR.lines().filter(|line| !line.starts_with("//"));
        let rules = rules.filter_map(|line| line.split_once(" = "));
        Self(
            rules
                .map(|(name, all)| (name, all.split(" | ").collect()))
                .collect(),
        )
    }

    /// Beyond the budget the first alternative is taken, which leads to an end.
    fn sentence(&self, name: &str, random: &mut Random, budget: &mut usize, out: &mut String) {
        let all = &self.0[name];
        *budget = budget.saturating_sub(1);
        let chosen = if *budget == 0 {
            all[0]
        } else {
            random.pick(all)
        };
        for (at, part) in chosen.split(['<', '>']).enumerate() {
            if at % 2 == 1 && self.0.contains_key(part) {
                self.sentence(part, random, budget, out);
            } else if at % 2 == 1 {
                // The sign itself, as in `a < b`.
                out.extend(["<", part, ">"]);
            } else if part != "%" {
                out.push_str(&part.replace("\\p", "|"));
            }
        }
    }
}

/// A sentence, a mutant of a real or generated statement, or one with a piece of it many times over.
fn input(corpus: &[Vec<u8>], grammar: &Grammar, random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    if random.below(3) > 0 {
        let mut budget = random.below(200);
        grammar.sentence("text", random, &mut budget, &mut text);
    }
    let sentence = text.into_bytes();
    let mut bytes = match random.below(4) {
        0 | 1 if !sentence.is_empty() => sentence,
        2 if !sentence.is_empty() => random.mutant(&[sentence], TELLING),
        _ => random.mutant(corpus, TELLING),
    };
    if random.below(50) == 0 && !bytes.is_empty() {
        let from = random.below(bytes.len());
        let to = (from + 1 + random.below(12)).min(bytes.len());
        let times = random.below(MAX_INPUT / (to - from));
        let many = bytes[from..to].repeat(times);
        bytes.splice(from..to, many);
    }
    bytes
}

/// 1 when the text parses. What parses is looked at, copied and dropped: each goes as deep as the tree is.
fn target(text: &[u8]) -> usize {
    let Ok(statements) = parse(text) else {
        return 0;
    };
    assert!(statements.len() <= text.len(), "more statements than bytes");
    let shown = format!("{statements:?}");
    assert!(
        shown.len() <= 4096 + text.len() * 256,
        "grows out of bounds"
    );
    1
}

fn run(campaign: &Campaign) -> Tally {
    let corpus: Vec<Vec<u8>> = GOOD.iter().map(|text| text.as_bytes().to_vec()).collect();
    let grammar = Grammar::new();
    let make = |random: &mut Random| input(&corpus, &grammar, random);
    campaign.run(make, target).expect("input file")
}

fn peak_resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("status");
    let row = status.lines().find_map(|row| row.strip_prefix("VmHWM:"));
    let digits = row.expect("VmHWM").trim().trim_end_matches("kB").trim();
    digits.parse().expect("number")
}

#[test]
fn statements_survive_some_mutants() {
    let tally = run(&Campaign {
        name: "statement",
        seed: 0x6e47_514c,
        inputs: 20_000,
        time: Duration::MAX,
    });
    assert!(tally.accepted > 2000, "only {} parse", tally.accepted);
}

#[test]
#[ignore = "runs for NBCTL_FUZZ_SECONDS"]
fn statements_survive_mutants_for_a_while() {
    let campaign = Campaign::from_env("statement");
    let tally = run(&campaign);
    let peak = peak_resident_kib();
    eprintln!("{}, peak memory {peak} KiB", tally.told(&campaign));
    assert!(peak < MAX_RESIDENT, "{peak} KiB of memory");
}
