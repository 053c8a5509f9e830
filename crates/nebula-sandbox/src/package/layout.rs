//! Files of the package, relative to the install root.

use std::sync::Arc;

use super::{conf, stamp};
use crate::line::{Line, Role};

/// A file of the package.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Path below the install root.
    pub(super) path: String,
    /// Permission bits.
    pub(super) mode: u16,
    /// The executable is in the package three times.
    pub(super) contents: Arc<[u8]>,
}

impl Entry {
    fn new(path: impl Into<String>, mode: u16, contents: impl Into<Arc<[u8]>>) -> Self {
        Self {
            path: path.into(),
            mode,
            contents: contents.into(),
        }
    }
}

/// Folders below the install root.
pub(super) const FOLDERS: &[&str] = &["bin", "etc", "scripts", "share", "share/resources"];

/// Everything the package holds.
pub(super) fn entries(line: Line, mut executable: Vec<u8>) -> Vec<Entry> {
    executable.extend_from_slice(stamp::stamp(line).as_bytes());
    let executable: Arc<[u8]> = executable.into();
    let mut entries = Vec::new();
    for role in Role::ALL {
        let name = role.binary();
        entries.push(Entry::new(
            format!("bin/{name}"),
            0o755,
            Arc::clone(&executable),
        ));
        for production in [false, true] {
            let suffix = if production { "production" } else { "default" };
            let text = conf::text(line, role, production).into_bytes();
            entries.push(Entry::new(format!("etc/{name}.conf.{suffix}"), 0o444, text));
        }
        let wrapper =
            include_str!("../../package/scripts/daemon.service").replace("@DAEMON@", role.name());
        entries.push(Entry::new(
            format!("scripts/{name}.service"),
            0o755,
            wrapper.into_bytes(),
        ));
    }
    let utils = include_str!("../../package/scripts/utils.sh");
    entries.push(Entry::new("scripts/utils.sh", 0o755, utils.as_bytes()));
    entries.push(Entry::new(
        "scripts/nebula.service",
        0o755,
        service_script(line).into_bytes(),
    ));
    entries.push(Entry::new(
        "share/resources/gflags.json",
        0o644,
        conf::mutable_flags(line).into_bytes(),
    ));
    entries.extend(not_played(line));
    if line != Line::V2_0_1 {
        let text = conf::listener(line).into_bytes();
        entries.push(Entry::new(
            "etc/nebula-storaged-listener.conf.production",
            0o444,
            text,
        ));
        let zones = "\"ID\",\"STD ABBR\",\"STD NAME\",\"DST ABBR\",\"DST NAME\",\"GMT offset\"\n\"UTC\",\"UTC\",\"UTC\",\"\",\"\",\"+00:00:00\"\n";
        entries.push(Entry::new(
            "share/resources/date_time_zonespec.csv",
            0o644,
            zones.as_bytes(),
        ));
    }
    entries
}

/// A file of `bytes` that no compression makes smaller; the same bytes every time.
pub(super) fn filling(bytes: u64) -> Entry {
    let words = usize::try_from(bytes.div_ceil(8)).unwrap_or_default();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut contents = Vec::with_capacity(words * 8);
    for _ in 0..words {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        contents.extend_from_slice(&state.to_le_bytes());
    }
    Entry::new("share/resources/filling", 0o644, contents)
}

/// Tools that are in the packages of these lines (by their letters) and that the sandbox does not play.
const NOT_PLAYED: &[(&str, &str)] = &[
    ("bin/db_dump", "0"),
    ("bin/db_upgrader", "068"),
    ("bin/meta_dump", "068"),
    ("scripts/meta-transfer-tools.sh", "68"),
    ("scripts/nebula-storaged-listener.service", "8"),
];

/// Scripts in their place that say so.
fn not_played(line: Line) -> impl Iterator<Item = Entry> {
    let mine = NOT_PLAYED
        .iter()
        .filter(move |(_, lines)| lines.contains(line.letter()));
    mine.map(|(path, _)| {
        let text = format!("#!/bin/sh\necho \"sandbox: not supported: {path}\" >&2\nexit 1\n");
        Entry::new(*path, 0o755, text.into_bytes())
    })
}

fn service_script(line: Line) -> String {
    let word = |yes: bool| if yes { "yes" } else { "no" };
    include_str!("../../package/scripts/nebula.service")
        .replace("@SHOWS_VERSION@", word(line != Line::V2_0_1))
        .replace("@START_TELLS_CODE@", word(line.is_3x()))
        .replace("@NEEDS_ADD_HOSTS@", word(line.needs_add_hosts()))
}

/// What the package does after it was installed below `root` (a shell expression): make the confs.
pub(super) fn post_install(root: &str) -> String {
    format!(
        "for daemon in metad graphd storaged; do\n\
         \x20   conf={root}/etc/nebula-$daemon.conf\n\
         \x20   if [ ! -f \"$conf\" ]; then\n\
         \x20       cp \"$conf.default\" \"$conf\"\n\
         \x20       chmod 644 \"$conf\"\n\
         \x20   fi\n\
         done\n"
    )
}
