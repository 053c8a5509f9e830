//! Three processes of this machine: an inventory with one host and no ssh, deployed like any other cluster.
//!
//! Duties: a folder of its own per name in the state folder, ports nobody uses, the package of a line; going up again
//! is `deploy` (nothing to do, or what died is started), going down is `teardown` and the end of the folder.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nbctl_core::failure::{ExitCode, Failure};
use nebula_sandbox::package::Making;

use super::{binary, build};
use crate::cli::{Global, SandboxPackage};
use crate::command::{deploy, status, teardown};
use crate::context::{Context, LAST_DEPLOY, state_dir};
use crate::reporter::Reporter;

/// Name of the cluster when none is given.
pub(super) const DEFAULT_NAME: &str = "local";
/// Folder below the state folder, one folder a cluster in it.
const HOME: &str = "sandbox/local";
const INVENTORY: &str = "inventory.yaml";
const PACKAGES: &str = "packages";
/// Ports a cluster may use, in a row.
const SPAN: u16 = 40;

/// A local cluster, up or not.
#[derive(Debug)]
pub(super) struct Local<'a> {
    global: &'a Global,
    name: String,
    home: PathBuf,
}

impl<'a> Local<'a> {
    pub(super) fn new(global: &'a Global, name: &str) -> Result<Self, Failure> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || name.starts_with('-') || !name.chars().all(plain) {
            return Err(Failure::usage(format!("no name for a cluster: `{name}`"))
                .hint("a small letter, then small letters, digits and dashes"));
        }
        let home = homes(global).join(name);
        Ok(Self {
            global,
            name: name.to_owned(),
            home,
        })
    }

    /// Every one that has a folder here.
    pub(super) fn all(global: &'a Global) -> Result<Vec<Self>, Failure> {
        let Ok(entries) = fs::read_dir(homes(global)) else {
            return Ok(Vec::new());
        };
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut names: Vec<_> = names
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names.iter().map(|name| Self::new(global, name)).collect()
    }

    fn inventory(&self) -> PathBuf {
        self.home.join(INVENTORY)
    }

    /// Up or not, or half of it.
    pub(super) fn is_there(&self) -> bool {
        self.home.exists()
    }

    fn exists(&self) -> bool {
        self.inventory().is_file()
    }

    fn context(&self, reporter: &Reporter) -> Result<Context, Failure> {
        let global = Global {
            inventory: Some(self.inventory()),
            yes: true,
            ..self.global.clone()
        };
        Context::load(global, reporter)
    }

    /// The inventory appears whole or not at all.
    fn write_inventory(&self, line: &str) -> Result<(), Failure> {
        let place = |error: io::Error| self.failed("cannot be written", &error);
        fs::create_dir_all(&self.home).map_err(place)?;
        let text = inventory(&self.name, line, &self.home, free_ports()?);
        let fresh = self.home.join("inventory.new");
        fs::write(&fresh, text).map_err(place)?;
        fs::rename(&fresh, self.inventory()).map_err(place)
    }

    /// Builds the package where it is missing, or older than the program in it.
    fn put_package(&self, line: &str) -> Result<(), Failure> {
        let packages = self.home.join(PACKAGES);
        let program = binary(None)?;
        if newer(&packages, &program) {
            return Ok(());
        }
        let fresh = self.home.join("packages.new");
        let place = |error: io::Error| self.failed("cannot be written", &error);
        for old in [&fresh, &packages] {
            remove_tree(old).map_err(place)?;
        }
        let package = SandboxPackage {
            line: line.to_owned(),
            kind: "tar.gz".to_owned(),
            out: fresh.clone(),
            binary: Some(program),
            at_least: 0,
            quick: true,
        };
        build(&package, Making::QUICK)?;
        fs::rename(&fresh, &packages).map_err(place)
    }

    /// What is left in the folder once the cluster is gone. A file that is not ours stays, and says so.
    fn remove_home(&self, cluster_dir: Option<&Path>) -> io::Result<()> {
        for tree in [PACKAGES, "packages.new"] {
            remove_tree(&self.home.join(tree))?;
        }
        if let Some(dir) = cluster_dir {
            remove_tree(dir)?;
        }
        for file in ["inventory.new", INVENTORY] {
            missing_is_fine(fs::remove_file(self.home.join(file)))?;
        }
        missing_is_fine(fs::remove_dir(&self.home))?;
        self.forget()
    }

    /// The next command in this folder means another inventory again.
    fn forget(&self) -> io::Result<()> {
        let last = state_dir(self.global).join(LAST_DEPLOY);
        let ours = std::path::absolute(self.inventory())?;
        if fs::read_to_string(&last).is_ok_and(|text| Path::new(text.trim_end()) == ours) {
            fs::remove_file(last)?;
        }
        Ok(())
    }

    fn failed(&self, what: &str, error: &io::Error) -> Failure {
        Failure::usage(format!("the sandbox's folder {what}: {error}"))
            .at(self.home.display().to_string())
            .hint("choose another one with --state-dir")
    }
}

/// Brings a cluster up, or what is missing of it.
pub(super) async fn up(
    local: &Local<'_>,
    line: &str,
    reporter: &Reporter,
) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let known = local.exists();
    if !known {
        local.write_inventory(line)?;
    }
    let ctx = local.context(reporter)?;
    let built = ctx.cluster.version.to_string();
    if built != line {
        return Err(Failure::usage(format!("{} is of line {built}", local.name))
            .at(local.home.display().to_string())
            .hint(format!(
                "`nbctl sandbox down --name {}` first, or take another --name",
                local.name
            ))
            .into());
    }
    local.put_package(line)?;
    let (plan, _) = deploy::converge(&ctx).await?;
    let word = match (plan.is_empty(), known) {
        (true, _) => "already up",
        (false, true) => "up again",
        (false, false) => "up",
    };
    let seconds = begun.elapsed().as_secs_f64();
    tell(&ctx, word, seconds)?;
    Ok(ExitCode::Good)
}

fn tell(ctx: &Context, word: &str, seconds: f64) -> io::Result<()> {
    let cluster = &ctx.cluster;
    let daemons = cluster.daemons.iter();
    let daemons: Vec<String> = daemons
        .map(|daemon| format!("{} {}", daemon.role, daemon.endpoint()))
        .collect();
    let inventory = &cluster.source.file;
    let text = format!(
        "{}: {word}, line {} ({seconds:.1} s)\n{}\n\
         monitoring is left out: it wants hosts with Docker (`nbctl sandbox up`)\n\
         next: nbctl import -i {inventory}; nbctl stress run -i {inventory}; nbctl sandbox down\n\
         this is a stand-in, not NebulaGraph: reports say SANDBOX",
        cluster.name,
        cluster.version,
        daemons.join("\n"),
        inventory = inventory.display(),
    );
    let value = serde_json::json!({
        "cluster": cluster.name, "state": word, "line": cluster.version.to_string(),
        "daemons": daemons, "inventory": inventory,
    });
    ctx.reporter.result(&text, &value)
}

/// Stops and removes each of `all`.
pub(super) async fn down(all: &[Local<'_>], reporter: &Reporter) -> anyhow::Result<ExitCode> {
    for local in all {
        let was_there = local.is_there();
        let mut folder = None;
        if local.exists() {
            let ctx = local.context(reporter)?;
            teardown::clear(&ctx, true).await?;
            folder = Some(ctx.cluster_dir());
        }
        local
            .remove_home(folder.as_deref())
            .map_err(|error| local.failed("cannot be removed", &error))?;
        let word = if was_there { "gone" } else { "not there" };
        let text = format!("{}: {word}", local.name);
        reporter.result(
            &text,
            &serde_json::json!({ "cluster": local.name, "state": word }),
        )?;
    }
    Ok(ExitCode::Good)
}

/// The status of each of `all`; 4 when one is not as it should be.
pub(super) async fn status(all: &[Local<'_>], reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let mut worst = ExitCode::Good;
    for local in all {
        if local.exists() {
            let code = status::run(&local.context(reporter)?).await?;
            if code != ExitCode::Good {
                worst = code;
            }
        } else {
            let value = serde_json::json!({ "cluster": local.name, "state": "not up" });
            reporter.result(&format!("{}: not up", local.name), &value)?;
            worst = ExitCode::Unhealthy;
        }
    }
    Ok(worst)
}

fn homes(global: &Global) -> PathBuf {
    let dir = state_dir(global).join(HOME);
    std::path::absolute(&dir).unwrap_or(dir)
}

fn inventory(name: &str, line: &str, home: &Path, base: u16) -> String {
    let home = home.display();
    let port = |offset: u16| base + offset;
    format!(
        "# Written by `nbctl sandbox up --local`, removed by `nbctl sandbox down`.\n\
         format: 1\n\
         cluster: {name}\n\
         disposable: true\n\
         nebula:\n\
         \x20 version: {line}\n\
         \x20 packages: {PACKAGES}\n\
         \x20 deploy_dir: {home}/nebula\n\
         \x20 flags: {{heartbeat_interval_secs: 1}}\n\
         \x20 metad: {{port: {}, http_port: {}}}\n\
         \x20 graphd: {{port: {}, http_port: {}}}\n\
         \x20 storaged: {{port: {}, http_port: {}}}\n\
         ssh: {{reach: local}}\n\
         load: {{dir: {home}/load}}\n\
         hosts:\n\
         \x20 - address: 127.0.0.1\n\
         \x20   name: here\n\
         \x20   roles: [metad, graphd, storaged, load]\n",
        port(0),
        port(20),
        port(8),
        port(22),
        port(14),
        port(24),
    )
}

/// The first of [`SPAN`] ports in a row that nobody listens on, below the range the kernel hands out itself. Where the
/// search begins depends on the process, so that two started at once do not meet.
fn free_ports() -> Result<u16, Failure> {
    let free = |port: u16| TcpListener::bind(("0.0.0.0", port)).is_ok();
    let first = 20_000 + u16::try_from(std::process::id() % 150).unwrap_or(0) * SPAN;
    let bases = (first..32_000).step_by(SPAN.into());
    let mut bases = bases.chain((15_000..first).step_by(SPAN.into()));
    bases
        .find(|base| (*base..base + SPAN).all(free))
        .ok_or_else(|| {
            Failure::usage("no 40 free ports in a row between 15000 and 32000")
                .hint("end other local clusters: nbctl sandbox down")
        })
}

fn newer(made: &Path, source: &Path) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    matches!((time(made), time(source)), (Some(made), Some(source)) if made > source)
}

fn remove_tree(path: &Path) -> io::Result<()> {
    missing_is_fine(fs::remove_dir_all(path))
}

fn missing_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
