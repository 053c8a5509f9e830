//! One file per verb: build the context, choose the phases, run them, give the result to the reporter.

mod adopt;
mod bench;
mod bundle;
mod completions;
mod config;
mod confirm;
mod deploy;
mod help;
mod hosts;
mod init;
mod inventory;
mod life;
mod load;
mod monitor;
mod report;
mod sandbox;
mod status;
mod teardown;
mod working;

use nbctl_core::failure::{ExitCode, Failure};

use crate::assets::Assets;
use crate::cli::{self, Bench, Cli, Command, Global};
use crate::context::Context;
use crate::reporter::Reporter;

use self::working::Working;

/// Runs a command.
///
/// # Errors
/// A [`nbctl_core::failure::Failure`] for what users can act on; anything else is a bug.
pub fn run(cli: Cli, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let global = cli.global;
    match cli.command {
        Command::Init(args) => init::run(&args, reporter),
        Command::Inventory(args) => inventory::run(&args, &global, reporter),
        Command::Adopt(args) => block_on(adopt::run(&args, global, reporter)),
        Command::Monitor(args) => {
            let ctx = Context::load(global, reporter)?;
            block_on(monitor::run(&args, &ctx))
        }
        Command::Exporter { config } => block_on(async {
            crate::exporter::run(&config).await?;
            Ok(ExitCode::Good)
        }),
        Command::Worker => Ok(crate::worker::run()),
        Command::Completions { shell } => completions::run(shell),
        Command::Help { topic } => help::run(&topic, reporter),
        Command::Deploy { file } => {
            let inventory = file.or(global.inventory.clone());
            let ctx = Context::load(
                Global {
                    inventory,
                    ..global
                },
                reporter,
            )?;
            block_on(deploy::run(&ctx))
        }
        Command::Bundle(args) => block_on(bundle::run(&args, global, reporter)),
        Command::Hosts(args) => block_on(hosts::run(&args, &context(global, reporter)?)),
        Command::Life(args) => block_on(life::run(&args, &context(global, reporter)?)),
        Command::Data(args) => block_on(load::data(&args, reporter)),
        Command::Import(args) => block_on(load::import(&context(global, reporter)?, &args)),
        Command::Stress(cli::Stress::List) => {
            load::list(&Assets::new(global.assets.into_iter().collect()), reporter)
        }
        Command::Stress(cli::Stress::Run(args)) => {
            block_on(load::stress(&context(global, reporter)?, &args))
        }
        Command::Bench(Bench::List) => bench::list(
            &Assets::new(global.assets.iter().cloned().collect()),
            reporter,
        ),
        Command::Bench(Bench::Full(args)) => {
            let ctx = context(global, reporter)?;
            block_on(bench::full(&ctx, &args))
        }
        Command::Report(args) => report::run(&args, &global, reporter),
        Command::Runs(args) => report::runs(&args, &global, reporter),
        Command::Sandbox(args) => block_on(sandbox::run(args, &global, reporter)),
        Command::Config(args) => block_on(config::run(&args, &context(global, reporter)?)),
        Command::Status => block_on(status::run(&context(global, reporter)?)),
        Command::Teardown { purge } => block_on(teardown::run(&context(global, reporter)?, purge)),
    }
}

/// The context of a command on the inventory that is meant (design 5).
fn context(global: Global, reporter: &Reporter) -> Result<Context, Failure> {
    Context::load(global, reporter)
}

/// Drives an asynchronous command to its end.
fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(work)
}
