//! The shape of what `monitor up` does: by host, what waits for what.
//!
//! Duty: whatever need not wait does not: archives, components, and the files of a component go side by side.

use std::collections::BTreeMap;

use crate::plan::{Plan, Step};
use crate::units::HostName;

/// What `monitor up` will do.
#[derive(Debug, Clone, Default)]
pub struct Up {
    /// By host; hosts with nothing to do are not listed.
    pub hosts: BTreeMap<HostName, HostPlan>,
    /// Sentences for the user.
    pub notices: Vec<String>,
}

/// What is done on one host.
#[derive(Debug, Clone, Default)]
pub struct HostPlan {
    /// Comes before everything else: the folder, what goes.
    pub first: Plan,
    /// Then Prometheus, when its image is there: from its start to the first scrape it takes longer than all the rest.
    pub lead: Option<Needed>,
    /// After it, side by side: nobody waits for an archive that holds nothing for him.
    pub groups: Vec<Group>,
    /// Beside them; may fail with a notice.
    pub optional: Vec<Needed>,
    /// When all targets are up, or are given up: target files as they stay.
    pub settle: Vec<Step>,
}

/// Components whose images come in one archive.
#[derive(Debug, Clone, Default)]
pub struct Group {
    /// One after the other, so that the archive is sent once.
    pub images: Plan,
    /// Then, side by side, what is left of each component.
    pub parts: Vec<Needed>,
}

/// What one component needs.
#[derive(Debug, Clone, Default)]
pub struct Needed {
    /// `h1: prometheus`.
    pub name: String,
    /// Side by side.
    pub files: Vec<Step>,
    /// Then, one after the other.
    pub steps: Vec<Step>,
}

impl Needed {
    fn whole(&self) -> Plan {
        let mut plan = Plan::default();
        let steps = self.files.iter().chain(&self.steps);
        plan.stage(self.name.clone(), steps.cloned().collect());
        plan
    }
}

impl HostPlan {
    /// Nothing to do.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
            && self.lead.is_none()
            && self.groups.is_empty()
            && self.optional.is_empty()
    }

    /// All steps in one plan, for showing.
    pub fn whole(&self) -> Plan {
        let mut whole = self.first.clone();
        self.lead.iter().for_each(|part| whole.extend(part.whole()));
        for group in &self.groups {
            whole.extend(group.images.clone());
            group
                .parts
                .iter()
                .for_each(|part| whole.extend(part.whole()));
        }
        self.optional
            .iter()
            .for_each(|part| whole.extend(part.whole()));
        whole.stage("usual scrape interval", self.settle.clone());
        whole
    }
}

impl Up {
    /// All steps in one plan, for showing.
    pub fn whole(&self) -> Plan {
        let mut whole = Plan::default();
        for host in self.hosts.values() {
            whole.extend(host.whole());
        }
        whole
    }
}
