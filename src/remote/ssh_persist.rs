//! Masters that outlive a command, so that the next one starts without handshakes.
//!
//! Duty: a note in the private socket folder names the master of a host; it is followed only while the
//! configuration it was made with is the same and the master answers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nbctl_core::units::Sha256;
use openssh::Session;

use super::exec::within;
use super::ssh::SshPlace;
use super::target::Target;

/// The master left by an earlier command, when there is one that answers.
pub(super) async fn resume(target: &Target, place: &SshPlace) -> Option<Session> {
    if target.ssh.persist_minutes == 0 {
        return None;
    }
    let note = note(target, place)?;
    let socket = PathBuf::from(std::fs::read_to_string(&note).ok()?);
    let session = Session::resume_mux(socket.clone().into_boxed_path(), None);
    let alive = within(Duration::from_secs(2), session.check()).await;
    if matches!(alive, Some(Ok(()))) {
        return Some(session);
    }
    drop(std::fs::remove_file(note));
    remove_folder_of(&socket, &place.control);
    None
}

/// Leaves `session` to the next command.
pub(super) fn leave(target: &Target, place: &SshPlace, session: Session) {
    let (socket, _log) = session.detach();
    let path = socket.as_os_str().as_encoded_bytes();
    let noted = note(target, place).map(|note| std::fs::write(note, path));
    if !matches!(noted, Some(Ok(()))) {
        tracing::debug!(host = %target.name, "the master stays without a note; it ends by itself");
    }
}

/// Takes the note away; its master is being ended.
pub(super) fn forget(target: &Target, place: &SshPlace) {
    if target.ssh.persist_minutes > 0
        && let Some(note) = note(target, place)
    {
        drop(std::fs::remove_file(note));
    }
}

/// Named by everything that makes a connection what it is.
fn note(target: &Target, place: &SshPlace) -> Option<PathBuf> {
    let config = std::fs::read_to_string(&place.config).ok()?;
    let key = Sha256::of(format!("{}\n{config}", target.destination()).as_bytes());
    Some(place.control.join(format!("m-{}", key.short())))
}

/// A dead master leaves its folder behind; only one that lies directly in ours is touched.
fn remove_folder_of(socket: &Path, control: &Path) {
    let folder = socket.parent();
    if let Some(folder) = folder.filter(|folder| folder.parent() == Some(control)) {
        drop(std::fs::remove_dir_all(folder));
    }
}
