//! From a start to both ends of a pattern, edge by edge.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{
    cell::{Cell, Walk},
    pattern::{EdgePlan, PathPlan, fitting},
    rows::Rows,
    store::{Env, check_size},
    trail,
};
use crate::graph::{
    error::QueryError,
    exec::{
        hop::{Hop, hops},
        scan,
    },
    vid::Vid,
};

/// Edges by the vertex they are met at.
pub(super) type Met = HashMap<Vid, Vec<Arc<Hop>>>;

/// One step of a pattern: an edge and the end it leads to.
pub(super) struct Step<'p> {
    pub(super) plan: &'p PathPlan,
    pub(super) edge: usize,
    /// From right to left.
    pub(super) backwards: bool,
}

impl<'p> Step<'p> {
    pub(super) fn edge(&self) -> &'p EdgePlan {
        &self.plan.edges[self.edge]
    }

    /// The nodes it starts from and leads to.
    pub(super) const fn ends(&self) -> (usize, usize) {
        if self.backwards {
            (self.edge + 1, self.edge)
        } else {
            (self.edge, self.edge + 1)
        }
    }

    /// Where `hop` leads.
    pub(super) fn far<'h>(&self, hop: &'h Hop) -> &'h Vid {
        if self.backwards { &hop.from } else { &hop.to }
    }

    /// Edges at vertices that were not met before, as the pattern reads them: from left to right.
    pub(super) async fn meet(
        &self,
        met: &mut Met,
        vids: HashSet<Vid>,
        env: &Env<'_>,
    ) -> Result<(), QueryError> {
        let edge = self.edge();
        let fresh: Vec<Vid> = vids
            .into_iter()
            .filter(|vid| !met.contains_key(vid))
            .collect();
        let turned: Vec<i32> = edge.kinds.iter().map(|kind| -kind).collect();
        let kinds = if self.backwards { &turned } else { &edge.kinds };
        let found = hops(env.context, env.info, &fresh, kinds, edge.with_rows).await?;
        check_size(found.len())?;
        met.extend(fresh.into_iter().map(|vid| (vid, Vec::new())));
        for hop in found {
            let at = hop.from.clone();
            let hop = if self.backwards { hop.turned() } else { hop };
            if edge.fits(&hop, env.info)? {
                met.entry(at).or_default().push(Arc::new(hop));
            }
        }
        Ok(())
    }
}

/// Whether an edge is already in one of the cells.
pub(super) fn repeats(row: &[Cell], slots: &[usize], hop: &Hop) -> bool {
    let mut taken = slots.iter().flat_map(|slot| row[*slot].hops());
    taken.any(|past| past.identity() == hop.identity())
}

/// Walks the whole pattern from the node `from` to `to` (one further after a start at an edge).
pub(super) async fn walk(
    plan: &PathPlan,
    (from, to): (usize, usize),
    mut rows: Rows,
    env: &mut Env<'_>,
) -> Result<Rows, QueryError> {
    let ahead = (to..plan.edges.len()).map(|edge| (edge, false));
    let back = (0..from).rev().map(|edge| (edge, true));
    for (edge, backwards) in ahead.chain(back) {
        let step = Step {
            plan,
            edge,
            backwards,
        };
        rows = if step.edge().range.is_some() {
            trail::step(&step, rows, env).await?
        } else {
            fixed(&step, rows, env).await?
        };
    }
    Ok(rows)
}

/// Columns of the edges of `plan` that the rows already have.
pub(super) fn edge_slots(plan: &PathPlan, rows: &Rows) -> Vec<usize> {
    let edges = plan.edges.iter();
    edges.filter_map(|edge| rows.slot(&edge.name)).collect()
}

/// Where the rows already have the node that `step` leads to, and a table with room for what it adds.
pub(super) fn room(step: &Step<'_>, rows: &Rows) -> (Option<usize>, Rows) {
    let node = &step.plan.nodes[step.ends().1];
    let to = rows.slot(&node.name);
    let names = [
        Some(step.edge().name.clone()),
        to.is_none().then(|| node.name.clone()),
    ];
    (to, rows.wider(names.into_iter().flatten()))
}

async fn fixed(step: &Step<'_>, rows: Rows, env: &mut Env<'_>) -> Result<Rows, QueryError> {
    let (here, there) = step.ends();
    let node = &step.plan.nodes[there];
    let Some(from) = rows.slot(&step.plan.nodes[here].name) else {
        return Ok(rows);
    };
    let starts = rows.rows.iter().filter_map(|row| row[from].node());
    let mut met = Met::new();
    step.meet(&mut met, starts.cloned().collect(), env).await?;
    let ends = met.values().flatten().map(|hop| step.far(hop).clone());
    let fits = fitting(env, node, ends).await?;
    let used = edge_slots(step.plan, &rows);
    let (to, mut wider) = room(step, &rows);
    for row in &rows.rows {
        let found = row[from].node().and_then(|vid| met.get(vid));
        for hop in found.into_iter().flatten() {
            let far = step.far(hop);
            let right = fits.get(far) == Some(&true)
                && to.is_none_or(|slot| row[slot].node() == Some(far))
                && !repeats(row, &used, hop);
            if right {
                let end = to.is_none().then(|| Cell::Node(far.clone()));
                wider.extend(row, [Cell::Edge(Arc::clone(hop))].into_iter().chain(end))?;
            }
        }
    }
    Ok(wider)
}

/// Starts at the edges of an index: every edge of the types, with its ends.
pub(super) async fn by_edges(
    plan: &PathPlan,
    at: usize,
    limit: usize,
    rows: Rows,
    env: &mut Env<'_>,
) -> Result<Rows, QueryError> {
    let edge = &plan.edges[at];
    let (left, right) = (&plan.nodes[at], &plan.nodes[at + 1]);
    let mut found = Vec::new();
    let ids: HashSet<i32> = edge.kinds.iter().map(|kind| kind.abs()).collect();
    let ids: Vec<i32> = ids.into_iter().collect();
    scan::edges(env.context, env.info, &ids, limit, |hop| {
        let turned = edge
            .kinds
            .contains(&-hop.kind)
            .then(|| hop.clone().turned());
        let straight = edge.kinds.contains(&hop.kind).then_some(hop);
        for hop in straight.into_iter().chain(turned) {
            if found.len() < limit && edge.fits(&hop, env.info)? {
                found.push(Arc::new(hop));
            }
        }
        check_size(found.len())
    })
    .await?;
    let lefts = fitting(env, left, found.iter().map(|hop| hop.from.clone())).await?;
    let rights = fitting(env, right, found.iter().map(|hop| hop.to.clone())).await?;
    found.retain(|hop| lefts.get(&hop.from) == Some(&true) && rights.get(&hop.to) == Some(&true));
    let same = left.name == right.name;
    let last = (!same).then(|| right.name.clone());
    let mut wider = rows.wider(
        [left.name.clone(), edge.name.clone()]
            .into_iter()
            .chain(last),
    );
    for row in &rows.rows {
        for hop in found.iter().filter(|hop| !same || hop.from == hop.to) {
            let end = (!same).then(|| Cell::Node(hop.to.clone()));
            let cells = [Cell::Node(hop.from.clone()), Cell::Edge(Arc::clone(hop))];
            wider.extend(row, cells.into_iter().chain(end))?;
        }
    }
    Ok(wider)
}

/// Adds the column of the path itself.
pub(super) fn bind_path(plan: &PathPlan, rows: Rows) -> Result<Rows, QueryError> {
    let Some(alias) = &plan.alias else {
        return Ok(rows);
    };
    let first = plan.nodes.first().and_then(|node| rows.slot(&node.name));
    let edges = edge_slots(plan, &rows);
    let mut wider = rows.wider([alias.clone()]);
    for row in &rows.rows {
        let Some(start) = first.and_then(|slot| row[slot].node()) else {
            continue;
        };
        let walk = Walk {
            start: start.clone(),
            hops: edges
                .iter()
                .flat_map(|slot| row[*slot].hops().iter().cloned())
                .collect(),
        };
        wider.extend(row, [Cell::Path(Arc::new(walk))])?;
    }
    Ok(wider)
}
