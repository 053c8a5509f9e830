//! Local clusters that were brought up from another folder.
//!
//! Duty: a name that is not known here may run all the same; its daemons' command lines say from where.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The folder (`--state-dir`) that a running local cluster of this name and this account was brought up with.
pub(super) fn state_dir_of(name: &str) -> Option<PathBuf> {
    let own = fs::metadata("/proc/self").ok()?.uid();
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let mut ours = entries.filter(|entry| entry.metadata().is_ok_and(|meta| meta.uid() == own));
    ours.find_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        from(name, &String::from_utf8_lossy(&line))
    })
}

/// Read from a daemon's command line, whose parts end with NUL.
fn from(name: &str, line: &str) -> Option<PathBuf> {
    let below = format!("/.nbctl/sandbox/local/{name}/nebula/etc/nebula-");
    let is_conf = |part: &&str| Path::new(part).extension().is_some_and(|end| end == "conf");
    let mut files = line.split('\0').filter(is_conf);
    let state = files.find_map(|file| Some(file.split_once(&below)?.0))?;
    let root = Path::new("/");
    Some(
        if state.is_empty() {
            root
        } else {
            Path::new(state)
        }
        .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_names_the_folder() {
        let line = |file: &str| format!("metad\0--flagfile\0{file}\0");
        let conf = ".nbctl/sandbox/local/x/nebula/etc/nebula-metad.conf";
        for (line, expected) in [
            (line(&format!("/home/mia/{conf}")), Some("/home/mia")),
            (line(&format!("/{conf}")), Some("/")),
            (
                line("/home/mia/.nbctl/sandbox/local/xx/nebula/etc/nebula-metad.conf"),
                None,
            ),
            (line("/home/mia/nebula/etc/nebula-metad.conf"), None),
            (format!("vi\0/home/mia/{conf}.old\0"), None),
        ] {
            assert_eq!(
                from("x", &line).as_deref(),
                expected.map(Path::new),
                "{line}"
            );
        }
    }
}
