//! Values for placeholders: a sample of a CSV file, in memory, from which rows are drawn.
//!
//! Duties: only the columns that are used; at most [`MOST`] rows whatever the file's size, every row with the same
//! chance (reservoir), the same rows for the same seed.

use std::fs::File;
use std::io::{BufRead as _, BufReader};

use nbctl_core::failure::Failure;
use rand::rngs::ChaCha8Rng;
use rand::{Rng as _, SeedableRng as _};

use super::job::ParameterFile;

/// Rows kept.
const MOST: usize = 100_000;

/// The sample.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    rows: Vec<Row>,
}

/// Values of the used columns, one behind the other, and where each ends.
#[derive(Debug)]
struct Row {
    bytes: Box<[u8]>,
    ends: Box<[u32]>,
}

impl Parameters {
    /// Reads the columns `columns` (ascending).
    pub(super) fn load(
        file: &ParameterFile,
        columns: &[usize],
        seed: u64,
    ) -> Result<Self, Failure> {
        let place = file.path.display().to_string();
        let cannot = |error: std::io::Error| {
            Failure::data(format!("cannot read the parameter file: {error}")).at(place.clone())
        };
        let mut reader = BufReader::with_capacity(1 << 20, File::open(&file.path).map_err(cannot)?);
        let (mut sample, mut line, mut number) = (Reservoir::new(seed), Vec::new(), 0u64);
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line).map_err(cannot)? == 0 {
                break;
            }
            number += 1;
            if number == 1 && file.header {
                continue;
            }
            let Some(at) = sample.place() else { continue };
            let row = Row::of(line.strip_suffix(b"\n").unwrap_or(&line), columns);
            let row = row.ok_or_else(|| {
                let last = columns.last().copied().unwrap_or_default();
                Failure::data(format!("no column {last}")).at(format!("{place}:{number}"))
            })?;
            sample.put(at, row);
        }
        if sample.rows.is_empty() {
            return Err(Failure::data("the parameter file has no rows").at(place));
        }
        Ok(Self { rows: sample.rows })
    }

    /// Rows there are; 0 when the statement needs none.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Value of the `column`-th used column.
    pub(super) fn value(&self, row: usize, column: usize) -> &[u8] {
        let Some(row) = self.rows.get(row) else {
            return &[];
        };
        let end = |at: usize| row.ends.get(at).map_or(0, |end| *end as usize);
        let start = column.checked_sub(1).map_or(0, end);
        row.bytes.get(start..end(column)).unwrap_or_default()
    }
}

impl Row {
    fn of(line: &[u8], columns: &[usize]) -> Option<Self> {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let mut fields = line.split(|byte| *byte == b'|').enumerate();
        for column in columns {
            let (_, value) = fields.find(|(at, _)| at == column)?;
            bytes.extend_from_slice(value);
            ends.push(u32::try_from(bytes.len()).ok()?);
        }
        Some(Self {
            bytes: bytes.into_boxed_slice(),
            ends: ends.into_boxed_slice(),
        })
    }
}

struct Reservoir {
    rows: Vec<Row>,
    seen: u64,
    draw: ChaCha8Rng,
}

impl Reservoir {
    fn new(seed: u64) -> Self {
        Self {
            rows: Vec::new(),
            seen: 0,
            draw: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Where the next row goes; `None` when it is left out.
    fn place(&mut self) -> Option<usize> {
        self.seen += 1;
        if self.rows.len() < MOST {
            return Some(self.rows.len());
        }
        let at = below(&mut self.draw, self.seen);
        usize::try_from(at).ok().filter(|at| *at < MOST)
    }

    fn put(&mut self, at: usize, row: Row) {
        match self.rows.get_mut(at) {
            Some(slot) => *slot = row,
            None => self.rows.push(row),
        }
    }
}

/// Uniform in `0..n`; 0 when `n` is 0.
pub(super) fn below(draw: &mut ChaCha8Rng, n: u64) -> u64 {
    let wide = u128::from(draw.next_u64()) * u128::from(n);
    u64::try_from(wide >> 64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::NamedTempFile, ParameterFile) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let path = file.path().to_owned();
        (file, ParameterFile { path, header: true })
    }

    #[test]
    fn used_columns_of_every_row() {
        let (_kept, file) = file("id|a|b\n1|x|y\n2||z\n3|last|w");
        let parameters = Parameters::load(&file, &[0, 2], 1).unwrap();
        assert_eq!(parameters.len(), 3);
        assert_eq!(parameters.value(1, 0), b"2");
        assert_eq!(parameters.value(2, 1), b"w");
        let failure = Parameters::load(&file, &[3], 1).unwrap_err();
        assert!(failure.to_string().contains(":2)"), "{failure}");
    }

    #[test]
    fn a_large_file_is_sampled_evenly() {
        let rows: Vec<String> = (0..3 * MOST).map(|row| row.to_string()).collect();
        let (_kept, file) = file(&format!("id\n{}", rows.join("\n")));
        let parameters = Parameters::load(&file, &[0], 7).unwrap();
        assert_eq!(parameters.len(), MOST);
        let number = |row| {
            std::str::from_utf8(parameters.value(row, 0))
                .unwrap()
                .parse::<usize>()
                .unwrap()
        };
        let late = (0..MOST).filter(|row| number(*row) >= 2 * MOST).count();
        assert!((30_000..37_000).contains(&late), "{late} of the last third");
    }
}
