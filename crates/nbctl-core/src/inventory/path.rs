//! Paths on the hosts.
//!
//! Duty: refuse paths that need quoting, and, for what nbctl owns and may delete, system folders and
//! homes. [`RemotePath`] itself refuses relative paths and `..`.

use crate::units::RemotePath;

/// Folders that are never owned, with everything below them.
const SYSTEM_TREES: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/lost+found",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr/bin",
    "/usr/include",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/sbin",
    "/usr/share",
    "/usr/src",
    "/usr/local/bin",
    "/usr/local/etc",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/usr/local/sbin",
    "/usr/local/share",
    "/var/cache",
    "/var/lib/apt",
    "/var/lib/containerd",
    "/var/lib/docker",
    "/var/lib/dpkg",
    "/var/lib/rpm",
    "/var/lib/systemd",
    "/var/mail",
    "/var/run",
    "/var/spool",
];

/// Folders that hold other people's things: not owned themselves, but something below may be.
const SHARED_FOLDERS: &[&str] = &[
    "/",
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/root",
    "/snap",
    "/srv",
    "/tmp",
    "/usr",
    "/usr/local",
    "/var",
    "/var/lib",
    "/var/log",
    "/var/tmp",
    "/var/opt",
    "/export",
    "/export/home",
];

/// Folders whose direct children are homes.
const HOME_PARENTS: &[&str] = &["/home", "/export/home"];

/// Reads a path that needs no quoting in a shell, a flag file or a comma list.
pub(crate) fn plain(text: &str) -> Result<RemotePath, String> {
    let path = RemotePath::new(text)?;
    match text.chars().find(|c| !is_plain(*c)) {
        Some(c) => Err(format!(
            "path `{}` holds {c:?}, which is not taken",
            text.escape_debug()
        )),
        None => Ok(path),
    }
}

/// Reads the path of a folder that nbctl creates, marks and one day deletes.
///
/// Refused: `/`, homes, system folders, and folders that everybody shares.
pub fn owned(text: &str) -> Result<RemotePath, String> {
    let path = plain(text)?;
    match protected(&path) {
        None => Ok(path),
        Some(why) => Err(format!(
            "`{path}` is {why}; nbctl must own the folder alone"
        )),
    }
}

/// Why a folder must never be deleted, if so.
pub fn protected(path: &RemotePath) -> Option<&'static str> {
    let text = path.as_str();
    if text == "/" {
        Some("the root folder")
    } else if SYSTEM_TREES.iter().any(|tree| has_prefix(text, tree)) {
        Some("a system folder")
    } else if SHARED_FOLDERS.contains(&text) {
        Some("a folder shared with others")
    } else if HOME_PARENTS.contains(&path.parent().as_str()) {
        Some("a home folder")
    } else {
        None
    }
}

/// Whether one of the two contains the other, by whole components.
pub(crate) fn overlap(a: &RemotePath, b: &RemotePath) -> bool {
    a.is_within(b) || b.is_within(a)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/._-+@=:%".contains(c)
}

fn has_prefix(path: &str, prefix: &str) -> bool {
    let rest = path.strip_prefix(prefix.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::{overlap, owned, plain};

    #[test]
    fn paths_need_no_quoting() {
        assert_eq!(plain("/data//nebula/").unwrap().as_str(), "/data/nebula");
        let bad = [
            "", "data", "~/x", "/a/../b", "/a b", "/a;b", "/a,b", "/a\nb", "/$HOME", "/a'",
        ];
        for text in bad {
            assert!(plain(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_nbctl_may_own() {
        let good = [
            "/data",
            "/data/nebula",
            "/home/vesoft/nebula",
            "/root/nebula",
            "/usr/local/nebula",
            "/opt/nebula",
            "/var/lib/nebula",
            "/tmp/nebula",
            "/mnt/disk1",
        ];
        for text in good {
            assert!(owned(text).is_ok(), "{text}");
        }
        let bad = [
            "/",
            "//",
            "/home",
            "/home/vesoft",
            "/home/vesoft/",
            "/root",
            "/etc",
            "/etc/nebula",
            "/usr",
            "/usr/local",
            "/usr/lib/x",
            "/var/lib",
            "/var/lib/docker/x",
            "/tmp",
            "/proc/1",
        ];
        for text in bad {
            assert!(owned(text).is_err(), "{text}");
        }
    }

    #[test]
    fn overlap_is_by_component() {
        let cases = [
            ("/data", "/data/x", true),
            ("/data/x", "/data", true),
            ("/data", "/data", true),
            ("/data", "/data2", false),
            ("/data/a", "/data/b", false),
        ];
        for (a, b, expected) in cases {
            assert_eq!(
                overlap(&plain(a).unwrap(), &plain(b).unwrap()),
                expected,
                "{a} {b}"
            );
        }
    }
}
