//! `nbctl adopt NAME --host HOST`: an installation that somebody else made becomes one that nbctl keeps.
//!
//! Duties: nothing that runs is touched; what is written is an inventory here, and there a marker in each folder and a
//! copy of each configuration file as it was.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use nbctl_core::adopt::{self, Host, Options, SCRIPT, Written};
use nbctl_core::deploy::{self, Facts, claimed};
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::{Cluster, Daemon, DaemonRole, Selection, Source, Version, load};
use nbctl_core::owner::{Claim, Standing, standing};
use nbctl_core::plan::{Plan, Script, Step};
use nbctl_core::units::{HostName, RemotePath, counted};
use nebula_wire::value::{DataSet as Table, Value};

use crate::cli::{Adopt, Global};
use crate::command::{Working, confirm};
use crate::context::Context;
use crate::graph::GraphService;
use crate::phase::{config, connect, facts};
use crate::record;
use crate::remote::{Fleet, Link};
use crate::reporter::Reporter;

/// What an inventory says that is only for asking which release runs.
const NEWEST: Version = Version::new(3, 8, 0);

const PATIENCE: Duration = Duration::from_mins(1);

pub(super) async fn run(
    args: &Adopt,
    global: Global,
    reporter: &Reporter,
) -> anyhow::Result<ExitCode> {
    if args.out.exists() {
        return Err(
            Failure::usage("the file is there already; nothing was changed")
                .at(args.out.display().to_string())
                .hint("name another one with --out")
                .into(),
        );
    }
    let seed = Source::new(args.out.clone(), seed(args)?);
    let seed = Context::of_source(&seed, global.clone(), reporter)?;
    let fleet = connect::all(&seed).await?;
    let result = Box::pin(take_over(args, &seed, &fleet)).await;
    fleet.close().await;
    let (text, written) = result?;
    reporter.result(&text, &written)?;
    Ok(ExitCode::Good)
}

/// An inventory that is good for connecting only.
fn seed(args: &Adopt) -> Result<String, Failure> {
    let ssh: Vec<String> = ssh(args)?
        .iter()
        .map(|(key, value)| format!("{key}: '{value}'"))
        .collect();
    let mut text = format!(
        "format: 1\ncluster: {}\nnebula: {{version: {}, deploy_dir: /nbctl-adopt/d}}\nmonitor: {{dir: /nbctl-adopt/m}}\n\
         load: {{dir: /nbctl-adopt/l}}\nssh: {{{}}}\nhosts:\n",
        args.name,
        args.nebula.unwrap_or(NEWEST),
        ssh.join(", ")
    );
    for (index, host) in args.host.iter().enumerate() {
        let roles = if index == 0 {
            "metad, graphd, storaged, monitor, load"
        } else {
            "graphd"
        };
        let _ = writeln!(text, "  - {{address: '{host}', roles: [{roles}]}}");
    }
    Ok(text)
}

/// Lines of `ssh:`, numbers as text.
fn ssh(args: &Adopt) -> Result<Vec<(String, String)>, Failure> {
    let path = |path: &Path| {
        let whole = std::path::absolute(path);
        let whole = whole.map_err(|error| {
            Failure::usage(format!("no path: {error}")).at(path.display().to_string())
        })?;
        Ok::<_, Failure>(whole.display().to_string())
    };
    let mut all = Vec::new();
    let mut add = |key: &str, value: String| all.push((key.to_owned(), value));
    if let Some(user) = &args.ssh_user {
        add("user", user.clone());
    }
    if let Some(file) = &args.identity {
        add("identity_file", path(file)?);
    }
    if let Some(file) = &args.ssh_config {
        add("config_file", path(file)?);
    }
    if let Some(port) = args.ssh_port {
        add("port", port.to_string());
    }
    Ok(all)
}

async fn take_over(
    args: &Adopt,
    seed: &Context,
    fleet: &Fleet,
) -> Result<(String, Written), Failure> {
    let found = fleet.each(|_, link| look(link)).await?;
    let mut found: Vec<(HostName, Host)> = found.into_iter().collect();
    if let Some(dir) = &args.dir {
        for (_, host) in &mut found {
            let below = |daemon: &adopt::Found| Path::new(&daemon.cwd).starts_with(dir);
            host.daemons.retain(below);
        }
    }
    adopt::check(&found)?;
    let addresses = seed.cluster.hosts.iter();
    let addresses = addresses.map(|h| (h.name.clone(), h.address.clone()));
    let mut options = Options {
        version: args.nebula.unwrap_or(NEWEST),
        cluster: args.name.clone(),
        ssh: ssh(args)?,
        unknown: BTreeSet::new(),
        addresses: addresses.collect(),
    };
    if args.nebula.is_none() {
        options.version = match adopt::release(&found)? {
            Some(version) => version,
            None => ask_release(args, &adopt::write(&found, &options)?, fleet).await?,
        };
        seed.sink.note(format!("release {} runs", options.version));
    }
    let written = adopt::write(&found, &options)?;
    let first = load(&Source::new(args.out.clone(), written.yaml)).into_result()?;
    options.unknown = unknown(&first.0, fleet).await;
    let written = adopt::write(&found, &options)?;
    for left_out in &written.left_out {
        seed.sink.warn(format!("left out: {left_out}"));
    }
    let source = Source::new(args.out.clone(), written.yaml.clone());
    let ctx = Context::of_source(&source, seed.global.clone(), &seed.reporter)?;
    let plan = plan(&ctx, &facts::gather(&ctx.cluster, fleet).await?)?;
    if ctx.global.dry_run {
        return Ok((format!("{}\n{plan}", written.yaml), written));
    }
    confirm::apply(&ctx, &format!("{}\n{plan}", written.yaml))?;
    record::replace(&args.out, written.yaml.as_bytes())?;
    let working = Working::new(&ctx).await?;
    working.apply(&ctx, fleet, &plan).await?;
    let file = args.out.display();
    let daemons = counted(ctx.cluster.daemons.len(), "daemon");
    let text = format!(
        "{}: {daemons} taken over as they run; their inventory is {file}\n`nbctl deploy --dry-run -i {file}` shows what a deploy would change",
        args.name
    );
    Ok((text, written))
}

/// The cluster's own word, which a graphd of 2.5 or newer gives to who can log in.
async fn ask_release(args: &Adopt, guess: &Written, fleet: &Fleet) -> Result<Version, Failure> {
    let told = async {
        let source = Source::new(args.out.clone(), guess.yaml.clone());
        let (cluster, _) = load(&source).into_result()?;
        let graph = GraphService::new(&cluster).await?;
        let mut session = graph.session(fleet).await?;
        let table = session.rows("SHOW HOSTS GRAPH").await;
        session.close().await;
        release(&table?)
    };
    told.await.map_err(|why: Failure| {
        Failure::usage("it is not known which release runs; nothing was changed")
            .line("no database of packages on the hosts knows the executables")
            .line(format!("SHOW HOSTS GRAPH: {}", why.what))
            .hint("say so with --nebula VERSION")
    })
}

/// Of the column `Version`, which 2.0 does not have.
fn release(table: &Table) -> Result<Version, Failure> {
    let column = table.columns.iter().position(|name| name == b"Version");
    let told = column.and_then(|column| match table.rows.first()?.get(column)? {
        Value::String(text) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    });
    let told = told.ok_or_else(|| Failure::cluster("it tells no version"))?;
    Version::parse(&told).map_err(Failure::cluster)
}

/// Flags of the files that the daemons themselves do not know.
async fn unknown(cluster: &Cluster, fleet: &Fleet) -> BTreeSet<(DaemonRole, String)> {
    let told = config::ask(cluster, &Selection::default(), fleet).await;
    let of = |daemon: &Daemon| {
        let told = told.get(&daemon.id());
        let has = |name: &str| {
            told.is_none_or(|told| told.flags.get(name).is_some_and(|value| !value.is_null()))
        };
        let names = daemon.flags.keys().filter(|name| !has(name));
        names
            .map(|name| (daemon.role, name.clone()))
            .collect::<Vec<_>>()
    };
    cluster.daemons.iter().flat_map(of).collect()
}

async fn look(link: &Link) -> Result<Host, Failure> {
    let script = Script {
        text: SCRIPT.to_owned(),
        sudo: false,
        timeout: PATIENCE,
    };
    let output = link.must("look for daemons", &script).await?;
    adopt::parse(&output.stdout).map_err(|failure| failure.at(link.host().to_string()))
}

/// Markers, and copies of the configuration as it was.
fn plan(ctx: &Context, facts: &Facts) -> Result<Plan, Failure> {
    let (cluster, mut faults) = (&ctx.cluster, Vec::new());
    let control = Context::control_name();
    let (mut marks, mut copies) = (Vec::new(), Vec::new());
    for (host, facts) in facts {
        let folders = claimed(cluster, host);
        for folder in &folders {
            match standing(folder, &cluster.id, facts) {
                Standing::Foreign(marker) => {
                    faults.push(format!("{host}: {folder} belongs to {marker}"));
                }
                Standing::Wrong(what) => faults.push(format!("{host}: {folder} {what}")),
                Standing::Free | Standing::Ours | Standing::Unmarked(_) => {}
            }
        }
        if !folders.is_empty() {
            marks.push(mark(
                &Claim {
                    cluster,
                    control: &control,
                },
                host,
                &folders,
                &facts.user.name,
            ));
        }
        let confs: Vec<&RemotePath> = cluster
            .daemons_on(host)
            .map(|daemon| &daemon.conf)
            .collect();
        copies.extend(confs.iter().map(|conf| copy(host, conf)));
    }
    if !faults.is_empty() {
        return Err(
            Failure::usage("folders cannot be taken over; nothing was changed").lines(faults),
        );
    }
    let mut plan = Plan::default();
    plan.stage("keep configuration", copies);
    plan.stage("mark folders", marks);
    Ok(plan)
}

/// The marker says that what lies beside it was not put there by us.
fn mark(claim: &Claim<'_>, host: &HostName, folders: &[RemotePath], user: &str) -> Step {
    let all: Vec<&RemotePath> = folders.iter().collect();
    let mut text = claim.script(&all, user);
    for folder in folders {
        let marker = quoted(&folder.join(".nbctl-owner"));
        let _ = writeln!(
            text,
            "grep -q ^adopted= {marker} || echo adopted=yes >>{marker} || exit 1"
        );
    }
    let names: Vec<&str> = folders.iter().map(RemotePath::as_str).collect();
    Step::on(
        host,
        format!("mark {}", names.join(", ")),
        deploy::run(text, PATIENCE),
    )
}

fn copy(host: &HostName, conf: &RemotePath) -> Step {
    let (from, to) = (
        quoted(conf),
        quoted(&conf.parent().join(&format!("{}.before-nbctl", conf.name()))),
    );
    let text = format!("cp -p -- {from} {to}\n");
    Step::on(
        host,
        format!("keep {conf} as it is"),
        deploy::run(text, PATIENCE),
    )
    .unless(format!("[ -e {to} ]"))
}

/// Paths of an inventory hold no character that needs more.
fn quoted(path: &RemotePath) -> String {
    format!("'{path}'")
}
