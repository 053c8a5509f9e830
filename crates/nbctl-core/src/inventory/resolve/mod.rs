//! From the written inventory to a [`Cluster`].
//!
//! Duty: follow every reference and fill in every default once, keep the place of each value for
//! the checks, and hand out a cluster only when no problem is an error.

mod daemon;
mod host;
mod monitor;
mod ssh;
mod tls;
mod value;

use super::at::Place;
use super::check;
use super::cluster::{Cluster, Daemon, GraphLogin, PackageSource, Secret, SourceMark};
use super::ini::{is_ini, load as load_ini};
use super::names::DaemonRole;
use super::parse::parse;
use super::problem::{Problem, Severity, Source};
use super::spec::{Inventory, NebulaSpec};
use super::version::{Line, Version};
use crate::failure::Failure;
use crate::units::Sha256;

pub(super) use daemon::DaemonDraft;
pub(super) use host::HostDraft;
pub(super) use value::is_loopback;

/// What came of an inventory.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Absent when any problem is an error.
    pub cluster: Option<Cluster>,
    /// In the order of the file.
    pub problems: Vec<Problem>,
}

/// Everything resolved, with places; not yet checked.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub spec: &'a Inventory,
    pub version: Option<(Version, Line)>,
    pub hosts: Vec<HostDraft<'a>>,
    pub daemons: Vec<DaemonDraft<'a>>,
}

/// Reads, resolves and checks an inventory, in YAML or as nebula-ansible's INI.
pub fn load(source: &Source) -> Loaded {
    if is_ini(source) {
        return load_ini(source);
    }
    load_yaml(source)
}

pub(in crate::inventory) fn load_yaml(source: &Source) -> Loaded {
    let mut problems = Vec::new();
    let spec = parse(source, &mut problems);
    let cluster = spec.and_then(|spec| resolve(&spec, source, &mut problems));
    let refused = problems.iter().any(|p| p.severity == Severity::Error);
    let mut problems: Vec<Problem> = problems.into_iter().map(|p| p.shown_in(source)).collect();
    problems.sort_by_key(|p| p.place);
    // The hosts of a range repeat what is said of their entry.
    problems.dedup();
    Loaded {
        cluster: cluster.filter(|_| !refused),
        problems,
    }
}

impl Loaded {
    /// The cluster and the warnings, or one failure that shows every error.
    ///
    /// # Errors
    /// Of kind inventory; its place is that of the first error.
    pub fn into_result(self) -> Result<(Cluster, Vec<Problem>), Failure> {
        match self.cluster {
            Some(cluster) => Ok((cluster, self.problems)),
            None => Err(refusal(&self.problems)),
        }
    }
}

fn refusal(problems: &[Problem]) -> Failure {
    let errors: Vec<&Problem> = problems
        .iter()
        .filter(|p| p.severity == Severity::Error)
        .collect();
    if let [only] = errors.as_slice() {
        let failure = Failure::inventory(&only.message)
            .at(&only.location)
            .lines(&only.snippet);
        return only.hint.iter().fold(failure, Failure::hint);
    }
    let what = format!("the inventory has {} errors", errors.len());
    Failure::inventory(what).lines(errors.iter().map(ToString::to_string))
}

fn resolve(spec: &Inventory, source: &Source, problems: &mut Vec<Problem>) -> Option<Cluster> {
    let version = match source.version {
        Some(version) => version.line().map(|line| (version, line)),
        None => version(&spec.nebula, problems),
    };
    let hosts = host::all(spec, source, problems);
    let daemons = daemon::all(spec, &hosts, problems);
    let mut draft = Draft {
        spec,
        version,
        hosts,
        daemons,
    };
    if let Some((version, _)) = version {
        daemon::fill_flags(&mut draft, version);
    }
    check::all(&draft, problems);
    let monitor = monitor::resolve(&draft, source, problems);
    let tls = tls::resolve(&draft, source, problems);
    let graph = graph(&spec.nebula, source, problems);
    let (version, line) = version?;
    let daemons: Vec<_> = draft.daemons.into_iter().map(|d| d.daemon).collect();
    let name = spec.cluster.value.clone();
    Some(Cluster {
        id: id(&name, &daemons),
        name,
        disposable: spec.disposable,
        version,
        line,
        install: spec.nebula.install,
        package: package(&spec.nebula, source),
        mirrors: values(spec.nebula.mirrors.iter().flatten()),
        nightly: spec.nebula.nightly.as_ref().map(|date| date.value.clone()),
        commit: spec.nebula.commit.as_ref().map(|at| at.value.clone()),
        graph,
        tls,
        hosts: draft.hosts.into_iter().map(|h| h.host).collect(),
        daemons,
        monitor,
        source: SourceMark {
            file: source.path.clone(),
            sha256: Sha256::of(source.text.as_bytes()),
        },
    })
}

/// The metads are the cluster: they cannot be exchanged, while graphds and storageds come and go.
fn id(name: &str, daemons: &[Daemon]) -> String {
    let metads = daemons.iter().filter(|d| d.role == DaemonRole::Metad);
    let mut endpoints: Vec<String> = metads.map(Daemon::endpoint).collect();
    endpoints.sort();
    Sha256::of(format!("{name}\n{}", endpoints.join("\n")).as_bytes()).short()
}

fn version(nebula: &NebulaSpec, problems: &mut Vec<Problem>) -> Option<(Version, Line)> {
    let place = Some(nebula.version.place);
    let known = "2.0.x, 2.5.x, 2.6.x and 3.x are known";
    let version = match Version::parse(&nebula.version) {
        Ok(version) => version,
        Err(why) => {
            problems.push(Problem::error(place, why).hint("write all three numbers"));
            return None;
        }
    };
    if version.line().is_none() {
        let why = format!("no release line is known for version {version}");
        problems.push(Problem::error(place, why).hint(known));
    }
    version.line().map(|line| (version, line))
}

fn package(nebula: &NebulaSpec, source: &Source) -> PackageSource {
    match (&nebula.package, &nebula.packages) {
        (Some(file), _) => PackageSource::File(source.local_path(file)),
        (None, folder) => {
            let folder = folder.as_ref().map_or("packages", |f| f.value.as_str());
            PackageSource::Folder(source.local_path(folder))
        }
    }
}

fn values<'a>(all: impl Iterator<Item = &'a super::at::At<String>>) -> Vec<String> {
    all.map(|one| one.value.clone()).collect()
}

fn graph(nebula: &NebulaSpec, source: &Source, problems: &mut Vec<Problem>) -> GraphLogin {
    let password = match (&nebula.password_file, &nebula.password_command) {
        (Some(_), Some(command)) => {
            let what = "password_file and password_command are both given";
            problems.push(Problem::error(Some(command.place), what).hint("keep one of them"));
            Secret::Factory
        }
        (Some(file), None) => Secret::File(source.local_path(file)),
        (None, Some(command)) => Secret::Command(command.value.clone()),
        (None, None) => Secret::Factory,
    };
    let user = nebula
        .user
        .as_ref()
        .map_or("root", |u| u.value.as_str())
        .to_owned();
    GraphLogin { user, password }
}

/// Keeps a value or says why there is none.
pub(super) fn keep<T>(
    result: Result<T, String>,
    place: Place,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    result
        .map_err(|why| problems.push(Problem::error(Some(place), why)))
        .ok()
}
