//! Command line of `nbctl config`.

use clap::{Args, Subcommand};

use super::Pick;

/// `nbctl config …`.
#[derive(Debug, Clone, Subcommand)]
pub enum Config {
    /// What the daemons work with, beside inventory and default
    Show(ConfigShow),
    /// Where running daemons differ from the inventory; exit code 4 when they do
    Diff {
        #[command(flatten)]
        pick: Pick,
    },
    /// Change flags of running daemons until their next restart; refuses those that need one
    Set(ConfigSet),
    /// Bring running daemons to the inventory's configuration, one host at a time, each by the cheapest means
    Roll {
        #[command(flatten)]
        pick: Pick,
    },
}

/// `nbctl config show`.
#[derive(Debug, Clone, Args)]
pub struct ConfigShow {
    /// Flags, with `*` [default: those that the inventory names or that differ from their default]
    pub flag: Vec<String>,
    /// Every flag of the catalogue
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub pick: Pick,
}

/// `nbctl config set`.
#[derive(Debug, Clone, Args)]
pub struct ConfigSet {
    /// Flags with their values
    #[arg(required = true, value_name = "NAME=VALUE", value_parser = assignment)]
    pub flag: Vec<(String, String)>,
    #[command(flatten)]
    pub pick: Pick,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a flag is set as NAME=VALUE")?;
    Ok((name.trim_start_matches('-').to_owned(), value.to_owned()))
}
