//! Random numbers and mutations from a seed.

/// xorshift64*: enough for mutations, and a failure is repeated from its seed alone.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// The same seed gives the same numbers.
    pub const fn new(seed: u64) -> Self {
        Self(if seed == 0 { 1 } else { seed })
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 8
    }

    /// A number below `limit`; 0 when that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).unwrap_or(usize::MAX) % limit.max(1)
    }

    /// One of `all`, its default when there is none.
    pub fn pick<T: Copy + Default>(&mut self, all: &[T]) -> T {
        all.get(self.below(all.len())).copied().unwrap_or_default()
    }

    /// A byte; half of the time one of `telling`.
    fn byte(&mut self, telling: &[u8]) -> u8 {
        let any = self.next().to_le_bytes()[0];
        if any & 1 == 0 {
            self.pick(telling)
        } else {
            any
        }
    }

    /// One of `corpus`, changed in up to eight places; sometimes spliced with another. `telling` are the bytes that
    /// mean something to the target.
    pub fn mutant(&mut self, corpus: &[Vec<u8>], telling: &[u8]) -> Vec<u8> {
        let mut bytes = self.one(corpus).to_vec();
        for _ in 0..=self.below(8) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, self.byte(telling)),
                2 => {
                    let other = self.one(corpus);
                    let from = self.below(other.len());
                    bytes.extend_from_slice(other.get(from..).unwrap_or_default());
                }
                3 if !bytes.is_empty() => drop(bytes.remove(at)),
                _ => {
                    let byte = self.byte(telling);
                    if let Some(place) = bytes.get_mut(at) {
                        *place = byte;
                    }
                }
            }
        }
        bytes
    }

    fn one<'a>(&mut self, corpus: &'a [Vec<u8>]) -> &'a [u8] {
        corpus
            .get(self.below(corpus.len()))
            .map_or(&[], Vec::as_slice)
    }
}
