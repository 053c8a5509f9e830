//! Leases: who works on a host at this moment (design 7, 8.7).
//!
//! Purpose: while a command changes a host, a file lies beside the owner marker of every folder of ours there; a
//! second command is refused as long as the file is renewed.
//! Duties: the scripts that take, renew, release and show leases, and the reading of what they print. A lease is
//! taken atomically on the host and judged by the host's own clock alone: its age is that of the file's time.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::facts::quoted;
use crate::units::RemotePath;

/// File beside the owner marker.
pub const FILE: &str = ".nbctl-lease";
/// A lease that was not renewed for so long is nobody's; whoever comes takes it over.
pub const STALE: Duration = Duration::from_mins(2);
/// Between two renewals; several may be missed.
pub const RENEW: Duration = Duration::from_secs(20);

const LIBRARY: &str = include_str!("lease.sh");

/// Who works there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Lease {
    /// Different for every run of every command.
    pub token: String,
    /// What runs, e.g. `deploy`.
    pub command: String,
    /// Account on the control machine.
    pub user: String,
    /// Name of the control machine.
    pub control: String,
    /// Tells control machines of the same name apart; changes when one boots.
    pub machine: String,
    /// Process on the control machine.
    pub pid: u32,
    /// Start of that process in its kernel's ticks, so that a process id used again is not taken for it.
    pub started: u64,
    /// What the names of its scripts on the host begin with.
    pub scripts: String,
    /// When it was taken, UTC of the control machine.
    pub time: String,
}

impl Lease {
    /// Content of the file.
    pub fn text(&self) -> String {
        let Self {
            token,
            command,
            user,
            control,
            machine,
            pid,
            started,
            scripts,
            time,
        } = self;
        format!(
            "nbctl-lease 1\ntoken={token}\ncommand={command}\nuser={user}\ncontrol={control}\nmachine={machine}\n\
             pid={pid}\nstarted={started}\nscripts={scripts}\ntime={time}"
        )
    }

    fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut lease = Self::default();
        for (key, value) in lines.filter_map(|line| line.split_once('=')) {
            match key {
                "token" => value.clone_into(&mut lease.token),
                "command" => value.clone_into(&mut lease.command),
                "user" => value.clone_into(&mut lease.user),
                "control" => value.clone_into(&mut lease.control),
                "machine" => value.clone_into(&mut lease.machine),
                "pid" => lease.pid = value.parse().unwrap_or_default(),
                "started" => lease.started = value.parse().unwrap_or_default(),
                "scripts" => value.clone_into(&mut lease.scripts),
                "time" => value.clone_into(&mut lease.time),
                _ => {}
            }
        }
        lease
    }
}

impl fmt::Display for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            command,
            user,
            control,
            pid,
            time,
            ..
        } = self;
        write!(
            f,
            "`{command}` of {user} on {control} (pid {pid}) since {time}"
        )
    }
}

/// What a script says of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Ours now.
    Taken,
    /// Ours now; before, it was that of somebody who does not renew it any more.
    TakenOver,
    /// Somebody else works there.
    Foreign,
    /// It was ours and is not any more.
    Lost,
    /// The file could not be written.
    Unwritten,
    /// It lies there.
    There,
    /// It was removed.
    Removed,
}

impl Word {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "taken" => Self::Taken,
            "taken-over" => Self::TakenOver,
            "foreign" => Self::Foreign,
            "lost" => Self::Lost,
            "unwritten" => Self::Unwritten,
            "there" => Self::There,
            "removed" => Self::Removed,
            _ => return None,
        })
    }
}

/// A lease as a host tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// What about it.
    pub word: Word,
    /// The folder it is for.
    pub folder: RemotePath,
    /// Seconds since it was renewed last, by the host's clock.
    pub age_s: u64,
    /// Whose; before it was taken over, where that was done.
    pub lease: Lease,
}

/// Reads what a script of this module printed; other lines are skipped.
pub fn parse(text: &str) -> Vec<Seen> {
    text.lines().filter_map(seen).collect()
}

fn seen(line: &str) -> Option<Seen> {
    let mut fields = line.split('\t');
    if fields.next() != Some("lease") {
        return None;
    }
    let word = Word::parse(fields.next()?)?;
    let folder = RemotePath::new(fields.next()?).ok()?;
    // The clock of a host may have been set back since.
    let age = fields.next()?.parse::<i64>().unwrap_or_default();
    Some(Seen {
        word,
        folder,
        age_s: age.max(0).unsigned_abs(),
        lease: Lease::parse(fields),
    })
}

/// Takes the leases of those `folders` that carry the marker of the cluster, all or none; leases with a token of
/// `over` are taken over whatever their age.
pub fn take(cluster_id: &str, folders: &[RemotePath], lease: &Lease, over: &[String]) -> String {
    let head = format!(
        "id={}\ntext={}\ntoken={}\nstale={}\nover={}\n",
        quoted(cluster_id),
        quoted(&lease.text()),
        quoted(&lease.token),
        STALE.as_secs(),
        quoted(&over.join(" "))
    );
    script(&head, "take", folders)
}

/// Renews what is ours.
pub fn renew(cluster_id: &str, folders: &[RemotePath], token: &str) -> String {
    script(&mine(cluster_id, token), "renew", folders)
}

/// Removes what has this token.
pub fn release(cluster_id: &str, folders: &[RemotePath], token: &str) -> String {
    script(&mine(cluster_id, token), "release", folders)
}

/// Shows the leases of the folders.
pub fn look(cluster_id: &str, folders: &[RemotePath]) -> String {
    script(&mine(cluster_id, ""), "look", folders)
}

fn mine(cluster_id: &str, token: &str) -> String {
    format!("id={}\ntoken={}\n", quoted(cluster_id), quoted(token))
}

fn script(head: &str, verb: &str, folders: &[RemotePath]) -> String {
    let words: Vec<String> = folders.iter().map(|f| quoted(f.as_str())).collect();
    format!("{head}{LIBRARY}\n{verb} {}\n", words.join(" "))
}
