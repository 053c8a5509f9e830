//! The text of an Ansible inventory: sections, hosts, variables.
//!
//! Duty: shape and inheritance only; what a variable means is `meaning`'s business. Everything keeps its line.

use std::collections::{BTreeMap, BTreeSet};

use super::super::at::Place;
use super::super::problem::Problem;
use super::super::range::expand;

/// A value and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Var {
    pub(super) value: String,
    pub(super) place: Place,
}

pub(super) type Vars = BTreeMap<String, Var>;

/// A group: its variables and the groups it holds.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) place: Option<Place>,
    vars: Vars,
    children: Vec<String>,
}

/// One host, however often it is named.
#[derive(Debug)]
pub(super) struct IniHost {
    pub(super) alias: String,
    /// Where it is named first.
    pub(super) place: Place,
    vars: Vars,
    groups: BTreeSet<String>,
}

/// An Ansible inventory as it is written.
#[derive(Debug, Default)]
pub(super) struct Ini {
    pub(super) groups: BTreeMap<String, Group>,
    /// In the order of the file.
    pub(super) hosts: Vec<IniHost>,
}

/// What the lines below a heading are.
enum Section {
    Hosts(String),
    Vars(String),
    Children(String),
    /// A heading that was refused.
    Unknown,
}

pub(super) fn read(text: &str, problems: &mut Vec<Problem>) -> Ini {
    let mut ini = Ini::default();
    let mut section = Section::Hosts("ungrouped".to_owned());
    for (index, line) in text.lines().enumerate() {
        let body = line.trim();
        if body.is_empty() || body.starts_with(['#', ';']) {
            continue;
        }
        let column = line.chars().take_while(|c| c.is_whitespace()).count() + 1;
        let place = Place {
            line: index as u64 + 1,
            column: column as u64,
            len: body.chars().count() as u64,
        };
        if body.starts_with('[') && !body.contains(['=', ' '])
            || body.ends_with(']') && body.starts_with('[')
        {
            section = heading(body, place, &mut ini, problems);
            continue;
        }
        ini.line(&section, body, place, problems);
    }
    ini
}

/// `[group]`, `[group:vars]`, `[group:children]`.
fn heading(body: &str, place: Place, ini: &mut Ini, problems: &mut Vec<Problem>) -> Section {
    let inner = body
        .strip_prefix('[')
        .and_then(|b| b.strip_suffix(']'))
        .map(str::trim);
    let (name, kind) = match inner.map(|i| i.split_once(':').unwrap_or((i, "hosts"))) {
        Some((name, kind)) if !name.is_empty() => (name.to_owned(), kind),
        _ => {
            problems.push(Problem::error(Some(place), "a heading is written [group]"));
            return Section::Unknown;
        }
    };
    ini.groups
        .entry(name.clone())
        .or_default()
        .place
        .get_or_insert(place);
    match kind {
        "hosts" => Section::Hosts(name),
        "vars" => Section::Vars(name),
        "children" => Section::Children(name),
        other => {
            let what = format!("`{other}` is no part of a group");
            problems.push(Problem::error(Some(place), what).hint("vars and children are known"));
            Section::Unknown
        }
    }
}

impl Ini {
    fn line(&mut self, section: &Section, body: &str, place: Place, problems: &mut Vec<Problem>) {
        match section {
            Section::Hosts(group) => self.host(group, body, place, problems),
            Section::Children(group) => {
                let child = body
                    .split_whitespace()
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                self.groups
                    .entry(group.clone())
                    .or_default()
                    .children
                    .push(child);
            }
            Section::Vars(group) => match assignment(body) {
                Some((name, value)) => {
                    let vars = &mut self.groups.entry(group.clone()).or_default().vars;
                    vars.insert(name, Var { value, place });
                }
                None => problems.push(Problem::error(
                    Some(place),
                    "a variable is written name = value",
                )),
            },
            Section::Unknown => {}
        }
    }

    /// `name[1:3] variable=value …`
    fn host(&mut self, group: &str, body: &str, place: Place, problems: &mut Vec<Problem>) {
        let Some(words) = shlex::split(body) else {
            problems.push(Problem::error(Some(place), "a quote is not closed"));
            return;
        };
        let mut vars = Vars::new();
        for word in words.iter().skip(1) {
            match assignment(word) {
                Some((name, value)) => drop(vars.insert(name, Var { value, place })),
                None => problems.push(Problem::error(
                    Some(place),
                    format!("`{word}` is not variable=value"),
                )),
            }
        }
        match expand(words.first().map_or("", String::as_str)) {
            Ok(aliases) => aliases
                .into_iter()
                .for_each(|alias| self.named(alias, group, &vars, place)),
            Err(why) => problems.push(Problem::error(Some(place), why)),
        }
    }

    fn named(&mut self, alias: String, group: &str, vars: &Vars, place: Place) {
        let known = self.hosts.iter().position(|h| h.alias == alias);
        let at = known.unwrap_or_else(|| {
            self.hosts.push(IniHost {
                alias,
                place,
                vars: Vars::new(),
                groups: BTreeSet::new(),
            });
            self.hosts.len() - 1
        });
        if let Some(host) = self.hosts.get_mut(at) {
            host.groups.insert(group.to_owned());
            host.vars.extend(vars.clone());
        }
    }

    /// The groups a host is in, through the groups that hold them, outermost first.
    pub(super) fn groups_of(&self, host: &IniHost) -> Vec<String> {
        let mut all: Vec<String> = host.groups.iter().cloned().collect();
        let mut at = 0;
        while let Some(group) = all.get(at).cloned() {
            let holds = |(_, g): &(&String, &Group)| g.children.contains(&group);
            for (parent, _) in self.groups.iter().filter(holds) {
                if !all.contains(parent) {
                    all.push(parent.clone());
                }
            }
            at += 1;
        }
        all.reverse();
        all
    }

    /// A host's variables: those of `all`, of its groups from the outside in, and its own.
    pub(super) fn vars_of(&self, host: &IniHost) -> Vars {
        let mut vars = self.common();
        for group in self.groups_of(host) {
            let of_group = self.groups.get(&group).filter(|_| group != "all");
            vars.extend(of_group.map(|g| g.vars.clone()).unwrap_or_default());
        }
        vars.extend(host.vars.clone());
        vars
    }

    /// Variables of all hosts.
    pub(super) fn common(&self) -> Vars {
        self.groups
            .get("all")
            .map(|g| g.vars.clone())
            .unwrap_or_default()
    }

    /// Every variable that is set anywhere, by line.
    pub(super) fn every_var(&self) -> Vec<(&str, &Var)> {
        let groups = self.groups.values().map(|g| &g.vars);
        let all = groups.chain(self.hosts.iter().map(|h| &h.vars));
        let mut all: Vec<(&str, &Var)> = all
            .flatten()
            .map(|(name, var)| (name.as_str(), var))
            .collect();
        all.sort_by_key(|(name, var)| (var.place, *name));
        all.dedup();
        all
    }
}

/// `name = value`, quotes and a comment behind the value taken away.
fn assignment(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let value = value.split(" #").next().unwrap_or_default().trim();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    let bare = quote.and_then(|q| value.strip_prefix(q)?.strip_suffix(q));
    let name = name.trim();
    (!name.is_empty()).then(|| (name.to_owned(), bare.unwrap_or(value).to_owned()))
}
