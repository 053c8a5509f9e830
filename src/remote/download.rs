//! What a script prints, into a local file: for more than fits into memory.
//!
//! Duties: no ceiling on the length but the deadline; what was begun is ended on the host when it is given up here.

use std::path::Path;

use nbctl_core::failure::Failure;
use nbctl_core::plan::Script;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};

use super::exec::{Input, KEPT_STDERR, Lost, Raw, Running, feed, fill, keep_end, within};
use super::output::Output;
use super::ssh::Failed;
use super::{GRACE, Job, KillOnDrop, Link, Way, script};

/// Read at once.
const PIECE: usize = 256 << 10;

impl Link {
    /// Runs `script` and writes its standard output to the file `to`, made or emptied; the number of bytes.
    ///
    /// # Errors
    /// Those of [`Link::must`]; the file cannot be written.
    pub async fn download(&self, title: &str, script: &Script, to: &Path) -> Result<u64, Failure> {
        let cannot = |error: std::io::Error| {
            Failure::usage(format!("cannot write it: {error}")).at(to.display().to_string())
        };
        if let Way::Fake(fake) = &self.way {
            let text = fake.answer(&self.host, title, script)?.stdout;
            std::fs::write(to, &text).map_err(cannot)?;
            return Ok(text.len() as u64);
        }
        let token = script::token();
        let job = Job {
            title,
            argv: script::argv(&token, script.sudo, script.timeout),
            token,
            sudo: script.sudo,
            timeout: script.timeout,
            max_stdout: 0,
        };
        let mut options = tokio::fs::File::options();
        options.read(true).write(true).create(true).truncate(true);
        let mut file = options.open(to).await.map_err(cannot)?;
        let input = Input::Bytes(script::framed(&script.text).into_bytes());
        let running = match self.spawn(&job.argv, &input).await {
            Ok(running) => running,
            Err(Failed::Connect(failure)) => return Err(failure),
            Err(Failed::Lost(lost)) => return Err(self.lost(&job, &lost, &Raw::default())),
        };
        let mut guard = KillOnDrop::new(self, &job);
        let mut raw = Raw::default();
        let work = pour(running, &input, &mut file, &mut raw);
        let bytes = match within(job.timeout + GRACE, work).await {
            None => return Err(self.too_late(&job, &raw)),
            Some(Err(lost)) => return Err(self.lost(&job, &lost, &raw)),
            Some(Ok(bytes)) => bytes,
        };
        guard.armed = false;
        let output = Output::from(raw);
        output.check_sudo(&self.host)?;
        output.success(&self.host, title)?;
        let mark = script::end_mark(&job.token);
        match unmark(&mut file, bytes, mark.as_bytes()).await {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(self.lost(&job, &Lost::Cut, &Raw::default())),
            Err(error) => Err(cannot(error)),
        }
    }
}

/// Takes the end mark off, without which something is missing.
async fn unmark(
    file: &mut tokio::fs::File,
    bytes: u64,
    mark: &[u8],
) -> std::io::Result<Option<u64>> {
    let Some(length) = bytes.checked_sub(mark.len() as u64) else {
        return Ok(None);
    };
    let mut end = vec![0; mark.len()];
    file.seek(std::io::SeekFrom::Start(length)).await?;
    file.read_exact(&mut end).await?;
    if end != mark {
        return Ok(None);
    }
    file.set_len(length).await?;
    Ok(Some(length))
}

async fn pour(
    running: Running,
    input: &Input,
    file: &mut tokio::fs::File,
    raw: &mut Raw,
) -> Result<u64, Lost> {
    let Running {
        stdin,
        mut stdout,
        mut stderr,
        wait,
    } = running;
    let cannot = |error: std::io::Error| Lost::Other(format!("cannot write the file: {error}"));
    let body = async {
        let (mut piece, mut bytes) = (vec![0; PIECE], 0);
        loop {
            let count = stdout.read(&mut piece).await.map_err(cannot)?;
            if count == 0 {
                file.flush().await.map_err(cannot)?;
                return Ok(bytes);
            }
            file.write_all(piece.get(..count).unwrap_or_default())
                .await
                .map_err(cannot)?;
            bytes += count as u64;
        }
    };
    let mut errors = Vec::new();
    let words = async {
        while fill(&mut errors, &mut stderr).await? {
            keep_end(&mut errors, KEPT_STDERR);
        }
        Ok::<(), Lost>(())
    };
    let ((), bytes, words) = tokio::join!(feed(stdin, input), body, words);
    words?;
    raw.stderr = errors;
    // Last: ssh's master throws away the output of whom the code was taken.
    raw.code = wait.await?;
    bytes
}
