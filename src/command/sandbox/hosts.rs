//! Test hosts as containers: the scripts of the test bed, run from the state folder.

use std::path::PathBuf;

use nbctl_core::failure::{ExitCode, Failure};
use nebula_sandbox::package::Making;

use super::build;
use crate::assets::Assets;
use crate::cli::{Global, SandboxPackage};
use crate::context::state_dir;
use crate::remote::Here;
use crate::reporter::Reporter;

/// Folder of the embedded scripts.
const SCRIPTS: &str = "tests/bed";

pub(super) async fn up(bed: &Bed, hosts: u8, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    bed.script("setup.sh", &["bed"], reporter).await?;
    bed.script("engine.sh", &["start"], reporter).await?;
    bed.script("images.sh", &["build"], reporter).await?;
    bed.script("images.sh", &["save"], reporter).await?;
    let package = SandboxPackage {
        line: "3.8.0".to_owned(),
        kind: "rpm".to_owned(),
        out: bed.dir.join("packages"),
        binary: None,
        at_least: 0,
        quick: false,
    };
    build(&package, Making::SMALL)?;
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
    Ok(ExitCode::Good)
}

pub(super) async fn down(bed: &Bed, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    bed.script("hosts.sh", &["down"], reporter).await?;
    bed.script("engine.sh", &["stop"], reporter).await?;
    reporter.result(
        "the sandbox hosts are gone",
        &serde_json::json!({ "hosts": 0 }),
    )?;
    Ok(ExitCode::Good)
}

pub(super) async fn status(bed: &Bed, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let text = bed.script("hosts.sh", &["status"], reporter).await?;
    reporter.result(&text, &text)?;
    Ok(ExitCode::Good)
}

/// The test bed's scripts, written out, and where the bed keeps its files.
pub(super) struct Bed {
    scripts: PathBuf,
    dir: PathBuf,
}

impl Bed {
    pub(super) fn new(global: &Global) -> Result<Self, Failure> {
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
