//! Going into the background, the pid file and the files stdout and stderr go to.
//!
//! The real daemons fork and the parent ends with 0 at once; whatever fails later is not seen by who started them.
//! This one starts itself a second time instead of forking, with the same effect for an observer.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::flags::Flags;

/// Set in the environment of the process that stays.
const IN_BACKGROUND: &str = "NEBULA_SANDBOX_BACKGROUND";

/// True in the process that was started by [`leave_to_background`].
pub(super) fn is_background() -> bool {
    std::env::var_os(IN_BACKGROUND).is_some()
}

/// Starts this program again, detached, with the same arguments; the caller then ends with 0.
#[expect(
    clippy::disallowed_methods,
    reason = "a daemon starts itself again instead of forking"
)]
pub(super) fn leave_to_background(args: &[String], flags: &Flags) -> io::Result<()> {
    let exe = std::env::current_exe()?;
    let mut command = Command::new(exe);
    if let Some(name) = std::env::args_os().next() {
        command.arg0(name);
    }
    command
        .args(args)
        .env(IN_BACKGROUND, "1")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(output(flags, "stdout_log_file")?)
        .stderr(output(flags, "stderr_log_file")?)
        .spawn()
        .map(drop)
}

fn output(flags: &Flags, name: &str) -> io::Result<Stdio> {
    if !flags.on("redirect_stdout") {
        return Ok(Stdio::null());
    }
    let dir = PathBuf::from(flags.text("log_dir"));
    fs::create_dir_all(&dir)?;
    let file: File = OpenOptions::new()
        .create(true)
        .append(true)
        .open(dir.join(flags.text(name)))?;
    Ok(file.into())
}

/// The pid in `path` when *some* process has it now. As in the original that process may be a stranger.
pub(super) fn live_pid(path: &Path) -> Option<u32> {
    let pid = fs::read_to_string(path).ok()?.trim().parse().ok()?;
    Path::new("/proc")
        .join(format!("{pid}"))
        .exists()
        .then_some(pid)
}

/// Writes the pid file, making its folder. It is never removed: so it is with the real daemons.
pub(super) fn write_pid(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, format!("{}\n", std::process::id()))
}
