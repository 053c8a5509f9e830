//! Command line of life after the first deploy: start, stop, look inside, take back.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use nbctl_core::inventory::Role;

use super::grow::{Scale, UpgradeArgs};

/// Which hosts and roles.
#[derive(Debug, Clone, Default, Args)]
pub struct Pick {
    /// Roles: metad, graphd, storaged, monitor, load [default: all]
    #[arg(long, value_delimiter = ',', value_parser = role, value_name = "ROLE")]
    pub role: Vec<Role>,
    /// Hosts by name or address, with ranges `s[1:3]` and `*` [default: all]
    #[arg(long, value_delimiter = ',', value_name = "HOST")]
    pub host: Vec<String>,
}

/// How patient a stop is.
#[derive(Debug, Clone, Copy, Args)]
pub struct Stopping {
    /// Seconds a daemon may take to end; a storaged flushes for a minute and more
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    pub patience: u64,
    /// Kill what has not ended by then; unflushed data may be lost
    #[arg(long)]
    pub force: bool,
}

/// How far a reset goes, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Nothing is changed
    None,
    /// Give running daemons the inventory's flags back, as far as that needs no restart
    Set,
    /// The same as `config roll`: one daemon at a time, with a restart where it takes one
    Roll,
    /// Restart every daemon
    Restart,
    /// Wipe data, write-ahead logs and cluster ids on all hosts, keep programs and configuration, start afresh
    Data,
    /// The same as teardown
    Full,
}

/// `nbctl exec`.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub struct Exec {
    /// Seconds after which it is ended on every host
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
    /// Under `sudo -n`
    #[arg(long)]
    pub sudo: bool,
    /// A line of shell, or a program with its arguments
    #[arg(required = true, last = true)]
    pub command: Vec<String>,
}

/// `nbctl logs`.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub struct Logs {
    /// Show new lines as they come, until interrupted
    #[arg(long, short)]
    pub follow: bool,
    /// Show the last lines of each daemon instead of collecting files
    #[arg(long, short = 'n', value_name = "LINES")]
    pub tail: Option<u32>,
    /// Show lines of this severity and above only
    #[arg(long, value_enum, default_value_t)]
    pub level: Severity,
    /// Folder for the files [default: `logs/TIME` of the cluster in the state folder]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["follow", "tail"])]
    pub out: Option<PathBuf>,
    /// Take no more than the last so many MiB of a file
    #[arg(long, default_value_t = 64, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub max_mib: u64,
}

/// Severities of the daemons' logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Severity {
    /// Everything
    #[default]
    Info,
    /// Warnings and errors
    Warning,
    /// Errors
    Error,
    /// What ended a daemon
    Fatal,
}

/// `nbctl push`.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub struct Push {
    /// File or folder here
    pub local: PathBuf,
    /// Absolute path there
    pub remote: String,
}

/// `nbctl pull`.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub struct Pull {
    /// Absolute path there
    pub remote: String,
    /// Folder here
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Read it under `sudo -n`
    #[arg(long)]
    pub sudo: bool,
    /// Seconds a host may take
    #[arg(long, default_value_t = 600, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
}

/// Commands of every day.
#[derive(Debug, Subcommand)]
pub enum Life {
    /// Start daemons that do not run, and wait until they serve
    Start {
        #[command(flatten)]
        pick: Pick,
    },
    /// Stop daemons: asks them to end, and waits until their executables are gone
    Stop {
        #[command(flatten)]
        pick: Pick,
        #[command(flatten)]
        stopping: Stopping,
    },
    /// Stop daemons and start them again
    Restart {
        #[command(flatten)]
        pick: Pick,
        #[command(flatten)]
        stopping: Stopping,
    },
    /// Take the cluster back, as far as the level says
    Reset {
        /// How far
        #[arg(value_enum)]
        level: Level,
    },
    /// Compact spaces, and wait until it is done
    Compact {
        /// Only this one
        #[arg(long)]
        space: Option<String>,
    },
    /// Spread the leaders of partitions evenly over the storageds, and wait until it is done
    Balance {
        /// Only this one; 2.x balances the whole cluster at once
        #[arg(long)]
        space: Option<String>,
    },
    /// Run a command on many hosts, each line with its host in front
    Exec {
        #[command(flatten)]
        pick: Pick,
        #[command(flatten)]
        args: Exec,
    },
    /// Collect the daemons' logs and configuration into a folder, or show them in the order of their times
    Logs {
        #[command(flatten)]
        pick: Pick,
        #[command(flatten)]
        args: Logs,
    },
    /// Copy a file, or what is in a folder, to many hosts; what is so already is not sent
    Push {
        #[command(flatten)]
        pick: Pick,
        #[command(flatten)]
        args: Push,
    },
    /// Copy a file or a folder from many hosts, each into a folder of its name
    Pull {
        #[command(flatten)]
        pick: Pick,
        #[command(flatten)]
        args: Pull,
    },
    /// More daemons, or fewer, while the cluster runs
    #[command(subcommand)]
    Scale(Scale),
    /// The same data under another version: backs up metad's data, replaces all programs, compares
    Upgrade(UpgradeArgs),
    /// Who works on the hosts at this moment; removes the leases of commands that are gone
    Unlock,
    /// What was done to the cluster from this folder, newest last
    History {
        /// Show only so many commands
        #[arg(short = 'n', long, default_value_t = 50)]
        last: usize,
        /// Show the steps of each
        #[arg(long)]
        steps: bool,
    },
}

pub(super) fn role(text: &str) -> Result<Role, String> {
    let all = [
        Role::Metad,
        Role::Graphd,
        Role::Storaged,
        Role::Monitor,
        Role::Load,
    ];
    let found = all.into_iter().find(|role| role.to_string() == text);
    found.ok_or_else(|| format!("`{text}` is no role (metad, graphd, storaged, monitor, load)"))
}
