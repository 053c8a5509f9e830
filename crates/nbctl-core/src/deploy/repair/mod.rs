//! Repair: from rows of the preflight table to changes of the hosts, each with its way back.
//!
//! Purpose: `hosts check --apply`. Pure as a plan: what is changed is shown first, and done by the runner.
//! Duties: only what a row asks for and can be taken back; values outlast a boot in files of nbctl's own name; the undo
//! script holds the values of before.

mod engine;

use std::collections::BTreeMap;
use std::time::Duration;

use super::check::{SETTINGS, Setting};
use super::{Check, Given, Level, OPEN_FILES, scripts};
use crate::facts::{HostFacts, quoted};
use crate::inventory::Host;
use crate::plan::{Action, Plan, Step, Upload};
use crate::units::HostName;

pub use engine::{EngineFile, EngineSources};

const LIBRARY: &str = include_str!("repair.sh");
const SYSCTL: &str = "/etc/sysctl.d/60-nbctl.conf";
const TMPFILES: &str = "/etc/tmpfiles.d/60-nbctl.conf";
const LIMITS: &str = "/etc/security/limits.d/60-nbctl.conf";
const QUICK: Duration = Duration::from_mins(1);
/// Fetching and installing packages.
const INSTALL: Duration = Duration::from_mins(15);

/// What can be done about a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Repair {
    /// One stage a change, the hosts side by side: a change that fails leaves the others.
    pub plan: Plan,
    /// For each host a script for root that restores what was before.
    pub undo: BTreeMap<HostName, String>,
}

/// One change of one host.
struct Change {
    /// Hosts with the same name do it at the same time.
    stage: String,
    title: String,
    script: String,
    undo: String,
    timeout: Duration,
    /// Sent before.
    files: Vec<Upload>,
}

/// Changes for every row that did not pass and is called like one of `only` (empty: any).
pub fn repair(
    given: &Given<'_>,
    checks: &[Check],
    only: &[String],
    engine: &EngineSources<'_>,
) -> Repair {
    let mut all = Repair::default();
    let mut stages: Vec<(String, Vec<Step>)> = Vec::new();
    for host in &given.cluster.hosts {
        let Some(facts) = given.facts.get(&host.name) else {
            continue;
        };
        let asked = |name: &str| {
            let meant = only.is_empty() || only.iter().any(|o| o == name);
            let wrong =
                |c: &&Check| c.host == host.name && c.check == name && c.level != Level::Pass;
            meant && checks.iter().any(|c| wrong(&c))
        };
        let changes = of_host(given, host, facts, &asked, engine);
        if !changes.is_empty() {
            all.undo.insert(host.name.clone(), undo(&changes));
        }
        for change in changes {
            for upload in &change.files {
                let title = format!("send {}", upload.path.name());
                let step = Step::on(&host.name, title, Action::Upload(upload.clone()));
                in_stage(
                    &mut stages,
                    format!("{}: send packages", change.stage),
                    step,
                );
            }
            let script = format!("{LIBRARY}\n{}", change.script);
            let step = Step::on(
                &host.name,
                change.title,
                scripts::sudo(script, change.timeout),
            );
            in_stage(&mut stages, change.stage, step);
        }
    }
    for (name, steps) in stages {
        all.plan.stage(name, steps);
    }
    all
}

fn in_stage(stages: &mut Vec<(String, Vec<Step>)>, stage: String, step: Step) {
    match stages.iter_mut().find(|(name, _)| *name == stage) {
        Some((_, steps)) => steps.push(step),
        None => stages.push((stage, vec![step])),
    }
}

fn of_host(
    given: &Given<'_>,
    host: &Host,
    facts: &HostFacts,
    asked: &dyn Fn(&str) -> bool,
    engine: &EngineSources<'_>,
) -> Vec<Change> {
    let settings = SETTINGS.iter().filter(|setting| asked(setting.check));
    let mut all: Vec<Change> = settings
        .filter_map(|setting| kernel(setting, facts))
        .collect();
    if asked("open files") {
        all.push(limits(facts, "nofile", &OPEN_FILES.to_string()));
    }
    if asked("core files") {
        all.push(limits(facts, "core", "unlimited"));
    }
    if asked("firewall") {
        all.extend(firewall(given, host, facts));
    }
    if asked("engine") {
        all.extend(engine::change(given, facts, engine));
    }
    all
}

/// The last change is taken back first.
fn undo(changes: &[Change]) -> String {
    let lines: Vec<&str> = changes
        .iter()
        .rev()
        .map(|change| change.undo.as_str())
        .collect();
    format!("{LIBRARY}\n{}\n", lines.join("\n"))
}

fn kernel(setting: &Setting, facts: &HostFacts) -> Option<Change> {
    let (before, wanted) = setting.of(facts)?;
    if wanted.is_met(before) {
        return None;
    }
    let (name, value, path) = (setting.name, wanted.value(), setting.path());
    let (file, key, line) = if name.starts_with('/') {
        (
            TMPFILES,
            format!("w {name} "),
            format!("w {name} - - - - {value}"),
        )
    } else {
        (SYSCTL, format!("{name} ="), format!("{name} = {value}"))
    };
    let quote = |words: [&str; 2]| words.map(quoted).join(" ");
    Some(Change {
        stage: format!("{}: {name}", setting.check),
        title: format!("set {name} to {value} (now {before}), and in {file}"),
        script: format!(
            "write {}\nkeep {} {}",
            quote([&path, &value]),
            quote([file, &key]),
            quoted(&line)
        ),
        undo: format!(
            "write {}\ndrop {}",
            quote([&path, before]),
            quote([file, &key])
        ),
        timeout: QUICK,
        files: Vec::new(),
    })
}

/// Of the login; a session that is open keeps the old ones.
fn limits(facts: &HostFacts, item: &str, value: &str) -> Change {
    let user = &facts.user.name;
    let key = |kind: &str| format!("{user} {kind} {item} ");
    let keep = |kind: &str| {
        let (key, file) = (key(kind), quoted(LIMITS));
        format!(
            "keep {file} {} {}",
            quoted(&key),
            quoted(&format!("{key}{value}"))
        )
    };
    let drop = |kind: &str| format!("drop {} {}", quoted(LIMITS), quoted(&key(kind)));
    Change {
        stage: format!("limits: {item}"),
        title: format!("let {user} have {item} {value}, in {LIMITS}; counts for new logins"),
        script: [keep("soft"), keep("hard")].join("\n"),
        undo: [drop("soft"), drop("hard")].join("\n"),
        timeout: QUICK,
        files: Vec::new(),
    }
}

fn firewall(given: &Given<'_>, host: &Host, facts: &HostFacts) -> Option<Change> {
    let firewall = facts.firewall.as_ref()?;
    // What is open already is not known, so nothing could be taken back.
    firewall.open.as_ref()?;
    let ports = super::check::closed_ports(given.cluster, host, firewall);
    let ranges = super::check::ranges(&ports, if firewall.kind == "ufw" { ":" } else { "-" });
    let each = |text: &dyn Fn(&str) -> String| {
        ranges
            .iter()
            .map(|r| text(r))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let (script, undo) = match firewall.kind.as_str() {
        "firewalld" => {
            let both = |verb: &str| {
                let lines = |r: &str| {
                    format!(
                        "firewall-cmd -q --{verb}-port={r}/tcp && firewall-cmd -q --permanent --{verb}-port={r}/tcp || exit 1"
                    )
                };
                each(&lines)
            };
            (both("add"), both("remove"))
        }
        "ufw" => (
            each(&|r| format!("ufw allow {r}/tcp || exit 1")),
            each(&|r| format!("ufw delete allow {r}/tcp || exit 1")),
        ),
        _ => return None,
    };
    (!ports.is_empty()).then(|| Change {
        stage: "firewall".to_owned(),
        title: format!("let tcp {} in through {}", ranges.join(", "), firewall.kind),
        script,
        undo,
        timeout: QUICK,
        files: Vec::new(),
    })
}
