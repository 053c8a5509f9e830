//! `nbctl inventory check|show|schema`.

use nbctl_core::failure::ExitCode;

use crate::cli::{Global, Inventory};
use crate::context;
use crate::reporter::Reporter;

pub(super) fn run(
    args: &Inventory,
    global: &Global,
    reporter: &Reporter,
) -> anyhow::Result<ExitCode> {
    match args {
        Inventory::Check => check(global, reporter),
        Inventory::Show => show(global, reporter),
        Inventory::Schema => schema(reporter),
    }
}

fn check(global: &Global, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let source = context::read_inventory(global)?;
    let cluster = context::check(&source, &*reporter.sink())?;
    let text = format!(
        "{}: cluster {}, {} hosts, {} daemons, no faults",
        source.path.display(),
        cluster.name,
        cluster.hosts.len(),
        cluster.daemons.len()
    );
    reporter.result(
        &text,
        &serde_json::json!({ "cluster": cluster.name, "faults": 0 }),
    )?;
    Ok(ExitCode::Good)
}

fn show(global: &Global, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let source = context::read_inventory(global)?;
    let cluster = context::check(&source, &*reporter.sink())?;
    reporter.result(&serde_yaml::to_string(&cluster)?, &cluster)?;
    Ok(ExitCode::Good)
}

fn schema(reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let schema = nbctl_core::inventory::Inventory::json_schema();
    reporter.result(&serde_json::to_string_pretty(&schema)?, &schema)?;
    Ok(ExitCode::Good)
}
