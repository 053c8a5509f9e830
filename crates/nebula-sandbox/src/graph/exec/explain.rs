//! EXPLAIN and PROFILE: a chain of the operators that the original would use. Nothing here is planned; the numbers of
//! PROFILE are those of the whole statement and stand at its last operator.

use nebula_wire::plan::{PlanDescription, PlanNode, ProfilingStats};

use super::{Answer, Vars, aggregate::has_aggregate, run_one};
use crate::{
    clock,
    graph::{engine::Engine, error::QueryError, session::Live},
    ngql::{
        ast::{Explain, FindPath, Go, SetOp, Stmt, Yield},
        cypher::{Clause, Match, Projection, Query},
    },
};

type Names = Vec<&'static str>;

pub(super) async fn run(
    engine: &Engine,
    live: &Live,
    vars: &mut Vars,
    explain: Explain,
) -> Result<Answer, QueryError> {
    let mut chain = Chain::default();
    let mut table = None;
    for statement in explain.statements {
        let names = operators(&statement, engine.line.is_3x());
        let mut cost = None;
        if explain.profile {
            let started = clock::micros();
            table = run_one(engine, live, vars, statement).await?;
            let rows = table.as_ref().map_or(0, |table| table.rows.len());
            cost = Some((rows, clock::micros() - started));
        }
        chain.add(&names, cost);
    }
    Ok(Answer {
        table,
        plan: Some(Box::new(chain.describe(&explain.format))),
    })
}

/// Operators from the first to the last.
#[derive(Debug, Default)]
struct Chain {
    nodes: Vec<PlanNode>,
}

impl Chain {
    fn add(&mut self, names: &[&str], cost: Option<(usize, i64)>) {
        let start = self.nodes.is_empty().then_some("Start");
        for name in start.iter().chain(names) {
            self.push(name, cost.is_some());
        }
        if let (Some((rows, micros)), Some(last)) = (cost, self.nodes.last_mut()) {
            last.profiles = Some(vec![ProfilingStats {
                rows: i64::try_from(rows).unwrap_or(i64::MAX),
                exec_us: micros,
                total_us: micros,
                other: None,
            }]);
        }
    }

    fn push(&mut self, name: &str, profile: bool) {
        let id = self.nodes.len();
        let number = i64::try_from(id).unwrap_or(i64::MAX);
        let before = self.nodes.last().map(|node| (node.id, node.name.clone()));
        let input = before.as_ref().map(|(id, name)| {
            let text = format!("__{}_{id}", String::from_utf8_lossy(name));
            (b"inputVar".to_vec(), text.into_bytes())
        });
        let variable =
            format!("{{\"colNames\":[],\"name\":\"__{name}_{id}\",\"type\":\"DATASET\"}}");
        self.nodes.push(PlanNode {
            name: name.as_bytes().to_vec(),
            id: number,
            output_var: variable.into_bytes(),
            description: Some(input.into_iter().collect()),
            profiles: profile.then(|| vec![ProfilingStats::default()]),
            branch: None,
            dependencies: before.map(|(id, _)| vec![id]),
        });
    }

    /// The last operator comes first.
    fn describe(self, format: &str) -> PlanDescription {
        let mut nodes = self.nodes;
        nodes.reverse();
        let index = nodes.iter().enumerate().map(|(place, node)| {
            let place = i64::try_from(place).unwrap_or(i64::MAX);
            (node.id, place)
        });
        PlanDescription {
            node_index: index.collect(),
            nodes,
            format: format.as_bytes().to_vec(),
            optimize_time_us: 0,
        }
    }
}

fn operators(statement: &Stmt, new: bool) -> Names {
    match statement {
        Stmt::Pipe(left, right) => [operators(left, new), operators(right, new)].concat(),
        Stmt::Combine(op, left, right) => {
            let mut names = [operators(left, new), operators(right, new)].concat();
            names.push(match op {
                SetOp::Union | SetOp::UnionAll => "Union",
                SetOp::Intersect => "Intersect",
                SetOp::Minus => "Minus",
            });
            names.extend((*op == SetOp::Union).then_some("Dedup"));
            names
        }
        Stmt::Assign(_, inner) | Stmt::Reading(_, inner) => operators(inner, new),
        Stmt::Go(go) => of_go(go, new),
        Stmt::Match(query) => of_query(query, new),
        Stmt::FindPath(find) => of_path(find),
        Stmt::FetchTags { .. } => vec!["GetVertices", "Project"],
        Stmt::FetchEdges { .. } => vec!["GetEdges", "Filter", "Project"],
        Stmt::Lookup { yields, .. } => with_yield("IndexScan", yields.as_ref()),
        Stmt::Yield { yields, filter } => {
            let mut names = Vec::new();
            names.extend(filter.is_some().then_some("Filter"));
            let mut columns = yields.columns.iter();
            let aggregates = columns.any(|column| has_aggregate(&column.expr));
            names.push(if aggregates { "Aggregate" } else { "Project" });
            names
        }
        Stmt::GroupBy { .. } => vec!["Aggregate"],
        Stmt::OrderBy(_) => vec!["Sort"],
        Stmt::Limit { .. } => vec!["Limit"],
        Stmt::InsertVertices { .. } => vec!["InsertVertices"],
        Stmt::InsertEdges { .. } => vec!["InsertEdges"],
        Stmt::Update(update) => match update.target {
            crate::ngql::ast::Target::Vertex(_) => vec!["UpdateVertex"],
            crate::ngql::ast::Target::Edge(_) => vec!["UpdateEdge"],
        },
        Stmt::Show(_) => vec!["Show"],
        _ => vec!["Command"],
    }
}

fn with_yield(first: &'static str, yields: Option<&Yield>) -> Names {
    let mut names = vec![first, "Project"];
    names.extend(
        yields
            .is_some_and(|yields| yields.distinct)
            .then_some("Dedup"),
    );
    names
}

fn of_go(go: &Go, new: bool) -> Names {
    let mut names = if new {
        vec!["Expand", "ExpandAll"]
    } else {
        vec!["GetNeighbors"; usize::try_from(go.steps.1.min(64)).unwrap_or(1)]
    };
    names.extend(go.filter.is_some().then_some("Filter"));
    names.push("Project");
    let distinct = go.yields.as_ref().is_some_and(|yields| yields.distinct);
    names.extend(distinct.then_some("Dedup"));
    names
}

fn of_path(find: &FindPath) -> Names {
    let middle = if find.shortest {
        "BFSShortest"
    } else {
        "ProduceAllPaths"
    };
    vec!["GetNeighbors", middle, "DataCollect", "Project"]
}

fn of_query(query: &Query, new: bool) -> Names {
    let mut names = Vec::new();
    for clause in &query.clauses {
        match clause {
            Clause::Match(clause) => of_match(clause, new, &mut names),
            Clause::Unwind(..) => names.push("Unwind"),
            Clause::With(projection, filter) => {
                of_projection(projection, &mut names);
                names.extend(filter.is_some().then_some("Filter"));
            }
        }
    }
    of_projection(&query.result, &mut names);
    names
}

fn of_match(clause: &Match, new: bool, names: &mut Names) {
    let joined = !names.is_empty();
    for path in &clause.paths {
        names.push(if joined { "Argument" } else { "PassThrough" });
        for _ in &path.edges {
            names.push(if new { "Traverse" } else { "GetNeighbors" });
        }
        names.push(if new { "AppendVertices" } else { "GetVertices" });
    }
    if joined {
        names.push(if clause.optional {
            "HashLeftJoin"
        } else {
            "HashInnerJoin"
        });
    }
    names.extend(clause.filter.is_some().then_some("Filter"));
}

fn of_projection(projection: &Projection, names: &mut Names) {
    let mut columns = projection.columns.iter();
    let aggregates = columns.any(|column| has_aggregate(&column.expr));
    names.push(if aggregates { "Aggregate" } else { "Project" });
    names.extend(projection.distinct.then_some("Dedup"));
    names.extend((!projection.order.is_empty()).then_some("Sort"));
    let pages = projection.skip.is_some() || projection.limit.is_some();
    names.extend(pages.then_some("Limit"));
}
