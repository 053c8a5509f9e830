//! The scripts of a deploy: fixed texts with a head of quoted values.

use std::time::Duration;

use super::state::version_folder;
use crate::facts::quoted;
use crate::inventory::Daemon;
use crate::package::Package;
use crate::plan::{Action, Script};
use crate::units::RemotePath;

/// Open files a daemon may have (the vendor's advice); less where the host allows no more.
pub const OPEN_FILES: u32 = 130_000;

const COMMON: &str = include_str!("daemon.sh");
/// Start waits 1 s to see the daemon stay.
const START: Duration = Duration::from_mins(1);
/// Unpacking some 500 MB on a slow disk.
const INSTALL: Duration = Duration::from_mins(10);
const QUICK: Duration = Duration::from_mins(1);

/// How long a daemon may take to end, and what then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Between TERM and giving up.
    pub time: Duration,
    /// KILL instead of giving up; only for data that is thrown away.
    pub kill: bool,
}

impl Patience {
    /// A storaged flushes for about a minute, more with many partitions.
    pub const KEEP_DATA: Self = Self {
        time: Duration::from_mins(10),
        kill: false,
    };
    /// Nothing needs to be flushed.
    pub const DROP_DATA: Self = Self {
        time: Duration::from_secs(20),
        kill: true,
    };
}

/// Starts a daemon from its folder; ends well when it already runs.
pub fn start(daemon: &Daemon) -> Action {
    if let Some(unit) = &daemon.unit {
        let head = assign(&[("unit", unit)]);
        return sudo(
            of_daemon(daemon, &head, include_str!("unit-start.sh")),
            START,
        );
    }
    let files = daemon.pin.nofile.unwrap_or(OPEN_FILES);
    let head = format!(
        "files={files}\n{}",
        assign(&[("bind", &daemon.pin.command())])
    );
    run(of_daemon(daemon, &head, include_str!("start.sh")), START)
}

/// Ends a daemon and waits until its executable is gone.
pub fn stop(daemon: &Daemon, patience: Patience) -> Action {
    let kill = if patience.kill { "yes" } else { "no" };
    let mut head = format!("patience={}\nkill_after={kill}\n", patience.time.as_secs());
    // Told first, it takes the end for what was asked for; the rest finds strays and waits, as without a unit.
    let unit = daemon.unit.as_ref();
    head.extend(
        unit.map(|unit| format!("systemctl stop --no-block {} 2>/dev/null\n", quoted(unit))),
    );
    let text = of_daemon(daemon, &head, include_str!("stop.sh"));
    let action = if unit.is_some() { sudo } else { run };
    action(text, patience.time + QUICK)
}

/// Fails with what a daemon said last when it does not run; for waits, which would be in vain.
pub fn still_runs(daemon: &Daemon) -> Script {
    let body = "[ -n \"$(mine)\" ] && exit 0\necho \"$name has ended\" >&2\nlast_words\nexit 1\n";
    let text = of_daemon(daemon, "", body);
    Script {
        text,
        sudo: false,
        timeout: QUICK,
    }
}

fn of_daemon(daemon: &Daemon, head: &str, body: &str) -> String {
    let values = [
        ("root", daemon.root.as_str()),
        ("name", daemon.role.program()),
        ("conf", daemon.conf.as_str()),
        ("pid_file", daemon.pid_file.as_str()),
        ("logs", daemon.log_dir.as_str()),
    ];
    format!("{}{head}{COMMON}{body}", assign(&values))
}

/// Unpacks a package of the cache into its version folder.
pub fn install(
    root: &RemotePath,
    package: &Package,
    cached: &RemotePath,
    programs: &[&str],
) -> Action {
    let programs = programs.join(" ");
    let head = assign(&[
        ("root", root.as_str()),
        ("version", &version_folder(package.sha256)),
        ("package", cached.as_str()),
        ("format", package.name.format.ending()),
        ("programs", &programs),
    ]);
    run(head + include_str!("install.sh"), INSTALL)
}

/// Installs through the RPM database, relocated into the version folder. `foreign`: the host's own
/// packages are not RPMs, so nothing can be looked up there.
pub fn install_rpm(
    root: &RemotePath,
    package: &Package,
    cached: &RemotePath,
    foreign: bool,
) -> Action {
    let head = assign(&[
        ("root", root.as_str()),
        ("version", &version_folder(package.sha256)),
        ("package", cached.as_str()),
        (
            "options",
            if foreign {
                "--nodeps --force-debian"
            } else {
                ""
            },
        ),
    ]);
    sudo(head + include_str!("rpm.sh"), INSTALL)
}

/// Takes the package out of the RPM database.
pub fn remove_rpm(package: &str, foreign: bool) -> Action {
    let options = if foreign {
        "--nodeps --force-debian "
    } else {
        ""
    };
    sudo(format!("rpm -e {options}{}\n", quoted(package)), INSTALL)
}

/// Lets `current` lead to a version, in one step.
pub(super) fn switch(root: &RemotePath, package: &Package) -> Action {
    let head = assign(&[
        ("root", root.as_str()),
        ("version", &version_folder(package.sha256)),
    ]);
    run(head + include_str!("switch.sh"), QUICK)
}

/// Creates folders.
pub(super) fn folders(paths: &[&RemotePath]) -> Action {
    let words: Vec<String> = paths.iter().map(|path| quoted(path.as_str())).collect();
    run(format!("mkdir -p -- {}\n", words.join(" ")), QUICK)
}

/// A script under the login's own account.
pub fn run(text: String, timeout: Duration) -> Action {
    Action::Run(Script {
        text,
        sudo: false,
        timeout,
    })
}

/// A script under root.
pub(crate) fn sudo(text: String, timeout: Duration) -> Action {
    Action::Run(Script {
        text,
        sudo: true,
        timeout,
    })
}

fn assign(values: &[(&str, &str)]) -> String {
    values.iter().fold(String::new(), |text, (name, value)| {
        text + name + "=" + &quoted(value) + "\n"
    })
}
