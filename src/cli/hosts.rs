//! Command line of `nbctl hosts`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Pick;

/// `nbctl hosts …`.
#[derive(Debug, Clone, Subcommand)]
pub enum Hosts {
    /// Can every host be reached? With the ssh line that nbctl itself uses
    Ping {
        #[command(flatten)]
        pick: Pick,
    },
    /// Are the hosts fit for the cluster? A table of checks with a fix for each; exit code 4 when one failed
    Check {
        #[command(flatten)]
        pick: Pick,
        #[command(flatten)]
        apply: Apply,
    },
    /// Take back what `check --apply` changed
    Undo {
        #[command(flatten)]
        pick: Pick,
        /// Folder that `check --apply` named [default: the newest]
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Make the user, its key, rights, limits, folders and ports on bare hosts; the first login may be by password
    Bootstrap {
        #[command(flatten)]
        pick: Pick,
        #[command(flatten)]
        args: Bootstrap,
    },
    /// What nbctl knows of each host; everything with `--output json`
    Facts {
        #[command(flatten)]
        pick: Pick,
    },
}

/// What `nbctl hosts check` does about what it finds.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub struct Apply {
    /// Change what can be changed under sudo, shown first; check again; keep a script that restores what was
    #[arg(long)]
    pub apply: bool,
    /// Change only what these checks found, by their names, e.g. `--only 'swap,open files'`
    #[arg(long, value_delimiter = ',', value_name = "CHECK", requires = "apply")]
    pub only: Vec<String>,
}

/// How `nbctl hosts bootstrap` gets in.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub struct Bootstrap {
    /// User of the first login: root, or one who may use sudo
    #[arg(long, default_value = "root", value_name = "USER")]
    pub login: String,
    /// Private key of that user [default: those of your ssh configuration and agent]
    #[arg(long, value_name = "FILE")]
    pub login_key: Option<PathBuf>,
    /// Ask once for that user's password, for ssh and sudo of all hosts
    #[arg(long, conflicts_with_all = ["password_file", "password_command"])]
    pub ask_password: bool,
    /// File whose first line is that password
    #[arg(long, value_name = "FILE", conflicts_with = "password_command")]
    pub password_file: Option<PathBuf>,
    /// Command whose first line of output is that password
    #[arg(long, value_name = "COMMAND")]
    pub password_command: Option<String>,
    /// Public key for the hosts [default: that of `ssh.identity_file`, which is made when it is missing]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
}
