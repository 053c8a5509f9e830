//! Units need systemd, and root to write them.

use super::Look;
use crate::deploy::sudo;

pub(super) fn all(look: &mut Look<'_>) {
    if look.daemons.iter().all(|daemon| daemon.unit.is_none()) {
        return;
    }
    let runs = look
        .facts
        .settings
        .get("systemd")
        .is_some_and(|word| word == "yes");
    if !runs {
        let fix = "leave `nebula.systemd` out: nbctl starts daemons by itself";
        look.fail("systemd", "systemd does not run this host", fix);
        return;
    }
    let is_root = look.facts.user.uid == 0;
    if is_root || sudo(look.given.cluster, &look.host.name) {
        look.pass("systemd", "systemd runs this host");
    } else {
        let message = "units are written as root, and `sudo` is not allowed for";
        look.fail(
            "systemd",
            message,
            "set `ssh: {sudo: true}`, or leave `nebula.systemd` out",
        );
    }
}
