//! SHOW.

use nebula_wire::Value;

use super::{Context, Table, balance, describe, show_hosts, table, text};
use crate::{
    clock,
    graph::{error::QueryError, time::datetime_of},
    line::Line,
    meta::{
        message::{Reply, Request},
        model::{Job, JobKind, JobStatus, SchemaKind},
    },
    ngql::ast::Show,
};

pub(super) async fn run(context: &Context<'_>, show: Show) -> Table {
    match show {
        Show::Spaces => {
            let names = context
                .catalog
                .spaces()
                .into_iter()
                .map(|info| vec![text(&info.space.name)]);
            Ok(Some(table(&["Name"], names.collect())))
        }
        Show::Schemas(kind) => {
            let info = context.space()?;
            let rows = info
                .space
                .schemas(kind)
                .keys()
                .map(|name| vec![text(name)])
                .collect();
            Ok(Some(table(&["Name"], rows)))
        }
        Show::Indexes(kind) => indexes(context, kind),
        Show::IndexStatus(kind) => index_status(context, kind),
        Show::CreateSpace(name) => describe::create_space(context, &name),
        Show::CreateSchema(kind, name) => describe::create_schema(context, kind, &name),
        Show::Hosts(None) => show_hosts::hosts(context).await,
        Show::Hosts(Some(role)) => show_hosts::hosts_of(context, role).await,
        Show::Parts(wanted) => show_hosts::parts(context, &wanted).await,
        Show::Stats => stats(context),
        Show::Jobs => jobs(context).await,
        Show::Job(id) => job(context, id).await,
        Show::Sessions => sessions(context).await,
        Show::MetaLeader => meta_leader(context).await,
        Show::Configs(module) => super::admin::configs(context, module, None).await,
        other => fixed(context, &other).await,
    }
}

/// Listings that are short here.
async fn fixed(context: &Context<'_>, show: &Show) -> Table {
    Ok(Some(match show {
        Show::Users => {
            let mut names: Vec<_> = context.catalog.users.keys().cloned().collect();
            names.sort();
            table(
                &["Account"],
                names.into_iter().map(|name| vec![text(name)]).collect(),
            )
        }
        Show::Charset => table(
            &["Charset", "Description", "Default collation", "Maxlen"],
            vec![vec![
                text("utf8"),
                text("UTF-8 Unicode"),
                text("utf8_bin"),
                Value::Int(4),
            ]],
        ),
        Show::Zones => show_hosts::zones(show_hosts::host_rows(context, None).await?),
        Show::Snapshots => table(&["Name", "Status", "Hosts"], Vec::new()),
        _ => table(
            &[
                "SessionID",
                "ExecutionPlanID",
                "User",
                "Host",
                "StartTime",
                "DurationInUSec",
                "Status",
                "Query",
            ],
            Vec::new(),
        ),
    }))
}

fn stats(context: &Context<'_>) -> Table {
    let info = context.space()?;
    let Some(counts) = &info.space.stats else {
        let text = "There is no any stats info to show, please execute `submit job stats' firstly!";
        return Err(QueryError::execution(text));
    };
    let count = |number: Option<&u64>| {
        Value::Int(number.map_or(0, |n| i64::try_from(*n).unwrap_or(i64::MAX)))
    };
    let mut rows = Vec::new();
    for (name, schema) in &info.space.tags {
        rows.push(vec![
            text("Tag"),
            text(name),
            count(counts.tags.get(&schema.id)),
        ]);
    }
    let mut edges = 0;
    for (name, schema) in &info.space.edges {
        edges += counts.edges.get(&schema.id).copied().unwrap_or(0);
        rows.push(vec![
            text("Edge"),
            text(name),
            count(counts.edges.get(&schema.id)),
        ]);
    }
    rows.push(vec![
        text("Space"),
        text("vertices"),
        count(Some(&counts.vertices)),
    ]);
    rows.push(vec![text("Space"), text("edges"), count(Some(&edges))]);
    Ok(Some(table(&["Type", "Name", "Count"], rows)))
}

/// Unset times are EMPTY from 2.5 on, 1970 before.
pub(super) fn time_cell(context: &Context<'_>, micros: i64) -> Value {
    if micros == 0 && context.engine.line != Line::V2_0_1 {
        return Value::Empty;
    }
    datetime_of(micros).map_or(Value::Empty, Value::DateTime)
}

async fn listed_jobs(context: &Context<'_>) -> Result<Vec<Job>, QueryError> {
    let space = match context.engine.line {
        Line::V2_0_1 => None,
        _ => Some(context.space()?.space.id),
    };
    match context.ask(Request::Jobs(space)).await? {
        Reply::Jobs(jobs) => Ok(jobs),
        _ => Ok(Vec::new()),
    }
}

async fn jobs(context: &Context<'_>) -> Table {
    let jobs = listed_jobs(context).await?;
    let row = |job: &Job| {
        vec![
            Value::Int(job.id),
            text(job.kind.name()),
            text(job.status.name()),
            time_cell(context, job.start),
            time_cell(context, job.stop),
        ]
    };
    let columns = ["Job Id", "Command", "Status", "Start Time", "Stop Time"];
    Ok(Some(table(&columns, jobs.iter().map(row).collect())))
}

async fn job(context: &Context<'_>, id: i64) -> Table {
    let jobs = listed_jobs(context).await?;
    let missing = || QueryError::execution("Job not existed in chosen space!");
    let job = jobs.iter().find(|job| job.id == id).ok_or_else(missing)?;
    if job.kind == JobKind::DataBalance {
        return Ok(Some(balance::show_job(context, job)));
    }
    let new = context.engine.line.is_3x();
    let mut columns = vec![
        "Job Id(TaskId)",
        "Command(Dest)",
        "Status",
        "Start Time",
        "Stop Time",
    ];
    if new {
        columns.push("Error Code");
    }
    let row = |id: i64, what: &str, status: JobStatus, start: i64, stop: i64| {
        let mut cells = vec![
            Value::Int(id),
            text(what),
            text(status.name()),
            time_cell(context, start),
            time_cell(context, stop),
        ];
        if new {
            cells.push(text(error_code(status)));
        }
        cells
    };
    let mut rows = vec![row(
        job.id,
        job.kind.name(),
        job.status,
        job.start,
        job.stop,
    )];
    for (at, task) in (0..).zip(&job.tasks) {
        rows.push(row(at, &task.host, task.status, task.start, task.stop));
    }
    if new {
        rows.push(task_totals(job));
    }
    Ok(Some(table(&columns, rows)))
}

/// The last column of `SHOW JOB`.
pub(super) const fn error_code(status: JobStatus) -> &'static str {
    match status {
        JobStatus::Queue | JobStatus::Running => "E_JOB_SUBMITTED",
        JobStatus::Finished => "SUCCEEDED",
        JobStatus::Failed => "E_TASK_EXECUTION_FAILED",
        JobStatus::Stopped => "E_USER_CANCEL",
    }
}

fn task_totals(job: &Job) -> Vec<Value> {
    let count = |name: &str| {
        job.tasks
            .iter()
            .filter(|task| task.status.name() == name)
            .count()
    };
    let (done, failed) = (count("FINISHED"), count("FAILED"));
    vec![
        text(format!("Total:{}", job.tasks.len())),
        text(format!("Succeeded:{done}")),
        text(format!("Failed:{failed}")),
        text(format!("In Progress:{}", job.tasks.len() - done - failed)),
        text(""),
        text(""),
    ]
}

fn indexes(context: &Context<'_>, kind: SchemaKind) -> Table {
    let info = context.space()?;
    let mine = info.space.indexes.values().filter(|index| index.on == kind);
    if context.engine.line == Line::V2_0_1 {
        return Ok(Some(table(
            &["Names"],
            mine.map(|index| vec![text(&index.name)]).collect(),
        )));
    }
    let by = match kind {
        SchemaKind::Tag => "By Tag",
        SchemaKind::Edge => "By Edge",
    };
    let row = |index: &crate::meta::model::Index| {
        let fields = index.fields.iter().map(|(name, _)| text(name)).collect();
        vec![text(&index.name), text(&index.schema), Value::List(fields)]
    };
    Ok(Some(table(
        &["Index Name", by, "Columns"],
        mine.map(row).collect(),
    )))
}

fn index_status(context: &Context<'_>, kind: SchemaKind) -> Table {
    let info = context.space()?;
    let built = info
        .space
        .indexes
        .values()
        .filter(|index| index.on == kind && index.built);
    let rows = built
        .map(|index| vec![text(&index.name), text("FINISHED")])
        .collect();
    Ok(Some(table(&["Name", "Index Status"], rows)))
}

async fn sessions(context: &Context<'_>) -> Table {
    let all = match context.ask(Request::Sessions).await? {
        Reply::Sessions(all) => all,
        _ => Vec::new(),
    };
    let at = |micros: i64| datetime_of(micros).map_or(Value::Empty, Value::DateTime);
    let row = |session: &crate::meta::model::Session| {
        vec![
            Value::Int(session.id),
            text(&session.user),
            text(&session.space),
            at(session.created),
            at(session.updated),
            text(session.graph.to_string()),
            Value::Int(0),
            text(&session.client),
        ]
    };
    let columns = [
        "SessionId",
        "UserName",
        "SpaceName",
        "CreateTime",
        "UpdateTime",
        "GraphAddr",
        "Timezone",
        "ClientIp",
    ];
    Ok(Some(table(&columns, all.iter().map(row).collect())))
}

async fn meta_leader(context: &Context<'_>) -> Table {
    let asked = clock::seconds();
    match context.ask(Request::Leader).await? {
        Reply::Leader {
            leader,
            heartbeat_age,
        } => {
            let age = heartbeat_age + clock::seconds().saturating_sub(asked);
            let row = vec![
                text(leader.to_string()),
                Value::Int(i64::try_from(age).unwrap_or(0)),
            ];
            Ok(Some(table(
                &["Meta Leader", "secs from last heart beat"],
                vec![row],
            )))
        }
        _ => Ok(None),
    }
}
