//! Ansible with the playbook in `ansible/`.

use std::path::PathBuf;
use std::process::Command;

use crate::bed::{Bed, HOME};
use crate::run::{Run, timed, write};

/// Ansible, set up for the hosts.
#[derive(Debug)]
pub(crate) struct Ansible<'a> {
    bed: &'a Bed,
    folder: PathBuf,
    sockets: tempfile::TempDir,
}

impl<'a> Ansible<'a> {
    pub(crate) fn new(bed: &'a Bed) -> Self {
        let folder = bed.bench.join("playbook");
        write(&folder.join("hosts.ini"), &hosts(bed));
        // Socket paths are short.
        let sockets = tempfile::tempdir().unwrap();
        Self {
            bed,
            folder,
            sockets,
        }
    }

    /// Runs a playbook; `turn` decides the value of the flag that changes.
    pub(crate) fn play(&self, playbook: &str, turn: usize) -> Run {
        let waited = self.folder.join("waited");
        drop(std::fs::remove_file(&waited));
        let ssh = self.bed.dir.join("ssh_config");
        let program = self.bed.bench.join("ansible/bin/ansible-playbook");
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            .env(
                "ANSIBLE_SSH_ARGS",
                format!(
                    "-F {} -o ControlMaster=auto -o ControlPersist=600s",
                    ssh.display()
                ),
            )
            .env("ANSIBLE_SSH_CONTROL_PATH_DIR", self.sockets.path())
            .args([
                playbook,
                "-e",
                &format!("package={}", self.bed.package.display()),
            ])
            .args(["-e", &format!("waited={}", waited.display())])
            .args(["-e", &format!("block_cache={}", 64 + turn)]);
        let mut run = timed(playbook, &mut command);
        if let Ok(text) = std::fs::read_to_string(&waited) {
            run.waited = text.trim().parse().expect("seconds");
        }
        run
    }

    /// Ends the connections Ansible keeps.
    pub(crate) fn end_masters(&self) {
        for socket in std::fs::read_dir(self.sockets.path()).unwrap().flatten() {
            let mut ssh = Command::new("ssh");
            ssh.arg("-S")
                .arg(socket.path())
                .args(["-O", "exit", "host"]);
            drop(ssh.output());
        }
    }

    /// Stops and removes what the playbook put on the hosts.
    pub(crate) fn remove(&self) {
        self.play("stop.yml", 0);
        for host in 0..self.bed.addresses.len() {
            assert!(
                self.bed
                    .ssh(host, "rm -rf nebula-by-ansible")
                    .status()
                    .unwrap()
                    .success()
            );
        }
    }
}

fn hosts(bed: &Bed) -> String {
    let hosts = (1..).zip(&bed.addresses);
    let line = |(number, address): (usize, &String)| format!("h{number} ansible_host={address}\n");
    let text: String = hosts.map(line).collect();
    let names: Vec<String> = (1..=bed.addresses.len())
        .map(|number| format!("h{number}"))
        .collect();
    let metads = names.iter().take(3).cloned().collect::<Vec<_>>().join("\n");
    let all = names.join("\n");
    format!(
        "{text}\n[metad]\n{metads}\n\n[storaged]\n{all}\n\n[graphd]\n{all}\n\n[all:vars]\nansible_user=vesoft\n\
         ansible_python_interpreter=/usr/bin/python3\ndeploy_dir={HOME}/nebula-by-ansible\n\
         data_dir={HOME}/nebula-by-ansible/data\n"
    )
}
