//! Entry point: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(nbctl::run(std::env::args_os()).number())
}
