//! A local socket behind which every connection is a program on the host.
//!
//! Purpose: a Unix socket that the login user may not open can be reached through a program that may (Docker's
//! `system dial-stdio` under sudo), without changing the host.
//! Duties: one program a connection, its input and output are the connection; the socket goes with its owner.

use std::path::{Path, PathBuf};

use nbctl_core::failure::Failure;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

use super::exec::{Input, Running};
use super::{Link, Way, script, ssh_forward};

/// Not `exec`: the shell stays, and with it the token by which the tree is found.
const PROGRAM: &str = r#""$@"; exit $?"#;
/// What is kept of a program's complaints, in bytes.
const COMPLAINTS: u64 = 4 << 10;

/// Serves until it is dropped.
#[derive(Debug)]
pub struct Bridge {
    path: PathBuf,
    task: JoinHandle<()>,
}

impl Bridge {
    /// The local socket.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.task.abort();
        drop(std::fs::remove_file(&self.path));
    }
}

impl Link {
    /// A local socket; each connection to it runs `program` on the host, under `sudo -n`.
    ///
    /// # Errors
    /// The socket cannot be made, or the host is not reached by ssh.
    pub fn bridge(&self, program: &[&str]) -> Result<Bridge, Failure> {
        let Way::Ssh(link) = &self.way else {
            return Err(
                Failure::host("only a host behind ssh has a bridge").at(self.host.to_string())
            );
        };
        let path = ssh_forward::fresh_path(link.control());
        let listener = UnixListener::bind(&path).map_err(|error| {
            Failure::host(format!("cannot listen on {}: {error}", path.display()))
                .at(self.host.to_string())
        })?;
        let program = program.iter().map(|&word| word.to_owned()).collect();
        let task = tokio::spawn(serve(self.clone(), listener, program));
        Ok(Bridge { path, task })
    }
}

async fn serve(link: Link, listener: UnixListener, program: Vec<String>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (link, program) = (link.clone(), program.clone());
        drop(tokio::spawn(async move {
            connection(&link, stream, &program).await;
        }));
    }
}

/// Both ways until the program has nothing more to say; who called sees a closed connection when it cannot start.
async fn connection(link: &Link, stream: UnixStream, program: &[String]) {
    let words: Vec<&str> = program.iter().map(String::as_str).collect();
    let argv = script::data_argv(&script::token(), true, PROGRAM, &words);
    let Ok(running) = link.spawn(&argv, &Input::Bytes(Vec::new())).await else {
        tracing::warn!(host = %link.host, program = words.join(" "), "cannot be started");
        return;
    };
    let Running {
        stdin,
        mut stdout,
        stderr,
        wait,
    } = running;
    let (mut from, mut to) = stream.into_split();
    let up = async {
        if let Some(mut stdin) = stdin {
            drop(copy(&mut from, &mut stdin).await);
            drop(stdin.shutdown().await);
        }
    };
    let down = async {
        drop(copy(&mut stdout, &mut to).await);
        drop(to.shutdown().await);
    };
    let mut complaints = String::new();
    let mut heard = stderr.take(COMPLAINTS);
    let listen = heard.read_to_string(&mut complaints);
    // The end of its output is the end; that of its input or of the process alone is not.
    let rest = async {
        drop(tokio::join!(up, listen, wait));
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = down => {}
        () = rest => {}
    }
    if !complaints.is_empty() {
        tracing::warn!(host = %link.host, "{}", complaints.trim());
    }
}
