//! What all three daemons have in common: command line, background, pid file, logs, HTTP, stopping.

pub mod faults;
pub mod log;
mod process;
mod roles;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use tokio::signal::unix::{SignalKind, signal};

use self::log::{LogSetup, log};
use crate::{
    flags::Flags,
    line::{Line, Role, SANDBOX_GIT_SHA},
    package::stamp,
    stats::Stats,
};

/// Plays the daemon that the program's name, or its first argument, stands for.
pub fn main() -> ExitCode {
    let mut args = std::env::args();
    let program = args.next().unwrap_or_default();
    let mut args: Vec<String> = args.collect();
    let role = match Role::from_program(&program) {
        Some(role) => role,
        None => match args.first().and_then(|word| Role::from_program(word)) {
            Some(role) => {
                // Kept for the process in the background, which is called by the same arguments.
                if !process::is_background() {
                    args.remove(0);
                }
                role
            }
            None => return refuse("usage: nebula-sandbox metad|graphd|storaged [--flag=value]..."),
        },
    };
    if process::is_background() {
        args.retain(|arg| Role::from_program(arg).is_none());
    }
    match start(role, stamp::own_line(), &args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => refuse(&text),
    }
}

fn refuse(text: &str) -> ExitCode {
    writeln!(io::stderr(), "{text}").ok();
    ExitCode::FAILURE
}

fn start(role: Role, line: Line, args: &[String]) -> Result<(), String> {
    let flags = Arc::new(Flags::new(line, role));
    flags.apply_args(args).map_err(|error| error.to_string())?;
    if flags.on("version") {
        let text = format!(
            "{} version Git: {SANDBOX_GIT_SHA}, Build Time: {}\nThis is the nbctl sandbox playing NebulaGraph {line}.",
            role.binary(),
            env!("CARGO_PKG_VERSION"),
        );
        writeln!(io::stdout(), "{text}").ok();
        return Ok(());
    }
    log::init(LogSetup {
        dir: PathBuf::from(flags.text("log_dir")),
        program: role.binary(),
        line,
        stamped: line != Line::V3_8_0 || flags.on("timestamp_in_logfile_name"),
    });
    let result = before_background(role, line, args, &flags);
    if let Err(text) = &result {
        log!(Error, "{text}");
    }
    result
}

fn before_background(
    role: Role,
    line: Line,
    args: &[String],
    flags: &Arc<Flags>,
) -> Result<(), String> {
    let pid_file = PathBuf::from(flags.text("pid_file"));
    if !process::is_background() {
        if let Some(pid) = process::live_pid(&pid_file) {
            return Err(format!("Process `{pid}' already existed"));
        }
        check_local_ip(line, &flags.text("local_ip"))?;
        if flags.on("daemonize") {
            let mut all = vec![role.name().to_owned()];
            all.extend_from_slice(args);
            return process::leave_to_background(&all, flags).map_err(|error| error.to_string());
        }
    }
    process::write_pid(&pid_file).map_err(|error| format!("{}: {error}", pid_file.display()))?;
    serve(role, line, flags)
}

/// From 2.6 on an address that no interface has ends the daemon. Names are taken as they are.
fn check_local_ip(line: Line, address: &str) -> Result<(), String> {
    let Ok(ip) = address.parse::<std::net::IpAddr>() else {
        return Ok(());
    };
    if !line.checks_local_ip() || std::net::UdpSocket::bind((ip, 0)).is_ok() {
        return Ok(());
    }
    let candidates = std::fs::read_to_string("/proc/net/fib_trie").unwrap_or_default();
    let mut found: Vec<&str> = Vec::new();
    let mut last = "";
    for row in candidates.lines().map(str::trim) {
        if row.contains("host LOCAL") && !found.contains(&last) {
            found.push(last);
        }
        last = row.trim_start_matches("|-- ").trim_start_matches("+-- ");
    }
    Err(format!(
        "{address} is not a valid ip in current host, candidates: {}",
        found.join(",")
    ))
}

fn serve(role: Role, line: Line, flags: &Arc<Flags>) -> Result<(), String> {
    // One thread does the work: the sandbox shares few cores with many others, and switching between threads would
    // cost more than it gains. HTTP has its own.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let stats = Arc::new(Stats::new(line, role));
    runtime.block_on(async {
        let pause = flags.count("sandbox_start_ms");
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let mut daemon = roles::Daemon::new(role, line, flags, &stats);
        log!(Info, "Starting {} of line {line}", role.binary());
        let failed = tokio::select! {
            result = daemon.run() => result.err(),
            () = stop_signal(flags) => None,
        };
        if let Some(text) = failed {
            return Err(text);
        }
        log!(Info, "Stopping {}", role.binary());
        tokio::time::sleep(Duration::from_millis(flags.count("sandbox_stop_ms"))).await;
        daemon.flush();
        Ok(())
    })
}

/// Waits for SIGTERM or SIGINT that is not to be ignored.
async fn stop_signal(flags: &Flags) {
    let (Ok(mut term), Ok(mut int)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return std::future::pending().await;
    };
    loop {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        if !flags.on("sandbox_refuse_stop") {
            return;
        }
        log!(Warning, "a stop signal is ignored");
    }
}

/// Free bytes the data disk must keep, checked by metad at start; `None` when it cannot be asked.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some(stat.f_bavail * stat.f_frsize)
}
