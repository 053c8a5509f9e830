//! Hashes: where a vertex lives, and the table hash of the in-memory store.

#![expect(clippy::cast_possible_truncation, reason = "hashes are cut on purpose")]

use std::hash::{BuildHasherDefault, Hasher};

/// `MurmurHash2` (64 bit, variant A) with the seed `std::hash` of libstdc++ uses; decides the partition of string ids.
pub fn murmur(bytes: &[u8]) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    let mix = |word: u64| {
        let word = word.wrapping_mul(M);
        (word ^ (word >> 47)).wrapping_mul(M)
    };
    let mut hash = 0xc70f_6907u64 ^ (bytes.len() as u64).wrapping_mul(M);
    let (words, tail) = bytes.as_chunks::<8>();
    for word in words {
        hash = (hash ^ mix(u64::from_le_bytes(*word))).wrapping_mul(M);
    }
    if !tail.is_empty() {
        let mut last = [0u8; 8];
        last[..tail.len()].copy_from_slice(tail);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(M);
    }
    hash ^= hash >> 47;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> 47)
}

/// Multiplies and folds: enough for ids that are not chosen by an enemy.
#[derive(Debug, Default, Clone, Copy)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 ^= murmur(bytes);
    }

    fn write_u64(&mut self, word: u64) {
        let wide = u128::from(word ^ self.0) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (wide >> 64) as u64 ^ wide as u64;
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

/// For `HashMap`s keyed by ids.
pub type IdHash = BuildHasherDefault<IdHasher>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        let mut seen = [0u32; 16];
        for id in 0..16_000u64 {
            let mut hasher = IdHasher::default();
            hasher.write_u64(id << 20);
            seen[(hasher.finish() >> 60) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (700..1300).contains(n)), "{seen:?}");
        let mut parts = [0u32; 24];
        for id in 0..24_000 {
            parts[(murmur(format!("person-{id}").as_bytes()) % 24) as usize] += 1;
        }
        assert!(parts.iter().all(|n| (850..1150).contains(n)), "{parts:?}");
    }
}
