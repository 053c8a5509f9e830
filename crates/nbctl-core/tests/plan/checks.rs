//! The preflight table as data: what one host answers differently, and the rows that change because of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nbctl_core::deploy::{
    self, Check, EngineFile, EngineSources, Given, Observed, Rendered, Repair,
};
use nbctl_core::failure::Failure;
use nbctl_core::units::{HostName, Sha256};
use serde::Deserialize;

use super::world::World;
use super::{cluster, packages};

/// The hosts of all cases, and what a good one answers besides.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    inventory: String,
    facts: Vec<String>,
    /// Every row of a good host.
    good: Vec<String>,
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// No package is at hand.
    #[serde(default)]
    no_package: bool,
    /// Instead of the table's.
    #[serde(default)]
    inventory: Option<String>,
    /// Lines that hosts answer besides, or (after `- `) do not.
    #[serde(default)]
    facts: BTreeMap<HostName, Vec<String>>,
    /// Hosts that do not answer, and why.
    #[serde(default)]
    lost: BTreeMap<HostName, String>,
    /// Packages of an engine that a bundle brought.
    #[serde(default)]
    engine: Vec<String>,
    /// What `--apply` would change, stage by stage, and the words of the undo script behind it.
    #[serde(default)]
    changes: Vec<String>,
    /// Parts of its undo script, in their order.
    #[serde(default)]
    undo: Vec<String>,
    /// Rows that a good host does not have; `fix` behind ` => ` is compared when it is there.
    rows: Vec<String>,
}

fn row(check: &Check) -> String {
    format!(
        "{} | {} | {} | {}",
        check.host,
        check.check,
        check.level.as_str(),
        check.message
    )
}

type Rows = Vec<(String, Option<String>)>;

fn rows(table: &Table, case: &Case) -> (Rows, Repair) {
    let mut world = World::bare(cluster(case.inventory.as_ref().unwrap_or(&table.inventory)));
    for (name, host) in &mut world.hosts {
        host.extra.clone_from(&table.facts);
        host.extra
            .extend(case.facts.get(name).cloned().unwrap_or_default());
    }
    let mut facts = world.facts();
    facts.retain(|name, _| !case.lost.contains_key(name));
    let why =
        |(name, why): (&HostName, &String)| (name.clone(), Failure::host(why).line("try: ssh x"));
    let lost: Vec<_> = case.lost.iter().map(why).collect();
    let mut chosen = packages(&world.cluster, "new");
    chosen.retain(|_, _| !case.no_package);
    let given = Given {
        cluster: &world.cluster,
        facts: &facts,
        packages: &chosen,
        rendered: &Rendered::new(),
        observed: &Observed::default(),
        control: "control",
    };
    let checks = deploy::preflight(&given, &lost);
    let files: Vec<EngineFile> = case.engine.iter().map(|name| engine_file(name)).collect();
    let sources = EngineSources {
        files: &files,
        network: true,
    };
    let repair = deploy::repair(&given, &checks, &[], &sources);
    let row = |check: Check| (row(&check), check.fix);
    (checks.into_iter().map(row).collect(), repair)
}

fn engine_file(name: &str) -> EngineFile {
    EngineFile {
        name: name.to_owned(),
        source: format!("engine/{name}"),
        bytes: 1,
        sha256: Sha256::of(name.as_bytes()),
    }
}

fn titles(repair: &Repair) -> Vec<String> {
    let steps = repair.plan.stages.iter().flat_map(|stage| &stage.steps);
    steps.map(|step| step.title.clone()).collect()
}

/// Whether all parts are there, one behind the other.
fn in_order(text: &str, parts: &[String]) -> bool {
    let mut rest = text;
    parts
        .iter()
        .all(|part| match rest.split_once(part.as_str()) {
            Some((_, behind)) => {
                rest = behind;
                true
            }
            None => false,
        })
}

#[test]
fn every_check_can_pass_and_fail() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan/checks/table.yaml");
    let table: Table = serde_yaml::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for case in &table.cases {
        let (found, repair) = rows(&table, case);
        let undo: String = repair.undo.values().map(String::as_str).collect();
        if titles(&repair) != case.changes || !in_order(&undo, &case.undo) {
            wrong.push(format!(
                "{}: changes\n  {}\n{undo}",
                case.name,
                titles(&repair).join("\n  ")
            ));
        }
        let new: Vec<_> = found
            .iter()
            .filter(|(row, _)| !table.good.contains(row))
            .collect();
        let same = new.len() == case.rows.len()
            && new.iter().zip(&case.rows).all(|((row, fix), expected)| {
                match expected.split_once(" => ") {
                    Some((text, wanted)) => row == text && fix.as_deref() == Some(wanted),
                    None => row == expected,
                }
            });
        if !same {
            let new: Vec<String> = new
                .iter()
                .map(|(row, fix)| format!("{row} => {}", fix.clone().unwrap_or_default()))
                .collect();
            wrong.push(format!("{}:\n  {}", case.name, new.join("\n  ")));
        }
    }
    let (good, _) = rows(&table, table.cases.first().unwrap());
    let good: Vec<String> = good.into_iter().map(|(row, _)| row).collect();
    assert_eq!(good, table.good);
    assert!(
        wrong.is_empty(),
        "not as expected, but:\n{}",
        wrong.join("\n")
    );
}
