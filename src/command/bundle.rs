//! `nbctl bundle save|load|list`: packages, images and data sets as one file, for control machines without a network.

use std::path::{Path, PathBuf};

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::units::counted;
use serde_json::json;

use crate::cli::{Bundle, BundleSave, Global};
use crate::context::{Context, state_dir};
use crate::phase::bundle::{self, Manifest, Part};
use crate::phase::{monitor, package};
use crate::reporter::Reporter;

/// Data sets of a bundle are put below this folder.
const DATA: &str = "data";

pub(super) async fn run(
    args: &Bundle,
    global: Global,
    reporter: &Reporter,
) -> anyhow::Result<ExitCode> {
    match args {
        Bundle::Save(args) => save(args, &Context::load(global, reporter)?).await?,
        Bundle::Load { file } => load(file, &global, reporter)?,
        Bundle::List { file } => list(file, reporter)?,
    }
    Ok(ExitCode::Good)
}

async fn save(args: &BundleSave, ctx: &Context) -> anyhow::Result<()> {
    let mut parts = packages(ctx).await?;
    let scratch = tempfile::Builder::new()
        .prefix("nbctl-bundle")
        .tempdir_in(beside(&args.file))?;
    if let Some(folder) = images(args, ctx, scratch.path()).await? {
        parts.extend(bundle::folder(&folder, "images")?);
    }
    if let Some(dir) = &args.engine {
        parts.extend(bundle::engine_parts(dir)?);
    }
    for dir in &args.data {
        let name = std::path::absolute(dir)?;
        let name = name.file_name().unwrap_or_default().to_string_lossy();
        parts.extend(bundle::folder(dir, &format!("{DATA}/{name}"))?);
    }
    let version = nbctl_core::package::wanted_version(&ctx.cluster);
    let manifest = bundle::save(&args.file, &version, &parts, &*ctx.sink)?;
    ctx.reporter
        .result(&shown(&args.file, &manifest), &manifest)?;
    Ok(())
}

fn beside(file: &Path) -> PathBuf {
    let parent = file
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

async fn packages(ctx: &Context) -> Result<Vec<Part>, Failure> {
    let files = package::all(ctx).await?;
    let parts = files.into_iter().map(|(name, path)| Part {
        name: format!("packages/{name}"),
        path,
    });
    Ok(parts.collect())
}

/// The folder with images, when they are wanted.
async fn images(
    args: &BundleSave,
    ctx: &Context,
    scratch: &Path,
) -> Result<Option<PathBuf>, Failure> {
    let Some(wanted) = ctx.cluster.monitor.as_ref().filter(|_| !args.no_images) else {
        return Ok(None);
    };
    if let Some(folder) = &wanted.images {
        monitor::read_index(folder)?;
        return Ok(Some(folder.clone()));
    }
    let folder = scratch.join("images");
    super::monitor::images_into_folder(ctx, &folder).await?;
    Ok(Some(folder))
}

fn load(file: &Path, global: &Global, reporter: &Reporter) -> anyhow::Result<()> {
    let state = state_dir(global);
    let places = bundle::Places {
        packages: state.join(package::SHELF),
        images: state.join(monitor::BUNDLED_IMAGES),
        engine: state.join(bundle::ENGINE),
        data: global.state_dir.join(DATA),
        staging: state.join("bundle.new"),
    };
    let manifest = bundle::load(file, &places, &*reporter.sink())?;
    let data = places.data.display();
    let text = format!(
        "{}\nloaded: packages, images and engine are found by --offline; data sets are in {data}",
        shown(file, &manifest)
    );
    reporter.result(&text, &json!({ "manifest": manifest, "data": places.data }))?;
    Ok(())
}

fn list(file: &Path, reporter: &Reporter) -> anyhow::Result<()> {
    let manifest = bundle::read(file)?;
    reporter.result(&shown(file, &manifest), &manifest)?;
    Ok(())
}

fn shown(file: &Path, manifest: &Manifest) -> String {
    let mut table = super::monitor::table(&["file", "MiB", "sha256"]);
    for entry in &manifest.files {
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let size = format!("{:.1}", entry.bytes as f64 / f64::from(1 << 20));
        table.add_row([entry.name.as_str(), size.as_str(), &entry.sha256.short()]);
    }
    format!(
        "{table}\n{}: {} of {}",
        file.display(),
        counted(manifest.files.len(), "file"),
        manifest.version
    )
}
