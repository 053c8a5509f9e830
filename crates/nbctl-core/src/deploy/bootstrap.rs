//! Bootstrap: what makes a bare host one that nbctl can log in to and work on.
//!
//! Purpose: user, key, rights, limits, folders and ports as values: shown first, each with a check that says "already so".
//! Duties: rights are no wider than the inventory needs; nothing that exists is taken from anybody.

use std::collections::BTreeSet;

use super::check::ranges;
use super::{OPEN_FILES, claimed};
use crate::facts::quoted;
use crate::inventory::{Cluster, Host};

const LIBRARY: &str = concat!(
    include_str!("repair/repair.sh"),
    include_str!("bootstrap.sh")
);
const LIMITS: &str = "/etc/security/limits.d/60-nbctl.conf";

/// One thing that a host must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preparation {
    /// Shown, with all that is written.
    pub title: String,
    /// `sh`, as root: 0 when it is so.
    check: String,
    /// `sh`, as root: makes it so.
    script: String,
}

/// The login that commands will use.
#[derive(Debug, Clone, Copy)]
pub struct Account<'a> {
    /// Name.
    pub user: &'a str,
    /// Line for `authorized_keys`.
    pub key: &'a str,
}

/// Everything that a host of the cluster must have, in the order in which it is made.
pub fn preparations(cluster: &Cluster, host: &Host, account: Account<'_>) -> Vec<Preparation> {
    let user = account.user;
    let mut all = Vec::new();
    if user != "root" {
        all.push(made(
            format!("user {user}, without a password"),
            "has_user",
            "make_user",
            &[user],
        ));
    }
    let key = format!("key of {user}: {}", account.key);
    all.push(made(key, "has_key", "add_key", &[user, account.key]));
    if let Some(rule) = sudoers(cluster, host, user) {
        let file = format!("/etc/sudoers.d/nbctl-{}", user.replace(['.', '~'], "_"));
        let title = format!(
            "{file}, checked by visudo:\n      {}",
            rule.replace('\n', "\n      ")
        );
        all.push(made(title, "has_text", "put_sudoers", &[&file, &rule]));
    }
    all.extend(["soft", "hard"].map(|kind| limit(user, kind)));
    let home = format!("/home/{user}/");
    let folders = claimed(cluster, &host.name).into_iter();
    for folder in folders.filter(|folder| !folder.as_str().starts_with(&home)) {
        let title = format!("{folder}, of {user}");
        all.push(made(
            title,
            "has_folder",
            "make_folder",
            &[user, folder.as_str()],
        ));
    }
    if cluster.monitor.as_ref().is_some_and(|m| !m.docker_sudo) && host.monitor_dir.is_some() {
        let title =
            format!("{user} in group docker, which is as much as root, where there is an engine");
        let mut group = made(title, "has_group", "", &[user, "docker"]);
        group.script = format!("usermod -aG docker {} || exit 1", quoted(user));
        all.push(group);
    }
    all.extend(ports(cluster, host));
    all
}

/// A check and a script that take the same words.
fn made(title: String, check: &str, script: &str, words: &[&str]) -> Preparation {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let words = words.join(" ");
    Preparation {
        title,
        check: format!("{check} {words}"),
        script: format!("{script} {words}"),
    }
}

/// The scripts that nbctl sends run as `sudo sh`, so a rule that names programs would be no narrower than `ALL`; without
/// `ssh.sudo` there is no such rule.
fn sudoers(cluster: &Cluster, host: &Host, user: &str) -> Option<String> {
    let docker = cluster.monitor.as_ref().is_some_and(|m| m.docker_sudo);
    let commands = if host.ssh.sudo {
        "ALL"
    } else if docker {
        "/usr/bin/docker"
    } else {
        return None;
    };
    let rule = format!("{user} ALL=(root) NOPASSWD: {commands}");
    (user != "root").then(|| format!("Defaults:{user} !requiretty\n{rule}"))
}

fn limit(user: &str, kind: &str) -> Preparation {
    let (key, file) = (format!("{user} {kind} nofile "), quoted(LIMITS));
    let line = format!("{key}{OPEN_FILES}");
    Preparation {
        title: format!("{LIMITS}: {line}"),
        check: format!("has_line {file} {}", quoted(&line)),
        script: format!("keep {file} {} {}", quoted(&key), quoted(&line)),
    }
}

fn ports(cluster: &Cluster, host: &Host) -> Option<Preparation> {
    let daemons = cluster.daemons_on(&host.name);
    let all = daemons.flat_map(|daemon| daemon.ports(cluster.version).unwrap_or_default());
    let all: BTreeSet<u16> = all.map(|port| port.number).collect();
    let ranges = ranges(&all.into_iter().collect::<Vec<_>>(), "-");
    let words: Vec<&str> = ranges.iter().map(String::as_str).collect();
    let title = format!(
        "tcp {} let in, where firewalld or ufw is at work",
        words.join(", ")
    );
    (!words.is_empty()).then(|| made(title, "has_ports", "open_ports", &words))
}

/// Asks, as root, which of them are so; see [`bootstrap_missing`].
pub fn bootstrap_look(all: &[Preparation]) -> String {
    let one = |(n, p): (usize, &Preparation)| {
        format!(
            "if ( {} ) >/dev/null 2>&1; then echo 'so {n}'; else echo 'todo {n}'; fi",
            p.check
        )
    };
    let lines: Vec<String> = all.iter().enumerate().map(one).collect();
    format!("{LIBRARY}\n{}\n", lines.join("\n"))
}

/// Those that the answer to [`bootstrap_look`] calls missing; `None` when it is not whole.
pub fn bootstrap_missing(all: &[Preparation], answer: &str) -> Option<Vec<Preparation>> {
    let told = |word: &str, n: usize| answer.lines().any(|line| line == format!("{word} {n}"));
    let whole = (0..all.len()).all(|n| told("so", n) || told("todo", n));
    let todo = all.iter().enumerate().filter(|(n, _)| told("todo", *n));
    whole.then(|| todo.map(|(_, p)| p.clone()).collect())
}

/// Makes them so, as root; ends at the first that cannot be made.
pub fn bootstrap_do(missing: &[Preparation]) -> String {
    let one = |p: &Preparation| {
        let title = p.title.lines().next().unwrap_or_default();
        format!(
            "( {} ) || fail {}",
            p.script,
            quoted(&format!("not done: {title}"))
        )
    };
    let lines: Vec<String> = missing.iter().map(one).collect();
    format!("{LIBRARY}\n{}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::{Source, load};

    fn titles(user: &str, sudo: bool, monitor: &str) -> (Vec<Preparation>, String) {
        let text = format!(
            "format: 1\ncluster: c\nssh: {{user: {user}, sudo: {sudo}}}\n{monitor}\
             nebula: {{version: 3.8.0, deploy_dir: /home/{user}/nebula, data_dir: /data/nebula}}\n\
             hosts: [{{address: 10.0.0.1, name: s1, roles: [metad, graphd, storaged, monitor, load]}}]\n"
        );
        let cluster = load(&Source::new("inv.yaml", text)).cluster.unwrap();
        let host = cluster.hosts.first().unwrap();
        let account = Account {
            user,
            key: "ssh-ed25519 AAAA it's",
        };
        let all = preparations(&cluster, host, account);
        let text: Vec<&str> = all.iter().map(|p| p.title.as_str()).collect();
        let text = text.join("\n");
        (all, text)
    }

    /// User, `ssh.sudo`, monitoring; parts that are there, parts that are not.
    type Case<'a> = (&'a str, bool, &'a str, &'a [&'a str], &'a [&'a str]);

    #[test]
    fn rights_are_no_wider_than_the_inventory_needs() {
        let cases: [Case<'_>; 4] = [
            (
                "bench",
                true,
                "",
                &[
                    "user bench, without a password",
                    "Defaults:bench !requiretty",
                    "bench ALL=(root) NOPASSWD: ALL",
                    "bench hard nofile 130000",
                    "/data/nebula, of bench",
                    "bench in group docker",
                    "tcp 9559-9560, 9669, 9778-9780, 19559, 19669, 19779 let in",
                ],
                &["/home/bench/nebula, of"],
            ),
            (
                "bench",
                false,
                "monitor: {docker: {sudo: true}}\n",
                &["bench ALL=(root) NOPASSWD: /usr/bin/docker"],
                &["NOPASSWD: ALL", "group docker"],
            ),
            ("bench", false, "", &["group docker"], &["sudoers"]),
            (
                "root",
                true,
                "",
                &["key of root"],
                &["sudoers", "user root"],
            ),
        ];
        for (user, sudo, monitor, there, not_there) in cases {
            let (_, text) = titles(user, sudo, monitor);
            for part in there {
                assert!(text.contains(part), "no {part:?} in\n{text}");
            }
            for part in not_there {
                assert!(!text.contains(part), "{part:?} in\n{text}");
            }
        }
    }

    #[test]
    fn only_what_is_missing_is_made_and_half_an_answer_is_none() {
        let (all, _) = titles("bench", true, "");
        let answer: Vec<String> = (0..all.len())
            .map(|n| format!("{} {n}", if n == 1 { "todo" } else { "so" }))
            .collect();
        let missing = bootstrap_missing(&all, &answer.join("\n")).unwrap();
        assert_eq!(missing, [all[1].clone()]);
        let script = bootstrap_do(&missing);
        assert!(
            script.contains("( add_key bench \"ssh-ed25519 AAAA it's\" ) || fail"),
            "{script}"
        );
        assert!(!script.contains("( make_user"), "{script}");
        assert_eq!(bootstrap_missing(&all, &answer[1..].join("\n")), None);
    }
}
