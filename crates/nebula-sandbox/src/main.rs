//! `nebula-sandbox`: one of NebulaGraph's daemons, by the name it is called.

use std::process::ExitCode;

fn main() -> ExitCode {
    nebula_sandbox::daemon::main()
}
