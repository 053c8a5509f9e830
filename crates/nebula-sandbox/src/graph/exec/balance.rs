//! BALANCE: a plan of the whole cluster in 2.x, a job of one space in 3.x.

use nebula_wire::{DataSet, Value};

use super::{
    Context, Table, admin,
    show::{error_code, time_cell},
    table, text,
};
use crate::{
    graph::error::{Class, QueryError},
    meta::{
        balance::{Move, MoveStatus},
        message::{Balance, Reply, Request},
        model::{HostPort, Job, JobKind},
    },
};

/// 2.x: done at once, cluster-wide. 3.x: a job of the chosen space.
pub(super) async fn leader(context: &Context<'_>) -> Table {
    if context.engine.line.balances_by_job() {
        return admin::submit(context, JobKind::LeaderBalance, String::new()).await;
    }
    context.order(Request::BalanceLeader).await
}

/// The grammar of 3.x knows only starting it.
pub(super) async fn data(context: &Context<'_>, what: Balance) -> Table {
    if !context.engine.line.balances_by_job() {
        return plan(context, what).await;
    }
    let near = match &what {
        Balance::Start(removed) => {
            return admin::submit(context, JobKind::DataBalance, HostPort::join(removed)).await;
        }
        Balance::Stop => "STOP".to_owned(),
        Balance::Reset => "RESET".to_owned(),
        Balance::Show(id) => id.to_string(),
    };
    Err(QueryError {
        class: Class::Syntax,
        text: format!("SyntaxError: syntax error near `{near}'"),
    })
}

/// Both flags have to be on for a balance job.
pub(super) fn check_allowed(context: &Context<'_>) -> Result<(), QueryError> {
    let flags = &context.engine.flags;
    if flags.on("enable_experimental_feature") && flags.on("enable_data_balance") {
        return Ok(());
    }
    Err(QueryError::semantic("Data balance not support"))
}

async fn plan(context: &Context<'_>, what: Balance) -> Table {
    match context.ask(Request::BalanceData(what)).await? {
        Reply::Job(id) => Ok(Some(table(&["ID"], vec![vec![Value::Int(id)]]))),
        Reply::Plan(plan) => {
            let row = |step: &Move| {
                let what = format!(
                    "[{}, {}:{}, {}->{}]",
                    plan.id, step.space, step.part, step.src, step.dst
                );
                vec![text(what), text(step.status.name())]
            };
            let mut rows: Vec<_> = plan.moves.iter().map(row).collect();
            rows.push(plan_total(&plan.moves));
            Ok(Some(table(
                &["balanceId, spaceId:partId, src->dst", "status"],
                rows,
            )))
        }
        _ => Ok(None),
    }
}

/// Total, succeeded, failed, in progress, invalid.
fn counts(moves: &[Move]) -> [usize; 5] {
    let count = |status| moves.iter().filter(|step| step.status == status).count();
    [
        moves.len(),
        count(MoveStatus::Succeeded),
        count(MoveStatus::Failed),
        count(MoveStatus::InProgress),
        count(MoveStatus::Invalid),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "counts of partitions are small")]
fn plan_total(moves: &[Move]) -> Vec<Value> {
    let [total, good, failed, open, invalid] = counts(moves);
    let percent = good as f64 / total.max(1) as f64 * 100.0;
    vec![
        text(format!(
            "Total:{total}, Succeeded:{good}, Failed:{failed}, In Progress:{open}, Invalid:{invalid}"
        )),
        Value::Float(percent),
    ]
}

const fn move_code(status: MoveStatus) -> &'static str {
    match status {
        MoveStatus::InProgress => "E_JOB_SUBMITTED",
        MoveStatus::Succeeded => "SUCCEEDED",
        MoveStatus::Failed => "E_BALANCER_FAILURE",
        MoveStatus::Invalid => "E_USER_CANCEL",
    }
}

/// `SHOW JOB` of a balance job: its own columns, a row for each partition.
pub(super) fn show_job(context: &Context<'_>, job: &Job) -> DataSet {
    let time = |micros| time_cell(context, micros);
    let mut rows = vec![vec![
        Value::Int(job.id),
        text(job.kind.name()),
        text(job.status.name()),
        time(job.start),
        time(job.stop),
        text(error_code(job.status)),
    ]];
    rows.extend(job.moves.iter().map(|step| {
        vec![
            text(format!("{}, {}:{}", job.id, step.space, step.part)),
            text(format!("{}->{}", step.src, step.dst)),
            text(step.status.name()),
            time(step.start),
            time(step.stop),
            text(move_code(step.status)),
        ]
    }));
    let [total, good, failed, open, invalid] = counts(&job.moves);
    rows.push(vec![
        text(format!("Total:{total}")),
        text(format!("Succeeded:{good}")),
        text(format!("Failed:{failed}")),
        text(format!("In Progress:{open}")),
        text(format!("Invalid:{invalid}")),
        text(""),
    ]);
    let columns = [
        "Job Id(spaceId:partId)",
        "Command(src->dst)",
        "Status",
        "Start Time",
        "Stop Time",
        "Error Code",
    ];
    table(&columns, rows)
}
