//! Query plans, as EXPLAIN and PROFILE return them.

use crate::WireError;
use crate::codec::{bounded_vec, read_list};
use crate::protocol::{ReadProtocol, TType, WriteProtocol};

/// Pairs of texts in wire order.
pub type Texts = Vec<(Vec<u8>, Vec<u8>)>;

/// Plan of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanDescription {
    /// Nodes.
    pub nodes: Vec<PlanNode>,
    /// Pairs of node id and position in `nodes`.
    pub node_index: Vec<(i64, i64)>,
    /// `row`, `dot`, `dot:struct` or `tck`.
    pub format: Vec<u8>,
    /// Optimizer time in microseconds.
    pub optimize_time_us: i32,
}

/// One node of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanNode {
    /// Operator name.
    pub name: Vec<u8>,
    /// Node id.
    pub id: i64,
    /// Variable the node writes.
    pub output_var: Vec<u8>,
    /// Key and value pairs.
    pub description: Option<Texts>,
    /// One entry per execution; only with PROFILE.
    pub profiles: Option<Vec<ProfilingStats>>,
    /// Branch of a select or loop node.
    pub branch: Option<PlanBranch>,
    /// Ids of the nodes this one reads from.
    pub dependencies: Option<Vec<i64>>,
}

/// Branch of a select or loop node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlanBranch {
    /// Whether this is the "then" or loop branch.
    pub is_do_branch: bool,
    /// Node that decides.
    pub condition_node: i64,
}

/// What one execution of a node cost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProfilingStats {
    /// Rows produced.
    pub rows: i64,
    /// Time in the operator, microseconds.
    pub exec_us: i64,
    /// Time including scheduling, microseconds.
    pub total_us: i64,
    /// Operator-specific values.
    pub other: Option<Texts>,
}

pub(crate) fn read_plan<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<PlanDescription, WireError> {
    let mut plan = PlanDescription::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::List) => plan.nodes = read_list(r, read_node)?,
            (2, TType::Map) => plan.node_index = read_index(r)?,
            (3, TType::Bytes) => plan.format = r.bytes()?.to_vec(),
            (4, TType::I32) => plan.optimize_time_us = r.i32()?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(plan)
}

fn read_index<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Vec<(i64, i64)>, WireError> {
    let count = r.map_of(TType::I64, TType::I64)?;
    let mut index = bounded_vec(count);
    for _ in 0..count {
        index.push((r.i64()?, r.i64()?));
    }
    Ok(index)
}

fn read_node<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<PlanNode, WireError> {
    let mut node = PlanNode::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::Bytes) => node.name = r.bytes()?.to_vec(),
            (2, TType::I64) => node.id = r.i64()?,
            (3, TType::Bytes) => node.output_var = r.bytes()?.to_vec(),
            (4, TType::List) => node.description = Some(read_list(r, read_pair)?),
            (5, TType::List) => node.profiles = Some(read_list(r, read_stats)?),
            (6, TType::Struct) => node.branch = Some(read_branch(r)?),
            (7, TType::List) => node.dependencies = Some(read_ids(r)?),
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(node)
}

fn read_pair<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<(Vec<u8>, Vec<u8>), WireError> {
    let mut pair = (Vec::new(), Vec::new());
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::Bytes) => pair.0 = r.bytes()?.to_vec(),
            (2, TType::Bytes) => pair.1 = r.bytes()?.to_vec(),
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(pair)
}

fn read_stats<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<ProfilingStats, WireError> {
    let mut stats = ProfilingStats::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::I64) => stats.rows = r.i64()?,
            (2, TType::I64) => stats.exec_us = r.i64()?,
            (3, TType::I64) => stats.total_us = r.i64()?,
            (4, TType::Map) => stats.other = Some(read_texts(r)?),
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(stats)
}

fn read_texts<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Texts, WireError> {
    let count = r.map_of(TType::Bytes, TType::Bytes)?;
    let mut texts = bounded_vec(count);
    for _ in 0..count {
        texts.push((r.bytes()?.to_vec(), r.bytes()?.to_vec()));
    }
    Ok(texts)
}

fn read_branch<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<PlanBranch, WireError> {
    let mut branch = PlanBranch::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::Bool) => branch.is_do_branch = r.bool()?,
            (2, TType::I64) => branch.condition_node = r.i64()?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(branch)
}

fn read_ids<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Vec<i64>, WireError> {
    let count = r.list_of(TType::I64)?;
    let mut ids = bounded_vec(count);
    for _ in 0..count {
        ids.push(r.i64()?);
    }
    Ok(ids)
}

pub(crate) fn write_plan<W: WriteProtocol>(w: &mut W, plan: &PlanDescription) {
    let outer = w.begin_struct();
    w.field(1, TType::List);
    w.list(TType::Struct, plan.nodes.len());
    for node in &plan.nodes {
        write_node(w, node);
    }
    w.field(2, TType::Map);
    w.map(TType::I64, TType::I64, plan.node_index.len());
    for (id, at) in &plan.node_index {
        w.i64(*id);
        w.i64(*at);
    }
    w.bytes_field(3, &plan.format);
    w.i32_field(4, plan.optimize_time_us);
    w.end_struct(outer);
}

fn write_node<W: WriteProtocol>(w: &mut W, node: &PlanNode) {
    let outer = w.begin_struct();
    w.bytes_field(1, &node.name);
    w.i64_field(2, node.id);
    w.bytes_field(3, &node.output_var);
    if let Some(description) = &node.description {
        w.field(4, TType::List);
        w.list(TType::Struct, description.len());
        for pair in description {
            write_pair(w, pair);
        }
    }
    if let Some(profiles) = &node.profiles {
        w.field(5, TType::List);
        w.list(TType::Struct, profiles.len());
        for stats in profiles {
            write_stats(w, stats);
        }
    }
    if let Some(branch) = node.branch {
        w.field(6, TType::Struct);
        write_branch(w, branch);
    }
    if let Some(ids) = &node.dependencies {
        w.field(7, TType::List);
        w.list(TType::I64, ids.len());
        for id in ids {
            w.i64(*id);
        }
    }
    w.end_struct(outer);
}

fn write_pair<W: WriteProtocol>(w: &mut W, (key, value): &(Vec<u8>, Vec<u8>)) {
    let outer = w.begin_struct();
    w.bytes_field(1, key);
    w.bytes_field(2, value);
    w.end_struct(outer);
}

fn write_stats<W: WriteProtocol>(w: &mut W, stats: &ProfilingStats) {
    let outer = w.begin_struct();
    w.i64_field(1, stats.rows);
    w.i64_field(2, stats.exec_us);
    w.i64_field(3, stats.total_us);
    if let Some(other) = &stats.other {
        w.field(4, TType::Map);
        w.map(TType::Bytes, TType::Bytes, other.len());
        for (key, value) in other {
            w.bytes(key);
            w.bytes(value);
        }
    }
    w.end_struct(outer);
}

fn write_branch<W: WriteProtocol>(w: &mut W, branch: PlanBranch) {
    let outer = w.begin_struct();
    w.bool_field(1, branch.is_do_branch);
    w.i64_field(2, branch.condition_node);
    w.end_struct(outer);
}
