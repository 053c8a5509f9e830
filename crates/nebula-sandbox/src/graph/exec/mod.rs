//! Carries out statements.

mod admin;
mod aggregate;
mod balance;
mod combine;
mod cypher;
mod ddl;
mod delete;
mod describe;
mod explain;
mod fetch;
mod go;
mod hop;
mod insert;
mod lookup;
mod path;
mod pipe;
mod scan;
mod scope;
mod show;
mod show_hosts;
mod update;

use std::{collections::HashMap, sync::Arc};

use nebula_wire::{DataSet, Value, plan::PlanDescription};

use super::{
    catalog::{GraphCatalog, SpaceInfo},
    engine::Engine,
    error::QueryError,
    session::Live,
};
use crate::{
    meta::{
        message::{Failure, Reply, Request},
        model::HostPort,
    },
    ngql::ast::Stmt,
};

type Table = Result<Option<DataSet>, QueryError>;

/// What a statement sees.
pub(super) struct Context<'a> {
    engine: &'a Engine,
    live: &'a Live,
    catalog: Arc<GraphCatalog>,
    vars: &'a Vars,
    /// What was piped in.
    input: Option<DataSet>,
}

impl Context<'_> {
    /// The same for another statement.
    fn again(&self) -> Context<'_> {
        Context {
            engine: self.engine,
            live: self.live,
            catalog: Arc::clone(&self.catalog),
            vars: self.vars,
            input: self.input.clone(),
        }
    }

    /// The session's space.
    fn space(&self) -> Result<Arc<SpaceInfo>, QueryError> {
        let name = self.live.space();
        if name.is_empty() {
            return Err(QueryError::semantic("Space was not chosen."));
        }
        let found = self.catalog.space(&name).cloned();
        found.ok_or_else(|| space_not_found(&name))
    }

    async fn ask(&self, request: Request) -> Result<Reply, QueryError> {
        self.engine
            .ask(&request)
            .await
            .map_err(|failure| self.explain(failure))
    }

    /// metad's refusals as the line words them.
    #[expect(clippy::unused_self, reason = "texts that differ by line will need it")]
    fn explain(&self, failure: Failure) -> QueryError {
        failure.into()
    }

    /// A request that is only done or refused.
    async fn order(&self, request: Request) -> Table {
        self.ask(request).await.map(|_| None)
    }
}

fn space_not_found(name: &str) -> QueryError {
    QueryError::execution(format!("SpaceNotFound: SpaceName `{name}`"))
}

/// Tables of `$name = …` by name.
type Vars = HashMap<String, DataSet>;

/// What a text comes to: the table of its last statement, or its plan.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) table: Option<DataSet>,
    pub(super) plan: Option<Box<PlanDescription>>,
}

/// Runs statements one after the other; the result is that of the last one.
pub(super) async fn run_all(
    engine: &Engine,
    live: &Live,
    statements: Vec<Stmt>,
) -> Result<Answer, QueryError> {
    let catalog = engine.catalog();
    check_names(&catalog, live, &statements)?;
    let mut vars = Vars::new();
    let mut answer = Answer::default();
    for statement in statements {
        answer = match statement {
            Stmt::Explain(explain) => {
                Box::pin(explain::run(engine, live, &mut vars, explain)).await?
            }
            other => Answer {
                table: run_one(engine, live, &mut vars, other).await?,
                plan: None,
            },
        };
    }
    Ok(answer)
}

/// A statement between two semicolons.
async fn run_one(engine: &Engine, live: &Live, vars: &mut Vars, statement: Stmt) -> Table {
    let (name, statement) = match statement {
        Stmt::Assign(name, inner) => (Some(name), *inner),
        other => (None, other),
    };
    let context = Context {
        engine,
        live,
        catalog: engine.catalog(),
        vars,
        input: None,
    };
    let table = run_combined(context, statement).await?;
    if let Some(name) = name {
        vars.insert(name, table.clone().unwrap_or_default());
    }
    Ok(table)
}

/// All statements of a text are validated before the first one runs, so `CREATE SPACE x; USE x` fails as a whole.
fn check_names(catalog: &GraphCatalog, live: &Live, statements: &[Stmt]) -> Result<(), QueryError> {
    let mut chosen = !live.space().is_empty();
    for statement in statements {
        match statement {
            Stmt::Use(name) if catalog.space(name).is_none() => return Err(space_not_found(name)),
            Stmt::Use(_) => chosen = true,
            other if needs_space(other) && !chosen => {
                return Err(QueryError::semantic("Space was not chosen."));
            }
            _ => {}
        }
    }
    Ok(())
}

const fn needs_space(statement: &Stmt) -> bool {
    matches!(
        statement,
        Stmt::CreateSchema(_)
            | Stmt::InsertVertices { .. }
            | Stmt::InsertEdges { .. }
            | Stmt::Go(_)
            | Stmt::FetchTags { .. }
            | Stmt::FetchEdges { .. }
            | Stmt::Update(_)
            | Stmt::SubmitJob(..)
    )
}

/// UNION and its kin, from left to right.
async fn run_combined(context: Context<'_>, statement: Stmt) -> Table {
    if !matches!(statement, Stmt::Combine(..)) {
        return run_piped(context, statement).await;
    }
    let mut parts = Vec::new();
    let mut rest = statement;
    while let Stmt::Combine(op, left, right) = rest {
        parts.push((op, *right));
        rest = *left;
    }
    let mut table = run_piped(context.again(), rest).await?;
    while let Some((op, right)) = parts.pop() {
        let other = run_piped(context.again(), right).await?;
        table = combine::combine(op, table, other)?;
    }
    Ok(table)
}

/// A statement that reads a variable has its table for input.
async fn run_reading(context: &Context<'_>, name: &str, statement: Stmt) -> Table {
    let table = context.vars.get(name).cloned();
    let unknown = || QueryError::semantic(format!("variable `{name}' not exist."));
    let context = Context {
        input: Some(table.ok_or_else(unknown)?),
        ..context.again()
    };
    run(&context, statement).await
}

async fn run_piped(mut context: Context<'_>, statement: Stmt) -> Table {
    let mut stages = Vec::new();
    let mut rest = statement;
    while let Stmt::Pipe(left, right) = rest {
        stages.push(*right);
        rest = *left;
    }
    stages.push(rest);
    while let Some(stage) = stages.pop() {
        let table = run(&context, stage).await?;
        if stages.is_empty() {
            return Ok(table);
        }
        context.input = table;
    }
    Ok(None)
}

async fn run(context: &Context<'_>, statement: Stmt) -> Table {
    match statement {
        Stmt::Use(name) => {
            context.engine.use_space(context.live, &name).await;
            Ok(None)
        }
        Stmt::Go(go) => go::run(context, &go).await,
        Stmt::FetchTags { tags, vids, yields } => {
            fetch::tags(context, &tags, &vids, yields.as_ref()).await
        }
        Stmt::FetchEdges { edge, keys, yields } => {
            fetch::edges(context, &edge, &keys, yields.as_ref()).await
        }
        Stmt::InsertVertices {
            tags,
            rows,
            if_not_exists,
        } => insert::vertices(context, &tags, &rows, if_not_exists).await,
        Stmt::InsertEdges {
            edge,
            props,
            rows,
            if_not_exists,
        } => insert::edges(context, &edge, props.as_deref(), &rows, if_not_exists).await,
        Stmt::DeleteVertices { vids, with_edges } => {
            delete::vertices(context, &vids, with_edges).await
        }
        Stmt::DeleteTags { tags, vids } => delete::tags(context, &tags, &vids).await,
        Stmt::DeleteEdges { edge, keys } => delete::edges(context, &edge, &keys).await,
        Stmt::Yield { yields, filter } => pipe::yields(context, &yields, filter.as_ref()),
        Stmt::GroupBy { keys, yields } => pipe::group_by(context, &keys, &yields),
        Stmt::OrderBy(keys) => pipe::order_by(context, &keys),
        Stmt::Limit { skip, count } => Ok(pipe::limit(context, skip, count)),
        Stmt::Show(show) => show::run(context, show).await,
        Stmt::Lookup { on, filter, yields } => {
            lookup::run(context, &on, filter.as_ref(), yields.as_ref()).await
        }
        Stmt::FindPath(find) => path::run(context, &find).await,
        other => Box::pin(run_rare(context, other)).await,
    }
}

/// Statements that are never hot: patterns, changes of single rows, combinations.
async fn run_rare(context: &Context<'_>, statement: Stmt) -> Table {
    match statement {
        statement @ (Stmt::Combine(..) | Stmt::Pipe(..)) => {
            run_combined(context.again(), statement).await
        }
        Stmt::Reading(name, inner) => run_reading(context, &name, *inner).await,
        Stmt::Update(update) => update::run(context, &update).await,
        Stmt::Match(query) => Box::pin(cypher::run(context, &query)).await,
        other => run_admin(context, other).await,
    }
}

/// Definitions and administration.
async fn run_admin(context: &Context<'_>, statement: Stmt) -> Table {
    match statement {
        Stmt::DescSpace(name) => describe::space(context, &name),
        Stmt::DescSchema(kind, name) => describe::schema(context, kind, &name),
        Stmt::DescIndex(kind, name) => describe::index(context, kind, &name),
        Stmt::AddHosts(hosts) => admin::add_hosts(context, hosts).await,
        Stmt::DropHosts(hosts) => admin::drop_hosts(context, hosts).await,
        Stmt::SubmitJob(kind, argument) => admin::submit(context, kind, argument).await,
        Stmt::StopJob(id) => admin::stop_job(context, id).await,
        Stmt::RecoverJob => admin::recover(context).await,
        Stmt::BalanceLeader => balance::leader(context).await,
        Stmt::BalanceData(what) => balance::data(context, what).await,
        Stmt::UpdateConfigs {
            module,
            name,
            value,
        } => admin::update_configs(context, module, name, value).await,
        Stmt::GetConfigs { module, name } => admin::configs(context, module, name.as_deref()).await,
        Stmt::RebuildIndex(kind, name) => admin::rebuild(context, kind, name).await,
        other => ddl::run(context, other).await,
    }
}

/// A table of given columns.
fn table(columns: &[&str], rows: Vec<Vec<Value>>) -> DataSet {
    let mut data = DataSet::with_columns(columns.iter().copied());
    data.rows = rows;
    data
}

fn text(text: impl Into<String>) -> Value {
    Value::from(text.into())
}

fn int(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn optional(value: Option<String>) -> Value {
    value.map_or(Value::Empty, Value::from)
}

fn port(host: &HostPort) -> Value {
    Value::Int(host.port.into())
}
