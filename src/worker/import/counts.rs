//! How many vertices and edges the cluster should hold after the import.
//!
//! With int ids a vertex can carry several tags, and two files of one edge type can name the same edge, so rows are
//! not enough: ids are told apart exactly, in bounded memory, with sorted runs in temporary files.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use nbctl_core::dataset::{DistinctCounter, FileKind, RowIds, Spill};
use nbctl_core::failure::Failure;
use nbctl_core::run::CountCheck;

/// Keys in memory before they are written out: 64 MB of edges, 32 MB of vertices.
const IN_MEMORY: usize = 4_000_000;

/// A key of fixed size.
pub(super) trait Key: Ord + Copy {
    /// Bytes of it.
    type Bytes: AsRef<[u8]> + AsMut<[u8]> + Default;
    fn to_bytes(self) -> Self::Bytes;
    fn of_bytes(bytes: Self::Bytes) -> Self;
}

impl Key for i64 {
    type Bytes = [u8; 8];

    fn to_bytes(self) -> [u8; 8] {
        self.to_le_bytes()
    }

    fn of_bytes(bytes: [u8; 8]) -> Self {
        Self::from_le_bytes(bytes)
    }
}

/// Source and destination in one number, in their order.
impl Key for u128 {
    type Bytes = [u8; 16];

    fn to_bytes(self) -> [u8; 16] {
        self.to_le_bytes()
    }

    fn of_bytes(bytes: [u8; 16]) -> Self {
        Self::from_le_bytes(bytes)
    }
}

/// Runs in unnamed temporary files: gone with the process, however it ends.
#[derive(Debug)]
pub(super) struct Shelf {
    dir: PathBuf,
    runs: Vec<File>,
}

/// One run being read.
#[derive(Debug)]
pub(super) struct Run<K> {
    reader: BufReader<File>,
    key: std::marker::PhantomData<K>,
}

impl<K: Key> Spill<K> for Shelf {
    type Error = std::io::Error;
    type Run = Run<K>;

    fn store(&mut self, run: &[K]) -> Result<(), Self::Error> {
        let mut file = BufWriter::with_capacity(1 << 20, tempfile::tempfile_in(&self.dir)?);
        for key in run {
            file.write_all(key.to_bytes().as_ref())?;
        }
        self.runs.push(
            file.into_inner()
                .map_err(std::io::IntoInnerError::into_error)?,
        );
        Ok(())
    }

    fn runs(&mut self) -> Result<Vec<Self::Run>, Self::Error> {
        let open = |mut file: File| {
            file.rewind()?;
            Ok(Run {
                reader: BufReader::with_capacity(1 << 16, file),
                key: std::marker::PhantomData,
            })
        };
        self.runs.drain(..).map(open).collect()
    }
}

impl<K: Key> Iterator for Run<K> {
    type Item = Result<K, std::io::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = K::Bytes::default();
        match self.reader.read_exact(bytes.as_mut()) {
            Ok(()) => Some(Ok(K::of_bytes(bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// Counts while files are read, one tag or edge type after the other.
pub(super) struct Counts {
    dir: PathBuf,
    vertices: DistinctCounter<i64, Shelf>,
    /// Of the type at hand.
    keys: DistinctCounter<u128, Shelf>,
    current: Option<(&'static str, String)>,
    edges: u64,
    done: Vec<CountCheck>,
}

impl Counts {
    /// Counts with temporary files in `dir`.
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            vertices: counter(dir),
            keys: counter(dir),
            current: None,
            edges: 0,
            done: Vec::new(),
        }
    }

    /// A file of this kind follows; files of one type must follow each other.
    pub(super) fn begin(&mut self, kind: &FileKind) -> Result<(), Failure> {
        let name = kind.type_name().unwrap_or_default();
        let what = match kind {
            FileKind::Vertex { .. } => "tag",
            _ => "edge",
        };
        let same = self
            .current
            .as_ref()
            .is_some_and(|(w, n)| *w == what && n == name);
        if !same {
            self.end_type()?;
            self.current = Some((what, name.to_owned()));
        }
        Ok(())
    }

    /// One row.
    pub(super) fn add(&mut self, ids: RowIds) -> Result<(), Failure> {
        let bits = |id: i64| u128::from(id.cast_unsigned());
        let key = match ids {
            RowIds::Vertex(id) => {
                self.vertices.add(id).map_err(|error| self.cannot(&error))?;
                bits(id)
            }
            RowIds::Edge(from, to) => bits(from) << 64 | bits(to),
        };
        self.keys.add(key).map_err(|error| self.cannot(&error))
    }

    /// Everything that was counted; `found` is for whoever asks the cluster.
    pub(super) fn finish(mut self) -> Result<Vec<CountCheck>, Failure> {
        self.end_type()?;
        let vertices = std::mem::replace(&mut self.vertices, counter(&self.dir)).finish();
        let vertices = vertices.map_err(|error| self.cannot(&error))?;
        self.push("space", "vertices".to_owned(), vertices);
        self.push("space", "edges".to_owned(), self.edges);
        Ok(self.done)
    }

    fn end_type(&mut self) -> Result<(), Failure> {
        let Some((kind, name)) = self.current.take() else {
            return Ok(());
        };
        let keys = std::mem::replace(&mut self.keys, counter(&self.dir)).finish();
        let count = keys.map_err(|error| self.cannot(&error))?;
        self.edges += if kind == "edge" { count } else { 0 };
        self.push(kind, name, count);
        Ok(())
    }

    fn push(&mut self, kind: &str, name: String, expected: u64) {
        self.done.push(CountCheck {
            kind: kind.to_owned(),
            name,
            expected,
            found: 0,
        });
    }

    fn cannot(&self, error: &std::io::Error) -> Failure {
        Failure::data(format!("cannot keep ids for counting: {error}"))
            .at(self.dir.display().to_string())
            .hint("free space below the load folder, or set `check_counts: false`")
    }
}

fn counter<K: Key>(dir: &Path) -> DistinctCounter<K, Shelf> {
    let shelf = Shelf {
        dir: dir.to_owned(),
        runs: Vec::new(),
    };
    DistinctCounter::new(IN_MEMORY, shelf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_come_back_from_files() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Shelf {
            dir: dir.path().to_owned(),
            runs: Vec::new(),
        };
        let mut counter = DistinctCounter::new(100, shelf);
        for number in 0..10_000_i64 {
            counter.add(number * 7_919 % 5_000 - 100).unwrap();
        }
        assert_eq!(counter.finish().unwrap(), 5_000);
    }

    #[test]
    fn types_and_shared_ids_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let mut counts = Counts::new(dir.path());
        let tag = |tag: &str| FileKind::Vertex {
            tag: tag.to_owned(),
        };
        let edge = FileKind::Edge {
            edge: "HAS".to_owned(),
            src_class: "A".to_owned(),
            dst_class: "B".to_owned(),
        };
        for (kind, rows) in [
            (tag("A"), vec![RowIds::Vertex(1), RowIds::Vertex(2)]),
            (tag("B"), vec![RowIds::Vertex(2), RowIds::Vertex(3)]),
            (edge.clone(), vec![RowIds::Edge(1, 2), RowIds::Edge(2, 1)]),
            (edge, vec![RowIds::Edge(1, 2), RowIds::Edge(-1, 2)]),
        ] {
            counts.begin(&kind).unwrap();
            for ids in rows {
                counts.add(ids).unwrap();
            }
        }
        let done = counts.finish().unwrap();
        let shown: Vec<String> = done
            .iter()
            .map(|c| format!("{} {} {}", c.kind, c.name, c.expected))
            .collect();
        let expected = [
            "tag A 2",
            "tag B 2",
            "edge HAS 3",
            "space vertices 3",
            "space edges 3",
        ];
        assert_eq!(shown, expected);
    }
}
