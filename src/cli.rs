//! The command line: parsing only.
//!
//! Purpose: names, arguments and help texts; what they do is in `command`, one file per verb.
//! Duties: no I/O, no defaults that depend on the machine.

mod bundle;
mod config;
mod grow;
mod hosts;
mod life;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use self::bundle::{Bundle, BundleSave};
pub use self::config::{Config, ConfigSet, ConfigShow};
pub use self::grow::{Adopt, Scale, UpgradeArgs};
pub use self::hosts::{Apply, Bootstrap, Hosts};
pub use self::life::{Exec, Level, Life, Logs, Pick, Pull, Push, Severity, Stopping};

use crate::reporter::Output;

/// From bare Linux hosts to a trustworthy benchmark report of a NebulaGraph cluster, and back again.
#[derive(Debug, Parser)]
#[command(
    name = "nbctl",
    version,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Arguments every command takes.
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches of a command line are independent"
)]
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Inventory [default: `$NBCTL_INVENTORY`, ./inventory.yaml, that of the last deploy here]
    #[arg(
        short,
        long,
        global = true,
        value_name = "FILE",
        help_heading = "Global"
    )]
    pub inventory: Option<PathBuf>,
    /// Form of events (stderr) and results (stdout)
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        help_heading = "Global"
    )]
    pub output: Output,
    /// Show every step
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "quiet",
        help_heading = "Global"
    )]
    pub verbose: bool,
    /// Show warnings, failures and the result only
    #[arg(short, long, global = true, help_heading = "Global")]
    pub quiet: bool,
    /// Do not ask; destroying also wants --cluster NAME unless the inventory says `disposable: true`
    #[arg(short, long, global = true, help_heading = "Global")]
    pub yes: bool,
    /// Name of the cluster that may be destroyed
    #[arg(long, global = true, value_name = "NAME", help_heading = "Global")]
    pub cluster: Option<String>,
    /// Print the steps and change nothing
    #[arg(long, global = true, help_heading = "Global")]
    pub dry_run: bool,
    /// Touch no network but the hosts
    #[arg(long, global = true, help_heading = "Global")]
    pub offline: bool,
    /// Folder whose templates, monitoring and playbooks win over the built-in ones, file by file
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global")]
    pub assets: Option<PathBuf>,
    /// Folder for `runs/` (results) and `.nbctl/` (known hosts, journals)
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "NBCTL_STATE_DIR",
        default_value = "."
    )]
    #[arg(help_heading = "Global")]
    pub state_dir: PathBuf,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write an example inventory, playbooks, templates and monitoring to edit
    Init(Init),
    /// Look at inventories
    #[command(subcommand)]
    Inventory(Inventory),
    /// Reach, check and prepare the hosts
    #[command(subcommand)]
    Hosts(Hosts),
    /// Install and start the cluster, verify it; a second time: nothing to do
    Deploy {
        /// Inventory, the same as -i
        #[arg(value_name = "INVENTORY")]
        file: Option<PathBuf>,
    },
    /// Does the cluster equal its inventory? Exit code 4 when not
    Status,
    /// The configuration that running daemons really have: show, compare, set, roll out
    #[command(subcommand)]
    Config(Config),
    /// Stop the cluster and remove it with its data; monitoring goes with `monitor down`
    Teardown {
        /// Remove our markers and the package cache, too
        #[arg(long)]
        purge: bool,
    },
    /// Everything a cluster needs as one file, for control machines without a network
    #[command(subcommand)]
    Bundle(Bundle),
    #[command(flatten)]
    Life(Life),
    /// Take over a cluster that somebody else installed: write its inventory, mark its folders
    Adopt(Adopt),
    /// Make data sets, look at them
    #[command(subcommand)]
    Data(DataCommand),
    /// Make the space, load a data set into it, compare the counts
    Import(Import),
    /// Put load on the cluster and measure it; `bench full` records a run, this does not
    #[command(subcommand)]
    Stress(Stress),
    /// Run a whole benchmark from a playbook
    #[command(subcommand)]
    Bench(Bench),
    /// Write the report of a run again, from what it recorded
    Report(Report),
    /// Look at recorded runs
    #[command(subcommand)]
    Runs(Runs),
    /// Hosts of this machine and the stand-in package, for a first look and for tests
    #[command(subcommand)]
    Sandbox(Sandbox),
    /// Prometheus, InfluxDB, Grafana and exporters over Docker on the right hosts
    #[command(subcommand)]
    Monitor(Monitor),
    /// Serve the daemons' statistics as Prometheus text; runs on the monitor host
    #[command(hide = true)]
    Exporter {
        /// Written by `monitor up`
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// Load a cluster as the job on standard input says; started by other commands
    #[command(hide = true)]
    Worker,
    /// Print a completion script
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Help on a topic: `exit-codes`, or a command
    Help {
        /// Topic or command
        topic: Vec<String>,
    },
}

/// `nbctl init`.
#[derive(Debug, Args)]
pub struct Init {
    /// Folder to write to
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Which example becomes inventory.yaml
    #[arg(long, default_value = "three-hosts")]
    pub example: String,
}

/// `nbctl inventory …`.
#[derive(Debug, Subcommand)]
pub enum Inventory {
    /// Find every fault, with file, line and caret
    Check,
    /// Print the cluster as nbctl understands it, every default filled in
    Show,
    /// Print the JSON schema for editors
    Schema,
    /// nebula-ansible's inventory.ini as YAML that deploys the same cluster
    Convert {
        /// The INI file
        file: PathBuf,
    },
}

/// `nbctl data …`.
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Generate a data set in the shape of LDBC SNB
    Generate {
        /// Folder to write to
        dir: PathBuf,
        /// Persons
        #[arg(long, default_value_t = 1000)]
        persons: u64,
        /// The same seed gives the same bytes
        #[arg(long, default_value_t = 42)]
        seed: u64,
    },
    /// Check that every file is there and that headers fit
    Check {
        /// Folder of the data set
        dir: PathBuf,
    },
    /// List files, types and columns
    List {
        /// Folder of the data set
        dir: PathBuf,
    },
}

/// Which data set.
#[derive(Debug, Args)]
pub struct DataSource {
    /// Folder of a CsvBasic data set [default: a generated one]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Persons of a generated one
    #[arg(long, default_value_t = 1000)]
    pub persons: u64,
    /// Seed of a generated one, and of draws
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
}

/// `nbctl import`.
#[derive(Debug, Args)]
pub struct Import {
    #[command(flatten)]
    pub source: DataSource,
    /// Space
    #[arg(long, default_value = "snb")]
    pub space: String,
    /// Vertex id type: `int64` or `fixed_string(N)`
    #[arg(long, default_value = "int64")]
    pub vid: String,
    /// Partitions of a new space
    #[arg(long, default_value_t = 24)]
    pub partitions: u32,
    /// Replica factor of a new space
    #[arg(long, default_value_t = 1)]
    pub replicas: u32,
    /// Drop the space first
    #[arg(long)]
    pub fresh: bool,
    /// Rows a statement
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=512))]
    pub batch: u32,
    /// Connections
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: u32,
    /// Statements in flight a connection
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub in_flight: u32,
}

/// `nbctl stress …`.
#[derive(Debug, Subcommand)]
pub enum Stress {
    /// Run scenarios
    Run(StressRun),
    /// List scenarios
    List,
}

/// `nbctl stress run`.
#[derive(Debug, Args)]
pub struct StressRun {
    /// Scenarios [default: all]
    pub scenario: Vec<String>,
    #[command(flatten)]
    pub source: DataSource,
    /// Space
    #[arg(long, default_value = "snb")]
    pub space: String,
    /// Vertex id type of the space
    #[arg(long, default_value = "int64")]
    pub vid: String,
    /// Requests in flight; several values are several runs
    #[arg(long, short = 'c', value_delimiter = ',', default_value = "10")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub concurrency: Vec<u32>,
    /// Warm-up, seconds
    #[arg(long, default_value_t = 5)]
    pub warmup: u64,
    /// Measured window, seconds
    #[arg(long, short = 'd', default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    pub duration: u64,
}

/// `nbctl sandbox …`.
#[derive(Debug, Subcommand)]
pub enum Sandbox {
    /// Start test hosts as containers, or with --local three processes of this machine, and write an inventory
    ///
    /// With containers each host has its own sshd and Docker engine. With --local one metad, graphd and storaged run
    /// as you, without Docker, root or ssh; deploy, status, import, stress and bench work on them, monitoring does not.
    Up(SandboxUp),
    /// Remove what `up` made: local clusters where there are any, else the hosts
    Down(SandboxPick),
    /// Local clusters where there are any, else one line a host
    Status(SandboxPick),
    /// Build the stand-in's package
    Package(SandboxPackage),
}

/// `nbctl sandbox up`.
#[derive(Debug, Args)]
pub struct SandboxUp {
    /// How many hosts: the first one monitors and loads, the others are the cluster
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=20))]
    #[arg(conflicts_with = "SandboxPick")]
    pub hosts: u8,
    /// Release line of a local cluster
    #[arg(long, default_value = "3.8.0", requires = "SandboxPick")]
    pub line: String,
    #[command(flatten)]
    pub pick: SandboxPick,
}

/// Which sandbox is meant.
#[derive(Debug, Args)]
pub struct SandboxPick {
    /// Three processes of this machine instead of hosts
    #[arg(long)]
    pub local: bool,
    /// Name of a local cluster, which is meant then; several can be up side by side [default: local]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

/// `nbctl sandbox package`.
#[derive(Debug, Args)]
pub struct SandboxPackage {
    /// Release line
    #[arg(long, default_value = "3.8.0")]
    pub line: String,
    /// rpm, tar.gz or deb
    #[arg(long = "type", default_value = "rpm", value_name = "TYPE")]
    pub kind: String,
    /// Folder for the package and its checksum file
    #[arg(long, default_value = "packages", value_name = "DIR")]
    pub out: PathBuf,
    /// The nebula-sandbox binary [default: beside nbctl]
    #[arg(long, value_name = "FILE")]
    pub binary: Option<PathBuf>,
    /// Fill the package up to this size, as those with debug symbols have it; for benches
    #[arg(long, value_name = "MIB", default_value_t = 0, hide = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(..=4096))]
    pub at_least: u64,
    /// A tar.gz that is not compressed, with the executable once; for benches
    #[arg(long, hide = true)]
    pub quick: bool,
}

/// `nbctl report`.
#[derive(Debug, Args)]
pub struct Report {
    /// A run: its folder, its id or a part of it, or `latest`
    #[arg(default_value = "latest")]
    pub run: String,
    /// Formats [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub format: Vec<crate::report::Format>,
    /// Folder to write to [default: the run's]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the verdict line only; the exit code is the run's
    #[arg(long)]
    pub verdict: bool,
}

/// `nbctl runs …`.
#[derive(Debug, Subcommand)]
pub enum Runs {
    /// Every run in this folder, newest last
    List,
    /// What a run recorded, in short
    Show {
        /// A run: its folder, its id or a part of it, or `latest`
        #[arg(default_value = "latest")]
        run: String,
    },
}

/// `nbctl monitor …`.
#[derive(Debug, Subcommand)]
pub enum Monitor {
    /// Start what is missing, replace what changed, verify every target; a second time: nothing to do
    Up {
        /// Bring an old run's data back: its folder, its id or a part of it, or `latest`
        #[arg(long, value_name = "RUN")]
        from: Option<String>,
    },
    /// What runs, whether it answers, what each scrape brings and costs; exit code 4 when something is wrong
    Status,
    /// Remove containers and files
    Down {
        /// Remove the collected data, too
        #[arg(long)]
        data: bool,
        /// Remove the images that nbctl brought, too
        #[arg(long)]
        purge: bool,
    },
    /// The images: which are where, into a bundle for hosts without a registry, and from one
    #[command(subcommand)]
    Images(MonitorImages),
}

/// `nbctl monitor images …`.
#[derive(Debug, Subcommand)]
pub enum MonitorImages {
    /// Which image each component has, and which hosts have it
    List,
    /// Write a bundle from the monitor host's engine; name its folder in `monitor.images`
    Save {
        /// Folder to write to
        dir: PathBuf,
    },
    /// Load a bundle into the hosts' engines
    Load {
        /// Folder with index.yaml
        dir: PathBuf,
    },
}

/// `nbctl bench …`.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Data, space and schema, import, compact, stress scenarios, report
    Full(BenchFull),
    /// Playbooks that can be run
    List,
}

/// `nbctl bench full`.
#[derive(Debug, Args)]
pub struct BenchFull {
    /// The same phases on a small data set with short windows
    #[arg(long, conflicts_with = "playbook")]
    pub quick: bool,
    /// Playbook [default: bench-full]
    #[arg(long, value_name = "NAME")]
    pub playbook: Option<String>,
    /// Data set in LDBC CsvBasic layout, instead of the playbook's
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Persons of a generated data set, instead of the playbook's
    #[arg(long, conflicts_with = "data")]
    pub persons: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// graphd takes 512 statements at once, and a query of 4 MB.
    #[test]
    fn batches_that_graphd_would_choke_on_are_refused() {
        let parsed = |rows: &str| Cli::try_parse_from(["nbctl", "import", "--batch", rows]).is_ok();
        let seen = ["1", "512", "0", "513"].map(parsed);
        assert_eq!(seen, [true, true, false, false]);
    }
}
