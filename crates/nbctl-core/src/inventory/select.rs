//! Narrowing a command to some hosts and roles.
//!
//! Duty: read `--host` patterns (ranges, `*`) and `--role` once, and refuse a pattern that matches
//! nothing, so that a typing error never means "all" or "none".

use std::collections::BTreeSet;

use super::cluster::{Cluster, Daemon, Host};
use super::names::{DaemonRole, Role};
use super::range::{contract, expand};
use crate::failure::Failure;
use crate::units::HostName;

/// The hosts and roles a command works on; all of them by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    hosts: Option<BTreeSet<HostName>>,
    roles: BTreeSet<Role>,
}

impl Selection {
    /// `hosts` are names or addresses with ranges and `*`; empty lists select everything.
    ///
    /// # Errors
    /// Of kind usage, when a pattern is wrong or matches no host, or no host has a role.
    pub fn new(cluster: &Cluster, hosts: &[String], roles: &[Role]) -> Result<Self, Failure> {
        let mut chosen = BTreeSet::new();
        for pattern in hosts {
            chosen.extend(matching(cluster, pattern)?);
        }
        for role in roles {
            if cluster.hosts_with(*role).next().is_none() {
                return Err(Failure::usage(format!("no host has the role {role}")));
            }
        }
        let hosts = (!hosts.is_empty()).then_some(chosen);
        Ok(Self {
            hosts,
            roles: roles.iter().copied().collect(),
        })
    }

    /// Whether nothing is left out.
    pub fn is_everything(&self) -> bool {
        self.hosts.is_none() && self.roles.is_empty()
    }

    pub fn has_host(&self, host: &Host) -> bool {
        let role = self.roles.is_empty() || !self.roles.is_disjoint(&host.roles);
        role && self.has_name(&host.name)
    }

    pub fn has_daemon(&self, daemon: &Daemon) -> bool {
        self.has_name(&daemon.host) && self.has_role(daemon.role)
    }

    fn has_role(&self, role: DaemonRole) -> bool {
        self.roles.is_empty() || self.roles.contains(&Role::from(role))
    }

    fn has_name(&self, name: &HostName) -> bool {
        self.hosts.as_ref().is_none_or(|hosts| hosts.contains(name))
    }
}

fn matching(cluster: &Cluster, pattern: &str) -> Result<Vec<HostName>, Failure> {
    let singles = expand(pattern).map_err(Failure::usage)?;
    let mut found = Vec::new();
    for single in &singles {
        let fits =
            |host: &&Host| is_like(host.name.as_str(), single) || is_like(&host.address, single);
        let before = found.len();
        found.extend(cluster.hosts.iter().filter(fits).map(|h| h.name.clone()));
        if found.len() == before {
            let names: Vec<&str> = cluster.hosts.iter().map(|h| h.name.as_str()).collect();
            let hint = format!("hosts: {}", contract(names).join(", "));
            return Err(Failure::usage(format!("no host matches `{single}`")).hint(hint));
        }
    }
    Ok(found)
}

/// Whether `text` is `pattern`, in which `*` stands for anything.
pub fn is_like(text: &str, pattern: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return text == pattern;
    };
    let Some(text) = text.strip_prefix(head) else {
        return false;
    };
    text.char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .any(|at| text.get(at..).is_some_and(|tail| is_like(tail, rest)))
}

#[cfg(test)]
mod tests {
    use super::{Selection, is_like};
    use crate::inventory::{Cluster, Role, Source, load};

    fn cluster() -> Cluster {
        let text = include_str!("../../../../inventory/three-hosts.yaml");
        load(&Source::new("inv.yaml", text))
            .into_result()
            .unwrap()
            .0
    }

    #[test]
    fn wildcards() {
        let cases = [
            ("s1", "s1", true),
            ("s1", "s*", true),
            ("s1", "*", true),
            ("s1", "*1", true),
            ("s12", "s*2", true),
            ("s1", "s", false),
            ("s1", "t*", false),
            ("node01.lab", "node*.lab", true),
            ("node01.lab", "*.*b", true),
            ("", "*", true),
        ];
        for (text, pattern, expected) in cases {
            assert_eq!(is_like(text, pattern), expected, "{text} {pattern}");
        }
    }

    #[test]
    fn selections() {
        let cluster = cluster();
        let cases: [(&[&str], &[Role], &str); 6] = [
            (&[], &[], "s1 s2 s3 gen"),
            (&["s[1:2]"], &[], "s1 s2"),
            (&["192.168.8.6*"], &[], "s1 s2 s3 gen"),
            (&["gen", "s3"], &[], "s3 gen"),
            (&[], &[Role::Metad], "s1 s2 s3"),
            (&["s*"], &[Role::Load], ""),
        ];
        for (hosts, roles, expected) in cases {
            let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
            let selection = Selection::new(&cluster, &hosts, roles).unwrap();
            let chosen = cluster.hosts.iter().filter(|h| selection.has_host(h));
            let names: Vec<&str> = chosen.map(|h| h.name.as_str()).collect();
            assert_eq!(names.join(" "), expected);
        }
        assert!(Selection::new(&cluster, &["s[1:9]".to_owned()], &[]).is_err());
        assert!(Selection::new(&cluster, &["x".to_owned()], &[]).is_err());
    }
}
