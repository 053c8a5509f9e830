//! `nbctl report RUN`, `nbctl runs list|show`: results from the run store.

use nbctl_core::failure::ExitCode;
use nbctl_core::run::Verdict;

use crate::assets::Assets;
use crate::cli::{Global, Report, Runs};
use crate::context::runs_dir;
use crate::record;
use crate::report::{self, Format};
use crate::reporter::Reporter;

pub(super) fn run(args: &Report, global: &Global, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let store = report::resolve_run(&runs_dir(global), &args.run)?;
    let verdict = Verdict::of(store.manifest());
    if args.verdict {
        reporter.result(&verdict.line(), &verdict)?;
        return Ok(verdict.exit_code());
    }
    let formats: &[Format] = if args.format.is_empty() {
        &Format::ALL
    } else {
        &args.format
    };
    let assets = Assets::new(global.assets.iter().cloned().collect());
    let paths = report::write_all(&store, formats, args.out.as_deref(), &assets)?;
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    reporter.result(&format!("{}\n{}", names.join("\n"), verdict.line()), &names)?;
    Ok(ExitCode::Good)
}

pub(super) fn runs(args: &Runs, global: &Global, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let root = runs_dir(global);
    match args {
        Runs::List => {
            let runs = record::list(&root)?;
            let text = if runs.is_empty() {
                format!("no runs in {}", root.display())
            } else {
                report::runs_table(&runs)
            };
            reporter.result(&text, &runs)?;
        }
        Runs::Show { run } => {
            let store = report::resolve_run(&root, run)?;
            reporter.result(&report::show(store.manifest()), store.manifest())?;
        }
    }
    Ok(ExitCode::Good)
}
