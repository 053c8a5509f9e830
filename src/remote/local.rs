//! Processes of the machine nbctl runs on; the only place that starts any.
//!
//! Duty: start a command in a process group of its own, so that a deadline can end all of it.

use std::process::Stdio;

use futures_util::FutureExt as _;

use super::exec::{Input, Lost, Running};

/// Starts `argv`.
pub(super) fn spawn(argv: &[String], input: &Input) -> Result<Running, Lost> {
    let no_command = || Lost::Other("no command".to_owned());
    let (program, rest) = argv.split_first().ok_or_else(no_command)?;
    let stdin = match input {
        Input::Bytes(_) => Stdio::piped(),
        Input::File(file) => file.try_clone().map(Stdio::from).map_err(|e| other(&e))?,
    };
    let mut command = tokio::process::Command::new(program);
    command.args(rest).process_group(0);
    command.stdin(stdin).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| other(&e))?;
    let missing = || Lost::Other("no pipe to the process".to_owned());
    Ok(Running {
        stdin: child.stdin.take().map(|pipe| Box::pin(pipe) as _),
        stdout: Box::pin(child.stdout.take().ok_or_else(missing)?),
        stderr: Box::pin(child.stderr.take().ok_or_else(missing)?),
        wait: async move {
            let status = child.wait().await.map_err(|e| other(&e))?;
            status.code().ok_or(Lost::Gone)
        }
        .boxed(),
    })
}

fn other(error: &std::io::Error) -> Lost {
    Lost::Other(format!("cannot run it: {error}"))
}
