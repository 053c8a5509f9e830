//! `monitor up`: from what is there to what must be.
//!
//! Duties: a step only where something differs, so that a second time there is nothing to do; what is ours and no longer
//! wanted goes; what is not ours is never named; a component that is optional and cannot be had becomes a notice.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::container::spec;
use super::files::{StackFile, secret};
use super::host::{EngineState, HostState, Standing, below};
use super::host_plan::{Group, HostPlan, Needed, Up};
use super::images::{ImageIndex, OwnImage, image_of};
use super::stack::Stack;
use super::{components_on, endpoint};
use crate::container::{ContainerSpec, ImageSpec};
use crate::failure::Failure;
use crate::inventory::{Cluster, Component, Host};
use crate::plan::{Action, Probe, Removal, RenderedFile, Script, Step, Wait};
use crate::units::RemotePath;

/// Everything a plan is made from.
#[derive(Debug, Clone, Copy)]
pub struct Desired<'a> {
    /// What is wanted.
    pub cluster: &'a Cluster,
    /// How.
    pub stack: &'a Stack,
    /// Image archives, when the inventory names a folder.
    pub index: Option<&'a ImageIndex>,
    /// The image made from the running nbctl.
    pub own: Option<&'a OwnImage>,
    /// No registry may be asked.
    pub offline: bool,
    /// Text of the marker that goes into every folder.
    pub marker: &'a str,
}

/// Plans one host.
///
/// # Errors
/// A folder that is not ours, an image that cannot be had, a template that is wrong.
pub fn up(
    want: &Desired<'_>,
    host: &Host,
    files: &[StackFile],
    state: &HostState,
    up: &mut Up,
) -> Result<(), Failure> {
    let Some(dir) = &host.monitor_dir else {
        return Ok(());
    };
    let engine = state.engine.clone().unwrap_or_default();
    let mut planner = Planner {
        want,
        host,
        dir,
        files,
        state,
        engine: &engine,
        plan: HostPlan::default(),
        wanted: BTreeSet::new(),
        groups: BTreeMap::new(),
    };
    planner.folder()?;
    for component in components_on(want.cluster, host) {
        let optional = want.stack.part(component)?.optional;
        match planner.component(component) {
            Ok(()) => {}
            Err(failure) if optional => up.notices.push(notice(host, component, &failure)),
            Err(failure) => return Err(failure),
        }
    }
    planner.unwanted();
    planner.group();
    planner.settle();
    let plan = planner.plan;
    if !plan.is_empty() {
        up.hosts.insert(host.name.clone(), plan);
    }
    Ok(())
}

fn notice(host: &Host, component: Component, failure: &Failure) -> String {
    let hint = failure
        .hint
        .as_ref()
        .map(|hint| format!("; {hint}"))
        .unwrap_or_default();
    format!(
        "{}: {} is left out: {}{hint}",
        host.name,
        component.as_str(),
        failure.what
    )
}

struct Planner<'a> {
    want: &'a Desired<'a>,
    host: &'a Host,
    dir: &'a RemotePath,
    files: &'a [StackFile],
    state: &'a HostState,
    engine: &'a EngineState,
    plan: HostPlan,
    /// Names of containers that stay.
    wanted: BTreeSet<String>,
    /// By archive, or by image where there is none.
    groups: BTreeMap<String, (Vec<Step>, Vec<Needed>)>,
}

impl Planner<'_> {
    fn step(&self, title: impl Into<String>, action: Action) -> Step {
        Step::on(&self.host.name, title, action)
    }

    /// The folder is marked before anything else is put into it.
    fn folder(&mut self) -> Result<(), Failure> {
        let place = format!("{}: {}", self.host.name, self.dir);
        match &self.state.standing {
            Standing::Marked(id) if *id == self.want.cluster.id => return Ok(()),
            Standing::Marked(id) => {
                return Err(Failure::inventory(format!(
                    "the folder belongs to another cluster ({id})"
                ))
                .at(place)
                .hint("name another folder in `monitor.dir`"));
            }
            Standing::Taken(why) => {
                return Err(Failure::inventory(format!("the folder {why}"))
                    .at(place)
                    .hint(
                        "name another folder in `monitor.dir`, or look at it and remove it by hand",
                    ));
            }
            Standing::Free => {}
        }
        let action = Action::Run(mark(self.dir, self.want.marker)?);
        let step = self.step(format!("mark {}", self.dir), action);
        self.plan
            .first
            .stage(format!("{}: folder", self.host.name), vec![step]);
        Ok(())
    }

    fn component(&mut self, component: Component) -> Result<(), Failure> {
        let part = self.want.stack.part(component)?;
        let image = image_of(self.want, component, &self.engine.images)?;
        let spec = spec(
            self.want, self.host, component, &image, self.state, self.files,
        )?;
        self.wanted.insert(spec.name.clone());
        let files = self.file_steps(component);
        let mut steps: Vec<Step> = Vec::new();
        steps.extend(self.secret_step(component, part.secret.as_deref())?);
        let archive = image.tarball.clone().unwrap_or(image.reference.clone());
        let mut image = self.image_step(component, image);
        if part.optional {
            steps.extend(image.take());
        }
        steps.extend(self.container_steps(component, spec));
        if !files.is_empty() || !steps.is_empty() {
            steps.push(self.ready_step(component, &part.ready));
        }
        let name = format!("{}: {}", self.host.name, component.as_str());
        let mut needed = (!steps.is_empty()).then_some(Needed { name, files, steps });
        if component == Component::Prometheus && image.is_none() {
            needed = needed.map(|needed| self.lead(needed));
        }
        if part.optional {
            self.plan.optional.extend(needed);
        } else if image.is_some() || needed.is_some() {
            let (images, parts) = self.groups.entry(archive).or_default();
            images.extend(image);
            parts.extend(needed);
        }
        Ok(())
    }

    /// All but the last step comes before the other components; whether it answers is asked beside them.
    fn lead(&mut self, mut needed: Needed) -> Needed {
        let answers = needed.steps.pop();
        let rest = Needed {
            name: needed.name.clone(),
            files: Vec::new(),
            steps: answers.into_iter().collect(),
        };
        self.plan.lead = Some(needed);
        rest
    }

    /// A container whose file was changed behind our back is made again, too: nobody knows what it runs with.
    fn container_steps(&self, component: Component, spec: ContainerSpec) -> Vec<Step> {
        let found = self.engine.containers.get(&spec.name);
        let same = found.is_some_and(|found| found.spec == spec.hash().to_string());
        let stale = self.changed(component).any(|file| !file.live);
        let mut steps = Vec::new();
        if same && stale {
            let removal = Action::Remove(Removal::Container(spec.name.clone()));
            steps.push(self.step(
                format!("remove {}: its files were changed", component.as_str()),
                removal,
            ));
        }
        if !same || stale || found.is_some_and(|found| !found.running) {
            let verb = if found.is_some() && !same {
                "replace"
            } else {
                "start"
            };
            let action = Action::Container(Box::new(spec));
            steps.push(self.step(format!("{verb} {}", component.as_str()), action));
        }
        steps
    }

    /// Files of a component that are not there as they must be.
    fn changed(&self, component: Component) -> impl Iterator<Item = &StackFile> {
        let own = self
            .files
            .iter()
            .filter(move |file| file.component == component);
        own.filter(|file| self.differs(file))
    }

    fn differs(&self, file: &StackFile) -> bool {
        let name = below(self.dir, &file.file.path);
        name.and_then(|name| self.state.files.get(name)) != Some(&file.file.sha256())
    }

    fn file_steps(&self, component: Component) -> Vec<Step> {
        let write = |file: &StackFile| self.write(file.first.as_ref().unwrap_or(&file.file));
        self.changed(component).map(write).collect()
    }

    fn write(&self, file: &RenderedFile) -> Step {
        let name = below(self.dir, &file.path).unwrap_or(file.path.as_str());
        self.step(format!("write {name}"), Action::Put(file.clone()))
    }

    /// Files that begin otherwise than they stay.
    fn settle(&mut self) {
        let differs = self.files.iter().filter(|file| file.first.is_some());
        let steps = differs.filter(|file| self.differs(file)).map(|file| {
            let name = below(self.dir, &file.file.path).unwrap_or_default();
            let title = format!("write {name}: at the usual interval");
            self.step(title, Action::Put(file.file.clone()))
        });
        self.plan.settle = steps.collect();
    }

    /// A password that is made on the host and never leaves it.
    fn secret_step(
        &self,
        component: Component,
        name: Option<&str>,
    ) -> Result<Option<Step>, Failure> {
        let Some(name) = name else {
            return Ok(None);
        };
        let path = secret(self.dir, component, name);
        if below(self.dir, &path).is_some_and(|name| self.state.files.contains_key(name)) {
            return Ok(None);
        }
        let folder = quoted(path.parent().as_str())?;
        let path = quoted(path.as_str())?;
        let text = format!(
            "set -eu\numask 077\nmkdir -p {folder}\n\
             head -c 18 /dev/urandom | base64 >{path}.new\nmv -f {path}.new {path}\n"
        );
        let step = self.step(format!("make {name} of {}", component.as_str()), run(text));
        Ok(Some(step.unless(format!("test -s {path}"))))
    }

    fn image_step(&self, component: Component, image: ImageSpec) -> Option<Step> {
        let there = self.engine.images.get(&image.reference);
        let same = there.is_some_and(|there| image.id.as_ref().is_none_or(|id| id == there));
        let verb = if image.tarball.is_some() {
            "load"
        } else {
            "pull"
        };
        let mut title = format!(
            "{verb} image {} for {}",
            image.reference,
            component.as_str()
        );
        if let Some(registry) = &image.registry {
            title.push_str(" from ");
            title.push_str(&registry.address);
            if registry.forwarded {
                title.push_str(" through ssh");
            }
        }
        (!same).then(|| self.step(title, Action::Image(image)))
    }

    fn ready_step(&self, component: Component, path: &str) -> Step {
        let url = format!(
            "http://{}{path}",
            endpoint(self.want.cluster, self.host, component)
        );
        let wait = Wait {
            probe: Probe::HttpOk { url },
            timeout: Duration::from_secs(30),
            hopeless: None,
        };
        self.step(
            format!("{} answers", component.as_str()),
            Action::Wait(wait),
        )
    }

    /// Ours and no longer wanted.
    fn unwanted(&mut self) {
        let extra = self
            .engine
            .containers
            .keys()
            .filter(|name| !self.wanted.contains(*name));
        let steps = extra
            .map(|name| {
                self.step(
                    format!("remove {name}"),
                    Action::Remove(Removal::Container(name.clone())),
                )
            })
            .collect();
        self.plan
            .first
            .stage(format!("{}: no longer wanted", self.host.name), steps);
    }

    fn group(&mut self) {
        for (images, parts) in std::mem::take(&mut self.groups).into_values() {
            let mut group = Group {
                parts,
                ..Group::default()
            };
            group
                .images
                .stage(format!("{}: images", self.host.name), images);
            self.plan.groups.push(group);
        }
    }
}

fn run(text: String) -> Action {
    Action::Run(Script {
        text,
        sudo: false,
        timeout: Duration::from_secs(20),
    })
}

/// Makes and marks the folder; a marker that appeared meanwhile wins.
fn mark(dir: &RemotePath, marker: &str) -> Result<Script, Failure> {
    let text = format!(
        "set -eu\nd={}\nm={}\nmkdir -p \"$d\"\nprintf '%s' \"$m\" >\"$d/.nbctl-owner.$$\"\n\
         ln \"$d/.nbctl-owner.$$\" \"$d/.nbctl-owner\" || {{ rm -f \"$d/.nbctl-owner.$$\"; echo 'marked by somebody else meanwhile' >&2; exit 1; }}\n\
         rm -f \"$d/.nbctl-owner.$$\"\n",
        quoted(dir.as_str())?,
        quoted(marker)?
    );
    Ok(Script {
        text,
        sudo: false,
        timeout: Duration::from_secs(20),
    })
}

fn quoted(text: &str) -> Result<String, Failure> {
    let quoted = shlex::try_quote(text).map(std::borrow::Cow::into_owned);
    quoted.map_err(|error| Failure::inventory(format!("cannot quote `{text}`: {error}")))
}
