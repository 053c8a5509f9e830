//! Command line of a cluster that changes: more hosts, fewer hosts, another version.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use nbctl_core::inventory::{Role, Version};

/// `nbctl scale …`.
#[derive(Debug, Clone, Subcommand)]
pub enum Scale {
    /// Deploy and add what the inventory names and the cluster has not, move data and leaders there
    Out {
        /// Leave partitions and leaders where they are
        #[arg(long)]
        no_balance: bool,
    },
    /// Move data away from hosts that the inventory still names, take them out, stop and delete what was there
    In {
        /// Hosts by name or address, with ranges `s[1:3]` and `*`
        #[arg(long, value_delimiter = ',', value_name = "HOST", required = true)]
        host: Vec<String>,
        /// Only these roles: graphd, storaged [default: all of the host]
        #[arg(long, value_delimiter = ',', value_parser = super::life::role, value_name = "ROLE")]
        role: Vec<Role>,
        /// Hosts that do not answer are gone for good: their copies are made again from the others, and nothing is done
        /// on them. Refused when data would be lost
        #[arg(long)]
        lost: bool,
    },
}

/// `nbctl upgrade`.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub struct UpgradeArgs {
    /// Version to become; its package lies where the inventory's `packages` says
    #[arg(value_parser = Version::parse)]
    pub version: Version,
    /// Version that is there, when its package is not in the hosts' cache any more
    #[arg(long, value_parser = Version::parse)]
    pub from: Option<Version>,
    /// Remove old versions, their packages and the backups once the upgrade is done
    #[arg(long)]
    pub purge: bool,
}

/// `nbctl adopt`.
#[derive(Debug, Clone, Args)]
pub struct Adopt {
    /// Name that the cluster gets
    pub name: String,
    /// Every host with daemons of it, by address or name, with ranges `10.0.0.[1:3]`
    #[arg(long, value_delimiter = ',', value_name = "HOST", required = true)]
    pub host: Vec<String>,
    /// Only daemons whose working directory lies below this folder, where hosts have those of several clusters
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Inventory to write
    #[arg(long, value_name = "FILE", default_value = "inventory.yaml")]
    pub out: PathBuf,
    /// Release that runs, such as 3.8.0, where neither the hosts' packages nor the cluster itself tells it
    #[arg(long, value_name = "VERSION", value_parser = Version::parse)]
    pub nebula: Option<Version>,
    /// Login user; the one that the daemons run under
    #[arg(long, value_name = "USER")]
    pub ssh_user: Option<String>,
    /// Port of sshd
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub ssh_port: Option<u16>,
    /// Private key
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    /// An ssh configuration to include instead of your own
    #[arg(long, value_name = "FILE")]
    pub ssh_config: Option<PathBuf>,
}
