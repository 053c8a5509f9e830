//! `nbctl hosts bootstrap`: from a bare host to one that nbctl logs in to and works on.
//!
//! Duties: everything is shown before it is done, and what is so already is left alone; at the end every host is logged
//! in to as all other commands will.

mod key;

use std::time::Duration;

use futures_util::future::join_all;
use nbctl_core::deploy::{self, Account, Preparation};
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::{Host, Reach, Secret, Selection, contract_ranges};
use nbctl_core::plan::{Action, Script, Step};
use serde::Serialize;
use tokio::sync::Semaphore;

use crate::cli::Bootstrap;
use crate::command::confirm;
use crate::context::Context;
use crate::event::StepOutcome;
use crate::graph;
use crate::interrupt;
use crate::phase::many::Many;
use crate::remote::{First, Login, Root, Target, default_control_dir};
use crate::runner::Journal as _;

/// Logins being made at once.
const AT_ONCE: usize = 8;
const LOOK: Duration = Duration::from_mins(1);
const WORK: Duration = Duration::from_mins(5);

/// One host.
#[derive(Debug, Serialize)]
struct Row {
    host: String,
    /// What was made; empty: everything was there.
    made: Vec<String>,
    /// Why not, when it is not so now.
    failure: Option<String>,
}

/// A host, how its login becomes root, and what it lacks.
struct Found<'a> {
    host: &'a Host,
    root: Root,
    missing: Vec<Preparation>,
}

pub(super) async fn run(
    ctx: &Context,
    selection: &Selection,
    args: &Bootstrap,
) -> anyhow::Result<ExitCode> {
    let hosts = hosts(ctx, selection)?;
    let password = password(args).await?;
    let work = Work {
        ctx,
        args,
        password,
        gate: Semaphore::new(AT_ONCE),
    };
    // One after the other: the key may have to be made.
    let mut keys = Vec::new();
    for host in &hosts {
        keys.push(key::public(host, args.key.as_deref(), ctx.global.dry_run).await?);
    }
    let pairs = hosts.iter().zip(&keys);
    let looked = join_all(pairs.map(|(host, key)| work.look(host, key))).await;
    let (mut rows, mut todo) = (Vec::new(), Vec::new());
    for (host, result) in hosts.iter().zip(looked) {
        match result {
            Ok(found) if found.missing.is_empty() => rows.push(row(host, &[], None)),
            Ok(found) => todo.push(found),
            Err(failure) => rows.push(row(host, &[], Some(failure))),
        }
    }
    if !todo.is_empty() {
        let shown = shown(&todo);
        if ctx.global.dry_run {
            ctx.reporter.result(&shown, &rows)?;
            return Ok(ExitCode::Good);
        }
        if !confirm::asks(ctx) {
            ctx.sink.note(shown.clone());
        }
        confirm::apply(ctx, &shown)?;
        let done = join_all(todo.iter().map(|found| work.make(found))).await;
        let ended = todo.iter().zip(done);
        rows.extend(ended.map(|(found, result)| row(found.host, &found.missing, result.err())));
    }
    log_in(ctx, selection, &mut rows).await?;
    rows.sort_by(|one, other| one.host.cmp(&other.host));
    ctx.reporter.result(&text(&rows), &rows)?;
    let all = rows.iter().all(|row| row.failure.is_none());
    Ok(if all { ExitCode::Good } else { ExitCode::Host })
}

fn hosts<'a>(ctx: &'a Context, selection: &Selection) -> Result<Vec<&'a Host>, Failure> {
    let all = ctx.cluster.hosts.iter();
    let remote = all.filter(|host| selection.has_host(host) && host.ssh.reach != Reach::Local);
    let hosts: Vec<&Host> = remote.collect();
    match hosts.first() {
        Some(_) => Ok(hosts),
        None => Err(Failure::usage("no host is selected that is reached by ssh")),
    }
}

async fn password(args: &Bootstrap) -> Result<Option<String>, Failure> {
    let secret = match (&args.password_file, &args.password_command) {
        (Some(file), _) => Secret::File(file.clone()),
        (None, Some(command)) => Secret::Command(command.clone()),
        (None, None) if args.ask_password => {
            return confirm::password(&format!("password of {}: ", args.login)).map(Some);
        }
        (None, None) => return Ok(None),
    };
    graph::read_secret(&secret).await.map(Some)
}

/// What all hosts share.
struct Work<'a> {
    ctx: &'a Context,
    args: &'a Bootstrap,
    password: Option<String>,
    gate: Semaphore,
}

impl Work<'_> {
    fn login(&self) -> Login<'_> {
        Login {
            user: &self.args.login,
            key: self.args.login_key.as_deref(),
            password: self.password.as_deref(),
        }
    }

    async fn look<'h>(&self, host: &'h Host, key: &str) -> Result<Found<'h>, Failure> {
        let user = host.ssh.user.as_deref().ok_or_else(|| {
            Failure::inventory("the inventory names no user to log in as")
                .at(host.name.to_string())
                .hint("set `ssh.user`")
        })?;
        let account = Account { user, key };
        let all = deploy::preparations(&self.ctx.cluster, host, account);
        let _turn = self.gate.acquire().await;
        let (target, control) = (Target::from(host), default_control_dir()?);
        let first = First::new(&target, self.login(), &self.ctx.cluster_dir(), &control)?;
        let root = first.root().await?;
        let text = deploy::bootstrap_look(&all);
        let answer = first.as_root("look at the host", root, &text, LOOK).await?;
        let missing = deploy::bootstrap_missing(&all, &answer.stdout);
        let missing = missing.ok_or_else(|| {
            Failure::host("the answer of the host was cut off")
                .at(host.name.to_string())
                .lines(answer.last_lines())
        })?;
        Ok(Found {
            host,
            root,
            missing,
        })
    }

    async fn make(&self, found: &Found<'_>) -> Result<(), Failure> {
        let _turn = self.gate.acquire().await;
        let (target, control) = (Target::from(found.host), default_control_dir()?);
        let first = First::new(&target, self.login(), &self.ctx.cluster_dir(), &control)?;
        let script = Script {
            text: deploy::bootstrap_do(&found.missing),
            sudo: true,
            timeout: WORK,
        };
        let title = format!("bootstrap: {} things", found.missing.len());
        let step = Step::on(&found.host.name, &title, Action::Run(script.clone()));
        let journal = self.ctx.journal()?;
        journal.begin(&step)?;
        let done = first.as_root(&title, found.root, &script.text, WORK).await;
        let outcome = done
            .as_ref()
            .map_or(StepOutcome::Failed, |_| StepOutcome::Done);
        journal.end(&step, outcome);
        done.map(drop)
    }
}

fn row(host: &Host, made: &[Preparation], failure: Option<Failure>) -> Row {
    let title = |p: &Preparation| p.title.lines().next().unwrap_or_default().to_owned();
    Row {
        host: host.name.to_string(),
        made: made.iter().map(title).collect(),
        failure: failure.map(|failure| {
            let last = failure.detail.last().map(|line| format!("; {line}"));
            failure.what + &last.unwrap_or_default()
        }),
    }
}

/// Hosts that lack the same are told together.
fn shown(todo: &[Found<'_>]) -> String {
    let mut groups: Vec<(Vec<&str>, &[Preparation])> = Vec::new();
    for found in todo {
        let name = found.host.name.as_str();
        match groups
            .iter_mut()
            .find(|(_, missing)| *missing == found.missing)
        {
            Some((hosts, _)) => hosts.push(name),
            None => groups.push((vec![name], &found.missing)),
        }
    }
    let group = |(hosts, missing): (Vec<&str>, &[Preparation])| {
        let lines: Vec<String> = missing.iter().map(|p| format!("\n  {}", p.title)).collect();
        format!("{}:{}", contract_ranges(hosts).join(", "), lines.concat())
    };
    let groups: Vec<String> = groups.into_iter().map(group).collect();
    groups.join("\n")
}

/// As every other command will.
async fn log_in(ctx: &Context, selection: &Selection, rows: &mut [Row]) -> Result<(), Failure> {
    let script = Script {
        text: "true".to_owned(),
        sudo: false,
        timeout: LOOK,
    };
    let cancel = interrupt::token();
    let many = Many::connect(ctx, selection).await?;
    let ended = many
        .try_each(&cancel, |link| link.must("log in", &script))
        .await;
    many.fleet.close().await;
    for (host, result) in ended {
        let Err(failure) = result else { continue };
        let row = rows.iter_mut().find(|row| row.host == host.as_str());
        if let Some(row) = row.filter(|row| row.failure.is_none()) {
            row.failure = Some(failure.what);
        }
    }
    Ok(())
}

fn text(rows: &[Row]) -> String {
    let line = |row: &Row| match (&row.failure, row.made.len()) {
        (Some(why), _) => format!("{}: FAILED: {why}", row.host),
        (None, 0) => format!("{}: nothing to do", row.host),
        (None, made) => format!("{}: {made} things made, login works", row.host),
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
