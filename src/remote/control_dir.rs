//! The private folder for sockets of this user's connections.
//!
//! Purpose: Unix socket paths end at 107 bytes and ssh adds a suffix while binding, so the folder must be
//! short; and whoever can write a control socket can run commands on the hosts, so it must be ours alone.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nbctl_core::failure::Failure;

/// Longest folder that still leaves room for the socket names below it, in bytes.
pub(super) const MAX_PATH: usize = 60;

/// The folder, made when missing: `$XDG_RUNTIME_DIR/nbctl`, else `/tmp/nbctl-<uid>`.
///
/// # Errors
/// When it cannot be made, is too long, or belongs to somebody else.
pub fn default_dir() -> Result<PathBuf, Failure> {
    let path = match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
        Some(runtime) if runtime.is_absolute() && runtime.is_dir() => runtime.join("nbctl"),
        _ => PathBuf::from(format!("/tmp/nbctl-{}", own_uid()?)),
    };
    prepare(&path)?;
    Ok(path)
}

/// Makes `path` a private folder, or says why it cannot be one.
///
/// # Errors
/// When it cannot be made, is too long, is a symlink, or others could enter it.
pub(super) fn prepare(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    if path.as_os_str().len() > MAX_PATH {
        return Err(Failure::usage(format!(
            "folder for ssh sockets is longer than {MAX_PATH} bytes"
        ))
        .at(shown.to_string())
        .hint("set XDG_RUNTIME_DIR to a short folder"));
    }
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path);
    made.map_err(|error| cannot(path, &error))?;
    let meta = fs::symlink_metadata(path).map_err(|error| cannot(path, &error))?;
    if !meta.is_dir() || meta.uid() != own_uid()? || meta.mode() & 0o077 != 0 {
        return Err(
            Failure::usage("folder for ssh sockets is not private to this user")
                .at(shown.to_string())
                .hint(format!("remove it, or: chmod 700 {shown}")),
        );
    }
    Ok(())
}

/// Takes away what commands that were killed left: folders whose master is gone, sockets of dead processes.
pub(super) fn sweep(path: &Path) {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    for entry in entries {
        let (name, path) = (entry.file_name(), entry.path());
        let name = name.to_string_lossy();
        if name.starts_with(".ssh-connection") && old(&path) && !path.join("master").exists() {
            drop(fs::remove_dir_all(path));
        } else if forward_of(&name).is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            drop(fs::remove_file(path));
        }
    }
}

/// Old enough that nobody is connecting in it any more.
fn old(path: &Path) -> bool {
    let made = fs::metadata(path).and_then(|meta| meta.modified());
    made.is_ok_and(|time| {
        time.elapsed()
            .is_ok_and(|age| age > Duration::from_hours(1))
    })
}

/// Process id in the name of a forwarded socket, `f<pid>-<serial>`.
fn forward_of(name: &str) -> Option<&str> {
    let (pid, serial) = name.strip_prefix('f')?.split_once('-')?;
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (number(pid) && number(serial)).then_some(pid)
}

/// Our user id, without a system call of our own: who owns this process's entry in `/proc`.
pub(super) fn own_uid() -> Result<u32, Failure> {
    let meta =
        fs::metadata("/proc/self").map_err(|error| cannot(Path::new("/proc/self"), &error))?;
    Ok(meta.uid())
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("cannot use the folder for ssh sockets: {error}"))
        .at(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn refuses_long_open_and_linked_folders() {
        let base = tempfile::tempdir().unwrap();
        let open = base.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(prepare(&open).unwrap_err().what.contains("not private"));

        let good = base.path().join("good");
        prepare(&good).unwrap();
        assert_eq!(fs::metadata(&good).unwrap().mode() & 0o777, 0o700);
        let link = base.path().join("link");
        std::os::unix::fs::symlink(&good, &link).unwrap();
        assert!(prepare(&link).is_err());

        // Nothing young or alive is swept away.
        for name in [".ssh-connectionX", "m-1", "f4194999-0"] {
            fs::create_dir_all(good.join(name)).unwrap();
        }
        fs::write(good.join("f4194998-0"), "").unwrap();
        fs::write(good.join(format!("f{}-0", std::process::id())), "").unwrap();
        sweep(&good);
        assert_eq!(fs::read_dir(&good).unwrap().count(), 4);

        let long = base.path().join("x".repeat(MAX_PATH));
        assert!(prepare(&long).unwrap_err().what.contains("longer than"));
    }
}
