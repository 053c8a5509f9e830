//! The reading end: files to `INSERT` statements, as fast as the cluster takes them and no faster.
//!
//! Duties: one thread, one reused row buffer; the queue is bounded, so a slow cluster slows the reading; edges wait
//! until every vertex is in; a row that cannot be read names file, line and column and ends the import.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nbctl_core::dataset::{FileKind, RowEncoder, VidType};
use nbctl_core::failure::Failure;
use nbctl_core::run::CountCheck;
use tokio::sync::mpsc::Sender;

use super::counts::Counts;
use super::progress::Progress;
use crate::dataset::{self, Folder, Part};

/// A statement is sent before it grows beyond this; graphd takes 4 MiB.
const MOST_BYTES: usize = 1 << 20;
/// Between two looks at whether the vertices are in.
const LOOK: Duration = Duration::from_millis(2);

/// One statement.
#[derive(Debug)]
pub(super) struct Batch {
    /// Position of its file.
    pub(super) file: usize,
    /// Text.
    pub(super) statement: Vec<u8>,
    /// Rows in it.
    pub(super) rows: u64,
    /// Bytes of CSV they came from.
    pub(super) bytes: u64,
    /// Times it has failed.
    pub(super) attempts: u32,
}

/// What the reading thread works with.
pub(super) struct Source {
    pub(super) folder: Folder,
    pub(super) vid: VidType,
    pub(super) batch: u64,
    pub(super) progress: Arc<Progress>,
    pub(super) queue: Sender<Batch>,
    /// `None` when nobody asks for counts.
    pub(super) counts: Option<Counts>,
}

/// Nobody takes statements any more; who ended it says why.
struct Ended;

enum Trouble {
    Ended,
    Failure(Failure),
}

impl From<Ended> for Trouble {
    fn from(_: Ended) -> Self {
        Self::Ended
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Files of one type follow each other, vertices before edges.
pub(super) fn order(folder: &mut Folder) {
    let mut names: Vec<String> = Vec::new();
    for part in &folder.files {
        let name = part.data.kind.type_name().unwrap_or_default();
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    folder.files.sort_by_key(|part| {
        let name = part.data.kind.type_name().unwrap_or_default();
        let is_edge = matches!(part.data.kind, FileKind::Edge { .. });
        (is_edge, names.iter().position(|known| known == name))
    });
}

impl Source {
    /// Reads everything; `Ok(None)` when the import ended for another reason.
    pub(super) fn run(mut self) -> Result<Option<Vec<CountCheck>>, Failure> {
        let files = std::mem::take(&mut self.folder.files);
        let mut vertices = true;
        for (at, part) in files.iter().enumerate() {
            if vertices && matches!(part.data.kind, FileKind::Edge { .. }) {
                vertices = false;
                self.wait_for_vertices();
            }
            match self.file(at, part) {
                Ok(()) => {}
                Err(Trouble::Ended) => return Ok(None),
                Err(Trouble::Failure(failure)) => return Err(failure),
            }
        }
        self.counts.take().map(Counts::finish).transpose()
    }

    fn wait_for_vertices(&self) {
        while self.progress.outstanding() > 0 && !self.queue.is_closed() {
            std::thread::sleep(LOOK);
        }
    }

    fn file(&mut self, at: usize, part: &Part) -> Result<(), Trouble> {
        let Some(encoder) = RowEncoder::new(&part.data, self.vid) else {
            return Ok(());
        };
        if let Some(counts) = &mut self.counts {
            counts.begin(&part.data.kind)?;
        }
        let path = self.folder.dir.join(&part.found.path);
        let mut reader = Rows::open(&path, part.has_header_line())?;
        let mut filling = Filling::new(at, encoder.head());
        while let Some((number, row, bytes)) = reader.next()? {
            filling.comma();
            let ids = encoder.append(number, row, &mut filling.batch.statement);
            let ids = ids.map_err(|error| dataset::failure(&self.folder.dir, &error))?;
            filling.batch.rows += 1;
            filling.batch.bytes += bytes;
            if let Some(counts) = &mut self.counts {
                counts.add(ids)?;
            }
            if filling.batch.rows >= self.batch || filling.batch.statement.len() >= MOST_BYTES {
                self.send(filling.take(encoder.head()))?;
            }
        }
        if filling.batch.rows > 0 {
            self.send(filling.take(encoder.head()))?;
        }
        Ok(())
    }

    fn send(&self, batch: Batch) -> Result<(), Ended> {
        self.progress.begun();
        self.queue.blocking_send(batch).map_err(|_| Ended)
    }
}

/// A statement being written.
struct Filling {
    batch: Batch,
}

impl Filling {
    fn new(file: usize, head: &str) -> Self {
        Self {
            batch: fresh(file, head, 16 << 10),
        }
    }

    fn comma(&mut self) {
        if self.batch.rows > 0 {
            self.batch.statement.push(b',');
        }
    }

    fn take(&mut self, head: &str) -> Batch {
        let room = self.batch.statement.len() * 9 / 8;
        let next = fresh(self.batch.file, head, room);
        std::mem::replace(&mut self.batch, next)
    }
}

fn fresh(file: usize, head: &str, room: usize) -> Batch {
    let mut statement = Vec::with_capacity(room);
    statement.extend_from_slice(head.as_bytes());
    Batch {
        file,
        statement,
        rows: 0,
        bytes: 0,
        attempts: 0,
    }
}

/// Number, text and size of a line.
type Row<'a> = (u64, &'a [u8], u64);

/// Lines of a file with their numbers.
struct Rows {
    reader: BufReader<File>,
    line: Vec<u8>,
    number: u64,
    place: String,
}

impl Rows {
    fn open(path: &Path, header: bool) -> Result<Self, Failure> {
        let place = path.display().to_string();
        let file = File::open(path).map_err(|error| cannot(&error, &place))?;
        let mut rows = Self {
            reader: BufReader::with_capacity(1 << 20, file),
            line: Vec::new(),
            number: 0,
            place,
        };
        if header {
            rows.next()?;
        }
        Ok(rows)
    }

    fn next(&mut self) -> Result<Option<Row<'_>>, Failure> {
        self.line.clear();
        let read = self.reader.read_until(b'\n', &mut self.line);
        let bytes = read.map_err(|error| cannot(&error, &self.place))?;
        if bytes == 0 {
            return Ok(None);
        }
        self.number += 1;
        let row = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        Ok(Some((self.number, row, bytes as u64)))
    }
}

fn cannot(error: &std::io::Error, place: &str) -> Failure {
    Failure::data(format!("cannot read it: {error}")).at(place.to_owned())
}
