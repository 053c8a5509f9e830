//! Steps of variable length: breadth first, no edge twice, one row for every way there is.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::Arc,
};

use super::{
    cell::Cell,
    expand::{Met, Step, edge_slots, repeats, room},
    pattern::fitting,
    rows::Rows,
    store::{Env, check_size},
};
use crate::{
    graph::{error::QueryError, exec::hop::Hop, vid::Vid},
    ngql::cypher::Shortest,
};

/// A way that is still growing.
struct Way {
    /// The row it started from.
    row: usize,
    at: Vid,
    hops: Vec<Arc<Hop>>,
}

pub(super) async fn step(
    step: &Step<'_>,
    rows: Rows,
    env: &mut Env<'_>,
) -> Result<Rows, QueryError> {
    let (here, there) = step.ends();
    let node = &step.plan.nodes[there];
    let (least, most) = step.edge().range.unwrap_or((1, Some(1)));
    let Some(from) = rows.slot(&step.plan.nodes[here].name) else {
        return Ok(rows);
    };
    let used = edge_slots(step.plan, &rows);
    let (to, mut wider) = room(step, &rows);
    let mut ways = Vec::new();
    for (at, row) in rows.rows.iter().enumerate() {
        ways.extend(row[from].node().map(|vid| Way {
            row: at,
            at: vid.clone(),
            hops: Vec::new(),
        }));
    }
    let mut met = Met::new();
    let mut seen = Seen {
        shortest: step.plan.shortest,
        at: HashMap::new(),
    };
    let mut length = 0;
    seen.keep(&mut ways, length);
    while !ways.is_empty() {
        if length >= least {
            let fits = fitting(env, node, ways.iter().map(|way| way.at.clone())).await?;
            for way in &ways {
                let row = &rows.rows[way.row];
                let bound = to.is_none_or(|slot| row[slot].node() == Some(&way.at));
                if bound && fits.get(&way.at) == Some(&true) {
                    let end = to.is_none().then(|| Cell::Node(way.at.clone()));
                    wider.extend(row, [trail(step, way)].into_iter().chain(end))?;
                }
            }
        }
        if most.is_some_and(|most| length >= most) {
            break;
        }
        let starts: HashSet<Vid> = ways.iter().map(|way| way.at.clone()).collect();
        step.meet(&mut met, starts, env).await?;
        ways = longer(step, &ways, &met, &rows, &used)?;
        length += 1;
        seen.keep(&mut ways, length);
    }
    Ok(wider)
}

/// Where the ways of each row have been: what a shortest one does not come back to.
struct Seen {
    shortest: Option<Shortest>,
    at: HashMap<(usize, Vid), u32>,
}

impl Seen {
    /// Keeps the ways that are the first ones where they have come to, or all that came in the same step.
    fn keep(&mut self, ways: &mut Vec<Way>, length: u32) {
        let Some(shortest) = self.shortest else {
            return;
        };
        ways.retain(|way| match self.at.entry((way.row, way.at.clone())) {
            Entry::Vacant(place) => {
                place.insert(length);
                true
            }
            Entry::Occupied(place) => shortest == Shortest::All && *place.get() == length,
        });
    }
}

/// Every way, one edge longer.
fn longer(
    step: &Step<'_>,
    ways: &[Way],
    met: &Met,
    rows: &Rows,
    used: &[usize],
) -> Result<Vec<Way>, QueryError> {
    let mut next = Vec::new();
    let mut edges = 0;
    for way in ways {
        for hop in met.get(&way.at).into_iter().flatten() {
            let again = way
                .hops
                .iter()
                .any(|past| past.identity() == hop.identity());
            if again || repeats(&rows.rows[way.row], used, hop) {
                continue;
            }
            let mut hops = Vec::with_capacity(way.hops.len() + 1);
            hops.extend_from_slice(&way.hops);
            hops.push(Arc::clone(hop));
            edges += hops.len() + 1;
            check_size(edges)?;
            next.push(Way {
                row: way.row,
                at: step.far(hop).clone(),
                hops,
            });
        }
    }
    Ok(next)
}

/// The edges in the order of the pattern.
fn trail(step: &Step<'_>, way: &Way) -> Cell {
    if step.backwards {
        return Cell::Trail(way.hops.iter().rev().cloned().collect());
    }
    Cell::Trail(way.hops.iter().cloned().collect())
}
