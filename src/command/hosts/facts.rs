//! `nbctl hosts facts`: what the next phases would work with.

use std::collections::BTreeMap;

use comfy_table::{Table, presets};
use nbctl_core::facts::HostFacts;
use nbctl_core::failure::ExitCode;
use nbctl_core::inventory::Selection;
use nbctl_core::units::HostName;

use crate::context::Context;
use crate::interrupt;
use crate::phase::facts;
use crate::phase::many::Many;

pub(super) async fn run(ctx: &Context, selection: &Selection) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::token();
    let many = Many::connect(ctx, selection).await?;
    let asked = many
        .each(&cancel, |link| facts::thorough(&ctx.cluster, link))
        .await;
    many.fleet.close().await;
    let all: BTreeMap<HostName, HostFacts> = asked?.into_iter().collect();
    ctx.reporter.result(&text(&all), &all)?;
    Ok(ExitCode::Good)
}

fn text(all: &BTreeMap<HostName, HostFacts>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "host",
        "system",
        "kernel",
        "arch",
        "glibc",
        "cpus",
        "memory",
        "user",
        "sudo",
        "addresses",
    ]);
    for (host, facts) in all {
        let (system, user) = (&facts.system, &facts.user);
        let glibc = system.glibc.map(|glibc| glibc.to_string());
        let addresses = facts
            .addresses
            .iter()
            .filter(|a| !a.contains(':') && !a.starts_with("127."));
        let addresses: Vec<&str> = addresses.map(String::as_str).collect();
        table.add_row([
            host.to_string(),
            system.os_name.clone(),
            system.kernel.clone(),
            system.arch.clone(),
            glibc.unwrap_or_else(|| "-".to_owned()),
            system.cpus.to_string(),
            format!("{} MiB", system.memory >> 20),
            user.name.clone(),
            if user.sudo { "yes" } else { "no" }.to_owned(),
            addresses.join(" "),
        ]);
    }
    table.to_string()
}
