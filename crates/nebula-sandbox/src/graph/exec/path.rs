//! FIND SHORTEST PATH (from both ends at once) and FIND ALL|NOLOOP PATH (everything within reach, then depth first).

use std::collections::{HashMap, HashSet};

use nebula_wire::{
    DataSet, Value,
    value::{Path, Step, Vertex},
};

use super::{
    Context, Table,
    fetch::{missing_yield, start_vids},
    go::kinds,
    hop::{Hop, hops},
    scope::vertex_value,
};
use crate::{
    graph::{
        catalog::SpaceInfo,
        error::QueryError,
        eval::{self, Scope},
        row,
        shards::tag_rows,
        vid::{Vid, vid_value},
    },
    ngql::ast::{Column, Direction, FindPath},
};

/// `path` in a YIELD.
struct PathScope<'a>(&'a Value);

impl Scope for PathScope<'_> {
    fn name(&self, name: &str) -> Result<Value, QueryError> {
        if name.eq_ignore_ascii_case("path") {
            Ok(self.0.clone())
        } else {
            Err(QueryError::semantic(format!("`{name}' is not defined")))
        }
    }
}

/// What a search needs.
struct Search<'a> {
    context: &'a Context<'a>,
    info: &'a SpaceInfo,
    find: &'a FindPath,
    kinds: Vec<i32>,
}

pub(super) async fn run(context: &Context<'_>, find: &FindPath) -> Table {
    let info = context.space()?;
    let new = context.engine.line.is_3x();
    if new && find.yields.is_none() {
        return Err(missing_yield());
    }
    if !new && find.yields.is_some() {
        return Err(QueryError {
            class: crate::graph::error::Class::Syntax,
            text: "SyntaxError: syntax error near `YIELD'".to_owned(),
        });
    }
    let search = Search {
        context,
        info: &info,
        find,
        kinds: kinds(&info, &find.over)?,
    };
    let starts = start_vids(context, &info, &find.from)?;
    let targets = start_vids(context, &info, &find.to)?;
    let paths = if find.shortest {
        search.shortest(&starts, &targets).await?
    } else {
        search.all(&starts, &targets).await?
    };
    search.table(paths).await.map(Some)
}

impl Search<'_> {
    /// Edges out of `frontier`, or into it when `backwards`.
    async fn hops(&self, frontier: &[Vid], backwards: bool) -> Result<Vec<Hop>, QueryError> {
        let turned: Vec<i32> = self.kinds.iter().map(|kind| -kind).collect();
        let kinds = if backwards { &turned } else { &self.kinds };
        let rows = self.find.with_props;
        let mut hops = hops(self.context, self.info, frontier, kinds, rows).await?;
        if self.find.over.direction == Direction::Both {
            // A loop is met in both directions and is one edge.
            hops.retain(|hop| hop.kind > 0 || hop.from != hop.to);
        }
        if backwards {
            return Ok(hops.into_iter().map(Hop::turned).collect());
        }
        Ok(hops)
    }

    /// All shortest paths between every pair that is connected.
    async fn shortest(&self, starts: &[Vid], targets: &[Vid]) -> Result<Vec<Vec<Hop>>, QueryError> {
        let mut paths = Vec::new();
        for start in starts {
            for target in targets.iter().filter(|target| *target != start) {
                paths.extend(self.between(start, target).await?);
            }
        }
        Ok(paths)
    }

    async fn between(&self, start: &Vid, target: &Vid) -> Result<Vec<Vec<Hop>>, QueryError> {
        let (mut ahead, mut behind) = (Side::new(start), Side::new(target));
        for _ in 0..self.find.upto {
            let backwards = behind.frontier.len() < ahead.frontier.len();
            let side = if backwards { &mut behind } else { &mut ahead };
            let hops = self.hops(&side.frontier, backwards).await?;
            side.grow(hops, backwards);
            if side.frontier.is_empty() {
                return Ok(Vec::new());
            }
            let reached: HashSet<&Vid> = behind.frontier.iter().collect();
            let meetings: Vec<Vid> = ahead
                .frontier
                .iter()
                .filter(|vid| reached.contains(vid))
                .cloned()
                .collect();
            if !meetings.is_empty() {
                return Ok(joined(&meetings, &ahead, &behind));
            }
        }
        Ok(Vec::new())
    }

    /// Every path of at most `upto` steps without a repeated edge (or vertex).
    async fn all(&self, starts: &[Vid], targets: &[Vid]) -> Result<Vec<Vec<Hop>>, QueryError> {
        let mut edges: HashMap<Vid, Vec<Hop>> = HashMap::new();
        let mut frontier: Vec<Vid> = starts.to_vec();
        for _ in 0..self.find.upto {
            for vid in &frontier {
                edges.entry(vid.clone()).or_default();
            }
            let hops = self.hops(&frontier, false).await?;
            let next: HashSet<Vid> = hops.iter().map(|hop| hop.to.clone()).collect();
            for hop in hops {
                edges.entry(hop.from.clone()).or_default().push(hop);
            }
            frontier = next
                .into_iter()
                .filter(|vid| !edges.contains_key(vid))
                .collect();
            if frontier.is_empty() {
                break;
            }
        }
        let targets: HashSet<&Vid> = targets.iter().collect();
        let mut found = Vec::new();
        for start in starts {
            let mut walk = Walk {
                edges: &edges,
                targets: &targets,
                find: self.find,
                trail: Vec::new(),
            };
            walk.from(start, &mut found);
        }
        Ok(found)
    }

    async fn table(&self, mut paths: Vec<Vec<Hop>>) -> Result<DataSet, QueryError> {
        if let Some(limit) = self.find.limit {
            paths.truncate(usize::try_from(limit).unwrap_or(0));
        }
        let mut vertices = HashMap::new();
        if self.find.with_props {
            let vids: HashSet<Vid> = paths
                .iter()
                .flatten()
                .flat_map(|hop| [hop.from.clone(), hop.to.clone()])
                .collect();
            let vids: Vec<Vid> = vids.into_iter().collect();
            vertices = tag_rows(self.context.engine, self.info, &vids, &[]).await?;
        }
        let names = match &self.find.yields {
            Some(yields) => yields.columns.iter().map(Column::name).collect(),
            None => vec!["path".to_owned()],
        };
        let mut data = DataSet::with_columns(names);
        for path in &paths {
            let vertex = |vid: &Vid| match vertex_value(self.info, vid.as_ref(), vertices.get(vid))?
            {
                Value::Vertex(vertex) => Ok(*vertex),
                other => Ok::<_, QueryError>(Vertex {
                    vid: other,
                    tags: Vec::new(),
                }),
            };
            let value = self.value(path, vertex)?;
            let row = match &self.find.yields {
                None => vec![value],
                Some(yields) => {
                    let scope = PathScope(&value);
                    yields
                        .columns
                        .iter()
                        .map(|column| eval::eval(&column.expr, &scope))
                        .collect::<Result<_, _>>()?
                }
            };
            data.rows.push(row);
        }
        Ok(data)
    }

    fn value(
        &self,
        hops: &[Hop],
        vertex: impl Fn(&Vid) -> Result<Vertex, QueryError>,
    ) -> Result<Value, QueryError> {
        let mut path = Path::default();
        if let Some(first) = hops.first() {
            path.src = vertex(&first.from)?;
        }
        for hop in hops {
            let schema = self.info.edge_by_id(hop.kind);
            let name = schema.map_or("", |schema| schema.schema.name.as_str());
            let props = match schema {
                Some(schema) if self.find.with_props => row::read_all(schema, &hop.row)?,
                _ => Vec::new(),
            };
            path.steps.push(Step {
                dst: vertex(&hop.to)?,
                etype: hop.kind,
                name: name.as_bytes().to_vec(),
                ranking: hop.rank,
                props,
            });
        }
        debug_assert!(
            hops.first()
                .is_none_or(|hop| path.src.vid == vid_value(hop.from.as_ref()))
        );
        Ok(Value::Path(Box::new(path)))
    }
}

/// One end of a search for shortest paths: how each vertex was reached first.
struct Side {
    frontier: Vec<Vid>,
    reached: HashMap<Vid, Vec<Hop>>,
}

impl Side {
    fn new(start: &Vid) -> Self {
        Self {
            frontier: vec![start.clone()],
            reached: HashMap::from([(start.clone(), Vec::new())]),
        }
    }

    fn grow(&mut self, hops: Vec<Hop>, backwards: bool) {
        let mut fresh: HashMap<Vid, Vec<Hop>> = HashMap::new();
        for hop in hops {
            let end = if backwards { &hop.from } else { &hop.to };
            if !self.reached.contains_key(end) {
                fresh.entry(end.clone()).or_default().push(hop);
            }
        }
        self.frontier = fresh.keys().cloned().collect();
        self.reached.extend(fresh);
    }

    /// Every way between the start of this side and `vid`, in the direction of travel.
    fn ways(&self, vid: &Vid, backwards: bool) -> Vec<Vec<Hop>> {
        let Some(hops) = self.reached.get(vid).filter(|hops| !hops.is_empty()) else {
            return vec![Vec::new()];
        };
        let mut ways = Vec::new();
        for hop in hops {
            let before = if backwards { &hop.to } else { &hop.from };
            for mut way in self.ways(before, backwards) {
                if backwards {
                    way.insert(0, hop.clone());
                } else {
                    way.push(hop.clone());
                }
                ways.push(way);
            }
        }
        ways
    }
}

fn joined(meetings: &[Vid], ahead: &Side, behind: &Side) -> Vec<Vec<Hop>> {
    let mut paths = Vec::new();
    for vid in meetings {
        let ends = behind.ways(vid, true);
        for start in ahead.ways(vid, false) {
            paths.extend(ends.iter().map(|end| [start.as_slice(), end].concat()));
        }
    }
    paths
}

/// Depth-first enumeration.
struct Walk<'a> {
    edges: &'a HashMap<Vid, Vec<Hop>>,
    targets: &'a HashSet<&'a Vid>,
    find: &'a FindPath,
    trail: Vec<&'a Hop>,
}

impl<'a> Walk<'a> {
    fn from(&mut self, vid: &Vid, found: &mut Vec<Vec<Hop>>) {
        let edges: &'a HashMap<Vid, Vec<Hop>> = self.edges;
        for hop in edges.get(vid).into_iter().flatten() {
            if !self.may_take(hop) {
                continue;
            }
            self.trail.push(hop);
            if self.targets.contains(&hop.to) {
                found.push(self.trail.iter().map(|hop| (*hop).clone()).collect());
            }
            if self.trail.len() < self.find.upto as usize {
                self.from(&hop.to, found);
            }
            self.trail.pop();
        }
    }

    fn may_take(&self, hop: &Hop) -> bool {
        if self.find.no_loop {
            let visited = self.trail.iter().any(|past| past.from == hop.to);
            return !visited && hop.from != hop.to;
        }
        !self
            .trail
            .iter()
            .any(|past| past.identity() == hop.identity())
    }
}
