//! A path pattern with its names looked up: which tags, edge types and values it wants.

use std::collections::{HashMap, HashSet};

use nebula_wire::Value;

use super::{rows::Rows, scope::CellScope, store::Env};
use crate::{
    graph::{
        catalog::SpaceInfo,
        error::QueryError,
        eval::{self, NoScope, Scope},
        exec::{hop::Hop, scope::walk},
        operators::compare,
        row,
        vid::Vid,
    },
    ngql::{
        ast::{Direction, Expr},
        cypher::{Clause, EdgePattern, NodePattern, PathPattern, Projection, Query, Shortest},
    },
};

/// Names whose properties a statement reads, not only their ids.
#[derive(Debug, Default)]
pub(super) struct Needs {
    names: HashSet<String>,
    everything: bool,
}

/// Functions that are answered without properties.
const PLAIN: &[&str] = &[
    "id", "src", "dst", "rank", "type", "typeid", "length", "size",
];

impl Needs {
    pub(super) fn of(query: &Query) -> Self {
        let mut needs = Self::default();
        for clause in &query.clauses {
            match clause {
                Clause::Match(clause) => needs.note_all(&clause.filter),
                Clause::Unwind(list, _) => needs.note(list),
                Clause::With(projection, filter) => {
                    needs.project(projection);
                    needs.note_all(filter);
                }
            }
        }
        needs.project(&query.result);
        needs
    }

    fn project(&mut self, projection: &Projection) {
        self.everything |= projection.all;
        self.note_all(projection.columns.iter().map(|column| &column.expr));
    }

    fn note_all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        for expr in exprs {
            self.note(expr);
        }
    }

    fn note(&mut self, expr: &Expr) {
        match expr {
            Expr::Call(name, args)
                if matches!(args.as_slice(), [Expr::Name(_)])
                    && PLAIN.iter().any(|plain| name.eq_ignore_ascii_case(plain)) => {}
            Expr::Aggregate(name, _, Some(argument))
                if name.eq_ignore_ascii_case("count") && matches!(**argument, Expr::Name(_)) => {}
            Expr::Name(name) | Expr::Prop(name, _) => drop(self.names.insert(name.clone())),
            _ => expr.children(&mut |inner| self.note(inner)),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.everything || self.names.contains(name)
    }
}

/// What a vertex must be.
#[derive(Debug)]
pub(super) struct NodePlan {
    /// Its column.
    pub(super) name: String,
    /// Name and id of tags it must have.
    pub(super) tags: Vec<(String, i32)>,
    props: Vec<(Option<i32>, String, Value)>,
}

impl NodePlan {
    /// Whether its tags must be read to know that it fits.
    pub(super) const fn is_picky(&self) -> bool {
        !self.tags.is_empty() || !self.props.is_empty()
    }

    pub(super) const fn has_props(&self) -> bool {
        !self.props.is_empty()
    }

    /// Whether a vertex that was read fits.
    pub(super) fn fits(&self, vid: &Vid, env: &Env<'_>) -> Result<bool, QueryError> {
        let none = Vec::new();
        let rows = env.tags_of(vid).unwrap_or(&none);
        let has = |id: i32| rows.iter().any(|(known, _)| *known == id);
        if !self.tags.iter().all(|(_, id)| has(*id)) {
            return Ok(false);
        }
        for (tag, name, wanted) in &self.props {
            let mut found = false;
            for (id, bytes) in rows
                .iter()
                .filter(|(id, _)| tag.is_none_or(|tag| tag == *id))
            {
                if let Some(schema) = env.info.tag_by_id(*id)
                    && schema.place(name).is_some()
                {
                    found |= equal(&row::read_field(schema, bytes, name)?, wanted);
                }
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn equal(left: &Value, right: &Value) -> bool {
    compare(left, right).is_some_and(std::cmp::Ordering::is_eq)
}

/// What an edge must be.
#[derive(Debug)]
pub(super) struct EdgePlan {
    pub(super) name: String,
    /// From left to right; negative ones go against the edge.
    pub(super) kinds: Vec<i32>,
    pub(super) direction: Direction,
    pub(super) range: Option<(u32, Option<u32>)>,
    props: Vec<(String, Value)>,
    /// Its properties must be read.
    pub(super) with_rows: bool,
}

impl EdgePlan {
    /// Whether an edge fits. A loop that is met in both directions counts once.
    pub(super) fn fits(&self, hop: &Hop, info: &SpaceInfo) -> Result<bool, QueryError> {
        if self.direction == Direction::Both && hop.kind < 0 && hop.from == hop.to {
            return Ok(false);
        }
        let Some(schema) = info.edge_by_id(hop.kind) else {
            return Ok(false);
        };
        for (name, wanted) in &self.props {
            let there = schema.place(name).is_some();
            if !there || !equal(&row::read_field(schema, &hop.row, name)?, wanted) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A path pattern, ready to be walked.
#[derive(Debug)]
pub(super) struct PathPlan {
    pub(super) alias: Option<String>,
    pub(super) nodes: Vec<NodePlan>,
    pub(super) edges: Vec<EdgePlan>,
    pub(super) shortest: Option<Shortest>,
}

impl PathPlan {
    /// `number` keeps the names of anonymous elements apart.
    pub(super) fn new(
        path: &PathPattern,
        number: usize,
        rows: &Rows,
        env: &Env<'_>,
        needs: &Needs,
    ) -> Result<Self, QueryError> {
        let whole = path.alias.as_ref().is_some_and(|alias| needs.has(alias));
        let mut plan = Self {
            alias: path.alias.clone(),
            nodes: Vec::new(),
            edges: Vec::new(),
            shortest: path.shortest,
        };
        for (at, node) in path.nodes.iter().enumerate() {
            let hidden = || format!(" {number}n{at}");
            let name = node.alias.clone().unwrap_or_else(hidden);
            plan.nodes.push(node_plan(node, name, env)?);
        }
        for (at, edge) in path.edges.iter().enumerate() {
            let hidden = || format!(" {number}e{at}");
            let name = edge.alias.clone().unwrap_or_else(hidden);
            let taken = plan.nodes.iter().any(|node| node.name == name)
                || plan.edges.iter().any(|known| known.name == name);
            if taken || rows.slot(&name).is_some() {
                return Err(redefined(&name));
            }
            let mut edge = edge_plan(edge, name, env)?;
            edge.with_rows |= whole || needs.has(&edge.name);
            plan.edges.push(edge);
        }
        Ok(plan)
    }
}

pub(super) fn redefined(name: &str) -> QueryError {
    QueryError::semantic(format!("`{name}': Redefined alias"))
}

fn constant(expr: &Expr) -> Result<Value, QueryError> {
    eval::eval(expr, &NoScope)
        .map_err(|_| QueryError::not_supported("a value in a pattern that is no constant"))
}

fn node_plan(node: &NodePattern, name: String, env: &Env<'_>) -> Result<NodePlan, QueryError> {
    let mut tags = Vec::new();
    for label in &node.labels {
        let unknown = || QueryError::semantic(format!("`{label}': Unknown tag"));
        let schema = env.info.tag(label).ok_or_else(unknown)?;
        tags.push((label.clone(), schema.schema.id));
    }
    let mut props = Vec::new();
    for (label, prop, value) in &node.props {
        let tag = tags.iter().find(|(name, _)| Some(name) == label.as_ref());
        props.push((tag.map(|(_, id)| *id), prop.clone(), constant(value)?));
    }
    Ok(NodePlan { name, tags, props })
}

fn edge_plan(edge: &EdgePattern, name: String, env: &Env<'_>) -> Result<EdgePlan, QueryError> {
    let mut ids = Vec::new();
    for kind in &edge.types {
        let unknown = || QueryError::semantic(format!("`{kind}': Unknown edge type"));
        ids.push(env.info.edge(kind).ok_or_else(unknown)?.schema.id);
    }
    if edge.types.is_empty() {
        ids.extend(env.info.space.edges.values().map(|edge| edge.id));
    }
    let kinds = match edge.direction {
        Direction::Out => ids,
        Direction::In => ids.iter().map(|id| -id).collect(),
        Direction::Both => ids.iter().flat_map(|id| [*id, -id]).collect(),
    };
    let mut props = Vec::new();
    for (prop, value) in &edge.props {
        props.push((prop.clone(), constant(value)?));
    }
    Ok(EdgePlan {
        name,
        kinds,
        direction: edge.direction,
        range: edge.range,
        with_rows: !props.is_empty(),
        props,
    })
}

/// The parts of a filter that must all hold.
pub(super) fn conjuncts(filter: &Expr) -> Vec<&Expr> {
    match filter {
        Expr::Binary(crate::ngql::ast::Op::And, left, right) => {
            let mut parts = conjuncts(left);
            parts.extend(conjuncts(right));
            parts
        }
        other => vec![other],
    }
}

/// Names that `expr` mentions.
pub(super) fn names(expr: &Expr) -> HashSet<&str> {
    let mut names = HashSet::new();
    walk(expr, &mut |expr| {
        if let Expr::Name(name) | Expr::Prop(name, _) = expr {
            names.insert(name.as_str());
        }
    });
    names
}

/// Keeps the vertices that fit a node and the parts of the filter about it alone.
pub(super) async fn fitting(
    env: &mut Env<'_>,
    node: &NodePlan,
    vids: impl IntoIterator<Item = Vid>,
) -> Result<HashMap<Vid, bool>, QueryError> {
    let vids: HashSet<Vid> = vids.into_iter().collect();
    if node.is_picky() {
        env.load(vids.iter().cloned()).await?;
    }
    let mut fitting = HashMap::with_capacity(vids.len());
    for vid in vids {
        let fits = !node.is_picky() || node.fits(&vid, env)?;
        fitting.insert(vid, fits);
    }
    Ok(fitting)
}

/// Whether a vertex passes `filters` that mention no other name than its own.
pub(super) fn passes_alone(
    env: &Env<'_>,
    node: &NodePlan,
    vid: &Vid,
    filters: &[&Expr],
) -> Result<bool, QueryError> {
    let columns = [node.name.clone()];
    let row = [super::cell::Cell::Node(vid.clone())];
    let scope = CellScope {
        env,
        columns: &columns,
        row: &row,
    };
    for filter in filters {
        if !eval::passes(Some(filter), &scope as &dyn Scope)? {
            return Ok(false);
        }
    }
    Ok(true)
}
