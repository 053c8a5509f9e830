//! `nbctl sandbox up|down|status|package`: hosts of this machine and the stand-in's package, for a first look and for
//! tests. The only place that knows the sandbox is not NebulaGraph.

use std::path::{Path, PathBuf};

use nbctl_core::failure::{ExitCode, Failure};
use nebula_sandbox::package::{self, PackageType};

use crate::assets::Assets;
use crate::cli::{Global, Sandbox, SandboxPackage};
use crate::context::state_dir;
use crate::remote::Here;
use crate::reporter::Reporter;

/// Folder of the embedded scripts.
const SCRIPTS: &str = "tests/bed";

pub(super) async fn run(
    args: Sandbox,
    global: &Global,
    reporter: &Reporter,
) -> anyhow::Result<ExitCode> {
    match args {
        Sandbox::Package(args) => {
            let file = build(&args)?;
            let text = file.display().to_string();
            reporter.result(&text, &serde_json::json!({ "package": text }))?;
        }
        Sandbox::Up { hosts } => up(&Bed::new(global)?, hosts, reporter).await?,
        Sandbox::Down => {
            let bed = Bed::new(global)?;
            bed.script("hosts.sh", &["down"], reporter).await?;
            bed.script("engine.sh", &["stop"], reporter).await?;
            reporter.result(
                "the sandbox hosts are gone",
                &serde_json::json!({ "hosts": 0 }),
            )?;
        }
        Sandbox::Status => {
            let text = Bed::new(global)?
                .script("hosts.sh", &["status"], reporter)
                .await?;
            reporter.result(&text, &text)?;
        }
    }
    Ok(ExitCode::Good)
}

async fn up(bed: &Bed, hosts: u8, reporter: &Reporter) -> anyhow::Result<()> {
    bed.script("setup.sh", &["bed"], reporter).await?;
    bed.script("engine.sh", &["start"], reporter).await?;
    bed.script("images.sh", &["build"], reporter).await?;
    bed.script("images.sh", &["save"], reporter).await?;
    let package = SandboxPackage {
        line: "3.8.0".to_owned(),
        kind: "rpm".to_owned(),
        out: bed.dir.join("packages"),
        binary: None,
    };
    build(&package)?;
    bed.script("hosts.sh", &["up", &hosts.to_string()], reporter)
        .await?;
    let inventory = bed.dir.join("inventory.yaml").display().to_string();
    let text = format!(
        "{hosts} hosts are up; next: nbctl deploy {inventory}\nthe package is a stand-in, not NebulaGraph: reports say SANDBOX"
    );
    reporter.result(
        &text,
        &serde_json::json!({ "hosts": hosts, "inventory": inventory }),
    )?;
    Ok(())
}

/// The test bed's scripts, written out, and where the bed keeps its files.
struct Bed {
    scripts: PathBuf,
    dir: PathBuf,
}

impl Bed {
    fn new(global: &Global) -> Result<Self, Failure> {
        let state = state_dir(global);
        let state = std::path::absolute(&state).unwrap_or(state);
        let home = state.join("sandbox");
        Assets::write_programs(SCRIPTS, &home)?;
        Ok(Self {
            scripts: home.join(SCRIPTS),
            dir: home.join("bed"),
        })
    }

    async fn script(
        &self,
        name: &str,
        args: &[&str],
        reporter: &Reporter,
    ) -> Result<String, Failure> {
        let sink = reporter.sink();
        let env = [
            ("NBCTL_BED_NAME", "sandbox".to_owned()),
            ("NBCTL_BED_DIR", self.dir.display().to_string()),
        ];
        let here = Here {
            program: &self.scripts.join(name),
            args,
            env: &env,
        };
        here.run(|line| sink.note(line.to_owned())).await
    }
}

fn build(args: &SandboxPackage) -> Result<PathBuf, Failure> {
    let usage = |text: String| {
        Failure::usage(text).hint("lines: 2.0.1, 2.6.2, 3.8.0; types: rpm, tar.gz, deb")
    };
    let line = args
        .line
        .parse()
        .map_err(|_| usage(format!("no sandbox of line `{}`", args.line)))?;
    let kind: PackageType = args
        .kind
        .parse()
        .map_err(|_| usage(format!("no package type `{}`", args.kind)))?;
    let binary = binary(args.binary.as_deref())?;
    package::build(line, kind, &binary, &args.out).map_err(|error| Failure::step(error.to_string()))
}

/// `nebula-sandbox`, which lies beside nbctl unless it is named.
fn binary(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let beside = || {
        std::env::current_exe()
            .ok()?
            .parent()
            .map(|dir| dir.join("nebula-sandbox"))
    };
    let path = given
        .map(Path::to_path_buf)
        .or_else(beside)
        .unwrap_or_else(|| "nebula-sandbox".into());
    if path.is_file() {
        return Ok(path);
    }
    Err(Failure::usage("no nebula-sandbox binary")
        .at(path.display().to_string())
        .hint("it is built beside nbctl by `cargo build --workspace`; or name it with --binary"))
}
