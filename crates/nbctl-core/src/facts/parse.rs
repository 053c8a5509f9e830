//! The answer: from lines of tab-separated fields to [`HostFacts`].
//!
//! Duty: skip what is not understood (shell greetings, lines of other versions), never guess, and
//! refuse an answer that does not reach its last line.

use super::request::HEADER;
use super::sockets::{hex_row, ss_row};
use super::words::{chosen, df_row, epoch_ms, glibc, path_fact, ports, undeleted};
use super::{Disk, DockerSocket, Firewall, HostFacts, Listener, PidFile, Process, Space};
use crate::failure::Failure;
use crate::units::{RemotePath, Sha256};

impl HostFacts {
    /// Reads the answer of the script.
    ///
    /// # Errors
    /// The answer has no header of this version, or was cut off.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let mut lines = text.lines().skip_while(|line| *line != HEADER);
        if lines.next().is_none() {
            return Err(no_header(text));
        }
        let mut reader = Reader::default();
        for line in lines {
            if line == "end" {
                return Ok(reader.facts);
            }
            let fields: Vec<&str> = line.split('\t').collect();
            if let Some((word, fields)) = fields.split_first() {
                // A line that is not understood says nothing.
                let _: Option<()> = reader.take(word, fields);
            }
        }
        Err(Failure::host("the answer to the facts script was cut off")
            .lines(last_lines(text))
            .hint("the connection or the shell ended early; run the command again"))
    }
}

fn no_header(text: &str) -> Failure {
    Failure::host("no answer to the facts script")
        .lines(last_lines(text))
        .hint("the login must run commands with a POSIX shell: try `ssh HOST sh -c true`")
}

fn last_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().rev().take(3).map(str::to_owned).collect();
    lines.reverse();
    lines
}

#[derive(Default)]
struct Reader {
    facts: HostFacts,
    ticks: u64,
    booted: u64,
}

impl Reader {
    fn take(&mut self, word: &str, fields: &[&str]) -> Option<()> {
        match word {
            "clock" => self.clock(fields),
            "os" | "kernel" | "glibc" | "boot" | "cpus" | "memory" => self.system(word, fields),
            "nofile" => self.nofile(fields),
            "setting" => self.setting(fields),
            "user" => self.user(fields),
            "sudo" => self.sudo(fields),
            "tool" => self.tool(fields),
            "address" => self.address(fields),
            "resolve" => self.resolve(fields),
            "listen" => self.listen(fields, ss_row),
            "listen-hex" => self.listen(fields, hex_row),
            "space" => self.space(fields),
            "disk" => self.disk(fields),
            "owner" => self.owner(fields),
            "installed" => self.installed(fields),
            "cached" => self.cached(fields),
            "path" => self.path(fields),
            "file" => self.file(fields),
            "ticks" => self.ticks(fields),
            "process" => self.process(fields),
            "pid-file" => self.pid_file(fields),
            "docker" => self.docker(fields),
            "firewall" => self.firewall(fields),
            "rpm" => self.rpm(fields),
            _ => None,
        }
    }

    fn clock(&mut self, fields: &[&str]) -> Option<()> {
        let &[which, text] = fields else { return None };
        let ms = epoch_ms(text)?;
        match which {
            "start" => self.facts.clock.start_ms = ms,
            "end" => self.facts.clock.end_ms = ms,
            _ => return None,
        }
        Some(())
    }

    fn system(&mut self, word: &str, fields: &[&str]) -> Option<()> {
        let system = &mut self.facts.system;
        match (word, fields) {
            ("os", &[id, version, name]) => {
                (system.os, system.os_version) = (id.to_owned(), version.to_owned());
                name.clone_into(&mut system.os_name);
            }
            ("kernel", &[release, machine]) => {
                (system.kernel, system.arch) = (release.to_owned(), machine.to_owned());
            }
            ("glibc", &[text]) => system.glibc = glibc(text),
            ("boot", &[id]) => id.clone_into(&mut system.boot_id),
            ("cpus", &[count]) => system.cpus = count.parse().ok()?,
            ("memory", &[which, kib]) => return self.memory(which, kib.parse().ok()?),
            _ => return None,
        }
        Some(())
    }

    fn memory(&mut self, which: &str, kib: u64) -> Option<()> {
        let system = &mut self.facts.system;
        let field = match which {
            "MemTotal" => &mut system.memory,
            "MemAvailable" => &mut system.memory_available,
            "SwapTotal" => &mut system.swap,
            _ => return None,
        };
        *field = kib.saturating_mul(1024);
        Some(())
    }

    fn nofile(&mut self, fields: &[&str]) -> Option<()> {
        let &[soft, hard] = fields else { return None };
        self.facts.nofile = (soft.parse().ok(), hard.parse().ok());
        Some(())
    }

    fn setting(&mut self, fields: &[&str]) -> Option<()> {
        let &[name, value] = fields else { return None };
        let value = chosen(value).to_owned();
        self.facts.settings.insert(name.to_owned(), value);
        Some(())
    }

    fn user(&mut self, fields: &[&str]) -> Option<()> {
        let &[name, uid, home] = fields else {
            return None;
        };
        let user = &mut self.facts.user;
        user.uid = uid.parse().ok()?;
        (user.name, user.home) = (name.to_owned(), home.to_owned());
        Some(())
    }

    fn sudo(&mut self, fields: &[&str]) -> Option<()> {
        let &[works] = fields else { return None };
        self.facts.user.sudo = works == "yes";
        Some(())
    }

    fn tool(&mut self, fields: &[&str]) -> Option<()> {
        let &[name] = fields else { return None };
        self.facts.tools.insert(name.to_owned());
        Some(())
    }

    fn address(&mut self, fields: &[&str]) -> Option<()> {
        let &[address] = fields else { return None };
        self.facts.addresses.insert(address.to_owned());
        Some(())
    }

    fn resolve(&mut self, fields: &[&str]) -> Option<()> {
        let &[name, found] = fields else { return None };
        let mut addresses: Vec<String> = found.split_whitespace().map(str::to_owned).collect();
        addresses.sort();
        addresses.dedup();
        self.facts.names.insert(name.to_owned(), addresses);
        Some(())
    }

    fn listen(&mut self, fields: &[&str], read: fn(&str) -> Option<Listener>) -> Option<()> {
        self.facts.listening.push(read(fields.first()?)?);
        Some(())
    }

    fn space(&mut self, fields: &[&str]) -> Option<()> {
        let &[asked, at, writable, row] = fields else {
            return None;
        };
        let (free, mount) = df_row(row)?;
        let at = RemotePath::new(at).ok()?;
        let space = Space {
            at,
            writable: writable == "yes",
            free,
            mount,
        };
        self.facts.space.insert(RemotePath::new(asked).ok()?, space);
        Some(())
    }

    fn disk(&mut self, fields: &[&str]) -> Option<()> {
        let &[asked, scheduler, spins] = fields else {
            return None;
        };
        let disk = Disk {
            scheduler: chosen(scheduler).to_owned(),
            spins: spins == "1",
        };
        self.facts.disks.insert(RemotePath::new(asked).ok()?, disk);
        Some(())
    }

    fn pid_file(&mut self, fields: &[&str]) -> Option<()> {
        let &[file, pid, name] = fields else {
            return None;
        };
        let (pid, name) = (pid.parse().ok()?, name.to_owned());
        let file = RemotePath::new(file).ok()?;
        self.facts.pid_files.insert(file, PidFile { pid, name });
        Some(())
    }

    fn firewall(&mut self, fields: &[&str]) -> Option<()> {
        let &[kind, open] = fields else { return None };
        let asked = open.trim() != "?";
        self.facts.firewall = Some(Firewall {
            kind: kind.to_owned(),
            open: asked.then(|| open.split_whitespace().filter_map(ports).collect()),
        });
        Some(())
    }

    fn owner(&mut self, fields: &[&str]) -> Option<()> {
        let &[folder, line] = fields else { return None };
        let text = self
            .facts
            .owners
            .entry(RemotePath::new(folder).ok()?)
            .or_default();
        text.push_str(line);
        text.push('\n');
        Some(())
    }

    fn installed(&mut self, fields: &[&str]) -> Option<()> {
        let &[root, program] = fields else {
            return None;
        };
        let programs = &mut self.facts.installed;
        let programs = programs.entry(RemotePath::new(root).ok()?).or_default();
        programs.insert(program.to_owned());
        Some(())
    }

    fn cached(&mut self, fields: &[&str]) -> Option<()> {
        let &[file, bytes] = fields else { return None };
        let bytes = bytes.trim().parse().ok()?;
        self.facts.cached.insert(RemotePath::new(file).ok()?, bytes);
        Some(())
    }

    fn path(&mut self, fields: &[&str]) -> Option<()> {
        let (asked, rest) = fields.split_first()?;
        let fact = path_fact(rest)?;
        self.facts.paths.insert(RemotePath::new(asked).ok()?, fact);
        Some(())
    }

    fn file(&mut self, fields: &[&str]) -> Option<()> {
        let &[asked, digest] = fields else {
            return None;
        };
        let digest = Sha256::parse(digest).ok();
        self.facts
            .files
            .insert(RemotePath::new(asked).ok()?, digest);
        Some(())
    }

    fn ticks(&mut self, fields: &[&str]) -> Option<()> {
        let &[ticks, booted] = fields else {
            return None;
        };
        (self.ticks, self.booted) = (ticks.parse().ok()?, booted.parse().ok()?);
        Some(())
    }

    fn process(&mut self, fields: &[&str]) -> Option<()> {
        let &[pid, exe, name, user, stat, nofile, cwd, command] = fields else {
            return None;
        };
        // `/proc/<pid>/stat` after the name: field 3 (state) is first, field 22 (start, in ticks) 20th.
        let stat: Vec<&str> = stat.split_whitespace().collect();
        if matches!(stat.first(), None | Some(&"Z" | &"X")) {
            return None;
        }
        let ticks: u64 = stat.get(19)?.parse().ok()?;
        let (exe, deleted) = undeleted(exe);
        self.facts.processes.push(Process {
            pid: pid.parse().ok()?,
            exe: exe.to_owned(),
            deleted,
            name: name.to_owned(),
            user: user.to_owned(),
            started: self.booted + ticks.checked_div(self.ticks).unwrap_or_default(),
            nofile: nofile.parse().ok(),
            cwd: cwd.to_owned(),
            command: command.trim_end().to_owned(),
        });
        Some(())
    }

    fn docker(&mut self, fields: &[&str]) -> Option<()> {
        self.facts.docker = Some(match *fields {
            [_, "none"] => DockerSocket::None,
            [_, "ok"] => DockerSocket::Usable,
            [_, "denied", mode] => DockerSocket::Denied(mode.to_owned()),
            _ => return None,
        });
        Some(())
    }

    fn rpm(&mut self, fields: &[&str]) -> Option<()> {
        let &[package, prefix] = fields else {
            return None;
        };
        self.facts
            .rpms
            .insert(package.to_owned(), prefix.to_owned());
        Some(())
    }
}
