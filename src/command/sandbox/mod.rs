//! `nbctl sandbox up|down|status|package`: hosts of this machine, or three processes, and the stand-in's package, for a
//! first look and for tests. The only place that knows the sandbox is not NebulaGraph.

mod elsewhere;
mod hosts;
mod local;

use std::path::{Path, PathBuf};

use nbctl_core::failure::{ExitCode, Failure};
use nebula_sandbox::package::{self, Effort, Making, PackageType};

use self::hosts::Bed;
use self::local::Local;
use crate::cli::{Global, Sandbox, SandboxPackage, SandboxPick, SandboxUp};
use crate::reporter::Reporter;

pub(super) async fn run(
    args: Sandbox,
    global: &Global,
    reporter: &Reporter,
) -> anyhow::Result<ExitCode> {
    match args {
        Sandbox::Package(args) => {
            let making = Making {
                at_least: args.at_least << 20,
                effort: if args.quick {
                    Effort::Quick
                } else {
                    Effort::Small
                },
            };
            let file = build(&args, making)?;
            let text = file.display().to_string();
            reporter.result(&text, &serde_json::json!({ "package": text }))?;
            Ok(ExitCode::Good)
        }
        Sandbox::Up(args) => up(&args, global, reporter).await,
        Sandbox::Down(pick) => {
            let all = picked(&pick, global)?;
            if all.is_empty() {
                return hosts::down(&Bed::new(global)?, reporter).await;
            }
            if let Some(name) = &pick.name {
                known(name, &all)?;
            }
            local::down(&all, reporter).await
        }
        Sandbox::Status(pick) => {
            let all = picked(&pick, global)?;
            if all.is_empty() {
                return hosts::status(&Bed::new(global)?, reporter).await;
            }
            local::status(&all, reporter).await
        }
    }
}

async fn up(args: &SandboxUp, global: &Global, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    if !args.pick.local && args.pick.name.is_none() {
        return hosts::up(&Bed::new(global)?, args.hosts, reporter).await;
    }
    let name = args.pick.name.as_deref().unwrap_or(local::DEFAULT_NAME);
    local::up(&Local::new(global, name)?, &args.line, reporter).await
}

/// The local clusters that are meant; none means the hosts.
fn picked<'a>(pick: &SandboxPick, global: &'a Global) -> Result<Vec<Local<'a>>, Failure> {
    if let Some(name) = &pick.name {
        return Ok(vec![Local::new(global, name)?]);
    }
    let all = Local::all(global)?;
    if all.is_empty() && pick.local {
        return Ok(vec![Local::new(global, local::DEFAULT_NAME)?]);
    }
    Ok(all)
}

/// A name that means nothing here must not let its daemons run on behind a word of success.
fn known(name: &str, all: &[Local<'_>]) -> Result<(), Failure> {
    if all.iter().any(Local::is_there) {
        return Ok(());
    }
    let Some(state) = elsewhere::state_dir_of(name) else {
        return Ok(());
    };
    let state = state.display();
    Err(Failure::usage(format!(
        "{name} runs, and was brought up from another folder"
    ))
    .at(state.to_string())
    .hint(format!(
        "nbctl sandbox down --name {name} --state-dir {state}"
    )))
}

fn build(args: &SandboxPackage, making: Making) -> Result<PathBuf, Failure> {
    let usage = |text: String| {
        Failure::usage(text).hint("lines: 2.0.1, 2.6.2, 3.8.0; types: rpm, tar.gz, deb")
    };
    let line = args
        .line
        .parse()
        .map_err(|_| usage(format!("no sandbox of line `{}`", args.line)))?;
    let kind: PackageType = args
        .kind
        .parse()
        .map_err(|_| usage(format!("no package type `{}`", args.kind)))?;
    let binary = binary(args.binary.as_deref())?;
    package::build_with(line, kind, &binary, &args.out, making)
        .map_err(|error| Failure::step(error.to_string()))
}

/// `nebula-sandbox`, which lies beside nbctl unless it is named.
fn binary(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let beside = || {
        std::env::current_exe()
            .ok()?
            .parent()
            .map(|dir| dir.join("nebula-sandbox"))
    };
    let path = given
        .map(Path::to_path_buf)
        .or_else(beside)
        .unwrap_or_else(|| "nebula-sandbox".into());
    if path.is_file() {
        return Ok(path);
    }
    Err(Failure::usage("no nebula-sandbox binary")
        .at(path.display().to_string())
        .hint("it is built beside nbctl by `cargo build --workspace`; or name it with --binary"))
}
