//! The log of a space on disk: every acknowledged write is in it, so a killed storaged comes back with all of them.
//!
//! Record: `u32 length · u32 checksum · u8 operation · body`. Written with one `write` and no sync: what was
//! acknowledged survives the end of the process, not of the machine.

#![expect(
    clippy::cast_possible_truncation,
    reason = "records are bounded by the frame limit, checksums are cut on purpose"
)]

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use super::hash::murmur;
use crate::rpc::wire::Malformed;

const HEAD: usize = 9;

/// Log of one space.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    record: Vec<u8>,
}

impl Journal {
    /// Folder of a space below a data path.
    pub(super) fn folder(data_path: &Path, space: u32) -> PathBuf {
        data_path.join("nebula").join(space.to_string())
    }

    /// Opens the log of a space, handing every record in it to `apply`; a torn record at the end is cut off.
    pub(super) fn open(
        data_path: &Path,
        space: u32,
        mut apply: impl FnMut(u8, &[u8]) -> Result<usize, Malformed>,
    ) -> io::Result<Self> {
        let dir = Self::folder(data_path, space).join("data");
        fs::create_dir_all(&dir)?;
        let path = dir.join("000001.log");
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(&path)?;
        let good = replay(&file, &mut apply)?;
        if file.metadata()?.len() > good {
            file.set_len(good)?;
        }
        Ok(Self {
            file,
            path,
            record: Vec::new(),
        })
    }

    /// Appends a write.
    pub(super) fn append(&mut self, op: u8, body: &[u8]) -> io::Result<()> {
        self.record.clear();
        self.record
            .extend_from_slice(&(body.len() as u32).to_le_bytes());
        self.record
            .extend_from_slice(&checksum(op, body).to_le_bytes());
        self.record.push(op);
        self.record.extend_from_slice(body);
        self.file.write_all(&self.record)
    }

    /// Waits until everything is on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Bytes on disk.
    pub(super) fn bytes(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |meta| meta.len())
    }
}

fn checksum(op: u8, body: &[u8]) -> u32 {
    let hash = murmur(body) ^ u64::from(op);
    (hash >> 32) as u32 ^ hash as u32
}

/// Length of the good part.
fn replay(
    file: &File,
    apply: &mut impl FnMut(u8, &[u8]) -> Result<usize, Malformed>,
) -> io::Result<u64> {
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut good = 0u64;
    let mut body = Vec::new();
    loop {
        let mut head = [0u8; HEAD];
        if !filled(&mut reader, &mut head)? {
            return Ok(good);
        }
        let (length, rest) = u32_of(&head);
        let (sum, rest) = u32_of(rest);
        let op = rest[0];
        body.clear();
        let read = reader.by_ref().take(length.into()).read_to_end(&mut body)?;
        if read < length as usize || checksum(op, &body) != sum {
            return Ok(good);
        }
        if apply(op, &body).is_err() {
            return Ok(good);
        }
        good += (HEAD + read) as u64;
    }
}

/// The number at the start of `bytes` and what follows it.
fn u32_of(bytes: &[u8]) -> (u32, &[u8]) {
    let (word, rest) = bytes.split_first_chunk().unwrap_or((&[0; 4], bytes));
    (u32::from_le_bytes(*word), rest)
}

fn filled(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_record_is_cut_off() {
        let dir = tempfile::tempdir().expect("tempdir");
        let mut journal = Journal::open(dir.path(), 1, |_, _| Ok(0)).expect("open");
        journal.append(1, b"one").expect("append");
        journal.append(2, b"two").expect("append");
        let path = journal.path.clone();
        let whole = fs::read(&path).expect("read");
        for cut in 1..12 {
            fs::write(&path, &whole[..whole.len() - cut]).expect("write");
            let mut seen = Vec::new();
            let mut journal = Journal::open(dir.path(), 1, |op, body| {
                seen.push((op, body.to_vec()));
                Ok(1)
            })
            .expect("open");
            assert_eq!(seen, [(1, b"one".to_vec())], "cut {cut}");
            journal.append(3, b"three").expect("append");
            let mut ops = Vec::new();
            Journal::open(dir.path(), 1, |op, _| {
                ops.push(op);
                Ok(1)
            })
            .expect("open");
            assert_eq!(ops, [1, 3], "cut {cut}");
        }
    }
}
