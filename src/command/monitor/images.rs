//! `nbctl monitor images list|save|load`.

use std::collections::BTreeMap;
use std::path::Path;

use futures_util::future::join_all;
use nbctl_core::container::ImageSpec;
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::{Component, Host, Monitor};
use nbctl_core::monitor::{self, ImageEntry, ImageIndex};
use nbctl_core::units::{HostName, counted};
use serde::Serialize;
use serde_json::json;

use crate::cli::MonitorImages;
use crate::context::Context;
use crate::docker::Engine;
use crate::phase::monitor::{Seen, Sources, look, read_index};

pub(super) async fn run(args: &MonitorImages, ctx: &Context) -> anyhow::Result<ExitCode> {
    let wanted = super::monitor(ctx)?;
    let sources = Sources::new(ctx)?.with_images(ctx, wanted)?;
    // A bundle that cannot be read is told before hosts are asked.
    let index = match args {
        MonitorImages::Load { dir } => Some(read_index(dir)?),
        _ => None,
    };
    let mut seen = look(ctx, wanted, &sources).await?;
    let mut failed = std::mem::take(&mut seen.lost);
    let done = match (args, index) {
        (MonitorImages::Save { dir }, _) => saved(ctx, wanted, &sources, &seen, dir).await,
        (_, Some(index)) => load(ctx, &seen, &index, &mut failed).await,
        _ => list(ctx, &sources, &seen),
    };
    seen.fleet.close().await;
    done?;
    super::ended(seen.hosts.len(), failed)?;
    Ok(ExitCode::Good)
}

/// One image of one host.
#[derive(Serialize)]
struct Row {
    host: String,
    component: &'static str,
    image: String,
    /// Where it comes from when it is not there.
    source: String,
    id: Option<String>,
}

fn list(ctx: &Context, sources: &Sources, seen: &Seen) -> anyhow::Result<()> {
    let want = sources.desired(&ctx.cluster);
    let mut rows = Vec::new();
    for (name, (state, _)) in &seen.hosts {
        let there = state.engine.clone().unwrap_or_default().images;
        for component in hosts_components(ctx, name) {
            let (image, source) = match monitor::image_of(&want, component, &there) {
                Ok(image) => (image.reference.clone(), source(&image)),
                Err(failure) => ("-".to_owned(), failure.what),
            };
            rows.push(Row {
                host: name.to_string(),
                component: component.as_str(),
                id: there.get(&image).cloned(),
                image,
                source,
            });
        }
    }
    let mut table = super::table(&["host", "component", "image", "there", "source"]);
    for row in &rows {
        let id = row
            .id
            .as_deref()
            .unwrap_or("no")
            .trim_start_matches("sha256:");
        let id: String = id.chars().take(12).collect();
        table.add_row([&row.host, row.component, &row.image, &id, &row.source]);
    }
    ctx.reporter.result(&table.to_string(), &rows)?;
    Ok(())
}

fn source(image: &ImageSpec) -> String {
    match (&image.tarball, &image.registry) {
        (Some(tarball), _) => tarball.clone(),
        (None, Some(registry)) => registry.address.clone(),
        (None, None) => "registry".to_owned(),
    }
}

fn hosts_components(ctx: &Context, name: &HostName) -> Vec<Component> {
    let host = ctx.cluster.host(name);
    host.map(|host| monitor::components_on(&ctx.cluster, host))
        .unwrap_or_default()
}

/// A component's image under its name in the bundle.
struct Saved {
    component: Component,
    name: String,
    entry: ImageEntry,
}

async fn saved(
    ctx: &Context,
    wanted: &Monitor,
    sources: &Sources,
    seen: &Seen,
    dir: &Path,
) -> anyhow::Result<()> {
    let entries = save(ctx, wanted, sources, seen, dir).await?;
    let text = format!(
        "{}: {}; name it in `monitor.images`",
        dir.display(),
        counted(entries.len(), "image")
    );
    ctx.reporter
        .result(&text, &json!({"folder": dir, "images": entries}))?;
    Ok(())
}

/// The images of the monitor host's engine as archives with their index, for a bundle.
pub(in crate::command) async fn into_folder(ctx: &Context, dir: &Path) -> Result<(), Failure> {
    let wanted = super::monitor(ctx)?;
    let sources = Sources::new(ctx)?.with_images(ctx, wanted)?;
    let seen = look(ctx, wanted, &sources).await?;
    let done = save(ctx, wanted, &sources, &seen, dir).await;
    seen.fleet.close().await;
    done.map(drop)
}

/// Exporters in one archive, since every host gets them, the servers in another.
async fn save(
    ctx: &Context,
    wanted: &Monitor,
    sources: &Sources,
    seen: &Seen,
    dir: &Path,
) -> Result<Vec<ImageEntry>, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::usage(format!("cannot write the bundle: {error}")).at(dir.display().to_string())
    };
    std::fs::create_dir_all(dir).map_err(cannot)?;
    let Some((state, _)) = seen.hosts.get(&wanted.host) else {
        return Err(Failure::host("its engine cannot be asked").at(wanted.host.to_string()));
    };
    let engine = seen.engines.on(seen.fleet.on(&wanted.host)?).await?;
    let there = state.engine.clone().unwrap_or_default().images;
    let mut saved = Vec::new();
    for component in hosts_components(ctx, &wanted.host) {
        // The exporter's image is made from this program wherever it is needed.
        if component == Component::Exporter {
            continue;
        }
        match named(ctx, sources, &engine, component, &there).await {
            Ok(one) => saved.push(one),
            Err(failure) if sources.stack.part(component)?.optional => {
                ctx.sink.note(format!(
                    "{} is left out: {}",
                    component.as_str(),
                    failure.what
                ));
            }
            Err(failure) => return Err(failure),
        }
    }
    let written = write(ctx, &engine, &saved, dir).await;
    for one in &saved {
        engine.untag(&one.name).await?;
    }
    written?;
    Ok(saved.into_iter().map(|one| one.entry).collect())
}

/// Makes sure the engine has it, under the name that goes into the archive.
async fn named(
    ctx: &Context,
    sources: &Sources,
    engine: &Engine,
    component: Component,
    there: &BTreeMap<String, String>,
) -> Result<Saved, Failure> {
    let image = monitor::image_of(&sources.desired(&ctx.cluster), component, there)?;
    engine
        .ensure_image(&image, &ctx.cluster.id, &*ctx.sink)
        .await?;
    let name = monitor::bundle_name(component, &tagged(sources, component, &image)?);
    engine.tag(&image.reference, &name).await?;
    let facts = engine.image(&name).await?;
    let facts = facts.ok_or_else(|| Failure::step(format!("image {name} is gone again")))?;
    let file = if component.is_everywhere() {
        "exporters.tar.gz"
    } else {
        "servers.tar.gz"
    };
    let entry = ImageEntry {
        component,
        image: name.clone(),
        id: Some(facts.id),
        file: file.to_owned(),
        layers: facts.layers,
    };
    Ok(Saved {
        component,
        name,
        entry,
    })
}

/// A reference with a tag: what was pulled by digest has the stack's.
fn tagged(sources: &Sources, component: Component, image: &ImageSpec) -> Result<String, Failure> {
    if image.reference.contains('@') {
        return Ok(sources.stack.part(component)?.image.clone());
    }
    Ok(image.reference.clone())
}

async fn write(ctx: &Context, engine: &Engine, saved: &[Saved], dir: &Path) -> Result<(), Failure> {
    for everywhere in [true, false] {
        let group = saved
            .iter()
            .filter(|one| one.component.is_everywhere() == everywhere);
        let (names, files): (Vec<&str>, Vec<&str>) = group
            .map(|one| (one.name.as_str(), one.entry.file.as_str()))
            .unzip();
        if let Some(file) = files.first() {
            engine.save(&names, &dir.join(file), &*ctx.sink).await?;
        }
    }
    let index = ImageIndex {
        format: 1,
        images: saved.iter().map(|one| one.entry.clone()).collect(),
        folder: String::new(),
    };
    let path = dir.join("index.yaml");
    let cannot = |error: String| {
        Failure::usage(format!("cannot write the index: {error}")).at(path.display().to_string())
    };
    let text = serde_yaml::to_string(&index).map_err(|error| cannot(error.to_string()))?;
    std::fs::write(&path, text).map_err(|error| cannot(error.to_string()))
}

/// Every host gets what its components need, side by side.
async fn load(
    ctx: &Context,
    seen: &Seen,
    index: &ImageIndex,
    failed: &mut Vec<(HostName, Failure)>,
) -> anyhow::Result<()> {
    let hosts: Vec<&Host> = seen
        .hosts
        .keys()
        .filter_map(|name| ctx.cluster.host(name))
        .collect();
    let work = hosts.iter().map(|host| load_host(ctx, seen, index, host));
    let mut loaded = BTreeMap::new();
    for (host, done) in hosts.iter().zip(join_all(work).await) {
        match done {
            Ok(images) => drop(loaded.insert(host.name.to_string(), images)),
            Err(failure) => failed.push((host.name.clone(), failure)),
        }
    }
    let line = |(host, images): (&String, &Vec<String>)| format!("{host}: {}", images.join(", "));
    let text: Vec<String> = loaded.iter().map(line).collect();
    ctx.reporter.result(&text.join("\n"), &loaded)?;
    Ok(())
}

async fn load_host(
    ctx: &Context,
    seen: &Seen,
    index: &ImageIndex,
    host: &Host,
) -> Result<Vec<String>, Failure> {
    let engine = seen.engines.on(seen.fleet.on(&host.name)?).await?;
    let components = monitor::components_on(&ctx.cluster, host);
    let mut images = Vec::new();
    for image in components
        .into_iter()
        .filter_map(|component| index.of(component))
    {
        engine
            .ensure_image(&image, &ctx.cluster.id, &*ctx.sink)
            .await?;
        images.push(image.reference);
    }
    Ok(images)
}
