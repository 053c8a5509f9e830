//! A package of one line, unpacked, with the real executable in it: what scripts of the package do.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use nebula_sandbox::package::{PackageType, build};

use crate::support::{BINARY, command, free_ports};

/// An install root with a metad on ports of its own.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) dir: PathBuf,
    pub(crate) port: u16,
    line: &'static str,
    _folder: tempfile::TempDir,
}

impl Root {
    /// The tar.gz of `line`. It is made from a small stand-in for the executable, which would take long to pack.
    pub(crate) fn unpack(line: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("tempdir");
        let small = folder.path().join("small");
        fs::write(&small, "small").expect("write");
        let which = line.parse().expect("line");
        let tar = build(which, PackageType::TarGz, &small, folder.path()).expect("builds");
        let tar = tar.to_str().expect("utf-8");
        let place = folder.path().to_str().expect("utf-8");
        let done = command("tar")
            .args(["-xzf", tar, "-C", place])
            .status()
            .expect("tar");
        assert!(done.success());
        let dir = folder
            .path()
            .join(format!("nebula-graph-{line}.el7.x86_64"));
        for role in ["metad", "graphd", "storaged"] {
            let path = dir.join(format!("bin/nebula-{role}"));
            fs::remove_file(&path).expect("unpacked");
            symlink(BINARY, &path).expect("link");
        }
        quick_bc(&dir.join("quick"));
        Self {
            dir,
            port: free_ports(),
            line,
            _folder: folder,
        }
    }

    /// The conf of metad with its own ports and a few more flags.
    pub(crate) fn configure(&self, more: &str) {
        let conf =
            fs::read_to_string(self.dir.join("etc/nebula-metad.conf.default")).expect("conf");
        let port = self.port;
        let conf = conf
            .replace("--port=9559", &format!("--port={port}"))
            .replace("127.0.0.1:9559", &format!("127.0.0.1:{port}"))
            .replace("19559", &self.http().to_string());
        let conf = format!("{conf}--minimum_reserved_bytes=1\n{more}");
        fs::write(self.dir.join("etc/nebula-metad.conf"), conf).expect("conf");
    }

    pub(crate) fn http(&self) -> u16 {
        self.port + 2
    }

    /// Runs `scripts/nebula.service` from another folder: exit code and everything it said.
    pub(crate) fn service(&self, args: &[&str]) -> (i32, String) {
        let script = self.dir.join("scripts/nebula.service");
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", self.dir.join("quick").display());
        let result = command(script.to_str().expect("utf-8"))
            .args(args)
            .env("NEBULA_SANDBOX_LINE", self.line)
            .env("PATH", path)
            .current_dir("/")
            .output()
            .expect("script");
        let both = [result.stdout, result.stderr].concat();
        (
            result.status.code().expect("code"),
            String::from_utf8_lossy(&both).into_owned(),
        )
    }

    pub(crate) fn pid_file(&self) -> PathBuf {
        self.dir.join("pids/nebula-metad.pid")
    }

    /// What is in the pid file, and whether that process is ours and lives.
    pub(crate) fn pid(&self) -> Option<(String, bool)> {
        let pid = fs::read_to_string(self.pid_file()).ok()?.trim().to_owned();
        let home = fs::read_link(Path::new("/proc").join(&pid).join("cwd")).ok();
        let ours = home.is_some_and(|home| home == fs::canonicalize(&self.dir).unwrap_or_default());
        Some((pid, ours))
    }

    pub(crate) fn lives(&self) -> bool {
        self.pid().is_some_and(|(_, ours)| ours)
    }

    /// No process has the pid any more; until somebody waits for it a dead one counts as running for the scripts.
    pub(crate) fn is_gone(&self) -> bool {
        self.pid()
            .is_some_and(|(pid, _)| !Path::new("/proc").join(pid).exists())
    }

    /// SIGKILL.
    pub(crate) fn kill(&self) {
        if let Some((pid, true)) = self.pid() {
            command("kill").args(["-9", &pid]).status().ok();
        }
    }
}

/// `restart` asks bc how long it has waited, forty times; this one says at once that it was long enough.
fn quick_bc(folder: &Path) {
    fs::create_dir(folder).expect("folder");
    let path = folder.join("bc");
    fs::write(&path, "#!/bin/sh\necho 5\n").expect("write");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode");
}

impl Drop for Root {
    fn drop(&mut self) {
        self.kill();
    }
}
