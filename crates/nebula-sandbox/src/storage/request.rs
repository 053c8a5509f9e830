//! Bodies of storage requests and answers, for both sides.
//!
//! Everything starts with the space id (`u32`). Writes carry rows ready to be stored; reads name vertices and get
//! one block per vertex in the same order.

use super::vids::VidRef;
use crate::{
    meta::model::VidType,
    rpc::wire::{Malformed, Reader, put_bytes, put_signed, put_varint},
};

pub const OP_PUT_TAGS: u8 = 1;
pub const OP_PUT_EDGES: u8 = 2;
pub const OP_REMOVE_TAGS: u8 = 3;
pub const OP_REMOVE_EDGES: u8 = 4;
pub const OP_NEIGHBORS: u8 = 5;
pub const OP_TAGS: u8 = 6;
pub const OP_EDGES: u8 = 7;
pub const OP_SCAN_TAGS: u8 = 8;
pub const OP_SCAN_EDGES: u8 = 9;
pub const OP_COUNT: u8 = 20;
pub const OP_COMPACT: u8 = 21;
pub const OP_FLUSH: u8 = 22;
/// Partition, catalog version: serves it no more; answers how many vertices are in it (`u64`).
pub const OP_SEAL: u8 = 23;
/// Partition, number of the piece, how many pieces: answers writes.
pub const OP_EXPORT: u8 = 24;
/// Length of string ids (0 = integers), partitions, partition, catalog version, whether it is the first piece, writes.
pub const OP_IMPORT: u8 = 25;
/// Partitions of the space, partitions to be forgotten. Stands in logs as well.
pub const OP_PURGE: u8 = 26;

/// Starts a body.
pub fn start(space: u32) -> Vec<u8> {
    let mut body = Vec::with_capacity(256);
    body.extend_from_slice(&space.to_le_bytes());
    body
}

/// Appends a list of schema ids.
pub fn put_ids(body: &mut Vec<u8>, ids: &[i32]) {
    put_varint(body, ids.len() as u64);
    for id in ids {
        body.extend_from_slice(&id.to_le_bytes());
    }
}

/// Reads a list of schema ids.
pub fn read_ids(reader: &mut Reader<'_>) -> Result<Vec<i32>, Malformed> {
    let count = usize::try_from(reader.varint()?).map_err(|_| Malformed)?;
    if count > reader.rest().len() / 4 {
        return Err(Malformed);
    }
    (0..count).map(|_| reader.i32()).collect()
}

/// One side of an edge in `OP_PUT_EDGES` (with a row) and `OP_REMOVE_EDGES` (without).
/// `kind` is negative on the side of the destination.
pub fn put_edge(body: &mut Vec<u8>, kind: i32, here: VidRef<'_>, rank: i64, other: VidRef<'_>) {
    body.extend_from_slice(&kind.to_le_bytes());
    here.put(body);
    put_signed(body, rank);
    other.put(body);
}

/// The neighbours of one vertex in an answer to `OP_NEIGHBORS`.
#[derive(Debug, Clone, Copy)]
pub struct EdgeRow<'a> {
    pub kind: i32,
    pub rank: i64,
    pub other: VidRef<'a>,
    pub row: &'a [u8],
}

impl<'a> EdgeRow<'a> {
    pub(super) fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.kind.to_le_bytes());
        put_signed(out, self.rank);
        self.other.put(out);
        put_bytes(out, self.row);
    }

    /// Reads one edge of an answer.
    pub fn read(reader: &mut Reader<'a>, vid: VidType) -> Result<Self, Malformed> {
        Ok(Self {
            kind: reader.i32()?,
            rank: reader.signed()?,
            other: VidRef::read(reader, vid)?,
            row: reader.bytes()?,
        })
    }
}
