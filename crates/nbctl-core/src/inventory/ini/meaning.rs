//! What nebula-ansible's variables say about each host (reference: its inventories and roles).
//!
//! Duty: hosts with their roles, folders, ports and login. Aliases of one address with one installation folder are
//! one host, which is how its all-in-one inventory puts three daemons into one folder.

use std::collections::{BTreeMap, BTreeSet};

use super::super::at::Place;
use super::super::names::{DaemonRole, Role};
use super::super::problem::Problem;
use super::read::{Ini, IniHost, Var, Vars};

/// The inventory as it is meant.
#[derive(Debug, Default)]
pub(super) struct Meaning {
    pub(super) version: Option<Var>,
    pub(super) packages: Option<Var>,
    pub(super) hosts: Vec<Meant>,
    /// What has no counterpart: place and text.
    pub(super) left_out: Vec<(Place, String)>,
}

/// One host of the inventory to come.
#[derive(Debug)]
pub(super) struct Meant {
    pub(super) aliases: Vec<String>,
    pub(super) address: String,
    pub(super) place: Place,
    pub(super) roles: BTreeSet<Role>,
    pub(super) deploy_dir: Option<Var>,
    /// Only where it is not `data` below `deploy_dir`.
    pub(super) data_dir: Option<Var>,
    pub(super) ports: BTreeMap<DaemonRole, (u16, Place)>,
    /// Keys of `ssh` in the order in which they are written.
    pub(super) ssh: Vec<(&'static str, Var)>,
}

/// Groups of nebula-ansible (those of its first versions, too) and of nbctl.
const GROUPS: &[(&str, Role)] = &[
    ("metad", Role::Metad),
    ("meta", Role::Metad),
    ("graphd", Role::Graphd),
    ("graph", Role::Graphd),
    ("storaged", Role::Storaged),
    ("storage", Role::Storaged),
    ("monitor", Role::Monitor),
    ("load", Role::Load),
];

/// Variables that `one_host` and `understand` read.
const READ: &[&str] = &[
    "nebula_version",
    "packages_dir",
    "deploy_dir",
    "data_dir",
    "metad_port",
    "graphd_port",
    "storaged_port",
    "ansible_host",
    "ansible_ssh_host",
    "ansible_user",
    "ansible_ssh_user",
    "ansible_port",
    "ansible_ssh_port",
    "ansible_ssh_private_key_file",
    "ansible_private_key_file",
    "ansible_become",
];

/// Variables without a counterpart, and why that is no loss.
const DROPPED: &[(&str, &str)] = &[
    (
        "install_source_type",
        "nbctl takes what lies in the package folder",
    ),
    (
        "os_version",
        "the package is chosen by each host's own C library",
    ),
    ("arc", "the package is chosen by each host's own processor"),
    ("pkg", "any kind of package is taken, an RPM first"),
    (
        "force_download",
        "a package is sent again only when its digest differs",
    ),
    ("enable_firewalld", "firewalls are left alone"),
    ("firewalld_ports", "firewalls are left alone"),
    ("username", "`nbctl hosts bootstrap` creates the user"),
    ("module", "say --role on the command line"),
    ("op", "commands have names of their own"),
    (
        "delete_type",
        "`nbctl teardown` and `nbctl reset` have names of their own",
    ),
    (
        "confirmed",
        "`nbctl teardown` asks for the name of the cluster",
    ),
    (
        "nebula_packages",
        "nbctl takes what lies in the package folder",
    ),
    (
        "meta_server_addrs",
        "it follows from the hosts with the role metad",
    ),
    ("ansible_connection", "hosts are reached by ssh"),
    (
        "ansible_python_interpreter",
        "no Python is needed on the hosts",
    ),
    ("ansible_become_method", "root is asked for by sudo"),
    ("ansible_become_user", "root is asked for by sudo"),
    (
        "ansible_ssh_common_args",
        "write `ssh.jump` or `ssh.config_file`",
    ),
    ("ansible_ssh_extra_args", "write `ssh.config_file`"),
    (
        "ansible_ssh_pass",
        "a password does not belong in a file; ssh logs in by key",
    ),
    (
        "ansible_password",
        "a password does not belong in a file; ssh logs in by key",
    ),
    (
        "ansible_become_pass",
        "a password does not belong in a file",
    ),
    (
        "ansible_become_password",
        "a password does not belong in a file",
    ),
];

pub(super) fn understand(ini: &Ini, problems: &mut Vec<Problem>) -> Meaning {
    let common = ini.common();
    let mut meaning = Meaning {
        version: common.get("nebula_version").cloned(),
        packages: packages(&common, problems),
        ..Meaning::default()
    };
    if meaning.version.is_none() {
        let what = "nebula_version is not set";
        let hint = "nebula-ansible sets it under [all:vars]";
        problems.push(Problem::error(None, what).hint(hint));
    }
    for host in &ini.hosts {
        if let Some(meant) = one_host(ini, host, problems) {
            merge(&mut meaning.hosts, meant);
        } else {
            let text = format!("host {} is in no group with a role", host.alias);
            meaning.left_out.push((host.place, text));
        }
    }
    groups(ini, &mut meaning);
    variables(ini, &mut meaning, problems);
    meaning
}

fn packages(common: &Vars, problems: &mut Vec<Problem>) -> Option<Var> {
    let value = filled("packages_dir", common, problems)?;
    let path = value.value.trim_start_matches("./").to_owned();
    Some(Var {
        value: path,
        ..value
    })
}

fn one_host(ini: &Ini, host: &IniHost, problems: &mut Vec<Problem>) -> Option<Meant> {
    let groups = ini.groups_of(host);
    let has = |name: &str| groups.iter().any(|g| g == name);
    let roles: BTreeSet<Role> = GROUPS
        .iter()
        .filter(|(name, _)| has(name))
        .map(|(_, role)| *role)
        .collect();
    if roles.is_empty() {
        return None;
    }
    let vars = ini.vars_of(host);
    let address = ["ansible_host", "ansible_ssh_host"]
        .iter()
        .find_map(|n| filled(n, &vars, problems));
    let deploy_dir = filled("deploy_dir", &vars, problems);
    let beside = deploy_dir
        .as_ref()
        .map(|d| format!("{}/data", d.value.trim_end_matches('/')));
    let data_dir =
        filled("data_dir", &vars, problems).filter(|d| Some(&d.value) != beside.as_ref());
    Some(Meant {
        aliases: vec![host.alias.clone()],
        address: address.map_or_else(|| host.alias.clone(), |a| a.value),
        place: host.place,
        ports: ports(&roles, &vars, problems),
        roles,
        deploy_dir,
        data_dir,
        ssh: ssh(&vars, problems),
    })
}

fn ports(
    roles: &BTreeSet<Role>,
    vars: &Vars,
    problems: &mut Vec<Problem>,
) -> BTreeMap<DaemonRole, (u16, Place)> {
    let mut ports = BTreeMap::new();
    for role in roles.iter().filter_map(|r| r.daemon()) {
        let Some(var) = filled(&format!("{role}_port"), vars, problems) else {
            continue;
        };
        match var.value.parse::<u16>() {
            Ok(port) if port != role.default_port() => {
                ports.insert(role, (port, var.place));
            }
            Ok(_) => {}
            Err(_) => {
                let what = format!("{role}_port {} is no port", var.value);
                problems.push(Problem::error(Some(var.place), what));
            }
        }
    }
    ports
}

fn ssh(vars: &Vars, problems: &mut Vec<Problem>) -> Vec<(&'static str, Var)> {
    let keys: [(&'static str, &[&str]); 3] = [
        ("user", &["ansible_user", "ansible_ssh_user"]),
        ("port", &["ansible_port", "ansible_ssh_port"]),
        (
            "identity_file",
            &["ansible_ssh_private_key_file", "ansible_private_key_file"],
        ),
    ];
    let mut all = Vec::new();
    for (key, names) in keys {
        all.extend(
            names
                .iter()
                .find_map(|n| filled(n, vars, problems))
                .map(|var| (key, var)),
        );
    }
    let sudo = filled("ansible_become", vars, problems);
    let yes = |v: &Var| ["true", "yes", "1"].contains(&v.value.to_lowercase().as_str());
    let sudo = sudo.filter(yes).map(|v| Var {
        value: "true".to_owned(),
        ..v
    });
    all.extend(sudo.map(|var| ("sudo", var)));
    all
}

/// Aliases of one address with one installation are one host.
fn merge(hosts: &mut Vec<Meant>, new: Meant) {
    let folder = |host: &Meant| host.deploy_dir.as_ref().map(|d| d.value.clone());
    let same = |old: &&mut Meant| old.address == new.address && folder(old) == folder(&new);
    let Some(old) = hosts.iter_mut().find(same) else {
        hosts.push(new);
        return;
    };
    old.aliases.extend(new.aliases);
    old.roles.extend(new.roles);
    old.ports.extend(new.ports);
    old.data_dir = old.data_dir.take().or(new.data_dir);
}

/// Groups that give their hosts no role.
fn groups(ini: &Ini, meaning: &mut Meaning) {
    let known = |name: &str| {
        GROUPS.iter().any(|(group, _)| *group == name) || ["all", "ungrouped"].contains(&name)
    };
    for (name, group) in ini.groups.iter().filter(|(name, _)| !known(name)) {
        let leads = ini.hosts.iter().any(|host| {
            let groups = ini.groups_of(host);
            groups.contains(name) && groups.iter().any(|g| known(g))
        });
        let why = if leads {
            "its hosts have roles by other groups"
        } else {
            "it has no role"
        };
        let place = group.place.unwrap_or_default();
        meaning
            .left_out
            .push((place, format!("group [{name}]: {why}")));
    }
}

/// Variables that mean nothing here: known ones are left out, unknown ones are warned about as well.
fn variables(ini: &Ini, meaning: &mut Meaning, problems: &mut Vec<Problem>) {
    for (name, var) in ini.every_var() {
        if READ.contains(&name) {
            continue;
        }
        let secret = name.contains("pass");
        let shown = if secret { "***" } else { var.value.as_str() };
        let known = DROPPED.iter().find(|(known, _)| *known == name);
        let why = known.map_or("not known", |(_, why)| why);
        if known.is_none() {
            let what =
                format!("variable {name} is not one of nebula-ansible's and means nothing here");
            problems.push(Problem::warning(Some(var.place), what));
        }
        meaning
            .left_out
            .push((var.place, format!("{name} = {shown}: {why}")));
        if name == "install_source_type" && var.value.eq_ignore_ascii_case("nightly") {
            let what = "nightly packages are not looked for";
            let hint = "put the package into packages_dir; its name must hold nebula_version";
            problems.push(Problem::warning(Some(var.place), what).hint(hint));
        }
    }
    meaning.left_out.sort();
}

/// A variable with `{{ other }}` filled in.
fn filled(name: &str, vars: &Vars, problems: &mut Vec<Problem>) -> Option<Var> {
    let var = vars.get(name)?;
    match fill(&var.value, vars, 0) {
        Ok(value) => Some(Var {
            value,
            place: var.place,
        }),
        Err(unknown) => {
            let what = format!("{name} names `{unknown}`, which is not set");
            problems.push(Problem::error(Some(var.place), what));
            None
        }
    }
}

fn fill(text: &str, vars: &Vars, depth: u8) -> Result<String, String> {
    let Some((head, rest)) = text.split_once("{{") else {
        return Ok(text.to_owned());
    };
    let (name, tail) = rest
        .split_once("}}")
        .ok_or_else(|| rest.trim().to_owned())?;
    let name = name.trim();
    let value = match vars.get(name) {
        // The folder of the playbooks, which is that of the inventory.
        None if name == "playbook_dir" || name == "inventory_dir" => ".".to_owned(),
        Some(var) if depth < 8 => fill(&var.value, vars, depth + 1)?,
        _ => return Err(name.to_owned()),
    };
    Ok(format!("{head}{value}{}", fill(tail, vars, depth)?))
}
