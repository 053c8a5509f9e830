//! Property rows packed into large chunks: no allocation and eight bytes of bookkeeping per row.

#![expect(
    clippy::cast_possible_truncation,
    reason = "rows are bounded by the frame limit, and ids are two packed halves"
)]

/// Bytes of a chunk.
const CHUNK: usize = 1 << 20;

/// Where a row lies; 0 = the empty row.
pub(super) type RowId = u64;

/// Append-only store of byte strings.
#[derive(Debug, Default)]
pub(super) struct Arena {
    chunks: Vec<Vec<u8>>,
}

impl Arena {
    /// Stores `row`.
    pub(super) fn put(&mut self, row: &[u8]) -> RowId {
        if row.is_empty() {
            return 0;
        }
        let need = row.len() + 4;
        let room = self
            .chunks
            .last()
            .map_or(0, |chunk| chunk.capacity() - chunk.len());
        if room < need {
            self.chunks.push(Vec::with_capacity(need.max(CHUNK)));
        }
        let index = self.chunks.len() as u64;
        let Some(chunk) = self.chunks.last_mut() else {
            return 0;
        };
        let id = index << 32 | chunk.len() as u64;
        chunk.extend_from_slice(&(row.len() as u32).to_le_bytes());
        chunk.extend_from_slice(row);
        id
    }

    /// The row stored under `id`.
    pub(super) fn get(&self, id: RowId) -> &[u8] {
        self.find(id).unwrap_or_default()
    }

    fn find(&self, id: RowId) -> Option<&[u8]> {
        let index = usize::try_from(id >> 32).ok()?.checked_sub(1)?;
        let tail = self.chunks.get(index)?.get(id as u32 as usize..)?;
        let (length, tail) = tail.split_first_chunk::<4>()?;
        tail.get(..u32::from_le_bytes(*length) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back() {
        let mut arena = Arena::default();
        let rows: Vec<Vec<u8>> = (0..5000u32).map(|n| vec![7; n as usize]).collect();
        let ids: Vec<_> = rows.iter().map(|row| arena.put(row)).collect();
        let big = arena.put(&vec![7; 3 << 20]);
        for (row, id) in rows.iter().zip(&ids) {
            assert_eq!(arena.get(*id), row.as_slice());
        }
        assert_eq!(arena.get(big).len(), 3 << 20);
        assert_eq!(ids[0], 0);
        assert_eq!(arena.get(99 << 32), b"");
    }
}
