//! `nbctl init [DIR]`: files to edit.

use nbctl_core::failure::{ExitCode, Failure};

use crate::assets::Assets;
use crate::cli::Init;
use crate::reporter::Reporter;

/// Folders of assets people edit.
const FOLDERS: [&str; 3] = ["playbooks/", "templates/", "monitoring/"];

pub(super) fn run(args: &Init, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let mut written = Vec::new();
    let inventory = args.dir.join("inventory.yaml");
    if !inventory.exists() {
        let text = example(&args.example)?;
        std::fs::create_dir_all(&args.dir)?;
        std::fs::write(&inventory, text)?;
        written.push(inventory);
    }
    for folder in FOLDERS {
        written.extend(Assets::write_out(folder, &args.dir)?);
    }
    let names: Vec<String> = written
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let text = match names.len() {
        0 => "everything is there already; nothing written".to_owned(),
        n => format!(
            "{}\n{n} files written; existing ones were left as they are",
            names.join("\n")
        ),
    };
    reporter.result(&text, &names)?;
    Ok(ExitCode::Good)
}

fn example(name: &str) -> Result<String, Failure> {
    let assets = Assets::default();
    assets.text(&format!("inventory/{name}.yaml")).map_err(|_| {
        let names: Vec<String> = assets
            .list("inventory/")
            .iter()
            .filter_map(|path| path.strip_prefix("inventory/")?.strip_suffix(".yaml"))
            .map(str::to_owned)
            .collect();
        Failure::usage(format!("no example `{name}`"))
            .hint(format!("there are: {}", names.join(", ")))
    })
}
