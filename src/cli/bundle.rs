//! Arguments of `nbctl bundle`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `nbctl bundle …`.
#[derive(Debug, Subcommand)]
pub enum Bundle {
    /// Write packages, images, data sets and a Docker engine for this inventory, with their checksums, into one file
    ///
    /// Packages of the inventory's version come from its folder, from the cache, or else from its mirrors; images from
    /// `monitor.images`, or else from the monitor host's engine.
    Save(BundleSave),
    /// Verify a bundle and put what is in it where `--offline deploy`, `monitor up` and `hosts check --apply` find it
    Load {
        /// The bundle
        file: PathBuf,
    },
    /// What is in a bundle
    List {
        /// The bundle
        file: PathBuf,
    },
}

/// `nbctl bundle save`.
#[derive(Debug, Args)]
pub struct BundleSave {
    /// File to write
    pub file: PathBuf,
    /// A data set to take along; may be given several times
    #[arg(long, value_name = "DIR")]
    pub data: Vec<PathBuf>,
    /// Folder with the packages (.deb or .rpm) of a Docker engine and of what it needs, for `hosts check --apply`
    #[arg(long, value_name = "DIR")]
    pub engine: Option<PathBuf>,
    /// Leave out the monitoring images
    #[arg(long)]
    pub no_images: bool,
}
