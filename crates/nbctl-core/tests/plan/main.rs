//! Plans as data: inventory and state of the hosts in, step titles or refusals out; cases in
//! `plan/*.yaml`. Every plan is also carried out on a world in memory and planned again.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper that fails is a failed test"
)]

mod checks;
mod life;
mod status;
mod world;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nbctl_core::deploy::{self, Given};
use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Cluster, Source, load};
use nbctl_core::package::{Package, PackageChoice, PackageName};
use nbctl_core::plan::Plan;
use nbctl_core::teardown;
use nbctl_core::units::{HostName, Sha256};
use serde::Deserialize;

use world::World;

const TEMPLATE: &str = "{% for f in flags %}--{{ f.name }}={{ f.value }}\n{% endfor %}";

const UNIT: &str = include_str!("../../../../templates/nebula/daemon.service.tera");

/// One file of `plan/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What is planned in the end.
    plan: What,
    inventory: String,
    /// Deployed before, from this inventory (default: nothing was).
    #[serde(default)]
    before: Option<String>,
    /// Only so many steps of that deploy were done.
    #[serde(default)]
    steps: Option<usize>,
    /// The wanted package is another build than the one deployed before.
    #[serde(default)]
    new_package: bool,
    /// Daemons that died since.
    #[serde(default)]
    killed: Vec<String>,
    /// Lines of the facts script that a host answers besides.
    #[serde(default)]
    facts: BTreeMap<HostName, Vec<String>>,
    /// Storageds that SHOW HOSTS does not know any more.
    #[serde(default)]
    forgotten: Vec<String>,
    /// Hosts that a start, stop or restart is for (default: all).
    #[serde(default)]
    hosts: Vec<String>,
    /// Roles that it is for (default: all).
    #[serde(default)]
    roles: Vec<String>,
    /// The plan as shown.
    #[serde(default)]
    expect: Option<String>,
    /// Parts of the failure.
    #[serde(default)]
    error: Vec<String>,
    /// Parts of the list of what a teardown leaves alone.
    #[serde(default)]
    left_alone: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum What {
    Deploy,
    Teardown,
    Purge,
    Start,
    Stop,
    Restart,
    ResetData,
}

fn cluster(inventory: &str) -> Cluster {
    let loaded = load(&Source::new("inventory.yaml", inventory));
    loaded
        .into_result()
        .unwrap_or_else(|failure| panic!("{failure}"))
        .0
}

fn packages(cluster: &Cluster, content: &str) -> PackageChoice {
    let package = Package {
        name: PackageName::parse("nebula-graph-3.8.0.el7.x86_64.rpm").unwrap(),
        source: "packages/nebula-graph-3.8.0.el7.x86_64.rpm".into(),
        bytes: 1000,
        sha256: Sha256::of(content.as_bytes()),
    };
    cluster
        .hosts
        .iter()
        .map(|host| (host.name.clone(), package.clone()))
        .collect()
}

fn deploy(world: &World, content: &str) -> Result<Plan, Failure> {
    let mut rendered = deploy::render(&world.cluster, TEMPLATE).unwrap();
    rendered.extend(deploy::render_units(&world.cluster, UNIT).unwrap());
    deploy::plan(&Given {
        cluster: &world.cluster,
        facts: &world.facts(),
        packages: &packages(&world.cluster, content),
        rendered: &rendered,
        observed: &world.observed(),
        control: "control",
    })
}

fn deployed(inventory: &str, steps: Option<usize>) -> World {
    let mut world = World::bare(cluster(inventory));
    let plan = deploy(&world, "old").unwrap_or_else(|failure| panic!("{failure}"));
    let all = plan.stages.iter().flat_map(|stage| &stage.steps);
    all.take(steps.unwrap_or(usize::MAX))
        .for_each(|step| world.step(step));
    world
}

impl Case {
    fn world(&self) -> World {
        let mut world = match &self.before {
            Some(inventory) => deployed(inventory, self.steps),
            None => World::bare(cluster(&self.inventory)),
        };
        world.cluster = cluster(&self.inventory);
        for host in &world.cluster.hosts {
            let old = world.hosts.entry(host.name.clone()).or_default();
            old.address.clone_from(&host.address);
            old.extra = self.facts.get(&host.name).cloned().unwrap_or_default();
        }
        for host in world.hosts.values_mut() {
            host.processes.retain(|id, _| !self.killed.contains(id));
        }
        world
            .storageds
            .retain(|endpoint, _| !self.forgotten.contains(endpoint));
        world
    }

    fn content(&self) -> &'static str {
        if self.new_package || self.before.is_none() {
            "new"
        } else {
            "old"
        }
    }
}

/// Plans, compares, does it, and plans again: nothing may be left to do.
fn check_case(name: &str, case: &Case) {
    let mut world = case.world();
    match case.plan {
        What::Deploy => {}
        What::Teardown | What::Purge => return check_teardown(name, case, &mut world),
        _ => return life::check(name, case, &mut world),
    }
    match deploy(&world, case.content()) {
        Err(failure) => {
            assert!(!case.error.is_empty(), "{name}: {failure}");
            let text = failure.to_string();
            for part in &case.error {
                assert!(text.contains(part), "{name}: no {part:?} in\n{text}");
            }
        }
        Ok(plan) => {
            assert!(case.error.is_empty(), "{name}: no failure, but\n{plan}");
            assert_eq!(
                plan.to_string(),
                case.expect.as_deref().unwrap_or_default(),
                "{name}"
            );
            world.apply(&plan);
            let again = deploy(&world, case.content()).unwrap();
            assert!(again.is_empty(), "{name}: not idempotent:\n{again}");
        }
    }
}

fn check_teardown(name: &str, case: &Case, world: &mut World) {
    let purge = case.plan == What::Purge;
    let teardown = teardown::plan(&world.cluster, &world.facts(), purge);
    assert_eq!(
        teardown.plan.to_string(),
        case.expect.as_deref().unwrap_or_default(),
        "{name}"
    );
    assert_eq!(
        teardown.left_alone.len(),
        case.left_alone.len(),
        "{name}: {:?}",
        teardown.left_alone
    );
    for (line, part) in teardown.left_alone.iter().zip(&case.left_alone) {
        assert!(line.contains(part), "{name}: no {part:?} in {line}");
    }
    world.apply(&teardown.plan);
    let left = teardown::leftovers(&world.cluster, &world.facts(), purge);
    assert!(left.is_empty(), "{name}: {left:?}");
}

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan");
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.retain(|path| path.extension().is_some_and(|ext| ext == "yaml"));
    names.sort();
    assert!(names.len() > 10, "{names:?}");
    let mut failed = Vec::new();
    for path in names {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let case: Case = serde_yaml::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        if let Err(panic) = std::panic::catch_unwind(|| check_case(&name, &case)) {
            failed.push(panic.downcast_ref::<String>().cloned().unwrap_or(name));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

const THREE: &str = "format: 1
cluster: demo
nebula: { version: 3.8.0, deploy_dir: /home/vesoft/nebula, data_dir: /data/nebula }
hosts: [{ address: '10.0.0.[1:3]', name: 's[1:3]', roles: [metad, graphd, storaged] }]
";

/// Interrupted after any step: the same command again finishes the work, and a teardown leaves nothing.
#[test]
fn every_interruption_converges() {
    let whole = deploy(&World::bare(cluster(THREE)), "old").unwrap();
    for steps in 0..=whole.len() {
        let mut world = deployed(THREE, Some(steps));
        let rest = deploy(&world, "old").unwrap_or_else(|failure| panic!("{steps}: {failure}"));
        assert_eq!(rest.is_empty(), steps == whole.len(), "{steps}: {rest}");
        world.apply(&rest);
        let again = deploy(&world, "old").unwrap();
        assert!(again.is_empty(), "{steps}: {again}");

        let mut world = deployed(THREE, Some(steps));
        world.apply(&teardown::plan(&world.cluster, &world.facts(), true).plan);
        for (name, host) in &world.hosts {
            let left: Vec<&String> = host
                .nodes
                .keys()
                .filter(|path| path.contains("/nebula"))
                .collect();
            assert!(
                left.is_empty() && host.processes.is_empty(),
                "{steps}: {name}: {left:?}"
            );
        }
    }
}

/// An interrupted teardown is finished by running it again, and a deploy after it starts afresh.
#[test]
fn every_interrupted_teardown_converges() {
    let full = deployed(THREE, None);
    let whole = teardown::plan(&full.cluster, &full.facts(), false).plan;
    for steps in 0..=whole.len() {
        let mut world = full.clone();
        let all = whole.stages.iter().flat_map(|stage| &stage.steps);
        all.take(steps).for_each(|step| world.step(step));
        world.apply(&teardown::plan(&world.cluster, &world.facts(), false).plan);
        let left = teardown::leftovers(&world.cluster, &world.facts(), false);
        assert!(left.is_empty(), "{steps}: {left:?}");
        world.storageds.clear();
        let fresh = deploy(&world, "old").unwrap_or_else(|failure| panic!("{steps}: {failure}"));
        assert!(
            !fresh.to_string().contains("upload"),
            "{steps}: the cache was not used:\n{fresh}"
        );
    }
}
