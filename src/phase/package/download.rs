//! One address into one file, through cuts and pauses.
//!
//! Duties: goes on where it stopped (`Range`), in this run or the next; tries again where it may help, with pauses;
//! tells how far it is.

use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::Duration;

use nbctl_core::failure::Failure;

use crate::event::{Event, Sink};
use crate::http::{self, Answer, Body};

/// Tries in a row that brought nothing.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(200);
/// Bytes between two signs of progress.
const STRIDE: u64 = 4 << 20;

/// How a download ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Everything the server has is in the file.
    Whole,
    /// There is no such file.
    Missing,
    /// Why not.
    Failed(String),
}

/// Fetches `url` into `part`, going on where `part` ends.
///
/// # Errors
/// The disk says no.
pub(super) async fn download(url: &str, part: &Path, sink: &dyn Sink) -> Result<Ended, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::usage(format!("cannot write the download: {error}")).at(part.display().to_string())
    };
    let mut options = OpenOptions::new();
    let opened = options.create(true).truncate(false).write(true).open(part);
    let mut file = opened.map_err(cannot)?;
    let (mut idle, mut why) = (0, String::new());
    while idle < TRIES {
        if idle > 0 {
            tokio::time::sleep(PAUSE * 2_u32.pow(idle)).await;
        }
        let have = file.seek(SeekFrom::End(0)).map_err(cannot)?;
        match http::download(url, have).await {
            Answer::Missing => return Ok(Ended::Missing),
            Answer::Refused(why) => return Ok(Ended::Failed(why)),
            Answer::Again(reason) => (idle, why) = (idle + 1, reason),
            Answer::Body { body, from, total } => {
                begin(&mut file, from).map_err(cannot)?;
                let (ended, brought) = pour(body, &mut file, (from, total), sink)
                    .await
                    .map_err(cannot)?;
                match ended {
                    None => return Ok(Ended::Whole),
                    Some(reason) => why = reason,
                }
                idle = if brought > 0 { 1 } else { idle + 1 };
            }
        }
    }
    Ok(Ended::Failed(why))
}

/// The server may begin at the start although it was asked for the rest.
fn begin(file: &mut File, from: u64) -> std::io::Result<()> {
    file.set_len(from)?;
    file.seek(SeekFrom::Start(from)).map(drop)
}

/// Writes what comes; why it ended early, and how many bytes it brought.
async fn pour(
    mut body: Body,
    file: &mut File,
    (from, total): (u64, Option<u64>),
    sink: &dyn Sink,
) -> std::io::Result<(Option<String>, u64)> {
    let (mut done, mut told) = (from, from);
    let ended = loop {
        match body.next().await {
            Ok(Some(piece)) => {
                file.write_all(&piece)?;
                done += piece.len() as u64;
            }
            Ok(None) => break None,
            Err(why) => break Some(why),
        }
        if done - told >= STRIDE {
            told = done;
            progress(sink, done, total);
        }
    };
    file.sync_all()?;
    let short = total.filter(|total| *total != done);
    let cut = short.map(|total| format!("cut after {done} of {total} bytes"));
    Ok((ended.or(cut), done - from))
}

fn progress(sink: &dyn Sink, done: u64, total: Option<u64>) {
    sink.emit(Event::Progress {
        phase: "download".to_owned(),
        done,
        total,
        unit: "bytes",
        text: String::new(),
    });
}
