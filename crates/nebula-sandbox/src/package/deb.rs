//! The Debian package: an `ar` of a version, a control archive and the data.

use std::io;

use flate2::{Compression, write::GzEncoder};

use super::{
    Effort, PREFIX,
    layout::{Entry, post_install},
    tar_file,
};
use crate::line::Line;

pub(super) fn build(line: Line, entries: &[Entry]) -> io::Result<Vec<u8>> {
    let control = format!(
        "Package: nebula-graph\nVersion: {line}-1\nArchitecture: amd64\nMaintainer: nbctl sandbox\n\
         Section: devel\nPriority: optional\nDescription: Stand-in for NebulaGraph made by the nbctl sandbox\n"
    );
    let post = format!("#!/bin/sh\n{}", post_install(PREFIX));
    let control = control_archive(&[("./control", 0o644, &control), ("./postinst", 0o755, &post)])?;
    let data = tar_file::archive(&format!(".{PREFIX}"), entries, Effort::Small)?;
    let mut deb = b"!<arch>\n".to_vec();
    for (name, bytes) in [
        ("debian-binary", b"2.0\n".as_slice()),
        ("control.tar.gz", &control),
        ("data.tar.gz", &data),
    ] {
        member(&mut deb, name, bytes);
    }
    Ok(deb)
}

fn member(out: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    let head = format!(
        "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
        1_714_521_600,
        0,
        0,
        100_644,
        bytes.len()
    );
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(bytes);
    if bytes.len() % 2 == 1 {
        out.push(b'\n');
    }
}

fn control_archive(files: &[(&str, u32, &str)]) -> io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::new(6)));
    for (name, mode, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(*mode);
        tar.append_data(&mut header, name, text.as_bytes())?;
    }
    tar.into_inner()?.finish()
}
