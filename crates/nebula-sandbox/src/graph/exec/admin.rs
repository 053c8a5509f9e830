//! Hosts, jobs, balance and configuration.

use nebula_wire::Value;

use super::{Context, Table, balance, table, text};
use crate::{
    flags::Kind,
    graph::error::{Class, QueryError},
    meta::{
        message::{Reply, Request},
        model::{HostPort, JobKind, SchemaKind},
    },
};

/// `ADD HOSTS` is not in the grammar before 3.0.
fn only_3x(context: &Context<'_>, near: &str) -> Result<(), QueryError> {
    if context.engine.line.is_3x() {
        return Ok(());
    }
    Err(QueryError {
        class: Class::Syntax,
        text: format!("SyntaxError: syntax error near `{near}'"),
    })
}

pub(super) async fn add_hosts(context: &Context<'_>, hosts: Vec<HostPort>) -> Table {
    only_3x(context, "ADD HOSTS")?;
    context.order(Request::AddHosts(hosts)).await
}

pub(super) async fn drop_hosts(context: &Context<'_>, hosts: Vec<HostPort>) -> Table {
    only_3x(context, "DROP HOSTS")?;
    context.order(Request::DropHosts(hosts)).await
}

pub(super) async fn submit(context: &Context<'_>, kind: JobKind, argument: String) -> Table {
    let space = context.space()?.space.id;
    if kind == JobKind::DataBalance {
        balance::check_allowed(context)?;
    }
    match context
        .ask(Request::SubmitJob {
            space,
            kind,
            argument,
        })
        .await?
    {
        Reply::Job(id) => Ok(Some(table(&["New Job Id"], vec![vec![Value::Int(id)]]))),
        _ => Ok(None),
    }
}

pub(super) async fn rebuild(context: &Context<'_>, kind: SchemaKind, name: String) -> Table {
    let info = context.space()?;
    if !name.is_empty() && !info.space.indexes.contains_key(&name) {
        return Err(QueryError::execution("IndexNotFound: "));
    }
    let job = match kind {
        SchemaKind::Tag => JobKind::RebuildTagIndex,
        SchemaKind::Edge => JobKind::RebuildEdgeIndex,
    };
    submit(context, job, name).await
}

pub(super) async fn stop_job(context: &Context<'_>, id: i64) -> Table {
    let space = context.space()?.space.id;
    context.ask(Request::StopJob { space, id }).await?;
    Ok(Some(table(&["Result"], vec![vec![text("Job stopped")]])))
}

pub(super) async fn recover(context: &Context<'_>) -> Table {
    let space = context.space()?.space.id;
    match context.ask(Request::RecoverJobs { space }).await? {
        Reply::Job(count) => Ok(Some(table(
            &["Recovered job num"],
            vec![vec![Value::Int(count)]],
        ))),
        _ => Ok(None),
    }
}

/// Only flags that some daemon registered with metad can be set, and those only where `local_config` is false; a
/// cluster whose files rule answers that the setting does not exist.
pub(super) async fn update_configs(
    context: &Context<'_>,
    module: Option<String>,
    name: String,
    value: String,
) -> Table {
    let shown = name.clone();
    let request = Request::SetConfig {
        module,
        name,
        value,
    };
    let refused = |error: QueryError| {
        QueryError::execution(format!("Set config `{shown}' failed: {}", error.text))
    };
    context.ask(request).await.map_err(refused)?;
    Ok(None)
}

/// `SHOW CONFIGS` and `GET CONFIGS`.
pub(super) async fn configs(
    context: &Context<'_>,
    module: Option<String>,
    name: Option<&str>,
) -> Table {
    let Reply::Configs(all) = context.ask(Request::Configs(module)).await? else {
        return Ok(None);
    };
    let mut rows = Vec::new();
    for (module, known, value) in all {
        if name.is_some_and(|name| name != known) {
            continue;
        }
        let nested = value.starts_with('{');
        let (word, cell) = if nested {
            ("map", nested_value(&value))
        } else {
            typed_value(&value)
        };
        rows.push(vec![
            text(module),
            text(known),
            text(word),
            text("MUTABLE"),
            cell,
        ]);
    }
    if rows.is_empty() && name.is_some() {
        return Err(QueryError::execution("Conf not existed!"));
    }
    Ok(Some(table(
        &["module", "name", "type", "mode", "value"],
        rows,
    )))
}

/// graphd does not know the flags of other daemons, so the type shows in the text.
fn typed_value(text_of: &str) -> (&'static str, Value) {
    for (word, kind) in [
        ("int", Kind::Int),
        ("float", Kind::Float),
        ("bool", Kind::Bool),
    ] {
        match kind.read(text_of) {
            Some(crate::flags::Value::Int(number)) => return (word, Value::Int(number)),
            Some(crate::flags::Value::Float(number)) => return (word, Value::Float(number)),
            Some(crate::flags::Value::Bool(truth)) => return (word, Value::Bool(truth)),
            _ => {}
        }
    }
    ("string", text(text_of))
}

fn nested_value(json: &str) -> Value {
    let map: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(json).unwrap_or_default();
    let pair = |(key, value): (String, serde_json::Value)| {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        (key.into_bytes(), Value::from(value))
    };
    Value::Map(map.into_iter().map(pair).collect())
}
