//! Which line a binary plays: written behind the executable when it is packaged.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use crate::line::Line;

const MARK: &str = "\nnebula-sandbox-line=";
/// Bytes from the end of the file that are searched.
const TAIL: u64 = 64;

/// The bytes to append to the executable.
pub(crate) fn stamp(line: Line) -> String {
    format!("{MARK}{line}\n")
}

/// The line this process's executable was packaged as, 3.8.0 when it was not. `NEBULA_SANDBOX_LINE` overrides it.
pub(crate) fn own_line() -> Line {
    if let Some(line) = std::env::var("NEBULA_SANDBOX_LINE")
        .ok()
        .and_then(|text| text.parse().ok())
    {
        return line;
    }
    read(Path::new("/proc/self/exe"))
        .ok()
        .flatten()
        .unwrap_or(Line::V3_8_0)
}

fn read(path: &Path) -> io::Result<Option<Line>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let tail = String::from_utf8_lossy(&tail).into_owned();
    let found = tail.rsplit_once(MARK).map(|(_, version)| version.trim());
    Ok(found.and_then(|version| version.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_back() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("x");
        for line in Line::ALL {
            std::fs::write(&path, format!("ELF...{}", stamp(line))).expect("write");
            assert_eq!(read(&path).expect("read"), Some(line));
        }
        std::fs::write(&path, "ELF").expect("write");
        assert_eq!(read(&path).expect("read"), None);
    }
}
