//! The private folder for sockets of this user's connections.
//!
//! Purpose: Unix socket paths end at 107 bytes and ssh adds a suffix while binding, so the folder must be
//! short; and whoever can write a control socket can run commands on the hosts, so it must be ours alone.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

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

        let long = base.path().join("x".repeat(MAX_PATH));
        assert!(prepare(&long).unwrap_err().what.contains("longer than"));
    }
}
