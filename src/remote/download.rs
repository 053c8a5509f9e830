//! What a script prints, into a local file: for more than fits into memory.
//!
//! Duties: no ceiling on the length but the deadline; what was begun is ended on the host when it is given up here.

use std::path::Path;

use nbctl_core::failure::Failure;
use nbctl_core::plan::Script;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};

use super::exec::{Beyond, Input};
use super::output::Output;
use super::{Job, Link, Way, script};

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
        };
        let input = Input::Bytes(script::framed(&script.text).into_bytes());
        let mut file = tokio::fs::File::create(to).await.map_err(cannot)?;
        let beyond = &mut Beyond::Spilled(&mut file);
        let raw = self.execute_into(&job, &input, beyond).await?;
        let rest = raw.stdout.clone();
        let output = Output::from(raw);
        output.check_sudo(&self.host)?;
        output.success(&self.host, title)?;
        file.write_all(&rest).await.map_err(cannot)?;
        file.flush().await.map_err(cannot)?;
        file.stream_position().await.map_err(cannot)
    }
}
