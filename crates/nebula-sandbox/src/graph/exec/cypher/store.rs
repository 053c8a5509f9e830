//! What a statement has read of the graph so far, and how it asks for more.

use std::collections::{HashMap, HashSet};

use crate::graph::{
    catalog::SpaceInfo,
    error::QueryError,
    exec::Context,
    shards::{TagRows, tag_rows},
    vid::Vid,
};

/// Most cells that the rows of a statement may have at a time (about 40 bytes each).
const MAX_CELLS: usize = 4_000_000;

/// A statement's view of its space.
pub(super) struct Env<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) info: &'a SpaceInfo,
    /// 3.x reads `v.tag.prop`, 2.x `v.prop`.
    pub(super) by_tag: bool,
    tags: HashMap<Vid, TagRows>,
    asked: HashSet<Vid>,
}

impl<'a> Env<'a> {
    pub(super) fn new(context: &'a Context<'a>, info: &'a SpaceInfo) -> Self {
        Self {
            context,
            info,
            by_tag: context.engine.line.is_3x(),
            tags: HashMap::new(),
            asked: HashSet::new(),
        }
    }

    /// Reads the tags of vertices that were not read before.
    pub(super) async fn load(
        &mut self,
        vids: impl IntoIterator<Item = Vid>,
    ) -> Result<(), QueryError> {
        let fresh: Vec<Vid> = vids
            .into_iter()
            .filter(|vid| self.asked.insert(vid.clone()))
            .collect();
        if fresh.is_empty() {
            return Ok(());
        }
        let rows = tag_rows(self.context.engine, self.info, &fresh, &[]).await?;
        self.tags.extend(rows);
        check_size(self.tags.len())
    }

    /// Remembers what a scan brought along.
    pub(super) fn put(&mut self, vid: Vid, rows: TagRows) {
        self.asked.insert(vid.clone());
        self.tags.insert(vid, rows);
    }

    pub(super) fn forget(&mut self, vid: &Vid) {
        self.asked.remove(vid);
        self.tags.remove(vid);
    }

    /// Tags of a vertex that was read and has some.
    pub(super) fn tags_of(&self, vid: &Vid) -> Option<&TagRows> {
        self.tags.get(vid)
    }
}

/// Refuses to hold more than [`MAX_CELLS`].
pub(super) fn check_size(cells: usize) -> Result<(), QueryError> {
    if cells <= MAX_CELLS {
        return Ok(());
    }
    Err(QueryError::execution(format!(
        "sandbox: more than {MAX_CELLS} cells between two steps of a MATCH"
    )))
}
