//! Ids as LDBC makes them: the time bucket in the high bits, so that ids grow with time and spread over partitions
//! the way they do in a real data set. Unique within persons, within forums and within messages only.

use crate::clock::{Millis, bucket};

/// Persons per block: the unit in which ids are counted and friends are sought.
pub(crate) const BLOCK: usize = 10_000;

/// Id of a person: bucket of its creation, then the serial in order of generation.
pub(crate) const fn person(created: Millis, serial: u64) -> u64 {
    bucket(created) << 41 | serial
}

/// Counts the forums and messages of one block.
#[derive(Debug)]
pub(crate) struct Ids {
    bits: u32,
    block: u64,
    forums: u64,
    messages: u64,
}

impl Ids {
    /// For `persons` in all, at block 0.
    pub(crate) fn new(persons: u64) -> Self {
        let blocks = persons.div_ceil(BLOCK as u64);
        Self {
            bits: blocks.next_power_of_two().trailing_zeros(),
            block: 0,
            forums: 0,
            messages: 0,
        }
    }

    /// Tells in which block the next ids are made; counting restarts with each.
    pub(crate) fn enter(&mut self, block: u64) {
        if block != self.block {
            *self = Self {
                bits: self.bits,
                block,
                forums: 0,
                messages: 0,
            };
        }
    }

    pub(crate) fn forum(&mut self, date: Millis) -> u64 {
        self.forums += 1;
        self.make(date, self.forums - 1)
    }

    /// Id of a post, photo or comment: they share one counter.
    pub(crate) fn message(&mut self, date: Millis) -> u64 {
        self.messages += 1;
        self.make(date, self.messages - 1)
    }

    fn make(&self, date: Millis, counter: u64) -> u64 {
        let wide = bucket(date) << 36 | counter;
        (wide >> 20) << (20 + self.bits) | self.block << 20 | (wide & 0xF_FFFF)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{FROM, TO};

    /// Bucket, counter and block must be read back from the id for every number of blocks.
    #[test]
    fn ids_carry_bucket_block_and_counter() {
        for (persons, bits) in [
            (1, 0),
            (10_000, 0),
            (11_000, 1),
            (27_000, 2),
            (73_000, 3),
            (499_000, 6),
        ] {
            let mut ids = Ids::new(persons);
            assert_eq!(ids.bits, bits, "{persons}");
            let block = (persons - 1) / 10_000;
            ids.enter(block);
            ids.messages = 0x12_3456;
            let id = ids.message(TO - 1);
            assert_eq!(id & 0xF_FFFF, 0x2_3456);
            assert_eq!((id >> 20) & ((1 << bits) - 1), block);
            assert_eq!(id >> (20 + bits), (17 << 16) | 1);
        }
    }

    #[test]
    fn known_ids() {
        assert_eq!(
            person(FROM + 130 * crate::clock::DAY, 5410),
            4_398_046_516_514
        );
        let mut ids = Ids::new(250);
        assert_eq!(
            (ids.forum(FROM), ids.forum(FROM), ids.message(FROM)),
            (0, 1, 0)
        );
    }
}
