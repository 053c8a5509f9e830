//! Units of systemd, where the inventory wants them.
//!
//! Duties: a unit says whose it is, and only ours is replaced or removed; it is written as root, the daemon runs as the
//! login; a daemon is still known by its executable, so everything else works as without units.

use std::time::Duration;

use super::scripts::sudo;
use crate::facts::{HostFacts, quoted};
use crate::inventory::{Cluster, Daemon};
use crate::plan::{RenderedFile, Step};

const QUICK: Duration = Duration::from_mins(1);

/// Key of a daemon's unit among the rendered files.
pub fn key(daemon: &Daemon) -> String {
    format!("{}.service", daemon.id())
}

/// Whether the unit on the host is the one that is wanted; without one nothing is.
pub(super) fn is_so(daemon: &Daemon, wanted: Option<&RenderedFile>, facts: &HostFacts) -> bool {
    let Some(path) = daemon.unit_file() else {
        return true;
    };
    wanted.is_some_and(|file| facts.sha256(&path) == Some(file.sha256()))
}

/// Writes a unit and has it start with the machine.
pub(super) fn write(cluster: &Cluster, daemon: &Daemon, file: &RenderedFile) -> Step {
    let text = format!(
        "file={}\nunit={}\nid={}\ntext={}\n{}",
        quoted(file.path.as_str()),
        quoted(file.path.name()),
        quoted(&cluster.id),
        quoted(&file.text),
        include_str!("unit-write.sh")
    );
    Step::on(
        &daemon.host,
        format!("write {}", file.path),
        sudo(text, QUICK),
    )
}

/// Takes a unit away that is there, if it is ours.
pub(crate) fn remove(cluster: &Cluster, daemon: &Daemon, facts: &HostFacts) -> Option<Step> {
    let path = daemon.unit_file()?;
    facts.sha256(&path)?;
    let text = format!(
        "file={}\nunit={}\nid={}\n{}",
        quoted(path.as_str()),
        quoted(path.name()),
        quoted(&cluster.id),
        include_str!("unit-remove.sh")
    );
    Some(Step::on(
        &daemon.host,
        format!("remove {path}"),
        sudo(text, QUICK),
    ))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "systemd's own check")]
mod tests {
    use std::process::Command;

    use crate::deploy::render_units;
    use crate::inventory::{Source, load};

    const TEMPLATE: &str = include_str!("../../../../templates/nebula/daemon.service.tera");

    #[test]
    fn units_say_what_systemd_understands() {
        let text = "format: 1\ncluster: c\nssh: {user: root, sudo: true}\nnebula: {version: 3.8.0, systemd: true, deploy_dir: /home/v/nebula}\n\
                    hosts:\n  - {address: 10.0.0.1, name: a, roles: [metad, graphd, storaged], storaged: {pin: {cpus: 0-1, nofile: 5000}}}\n";
        let cluster = load(&Source::new("inv.yaml", text)).cluster.unwrap();
        let units = render_units(&cluster, TEMPLATE).unwrap();
        let unit = &units["storaged@a.service"];
        assert_eq!(
            unit.path.as_str(),
            "/etc/systemd/system/nbctl-c-storaged-9779.service"
        );
        let start = "ExecStart=/usr/bin/env taskset -c 0-1 /home/v/nebula/current/bin/nebula-storaged --flagfile /home/v/nebula/etc/nebula-storaged.conf\n";
        assert!(unit.text.contains(start), "{}", unit.text);
        assert!(unit.text.contains("LimitNOFILE=5000\n") && unit.text.contains("User=root\n"));
        assert!(
            unit.text
                .contains(&format!("\n# nbctl cluster {}\n", cluster.id))
        );

        let folder = tempfile::tempdir().unwrap();
        for unit in units.values() {
            let file = folder.path().join(unit.path.name());
            // What does not exist here is no fault of the unit.
            let text = unit
                .text
                .replace("/home/v/nebula/current/bin/nebula-", "/bin/true --as ");
            std::fs::write(
                &file,
                text.replace("WorkingDirectory=/home/v/nebula", "WorkingDirectory=/"),
            )
            .unwrap();
            let Ok(output) = Command::new("systemd-analyze")
                .arg("verify")
                .arg(&file)
                .output()
            else {
                eprintln!("left out: there is no systemd-analyze(1)");
                return;
            };
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains(unit.path.name()), "{said}");
        }
    }
}
