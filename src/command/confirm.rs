//! Questions before something is changed or destroyed.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use nbctl_core::failure::{Failure, FailureKind};

use crate::context::Context;

/// Before a change: shows the steps and asks, unless `--yes` or nobody is there to ask.
///
/// # Errors
/// The user said no.
pub(super) fn apply(ctx: &Context, plan: &str) -> Result<(), Failure> {
    if !asks(ctx) {
        return Ok(());
    }
    let answer = ask(&format!(
        "{plan}\napply this to cluster {}? [y/N] ",
        ctx.cluster.name
    ))?;
    if matches!(answer.as_str(), "y" | "Y" | "yes") {
        Ok(())
    } else {
        Err(declined())
    }
}

/// Whether [`apply`] shows the steps and asks.
pub(super) fn asks(ctx: &Context) -> bool {
    !ctx.global.yes && std::io::stdin().is_terminal()
}

/// Before data goes: the cluster's name must be typed, or given with `--yes --cluster NAME`, or the inventory says
/// `disposable: true` (promise 1).
///
/// # Errors
/// The name is missing or wrong.
pub(super) fn destroy(ctx: &Context, plan: &str) -> Result<(), Failure> {
    let name = &ctx.cluster.name;
    if let Some(given) = &ctx.global.cluster
        && given != name
    {
        return Err(
            Failure::usage(format!("--cluster says {given}, the inventory says {name}"))
                .hint("nothing was changed; is this the right inventory?"),
        );
    }
    let named = ctx.global.cluster.is_some() || ctx.cluster.disposable;
    if ctx.global.yes && named {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(format!("destroying cluster {name} was not confirmed"))
            .hint(format!("give --yes --cluster {name}, or set `disposable: true` in the inventory and give --yes")));
    }
    let answer = ask(&format!(
        "{plan}\nthis destroys cluster {name} and its data; type its name to go on: "
    ))?;
    if answer == *name {
        Ok(())
    } else {
        Err(declined())
    }
}

/// Asks for a password without showing it.
///
/// # Errors
/// There is no terminal to ask on.
pub(super) fn password(question: &str) -> Result<String, Failure> {
    let cannot = |why: String| {
        Failure::usage(format!("cannot ask for a password: {why}"))
            .hint("give it with --password-file or --password-command")
    };
    let terminal = console::Term::stderr();
    if !terminal.is_term() {
        return Err(cannot("standard error is no terminal".to_owned()));
    }
    let asked = terminal
        .write_str(question)
        .and_then(|()| terminal.read_secure_line());
    asked.map_err(|error| cannot(error.to_string()))
}

fn declined() -> Failure {
    Failure::new(
        FailureKind::Interrupted,
        "not confirmed; nothing was changed",
    )
}

fn ask(question: &str) -> Result<String, Failure> {
    let mut answer = String::new();
    write!(anstream::stderr().lock(), "{question}")
        .and_then(|()| std::io::stdin().lock().read_line(&mut answer))
        .map_err(|error| Failure::usage(format!("cannot ask: {error}")).hint("give --yes"))?;
    Ok(answer.trim().to_owned())
}
