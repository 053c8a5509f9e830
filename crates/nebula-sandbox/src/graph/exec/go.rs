//! GO: step by step over the edges; between the steps the vertices reached are made distinct, as in the original.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use nebula_wire::DataSet;

use super::{
    Context, Table,
    fetch::{check_prop, distinct, missing_yield, start_vids},
    scope::{EdgeScope, RowScope, walk},
};
use crate::{
    graph::{
        catalog::SpaceInfo,
        error::QueryError,
        eval,
        shards::{Answer, TagRows, each_edge, neighbors, tag_rows},
        vid::Vid,
    },
    meta::model::SchemaKind,
    ngql::ast::{Column, Direction, Expr, From, Go, Over, Yield},
};

/// What the expressions of a statement need to be read.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four things that may have to be read, independent of each other"
)]
struct Needs {
    edge_rows: bool,
    dst_tags: bool,
    src_tags: bool,
    input: bool,
}

/// Edge type ids of an OVER clause; negative ones go against the direction.
pub(super) fn kinds(info: &SpaceInfo, over: &Over) -> Result<Vec<i32>, QueryError> {
    let mut ids = Vec::new();
    if over.edges.is_empty() {
        ids.extend(info.space.edges.values().map(|edge| edge.id));
    }
    for name in &over.edges {
        let unknown =
            || QueryError::semantic(format!("{name} not found in space [{}].", info.space.name));
        ids.push(info.edge(name).ok_or_else(unknown)?.schema.id);
    }
    Ok(match over.direction {
        Direction::Out => ids,
        Direction::In => ids.iter().map(|id| -id).collect(),
        Direction::Both => ids.iter().flat_map(|id| [*id, -id]).collect(),
    })
}

pub(super) async fn run(context: &Context<'_>, go: &Go) -> Table {
    let info = context.space()?;
    let kinds = kinds(&info, &go.over)?;
    let standard;
    let yields = match &go.yields {
        Some(yields) => yields,
        None if context.engine.line.is_3x() => return Err(missing_yield()),
        None => {
            standard = default_yield(&info, &kinds);
            &standard
        }
    };
    let needs = needs(&info, go, yields)?;
    let mut data = DataSet::with_columns(yields.columns.iter().map(Column::name));
    let starts = start_vids(context, &info, &go.from)?;
    let mut origins = origins(context, go, &starts, needs.input);
    let mut frontier = unique(starts);
    let (first, last) = go.steps;
    for step in 1..=last {
        if frontier.is_empty() {
            break;
        }
        let yielding = step >= first;
        let rows = yielding && needs.edge_rows;
        let answers = neighbors(context.engine, &info, &frontier, &kinds, rows).await?;
        if yielding {
            let reading = Reading {
                context,
                info: &info,
                go,
                yields,
                needs: &needs,
            };
            reading
                .collect(&frontier, &answers, &origins, &mut data)
                .await?;
        }
        if step < last {
            let next = reached(&info, &answers)?;
            if !origins.is_empty() {
                origins = carried(&info, &frontier, &answers, &origins)?;
            }
            frontier = next;
        }
    }
    if yields.distinct {
        distinct(&mut data);
    }
    Ok(Some(data))
}

/// 2.x without YIELD: the far end, one column per edge type.
fn default_yield(info: &SpaceInfo, kinds: &[i32]) -> Yield {
    let names = kinds
        .iter()
        .filter_map(|kind| info.edge_by_id(*kind))
        .map(|edge| edge.schema.name.clone());
    let mut columns: Vec<Column> = Vec::new();
    for name in names {
        let expr = Expr::Prop(name, "_dst".to_owned());
        if !columns.iter().any(|column| column.expr == expr) {
            columns.push(Column { expr, alias: None });
        }
    }
    Yield {
        distinct: false,
        columns,
    }
}

/// Finds out what has to be read, and refuses names that do not exist.
fn needs(info: &SpaceInfo, go: &Go, yields: &Yield) -> Result<Needs, QueryError> {
    let mut needs = Needs::default();
    let mut result = Ok(());
    let exprs = yields
        .columns
        .iter()
        .map(|column| &column.expr)
        .chain(&go.filter);
    for expr in exprs {
        walk(expr, &mut |expr| {
            let checked = match expr {
                Expr::Prop(owner, prop) => {
                    needs.edge_rows |= !prop.starts_with('_');
                    check_prop(info, SchemaKind::Edge, owner, prop)
                }
                Expr::DstProp(tag, prop) => {
                    needs.dst_tags = true;
                    check_prop(info, SchemaKind::Tag, tag, prop)
                }
                Expr::SrcProp(tag, prop) => {
                    needs.src_tags = true;
                    check_prop(info, SchemaKind::Tag, tag, prop)
                }
                _ => Ok(()),
            };
            if result.is_ok() {
                result = checked;
            }
        });
        note_whole(expr, &mut needs);
    }
    result.map(|()| needs)
}

/// Whole vertices and edges need their properties, except where only their id is asked for.
fn note_whole(expr: &Expr, needs: &mut Needs) {
    if let Expr::Call(name, args) = expr {
        let plain = ["id", "src", "dst", "rank", "type", "typeid"];
        if plain.iter().any(|known| name.eq_ignore_ascii_case(known))
            && matches!(args.as_slice(), [Expr::Dst | Expr::Src | Expr::Name(_)])
        {
            return;
        }
    }
    let mut first = true;
    walk(expr, &mut |inner| {
        match inner {
            Expr::Dst => needs.dst_tags = true,
            Expr::Src => needs.src_tags = true,
            Expr::Name(name) if name.eq_ignore_ascii_case("edge") => needs.edge_rows = true,
            Expr::Input(_) | Expr::Var(..) => needs.input = true,
            _ => {}
        }
        first = false;
    });
}

fn unique(vids: Vec<Vid>) -> Vec<Vid> {
    if vids.len() < 2 {
        return vids;
    }
    let mut seen = HashSet::with_capacity(vids.len());
    vids.into_iter()
        .filter(|vid| seen.insert(vid.clone()))
        .collect()
}

fn reached(info: &SpaceInfo, answers: &[Answer]) -> Result<Vec<Vid>, QueryError> {
    let mut seen = HashSet::new();
    let mut vids = Vec::new();
    each_edge(info, answers, |_, edge| {
        if seen.insert(edge.other) {
            vids.push(Vid::of(edge.other));
        }
        Ok(())
    })?;
    Ok(vids)
}

/// Rows of the piped table by the vertex they start from.
fn origins(
    context: &Context<'_>,
    go: &Go,
    starts: &[Vid],
    wanted: bool,
) -> HashMap<Vid, Vec<usize>> {
    let mut origins: HashMap<Vid, Vec<usize>> = HashMap::new();
    if wanted && context.input.is_some() && matches!(go.from, From::Input(_)) {
        for (row, vid) in starts.iter().enumerate() {
            origins.entry(vid.clone()).or_default().push(row);
        }
    }
    origins
}

/// Takes the rows along one step: a vertex belongs to every row from which some way leads to it.
fn carried(
    info: &SpaceInfo,
    frontier: &[Vid],
    answers: &[Answer],
    origins: &HashMap<Vid, Vec<usize>>,
) -> Result<HashMap<Vid, Vec<usize>>, QueryError> {
    let mut next: HashMap<Vid, Vec<usize>> = HashMap::new();
    each_edge(info, answers, |member, edge| {
        if let Some(rows) = origins.get(&frontier[member]) {
            next.entry(Vid::of(edge.other)).or_default().extend(rows);
        }
        Ok(())
    })?;
    for rows in next.values_mut() {
        rows.sort_unstable();
        rows.dedup();
    }
    Ok(next)
}

/// Everything that turning edges into rows needs.
struct Reading<'a> {
    context: &'a Context<'a>,
    info: &'a Arc<SpaceInfo>,
    go: &'a Go,
    yields: &'a Yield,
    needs: &'a Needs,
}

impl Reading<'_> {
    async fn collect(
        &self,
        frontier: &[Vid],
        answers: &[Answer],
        origins: &HashMap<Vid, Vec<usize>>,
        data: &mut DataSet,
    ) -> Result<(), QueryError> {
        let ends = self.ends(frontier, answers).await?;
        each_edge(self.info, answers, |member, edge| {
            // An edge type that was dropped leaves its edges behind.
            let Some(schema) = self.info.edge_by_id(edge.kind) else {
                return Ok(());
            };
            let src = &frontier[member];
            let mut scope = EdgeScope {
                info: self.info,
                src,
                edge,
                schema,
                ends: &ends,
                input: None,
            };
            let Some(rows) = origins.get(src) else {
                return self.push(&scope, data);
            };
            for row in rows {
                let input = self.context.input.as_ref();
                scope.input = input.map(|table| RowScope {
                    table,
                    row: &table.rows[*row],
                });
                self.push(&scope, data)?;
            }
            Ok(())
        })
    }

    fn push(&self, scope: &EdgeScope<'_>, data: &mut DataSet) -> Result<(), QueryError> {
        if !eval::passes(self.go.filter.as_ref(), scope)? {
            return Ok(());
        }
        let mut row = Vec::with_capacity(self.yields.columns.len());
        for column in &self.yields.columns {
            row.push(eval::eval(&column.expr, scope)?);
        }
        data.rows.push(row);
        Ok(())
    }

    /// Tags of the vertices at the ends of the edges, as far as they are needed.
    async fn ends(
        &self,
        frontier: &[Vid],
        answers: &[Answer],
    ) -> Result<HashMap<Vid, TagRows>, QueryError> {
        let mut vids = Vec::new();
        if self.needs.dst_tags {
            vids = reached(self.info, answers)?;
        }
        if self.needs.src_tags {
            vids.extend(frontier.iter().cloned());
        }
        if vids.is_empty() {
            return Ok(HashMap::new());
        }
        tag_rows(self.context.engine, self.info, &unique(vids), &[]).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_needs_no_properties() {
        let parse = |text: &str| {
            let statements =
                crate::ngql::parse(format!("YIELD {text}").as_bytes()).expect("parses");
            match &statements[0] {
                crate::ngql::ast::Stmt::Yield { yields, .. } => yields.columns[0].expr.clone(),
                other => panic!("{other:?}"),
            }
        };
        let cases = [
            ("id($$)", false),
            ("properties($$).x", true),
            ("$$", true),
            ("id($$) + 1", true),
        ];
        for (text, tags) in cases {
            let mut needs = Needs::default();
            note_whole(&parse(text), &mut needs);
            assert_eq!(needs.dst_tags, tags, "{text}");
        }
    }
}
