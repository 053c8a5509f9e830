//! Log files in glog form: one file per severity, a stable link to the newest, lower severities contain the higher.

use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

use jiff::{Timestamp, tz::TimeZone};

use crate::line::Line;

/// Severity of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Info,
    Warning,
    Error,
}

impl Severity {
    const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Error];

    const fn name(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
        }
    }

    const fn letter(self) -> char {
        match self {
            Self::Info => 'I',
            Self::Warning => 'W',
            Self::Error => 'E',
        }
    }
}

/// Where and how a process logs.
#[derive(Debug)]
pub struct LogSetup {
    pub dir: PathBuf,
    pub program: &'static str,
    pub line: Line,
    /// Start time and pid are part of the file name.
    pub stamped: bool,
}

#[derive(Debug)]
struct Logger {
    setup: LogSetup,
    files: [Option<File>; 3],
}

static LOGGER: OnceLock<Mutex<Logger>> = OnceLock::new();

/// Starts logging; the first call in a process wins.
pub fn init(setup: LogSetup) {
    let logger = Logger {
        setup,
        files: [None, None, None],
    };
    LOGGER.set(Mutex::new(logger)).ok();
}

/// Writes one line to the file of `severity` and of every lower one. A full disk must not end a daemon, so failures
/// are dropped.
pub fn write(severity: Severity, source: &str, line: u32, text: &str) {
    let Some(logger) = LOGGER.get() else { return };
    let mut logger = logger.lock().unwrap_or_else(PoisonError::into_inner);
    let base = source.rsplit('/').next().unwrap_or(source);
    let pid = std::process::id();
    let stamp = stamp(logger.setup.line);
    let row = format!(
        "{}{stamp} {pid:>5} {base}:{line}] {text}\n",
        severity.letter()
    );
    for target in Severity::ALL.into_iter().filter(|s| *s <= severity) {
        if let Some(file) = logger.file(target) {
            file.write_all(row.as_bytes()).ok();
        }
    }
}

fn stamp(line: Line) -> String {
    let now = Timestamp::now().to_zoned_datetime(TimeZone::UTC);
    let format = if line.logs_year() {
        "%Y%m%d %H:%M:%S.%6f"
    } else {
        "%m%d %H:%M:%S.%6f"
    };
    now.strftime(format).to_string()
}

impl Logger {
    fn file(&mut self, severity: Severity) -> Option<&mut File> {
        let slot = self.files.get_mut(severity as usize)?;
        if slot.is_none() {
            *slot = open(&self.setup, severity);
        }
        slot.as_mut()
    }
}

fn open(setup: &LogSetup, severity: Severity) -> Option<File> {
    fs::create_dir_all(&setup.dir).ok()?;
    let name = file_name(setup, severity);
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(setup.dir.join(&name))
        .ok()?;
    link(
        &setup.dir,
        &format!("{}.{}", setup.program, severity.name()),
        &name,
    );
    let head = format!(
        "Log file created at: {}\nRunning on machine: {}\nLog line format: [IWEF]{} hh:mm:ss.uuuuuu threadid file:line] msg\n",
        Timestamp::now()
            .to_zoned_datetime(TimeZone::UTC)
            .strftime("%Y/%m/%d %H:%M:%S"),
        host_name(),
        if setup.line.logs_year() {
            "yyyymmdd"
        } else {
            "mmdd"
        },
    );
    file.write_all(head.as_bytes()).ok()?;
    Some(file)
}

fn file_name(setup: &LogSetup, severity: Severity) -> String {
    let (program, severity) = (setup.program, severity.name());
    if !setup.stamped {
        return format!("{program}.{severity}.impl");
    }
    let start = Timestamp::now()
        .to_zoned_datetime(TimeZone::UTC)
        .strftime("%Y%m%d-%H%M%S")
        .to_string();
    let (host, user, pid) = (host_name(), user_name(), std::process::id());
    format!("{program}.{host}.{user}.log.{severity}.{start}.{pid}")
}

fn link(dir: &Path, link: &str, target: &str) {
    let path = dir.join(link);
    fs::remove_file(&path).ok();
    symlink(target, path).ok();
}

fn host_name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "localhost".to_owned(), |name| name.trim().to_owned())
}

fn user_name() -> String {
    std::env::var("USER").unwrap_or_else(|_| "root".to_owned())
}

/// `log!(Info, "format {}", x)`: writes to the process's log files.
macro_rules! log {
    ($severity:ident, $($arg:tt)+) => {
        $crate::daemon::log::write(
            $crate::daemon::log::Severity::$severity,
            file!(),
            line!(),
            &format!($($arg)+),
        )
    };
}
pub(crate) use log;
