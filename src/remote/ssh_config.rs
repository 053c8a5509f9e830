//! The ssh configuration nbctl writes for each host of a cluster.
//!
//! Purpose: one file says how nbctl connects, and the very same file is what the user is told to try by hand.
//! Duties: ssh takes the first value it meets, so what must hold stands first (keep-alive, host keys, no
//! forwarding of agents), then the user's own files, then what is only nicer.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nbctl_core::failure::Failure;
use nbctl_core::inventory::KnownHosts;

use super::target::Target;

/// Spares processor time of both ends: half of a handshake, a fifth of what a package costs on its way (processors of
/// servers know AES; `ChaCha20`, which ssh prefers, is for those that do not).
const NICER: [&str; 2] = [
    "KexAlgorithms ^curve25519-sha256",
    "Ciphers ^aes128-gcm@openssh.com,aes256-gcm@openssh.com",
];

/// Writes the file for `target` into `dir` and returns its path.
///
/// # Errors
/// When a value cannot be written into such a file, the key is not usable, or the disk says no.
pub(super) fn write(dir: &Path, target: &Target) -> Result<PathBuf, Failure> {
    if let Some(key) = &target.ssh.identity_file {
        check_key(target, key)?;
    }
    let path = dir.join(format!("{}.conf", target.name));
    let text = text(dir, target)?;
    let cannot = |error: std::io::Error| {
        Failure::usage(format!("cannot write the ssh configuration: {error}"))
            .at(path.display().to_string())
    };
    fs::create_dir_all(dir).map_err(cannot)?;
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(path);
    }
    let fresh = path.with_extension("conf.new");
    fs::write(&fresh, text).map_err(cannot)?;
    fs::rename(&fresh, &path).map_err(cannot)?;
    Ok(path)
}

/// Where unknown keys are remembered.
pub(super) fn known_hosts_file(dir: &Path, target: &Target) -> PathBuf {
    let file = target.ssh.known_hosts_file.clone();
    file.unwrap_or_else(|| dir.join("known_hosts"))
}

fn text(dir: &Path, target: &Target) -> Result<String, Failure> {
    let mut out = String::from("# Written by nbctl; changes are lost.\n");
    let host = word(target, &target.ssh.host)?;
    section(&mut out, host, &own_lines(target)?);
    for jump in &target.ssh.jump {
        section(&mut out, jump_host(word(target, jump)?), &key_line(target)?);
    }
    section(&mut out, "*", &forced_lines(dir, target)?);
    for file in user_files(target) {
        let _ = writeln!(out, "Include {}", quoted(target, &file)?);
    }
    section(&mut out, "*", &NICER.map(str::to_owned));
    Ok(out)
}

fn section(out: &mut String, pattern: &str, lines: &[String]) {
    let _ = writeln!(out, "Host {pattern}");
    for line in lines {
        let _ = writeln!(out, "    {line}");
    }
}

fn own_lines(target: &Target) -> Result<Vec<String>, Failure> {
    let mut lines = key_line(target)?;
    if let Some(user) = &target.ssh.user {
        lines.push(format!("User {}", word(target, user)?));
    }
    if let Some(port) = target.ssh.port {
        lines.push(format!("Port {port}"));
    }
    if !target.ssh.jump.is_empty() {
        lines.push(format!("ProxyJump {}", target.ssh.jump.join(",")));
    }
    Ok(lines)
}

/// The key, and no other: an agent with many keys would use up the server's patience.
fn key_line(target: &Target) -> Result<Vec<String>, Failure> {
    let Some(key) = &target.ssh.identity_file else {
        return Ok(Vec::new());
    };
    let file = format!("IdentityFile {}", quoted(target, key)?);
    Ok(vec![file, "IdentitiesOnly yes".to_owned()])
}

fn forced_lines(dir: &Path, target: &Target) -> Result<Vec<String>, Failure> {
    let policy = match target.ssh.known_hosts {
        KnownHosts::Strict => "yes",
        KnownHosts::AcceptNew => "accept-new",
    };
    Ok(vec![
        format!("StrictHostKeyChecking {policy}"),
        format!(
            "UserKnownHostsFile {}",
            quoted(target, &known_hosts_file(dir, target))?
        ),
        format!("ConnectTimeout {}", target.ssh.connect_timeout_s.max(1)),
        // A lost host is noticed after three unanswered questions: eight seconds at most.
        "ServerAliveInterval 2".to_owned(),
        "ServerAliveCountMax 3".to_owned(),
        "BatchMode yes".to_owned(),
        "ForwardAgent no".to_owned(),
        "ForwardX11 no".to_owned(),
        "ClearAllForwardings yes".to_owned(),
        "PermitLocalCommand no".to_owned(),
        "RequestTTY no".to_owned(),
        "Compression no".to_owned(),
        "UpdateHostKeys no".to_owned(),
        "HashKnownHosts no".to_owned(),
    ])
}

/// With `-F` ssh reads neither the user's nor the system's file by itself.
fn user_files(target: &Target) -> Vec<PathBuf> {
    let user = target.ssh.config_file.clone();
    vec![
        user.unwrap_or_else(|| PathBuf::from("~/.ssh/config")),
        PathBuf::from("/etc/ssh/ssh_config"),
    ]
}

/// `user@host:port` and `ssh://…` to what a `Host` line matches.
fn jump_host(jump: &str) -> &str {
    let rest = jump.strip_prefix("ssh://").unwrap_or(jump);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    if let Some((host, _)) = rest
        .strip_prefix('[')
        .and_then(|inner| inner.split_once(']'))
    {
        return host;
    }
    match rest.split_once(':') {
        Some((host, port)) if !port.contains(':') => host,
        _ => rest,
    }
}

fn word<'a>(target: &Target, text: &'a str) -> Result<&'a str, Failure> {
    let strange = |c: char| c.is_whitespace() || c.is_control() || "\"'#*?!,\\".contains(c);
    if text.is_empty() || text.starts_with('-') || text.contains(strange) {
        return Err(refused(target, text));
    }
    Ok(text)
}

/// In quotes; `%` starts an escape of ssh's own.
fn quoted(target: &Target, path: &Path) -> Result<String, Failure> {
    match path.to_str() {
        Some(text) if !text.contains(|c: char| c.is_control() || "\"\\$".contains(c)) => {
            Ok(format!("\"{}\"", text.replace('%', "%%")))
        }
        _ => Err(refused(target, &path.display().to_string())),
    }
}

fn refused(target: &Target, text: &str) -> Failure {
    let shown = text.escape_debug();
    Failure::inventory(format!("`{shown}` cannot be used in an ssh configuration"))
        .at(target.name.to_string())
}

/// ssh answers a missing or too open key with "Permission denied" alone, so it is looked at before.
fn check_key(target: &Target, key: &Path) -> Result<(), Failure> {
    let path = expand_home(key);
    let place = target.name.to_string();
    let shown = path.display();
    let meta = fs::metadata(&path).map_err(|error| {
        Failure::host(format!("cannot read the ssh key {shown}: {error}"))
            .at(place.clone())
            .hint("correct identity_file, or make a key with: ssh-keygen -t ed25519")
    })?;
    if !meta.is_file() {
        return Err(Failure::host(format!("the ssh key {shown} is not a file")).at(place));
    }
    if meta.mode() & 0o077 != 0 {
        let mode = meta.mode() & 0o777;
        let what =
            format!("others may read the ssh key {shown} (mode {mode:o}); ssh would not use it");
        return Err(Failure::host(what)
            .at(place)
            .hint(format!("chmod 600 {shown}")));
    }
    match fs::File::open(&path) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(Failure::host(format!("cannot read the ssh key {shown}: {error}")).at(place))
        }
    }
}

fn expand_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn target() -> Target {
        Target::bare("s1", "10.0.0.1")
    }

    #[test]
    fn what_must_hold_stands_before_the_users_file() {
        let mut given = target();
        given.ssh.jump = vec!["ops@gate.lab:2222".to_owned()];
        given.ssh.user = Some("nebula".to_owned());
        let text = text(Path::new("/state/c1"), &given).unwrap();
        let at = |needle: &str| {
            text.find(needle)
                .unwrap_or_else(|| panic!("{needle} in {text}"))
        };
        assert!(at("User nebula") < at("Include \"~/.ssh/config\""));
        assert!(at("ServerAliveInterval 2") < at("Include"));
        assert!(at("UserKnownHostsFile \"/state/c1/known_hosts\"") < at("Include"));
        assert!(at("StrictHostKeyChecking accept-new") < at("Include"));
        assert!(at("Include") < at("KexAlgorithms"));
        assert!(at("Include") < at("Ciphers"));
        assert!(at("ProxyJump ops@gate.lab:2222") < at("Host gate.lab\n"));
    }

    #[test]
    fn values_cannot_smuggle_options() {
        for host in [
            "a b",
            "-oProxyCommand=x",
            "a\nProxyCommand x",
            "*",
            "",
            "a\"b",
        ] {
            let given = Target::bare("s1", host);
            assert!(text(Path::new("/d"), &given).is_err(), "{host:?}");
        }
        let mut given = target();
        given.ssh.known_hosts_file = Some(PathBuf::from("/a\"\nProxyCommand x"));
        assert!(text(Path::new("/d"), &given).is_err());
    }

    #[test]
    fn jump_hosts_are_read() {
        let cases = [
            ("gate", "gate"),
            ("me@gate:22", "gate"),
            ("ssh://me@gate:22", "gate"),
            ("me@[fe80::1]:22", "fe80::1"),
            ("fe80::1", "fe80::1"),
        ];
        for (given, host) in cases {
            assert_eq!(jump_host(given), host, "{given}");
        }
    }

    #[test]
    fn keys_are_checked_before_ssh_hides_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let key = dir.path().join("key");
        let mut given = target();
        given.ssh.identity_file = Some(key.clone());
        assert!(
            write(dir.path(), &given)
                .unwrap_err()
                .what
                .contains("cannot read the ssh key")
        );
        fs::write(&key, "x").unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(
            write(dir.path(), &given).unwrap_err().hint,
            Some(format!("chmod 600 {}", key.display()))
        );
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        let file = write(dir.path(), &given).unwrap();
        assert!(
            fs::read_to_string(file)
                .unwrap()
                .contains("IdentitiesOnly yes")
        );
    }
}
