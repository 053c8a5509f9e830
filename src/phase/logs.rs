//! Logs: collect them into a folder, or follow them in one order.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Cluster, Daemon, Selection};
use nbctl_core::logs::{self, Head, Level, Line, Merger};
use nbctl_core::plan::Script;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::phase::many::{Many, Told};
use crate::remote::Link;

/// For the logs of one host.
const LIMIT: Duration = Duration::from_mins(10);
/// Lines are held back so long, for older ones of other hosts.
const HELD: Duration = Duration::from_secs(1);
/// Between two looks at what may be shown.
const TICK: Duration = Duration::from_millis(200);

/// What of the logs is collected.
#[derive(Debug, Clone, Copy)]
pub struct Collect<'a> {
    /// Of these daemons.
    pub cluster: &'a Cluster,
    /// Narrows them.
    pub selection: &'a Selection,
    /// Bytes of each file, its end.
    pub max: u64,
    /// Configuration files, too.
    pub confs: bool,
}

/// What came from one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Collected {
    /// Files.
    pub files: usize,
    /// Bytes.
    pub bytes: u64,
    /// Files of which only the end came.
    pub cut: usize,
}

impl Collect<'_> {
    /// Writes the logs of one host below `folder/<host>/`.
    ///
    /// # Errors
    /// The host does not answer; the folder cannot be written.
    pub async fn host(&self, link: &Link, folder: &Path) -> Result<Collected, Failure> {
        let host = link.host();
        let daemons: Vec<&Daemon> = self
            .cluster
            .daemons_on(host)
            .filter(|daemon| self.selection.has_daemon(daemon))
            .collect();
        if daemons.is_empty() {
            return Ok(Collected::default());
        }
        let folder = folder.join(host.as_str());
        std::fs::create_dir_all(&folder).map_err(|error| unwritten(&folder, &error))?;
        let bundle = folder.join(".incoming");
        let script = Script {
            text: logs::collect(&daemons, self.max, self.confs),
            sudo: false,
            timeout: LIMIT,
        };
        link.download("collect logs", &script, &bundle).await?;
        let unpacked = tokio::task::spawn_blocking(move || {
            let done = unpack(&bundle, &folder).map_err(|error| unwritten(&folder, &error));
            std::fs::remove_file(&bundle).ok();
            done
        });
        unpacked
            .await
            .map_err(|error| Failure::step(format!("cannot unpack the logs: {error}")))?
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write the logs: {error}"))
        .at(path.display().to_string())
        .hint("choose another folder with --out or --state-dir")
}

/// Takes the files of a bundle apart.
fn unpack(bundle: &Path, folder: &Path) -> std::io::Result<Collected> {
    let mut from = BufReader::new(File::open(bundle)?);
    let mut all = Collected::default();
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let (name, bytes, left_out) = match logs::head(line.trim_end_matches('\n')) {
            Some(Head::File {
                name,
                bytes,
                left_out,
            }) => (name, bytes, left_out),
            Some(Head::End) => return Ok(all),
            None => return Err(std::io::Error::other("the host's answer was cut off")),
        };
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::io::copy(&mut from.by_ref().take(bytes), &mut File::create(path)?)?;
        all.files += 1;
        all.bytes += bytes;
        all.cut += usize::from(left_out > 0);
    }
}

/// A folder of this moment below `base`.
pub fn folder_of_now(base: &Path) -> PathBuf {
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    base.join(now.to_string())
}

/// How logs are shown.
#[derive(Debug)]
pub struct Show<'a> {
    /// Of these daemons.
    pub daemons: Vec<&'a Daemon>,
    /// Lines of the past.
    pub lines: u32,
    /// And those that come, until the command is interrupted.
    pub follow: bool,
    /// Least severity.
    pub level: Level,
}

type Sent = (Instant, Line);

impl Show<'_> {
    /// Shows the lines of all daemons in the order of their times; `show` gets the daemon's index and the line.
    ///
    /// # Errors
    /// Of the hosts that were lost on the way, one line each.
    pub async fn run(
        &self,
        many: &Many,
        cancel: &CancellationToken,
        show: &mut (dyn FnMut(usize, &str) + Send),
    ) -> Result<(), Failure> {
        let (send, receive) = unbounded_channel();
        let reading = async {
            let result = many
                .each(cancel, |link| self.host(link, send.clone()))
                .await;
            drop(send);
            result
        };
        let (result, ()) = tokio::join!(reading, self.ordered(receive, show));
        result.map(drop)
    }

    async fn host(&self, link: &Link, send: UnboundedSender<Sent>) -> Result<(), Failure> {
        let of_host = self.daemons.iter().enumerate();
        let of_host = of_host.filter(|(_, daemon)| daemon.host == *link.host());
        let work = of_host.map(|(source, daemon)| {
            let told = Told {
                title: format!("read the log of {}", daemon.id()),
                text: logs::follow(daemon, self.lines, self.follow),
                sudo: false,
                limit: (!self.follow).then_some(LIMIT),
            };
            let send = send.clone();
            async move {
                let mut show = |text: &str| {
                    let text = text.to_owned();
                    send.send((Instant::now(), Line { source, text })).ok();
                };
                told.run(link, &mut show).await
            }
        });
        join_all(work).await.into_iter().collect()
    }

    async fn ordered(
        &self,
        mut receive: UnboundedReceiver<Sent>,
        show: &mut (dyn FnMut(usize, &str) + Send),
    ) {
        let begun = Instant::now();
        let millis = |at: Instant| {
            u64::try_from(at.saturating_duration_since(begun).as_millis()).unwrap_or(u64::MAX)
        };
        let year = jiff::Timestamp::now().strftime("%Y").to_string();
        let mut merger = Merger::new(year.parse().unwrap_or_default(), self.level);
        let mut tick = tokio::time::interval(TICK);
        loop {
            let until = tokio::select! {
                sent = receive.recv() => match sent {
                    Some((at, line)) => {
                        merger.push(millis(at), line);
                        continue;
                    }
                    None => None,
                },
                // Of the past all lines are put in order at once.
                _ = tick.tick(), if self.follow => Some(millis(Instant::now()).saturating_sub(millis(begun + HELD))),
            };
            for line in merger.take(until.unwrap_or(u64::MAX)) {
                show(line.source, &line.text);
            }
            if until.is_none() {
                return;
            }
        }
    }
}
