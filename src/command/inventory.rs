//! `nbctl inventory check|show|schema|convert`.

use std::path::Path;

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::{Severity, Source};
use nbctl_core::units::counted;

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
        Inventory::Convert { file } => convert(file, reporter),
    }
}

fn check(global: &Global, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let source = context::read_inventory(global)?;
    let cluster = context::check(&source, &*reporter.sink())?;
    let text = format!(
        "{}: cluster {}, {}, {}, no faults",
        source.path.display(),
        cluster.name,
        counted(cluster.hosts.len(), "host"),
        counted(cluster.daemons.len(), "daemon")
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

/// YAML on standard output; what means nothing here on standard error, with its line.
fn convert(file: &Path, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::inventory(format!("cannot read the inventory: {error}"))
            .at(file.display().to_string())
    })?;
    let source = Source::new(file, text);
    let (converted, problems) = nbctl_core::inventory::convert(&source);
    let (errors, warnings): (Vec<_>, Vec<_>) =
        problems.iter().partition(|p| p.severity == Severity::Error);
    let sink = reporter.sink();
    for warning in warnings {
        sink.warn(format!("{warning:#}"));
    }
    let Some(converted) = converted else {
        let faults: Vec<String> = errors.iter().map(ToString::to_string).collect();
        return Err(context::faults(&source, &faults).into());
    };
    // What is printed must be an inventory: better told now than by the next command.
    context::check(&source, &*sink)?;
    let result = serde_json::json!({ "yaml": converted.yaml, "left_out": converted.left_out });
    reporter.result(converted.yaml.trim_end(), &result)?;
    Ok(ExitCode::Good)
}
