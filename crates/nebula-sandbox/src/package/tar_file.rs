//! The tar.gz: one top folder called like the file, no `.conf` in it.

use std::{
    io::{self, Write},
    sync::Arc,
};

use flate2::{Compression, write::GzEncoder};

use super::{
    Effort, PackageType,
    layout::{Entry, FOLDERS},
};
use crate::line::Line;

pub(super) fn build(line: Line, entries: &[Entry], effort: Effort) -> io::Result<Vec<u8>> {
    let name = PackageType::TarGz.file_name(line);
    let top = name.trim_end_matches(".tar.gz");
    archive(top, entries, effort)
}

/// A gzipped tar with everything below `top`.
pub(super) fn archive(top: &str, entries: &[Entry], effort: Effort) -> io::Result<Vec<u8>> {
    let level = match effort {
        Effort::Small => Compression::new(4),
        Effort::Quick => Compression::none(),
    };
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), level));
    let all_folders = std::iter::once(String::new()).chain(FOLDERS.iter().map(|f| format!("{f}/")));
    for folder in all_folders {
        let mut header = header(0, 0o755);
        header.set_entry_type(tar::EntryType::Directory);
        tar.append_data(&mut header, format!("{top}/{folder}"), io::empty())?;
    }
    for (at, entry) in entries.iter().enumerate() {
        let path = format!("{top}/{}", entry.path);
        let before = entries.iter().take(at);
        let same = before
            .rev()
            .find(|known| Arc::ptr_eq(&known.contents, &entry.contents));
        // The executable is in there three times; a link to the first one spares two thirds of all the writing.
        if let (Effort::Quick, Some(same)) = (effort, same) {
            let mut header = header(0, entry.mode);
            header.set_entry_type(tar::EntryType::Link);
            tar.append_link(&mut header, path, format!("{top}/{}", same.path))?;
            continue;
        }
        let mut header = header(entry.contents.len() as u64, entry.mode);
        tar.append_data(&mut header, path, &*entry.contents)?;
    }
    let mut gzip = tar.into_inner()?;
    gzip.flush()?;
    gzip.finish()
}

fn header(size: u64, mode: u16) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(mode.into());
    header.set_mtime(1_714_521_600);
    header
}
