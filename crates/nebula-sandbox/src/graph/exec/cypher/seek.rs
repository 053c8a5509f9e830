//! Where a path pattern starts: at a vertex the rows already have, at ids in the filter, at an index, or at a limited scan.

use std::collections::HashSet;

use super::{
    cell::Cell,
    pattern::{NodePlan, PathPlan, conjuncts, fitting, names, passes_alone},
    rows::Rows,
    scope::CellScope,
    store::Env,
};
use crate::{
    graph::{
        error::{Class, QueryError},
        eval::{self, NoScope, Scope},
        exec::scan,
        vid::Vid,
    },
    line::Line,
    meta::model::SchemaKind,
    ngql::ast::{Expr, Op},
};

/// An expression that names vertices, or a list of them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ids<'e> {
    One(&'e Expr),
    Each(&'e Expr),
}

impl<'e> Ids<'e> {
    const fn expr(self) -> &'e Expr {
        match self {
            Self::One(expr) | Self::Each(expr) => expr,
        }
    }
}

/// Where to begin.
#[derive(Debug)]
pub(super) enum Start<'e> {
    Bound(usize),
    Ids(usize, Vec<Ids<'e>>),
    Tag(usize, i32),
    Edge(usize),
    /// Any vertices or edges, so many.
    Scan(usize),
}

/// What a start is chosen by.
pub(super) struct Seek<'e> {
    pub(super) plan: &'e PathPlan,
    pub(super) filter: Option<&'e Expr>,
    /// Rows that are enough, where nothing but a LIMIT follows.
    pub(super) limit: Option<usize>,
    /// The statement, for the error of 2.x.
    pub(super) text: &'e str,
}

fn is_id_of(expr: &Expr, alias: &str) -> bool {
    let Expr::Call(name, args) = expr else {
        return false;
    };
    let named = matches!(args.as_slice(), [Expr::Name(found)] if found == alias);
    named && name.eq_ignore_ascii_case("id")
}

/// The ids `filter` allows for `alias`, if it names them.
fn wanted_ids<'e>(filter: &'e Expr, alias: &str) -> Option<Vec<Ids<'e>>> {
    match filter {
        Expr::Binary(Op::And, left, right) => {
            wanted_ids(left, alias).or_else(|| wanted_ids(right, alias))
        }
        Expr::Binary(Op::Or, left, right) => {
            let mut ids = wanted_ids(left, alias)?;
            ids.extend(wanted_ids(right, alias)?);
            Some(ids)
        }
        Expr::Binary(Op::Eq, left, right) if is_id_of(left, alias) => Some(vec![Ids::One(right)]),
        Expr::Binary(Op::Eq, left, right) if is_id_of(right, alias) => Some(vec![Ids::One(left)]),
        Expr::Binary(Op::In, left, right) if is_id_of(left, alias) => Some(vec![Ids::Each(right)]),
        _ => None,
    }
}

impl<'e> Seek<'e> {
    /// Finds the start, or the error the line has for a pattern without one.
    pub(super) fn choose(&self, rows: &Rows, env: &Env<'_>) -> Result<Start<'e>, QueryError> {
        let nodes = &self.plan.nodes;
        if let Some(at) = nodes
            .iter()
            .position(|node| rows.slot(&node.name).is_some())
        {
            return Ok(Start::Bound(at));
        }
        let known = |ids: &Ids<'_>| {
            let names = names(ids.expr());
            names.is_empty() || (env.by_tag && names.iter().all(|name| rows.slot(name).is_some()))
        };
        for (at, node) in nodes.iter().enumerate() {
            let ids = self
                .filter
                .and_then(|filter| wanted_ids(filter, &node.name));
            if let Some(ids) = ids.filter(|ids| ids.iter().all(known)) {
                return Ok(Start::Ids(at, ids));
            }
        }
        for (at, node) in nodes.iter().enumerate() {
            let mut tags = node.tags.iter();
            if let Some((_, id)) = tags.find(|(name, _)| has_index(env, SchemaKind::Tag, name)) {
                return Ok(Start::Tag(at, *id));
            }
        }
        self.edge_start(env)
            .or_else(|| self.scan_start(env))
            .ok_or_else(|| no_start(env.context.engine.line, self.text))
    }

    fn edge_start(&self, env: &Env<'_>) -> Option<Start<'e>> {
        let indexed = |kind: &i32| {
            let schema = env.info.edge_by_id(*kind);
            schema.is_some_and(|schema| has_index(env, SchemaKind::Edge, &schema.schema.name))
        };
        let mut edges = self.plan.edges.iter();
        edges
            .position(|edge| edge.range.is_none() && edge.kinds.iter().all(indexed))
            .map(Start::Edge)
    }

    /// 3.x reads a limited number of vertices, or of edges between nodes without names and labels.
    fn scan_start(&self, env: &Env<'_>) -> Option<Start<'e>> {
        let limit = self.limit.filter(|_| env.by_tag && self.filter.is_none())?;
        let plain = |node: &NodePlan| !node.is_picky() && node.name.starts_with(' ');
        let fits = match (self.plan.nodes.as_slice(), self.plan.edges.as_slice()) {
            ([node], []) => !node.has_props(),
            ([left, right], [edge]) => {
                let one_way = edge.kinds.iter().all(|kind| *kind > 0)
                    || edge.kinds.iter().all(|kind| *kind < 0);
                plain(left) && plain(right) && one_way && edge.range.is_none()
            }
            _ => false,
        };
        fits.then_some(Start::Scan(limit))
    }

    /// The rows with the start's column, or with those of an edge and its ends.
    pub(super) async fn begin(
        &self,
        start: &Start<'e>,
        rows: Rows,
        env: &mut Env<'_>,
    ) -> Result<Rows, QueryError> {
        let single = self.plan.edges.is_empty();
        match start {
            Start::Bound(at) => self.bound(*at, rows, env).await,
            Start::Ids(at, ids) => {
                let node = &self.plan.nodes[*at];
                let rows = by_ids(node, ids, &rows, env)?;
                // A vertex without edges must at least exist.
                self.checked(node, rows, env, single).await
            }
            Start::Tag(at, id) => {
                let node = &self.plan.nodes[*at];
                let vids = self.scan_tags(node, &[*id], usize::MAX, env).await?;
                crossed(node, &rows, &vids)
            }
            Start::Scan(limit) if single => {
                let node = &self.plan.nodes[0];
                let ids: Vec<i32> = node.tags.iter().map(|(_, id)| *id).collect();
                let vids = self.scan_tags(node, &ids, *limit, env).await?;
                crossed(node, &rows, &vids)
            }
            Start::Edge(_) | Start::Scan(_) => {
                let (at, limit) = match start {
                    Start::Edge(at) => (*at, usize::MAX),
                    Start::Scan(limit) => (0, *limit),
                    _ => (0, 0),
                };
                super::expand::by_edges(self.plan, at, limit, rows, env).await
            }
        }
    }

    async fn bound(&self, at: usize, rows: Rows, env: &mut Env<'_>) -> Result<Rows, QueryError> {
        let node = &self.plan.nodes[at];
        let mut rows = rows;
        if let Some(slot) = rows.slot(&node.name) {
            // A name that an OPTIONAL MATCH left NULL matches nothing.
            rows.rows.retain(|row| row[slot].node().is_some());
        }
        self.checked(node, rows, env, false).await
    }

    /// Drops rows whose vertex does not fit; with `exists` also those without any tag.
    async fn checked(
        &self,
        node: &NodePlan,
        mut rows: Rows,
        env: &mut Env<'_>,
        exists: bool,
    ) -> Result<Rows, QueryError> {
        let Some(slot) = rows.slot(&node.name) else {
            return Ok(rows);
        };
        let vids = |rows: &Rows| -> HashSet<Vid> {
            let cells = rows.rows.iter().filter_map(|row| row[slot].node());
            cells.cloned().collect()
        };
        if exists {
            env.load(vids(&rows)).await?;
            rows.rows.retain(|row| {
                row[slot]
                    .node()
                    .is_some_and(|vid| env.tags_of(vid).is_some())
            });
        }
        let fits = fitting(env, node, vids(&rows)).await?;
        rows.rows.retain(|row| {
            let fits = row[slot].node().and_then(|vid| fits.get(vid));
            fits.copied().unwrap_or(false)
        });
        Ok(rows)
    }

    /// Vertices with one of the tags that fit the node and what the filter says about it alone.
    async fn scan_tags(
        &self,
        node: &NodePlan,
        ids: &[i32],
        limit: usize,
        env: &mut Env<'_>,
    ) -> Result<Vec<Vid>, QueryError> {
        let filters: Vec<&Expr> = self.filter.map(conjuncts).unwrap_or_default();
        let alone: Vec<&Expr> = filters
            .into_iter()
            .filter(|filter| names(filter).iter().all(|name| *name == node.name))
            .collect();
        let (context, info) = (env.context, env.info);
        let mut found = Vec::new();
        scan::tags(context, info, ids, limit, |vid, rows| {
            if found.len() == limit {
                return Ok(());
            }
            let vid = Vid::of(vid);
            env.put(vid.clone(), rows);
            if node.fits(&vid, env)? && passes_alone(env, node, &vid, &alone)? {
                found.push(vid);
                super::store::check_size(found.len())
            } else {
                env.forget(&vid);
                Ok(())
            }
        })
        .await?;
        Ok(found)
    }
}

/// Rows with every vertex that the expressions name, which may depend on the row.
fn by_ids(
    node: &NodePlan,
    ids: &[Ids<'_>],
    rows: &Rows,
    env: &Env<'_>,
) -> Result<Rows, QueryError> {
    if ids.iter().all(|ids| names(ids.expr()).is_empty()) {
        return crossed(node, rows, &evaluated(ids, &NoScope, env)?);
    }
    let mut wider = rows.wider([node.name.clone()]);
    for row in &rows.rows {
        let scope = CellScope {
            env,
            columns: &rows.columns,
            row,
        };
        for vid in evaluated(ids, &scope, env)? {
            wider.extend(row, [Cell::Node(vid)])?;
        }
    }
    Ok(wider)
}

/// The vertices that expressions name; values that are no ids of the space match nothing.
fn evaluated(ids: &[Ids<'_>], scope: &dyn Scope, env: &Env<'_>) -> Result<Vec<Vid>, QueryError> {
    use nebula_wire::Value;
    let mut values = Vec::new();
    for ids in ids {
        match (ids, eval::eval(ids.expr(), scope)?) {
            (Ids::Each(_), Value::List(items) | Value::Set(items)) => values.extend(items),
            (Ids::Each(_), _) => {}
            (Ids::One(_), value) => values.push(value),
        }
    }
    let mut seen = HashSet::new();
    let vids = values
        .iter()
        .filter_map(|value| Vid::from_value(value, env.info.space.vid).ok());
    Ok(vids.filter(|vid| seen.insert(vid.clone())).collect())
}

/// Every row with every vertex.
fn crossed(node: &NodePlan, rows: &Rows, vids: &[Vid]) -> Result<Rows, QueryError> {
    let mut wider = rows.wider([node.name.clone()]);
    for row in &rows.rows {
        for vid in vids {
            wider.extend(row, [Cell::Node(vid.clone())])?;
        }
    }
    Ok(wider)
}

fn has_index(env: &Env<'_>, kind: SchemaKind, name: &str) -> bool {
    let mut indexes = env.info.space.indexes.values();
    indexes.any(|index| index.on == kind && index.schema == name)
}

fn no_start(line: Line, text: &str) -> QueryError {
    let text = match line {
        Line::V3_8_0 => "Scan vertices or edges need to specify a limit number, or limit number can not push down.".to_owned(),
        _ => format!("Can't solve the start vids from the sentence: {text}"),
    };
    match line {
        Line::V2_6_2 => QueryError::semantic(text),
        Line::V2_0_1 | Line::V3_8_0 => QueryError {
            class: Class::Execution,
            text,
        },
    }
}
