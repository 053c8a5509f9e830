//! Random draws: streams keyed by (seed, purpose, index), so that what one thing draws never depends on how much
//! another drew, and small helpers that give the same value on every platform.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// What a stream is for; part of its key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// A person's own attributes; index = serial.
    Person = 1,
    /// Rows about a person that are written only (e-mail, work, study); index = serial.
    PersonRows = 2,
    /// Friendships by place of study; index = block.
    KnowsStudy = 3,
    /// Friendships by interest; index = block.
    KnowsInterest = 4,
    /// Friendships at random; index = block.
    KnowsRandom = 5,
    /// Dates of friendships; index = 0.
    KnowsDates = 6,
    /// A person's forums with all that happens in them; index = rank.
    Activity = 7,
    /// How many friends a person wants; index = serial.
    Wishes = 9,
    /// The text that messages are cut from; index = 0.
    Text = 8,
}

/// One stream of draws.
#[derive(Debug)]
pub(crate) struct Draw(ChaCha8Rng);

impl Draw {
    pub(crate) fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        let mut key = [0; 32];
        for (slot, word) in key.chunks_exact_mut(8).zip([seed, purpose as u64, index]) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Uniform in `0..n`; 0 when `n` is 0. The bias is below n / 2^64.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(n);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// [`Self::below`] for positions in a slice.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// Uniform in `low..=high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in `n` of 1000 cases.
    pub(crate) fn permille(&mut self, n: u64) -> bool {
        self.below(1000) < n
    }

    /// Uniform in [0, 1) with 53 bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// `floor(n * u^2.5)`: mean 0.286 n, most values small.
    pub(crate) fn skewed(&mut self, n: u64) -> u64 {
        let u = self.unit();
        scaled(n, u * u * u.sqrt())
    }

    /// `floor(n * u^14.25)`: mean 0.066 n, nearly all values tiny. Close to LDBC's exponent 1/0.07 and, unlike
    /// it, made of exactly rounded operations.
    pub(crate) fn steep(&mut self, n: u64) -> u64 {
        let u = self.unit();
        let (u2, root) = (u * u, u.sqrt().sqrt());
        let u4 = u2 * u2;
        scaled(n, u4 * u4 * u4 * u2 * root)
    }

    /// Rank with geometric weights (each `percent` likelier than all the later ones), uniform beyond `n`.
    pub(crate) fn geometric(&mut self, percent: u64, n: u64) -> u64 {
        (0..n)
            .find(|_| self.below(100) < percent)
            .unwrap_or_else(|| self.below(n))
    }

    /// Fisher-Yates.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.index(end + 1));
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "n is far below 2^53 and the factor in [0, 1): the product is in 0..=n"
)]
fn scaled(n: u64, factor: f64) -> u64 {
    (n as f64 * factor) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pins the streams: a change here changes every data set ever made with a seed.
    #[test]
    fn streams_are_pinned() {
        let mut draw = Draw::new(42, Purpose::Person, 7);
        let drawn: Vec<u64> = (0..4).map(|_| draw.below(1_000_000)).collect();
        assert_eq!(drawn, PINNED);
    }
    const PINNED: [u64; 4] = [408_739, 493_274, 714_333, 490_199];

    #[test]
    fn ranges_and_skew() {
        let mut draw = Draw::new(1, Purpose::Text, 0);
        let mean = |total: u64| total / 20_000;
        let skewed: u64 = (0..20_000).map(|_| draw.skewed(1000)).sum();
        assert!((275..295).contains(&mean(skewed)), "{}", mean(skewed));
        let steep: u64 = (0..20_000).map(|_| draw.steep(1000)).sum();
        assert!((60..71).contains(&mean(steep)), "{}", mean(steep));
        assert!((0..1000).all(|_| (3..=5).contains(&draw.between(3, 5))));
        assert_eq!(draw.below(0), 0);
    }
}
