//! Buffered writers for the 33 files, counting and hashing what passes through.

use std::fs::File as FsFile;
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Error;
use crate::clock::{Calendar, Millis};
use crate::files::{FILES, File, FileSpec};
use crate::manifest::FileEntry;

/// Bytes a file gathers before they are written.
const BUFFER: usize = 256 * 1024;

/// All files of a data set, open for writing.
#[derive(Debug)]
pub(crate) struct Output {
    sinks: Vec<Sink>,
    calendar: Calendar,
    rows: u64,
}

#[derive(Debug)]
struct Sink {
    path: PathBuf,
    file: FsFile,
    buffer: Vec<u8>,
    rows: u64,
    bytes: u64,
    hash: Sha256,
}

/// A row under construction.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    sink: &'a mut Sink,
    calendar: &'a Calendar,
    rows: &'a mut u64,
    fresh: bool,
}

impl Output {
    /// Creates (or empties) every file below `dir` and gives it its header.
    pub(crate) fn create(dir: &Path) -> Result<Self, Error> {
        let sinks = FILES
            .iter()
            .map(|spec| Sink::create(dir, spec))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            sinks,
            calendar: Calendar::new(),
            rows: 0,
        })
    }

    /// Starts a row of `file`.
    pub(crate) fn row(&mut self, file: File) -> Row<'_> {
        let sink = &mut self.sinks[file as usize];
        Row {
            sink,
            calendar: &self.calendar,
            rows: &mut self.rows,
            fresh: true,
        }
    }

    /// Writes a row of two ids.
    pub(crate) fn pair(&mut self, file: File, from: u64, to: u64) -> Result<(), Error> {
        self.row(file).num(from).num(to).end()
    }

    /// Rows so far, in all files.
    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Writes what is buffered, makes it durable and tells what each file holds.
    pub(crate) fn finish(self) -> Result<Vec<FileEntry>, Error> {
        self.sinks
            .into_iter()
            .zip(FILES)
            .map(|(sink, spec)| sink.finish(spec))
            .collect()
    }
}

impl Sink {
    fn create(dir: &Path, spec: &FileSpec) -> Result<Self, Error> {
        let path = dir.join(spec.path);
        let file = FsFile::create(&path).map_err(Error::io(&path, "create"))?;
        let mut buffer = Vec::with_capacity(BUFFER + 4096);
        buffer.extend_from_slice(spec.header.as_bytes());
        buffer.push(b'\n');
        Ok(Self {
            path,
            file,
            buffer,
            rows: 0,
            bytes: 0,
            hash: Sha256::new(),
        })
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.hash.update(&self.buffer);
        self.bytes += self.buffer.len() as u64;
        self.file
            .write_all(&self.buffer)
            .map_err(Error::io(&self.path, "write"))?;
        self.buffer.clear();
        Ok(())
    }

    fn finish(mut self, spec: &FileSpec) -> Result<FileEntry, Error> {
        self.flush()?;
        self.file
            .sync_all()
            .map_err(Error::io(&self.path, "sync"))?;
        let sha256 = hexadecimal(&self.hash.finalize());
        Ok(FileEntry {
            path: spec.path.to_owned(),
            rows: self.rows,
            bytes: self.bytes,
            sha256,
        })
    }
}

impl Row<'_> {
    fn field(&mut self) -> &mut Vec<u8> {
        if !self.fresh {
            self.sink.buffer.push(b'|');
        }
        self.fresh = false;
        &mut self.sink.buffer
    }

    pub(crate) fn num(mut self, value: u64) -> Self {
        push_number(self.field(), value);
        self
    }

    /// A text of several parts; none of them may hold `|` or a line end.
    pub(crate) fn text(mut self, parts: &[&str]) -> Self {
        let out = self.field();
        for part in parts {
            out.extend_from_slice(part.as_bytes());
        }
        self
    }

    /// A text with a number in its middle, as in `photo12.jpg`.
    pub(crate) fn numbered(mut self, before: &str, value: u64, after: &str) -> Self {
        let out = self.field();
        out.extend_from_slice(before.as_bytes());
        push_number(out, value);
        out.extend_from_slice(after.as_bytes());
        self
    }

    pub(crate) fn bytes(mut self, value: &[u8]) -> Self {
        self.field().extend_from_slice(value);
        self
    }

    pub(crate) fn date(mut self, date: Millis) -> Self {
        let calendar = self.calendar;
        calendar.push(self.field(), date);
        self
    }

    /// An address in 10.0.0.0/8.
    pub(crate) fn address(mut self, [a, b, c]: [u8; 3]) -> Self {
        let out = self.field();
        out.extend_from_slice(b"10");
        for byte in [a, b, c] {
            out.push(b'.');
            push_number(out, u64::from(byte));
        }
        self
    }

    /// Ends the row.
    pub(crate) fn end(self) -> Result<(), Error> {
        self.sink.buffer.push(b'\n');
        self.sink.rows += 1;
        *self.rows += 1;
        if self.sink.buffer.len() >= BUFFER {
            self.sink.flush()
        } else {
            Ok(())
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| DIGITS[usize::from(digit)])
        .collect()
}

fn push_number(out: &mut Vec<u8>, mut value: u64) {
    let mut text = [b'0'; 20];
    let mut start = text.len();
    loop {
        start -= 1;
        text[start] += u8::try_from(value % 10).unwrap_or(0);
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&text[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for value in [0, 7, 10, 4_398_046_516_514, u64::MAX] {
            let mut out = Vec::new();
            push_number(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }
}
