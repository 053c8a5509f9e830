//! `nbctl exec -- COMMAND`: on many hosts at once.

use std::time::Duration;

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::Selection;
use nbctl_core::units::counted;

use super::lines::Lines;
use crate::cli::{Exec, Pick};
use crate::context::Context;
use crate::interrupt;
use crate::phase::many::{Many, Told};

pub(super) async fn run(ctx: &Context, pick: &Pick, args: &Exec) -> anyhow::Result<ExitCode> {
    let selection = Selection::new(&ctx.cluster, &pick.host, &pick.role)?;
    let told = Told {
        title: "exec".to_owned(),
        text: line(&args.command)?,
        sudo: args.sudo,
        limit: Some(Duration::from_secs(args.timeout)),
    };
    let cancel = interrupt::token();
    let many = Many::connect(ctx, &selection).await?;
    let lines = Lines::new(ctx, many.fleet.links().map(|link| link.host().to_string()));
    let result = many
        .each(&cancel, |link| {
            let (told, lines) = (&told, &lines);
            async move {
                let host = link.host().as_str();
                told.run(link, &mut |text| lines.show(host, text)).await
            }
        })
        .await;
    many.fleet.close().await;
    lines.ended()?;
    let hosts = counted(result?.len(), "host");
    ctx.sink.note(format!("exit code 0 on {hosts}"));
    Ok(ExitCode::Good)
}

/// One word is a line of shell; several are a program and its arguments, as they stand.
fn line(command: &[String]) -> Result<String, Failure> {
    if let [text] = command {
        return Ok(text.clone());
    }
    let words = shlex::try_join(command.iter().map(String::as_str));
    words.map_err(|error| Failure::usage(format!("cannot send the command: {error}")))
}
