//! Logs of the daemons: collecting them, following them, putting lines of many hosts in order.
//!
//! Purpose: `logs`, and what a teardown keeps before it deletes.
//! Duties: the scripts; the form of a line of glog (`reference/deploy.md` 2.4); the merging by time. A line that is
//! not glog's belongs to the one before it.

mod bundle;
mod glog;
mod merge;

use crate::facts::quoted;
use crate::inventory::Daemon;

pub use bundle::{Head, head};
pub use glog::{Level, Stamp, parse};
pub use merge::{Line, Merger};

const COLLECT: &str = include_str!("collect.sh");
const FOLLOW: &str = include_str!("follow.sh");

/// Script that sends the end of every log of these daemons of one host, at most `max` bytes of each, and with
/// `confs` their configuration: see [`head`] for its form.
pub fn collect(daemons: &[&Daemon], max: u64, confs: bool) -> String {
    let mut text = format!("max={max}\n{COLLECT}\n");
    for daemon in daemons {
        let words = [
            quoted(daemon.role.as_str()),
            quoted(daemon.role.program()),
            quoted(daemon.log_dir.as_str()),
        ];
        text.push_str("logs ");
        text.push_str(&words.join(" "));
        text.push('\n');
        if confs {
            text.push_str("send ");
            text.push_str(&[quoted("etc"), quoted(daemon.conf.as_str())].join(" "));
            text.push('\n');
        }
    }
    text.push_str("printf 'end\\n'\n");
    text
}

/// One-line script that prints the last `lines` lines of a daemon's log and, with `follow`, those that come.
pub fn follow(daemon: &Daemon, lines: u32, follow: bool) -> String {
    let how = if follow { "-F" } else { "" };
    let values = [
        ("name", daemon.role.program().to_owned()),
        ("logs", daemon.log_dir.as_str().to_owned()),
        ("lines", lines.to_string()),
        ("how", how.to_owned()),
    ];
    let head = values.map(|(name, value)| format!("{name}={}; ", quoted(&value)));
    head.concat() + FOLLOW.trim_end()
}
