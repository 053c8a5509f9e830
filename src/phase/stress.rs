//! Stress: one scenario at one load.

use nbctl_core::dataset::ColumnType;
use nbctl_core::failure::Failure;
use nbctl_core::run::PhaseResult;
use nbctl_core::scenario::{Forms, Scenario, ScenarioFile, ValueForm};

use crate::assets::Assets;
use crate::phase::bench::{Bench, Done};
use crate::phase::data::Placed;
use crate::phase::{import, worker};
use crate::worker::job::{ParameterFile, StressJob, Work};
use crate::worker::message::Message;

/// Where scenario files are.
const FOLDER: &str = "playbooks/scenarios";

/// One run of a scenario.
#[derive(Debug)]
pub struct Run<'a> {
    /// What is sent.
    pub scenario: &'a Scenario,
    /// Where.
    pub space: &'a str,
    /// Vertex id type of the space, as in the playbook.
    pub vid: &'a str,
    /// Requests in flight.
    pub concurrency: u32,
    /// Seconds, kept apart.
    pub warmup_s: u64,
    /// Seconds measured.
    pub duration_s: u64,
    /// Seed of all draws.
    pub seed: u64,
}

/// Every scenario there is.
///
/// # Errors
/// A scenario file that cannot be read, or one name in two files.
pub fn scenarios(assets: &Assets) -> Result<ScenarioFile, Failure> {
    let mut all: Option<ScenarioFile> = None;
    for name in assets.list(FOLDER) {
        let file = ScenarioFile::parse(&name, &assets.text(&name)?)?;
        match &mut all {
            None => all = Some(file),
            Some(all) => {
                for scenario in file.scenarios {
                    if all.find(&scenario.name).is_ok() {
                        let what = format!("scenario {} is defined in two files", scenario.name);
                        return Err(Failure::inventory(what).at(name));
                    }
                    all.scenarios.push(scenario);
                }
            }
        }
    }
    all.ok_or_else(|| Failure::usage(format!("no scenario files in {FOLDER}")))
}

/// Puts the load of `run` on the cluster and measures it; `placed` is where parameters come from.
///
/// # Errors
/// No text for the cluster's release, no parameters, statements that are refused, no graphd, a lost worker.
pub async fn run(bench: &Bench<'_>, run: &Run<'_>, placed: &Placed) -> Result<Done, Failure> {
    let job = job(bench, run, placed)?;
    let name = format!("stress {} {}", run.scenario.name, run.concurrency);
    let ended = worker::run(bench, &name, run.space, Work::Stress(job)).await?;
    let Message::Stress(done) = ended.result else {
        return Err(Failure::step("the worker answered another job"));
    };
    let mut result = done.result;
    result.series = ended.series;
    let mut notes = ended.notes;
    if done.parameter_rows > 0 {
        notes.push(format!("values drawn from {} rows", done.parameter_rows));
    }
    Ok(Done {
        histograms: import::histograms(&done.histograms)?,
        window: Some(done.window),
        result: PhaseResult::Stress(Box::new(result)),
        notes,
    })
}

fn job(bench: &Bench<'_>, run: &Run<'_>, placed: &Placed) -> Result<StressJob, Failure> {
    let scenario = run.scenario;
    let version = bench.ctx.cluster.version.to_string();
    let vid = if run.vid.starts_with("fixed_string") {
        ValueForm::Quoted
    } else {
        ValueForm::Number
    };
    let mut forms = Forms::of_vid(vid);
    let mut parameters = None;
    if let Some(wanted) = &scenario.parameters {
        let (file, columns) = parameter_file(placed, &wanted.file)?;
        forms.columns = columns;
        parameters = Some(file);
    }
    Ok(StressJob {
        scenario: scenario.name.clone(),
        protocol: scenario.protocol.name().to_owned(),
        statement: scenario.statement(&version)?.to_owned(),
        forms,
        parameters,
        concurrency: run.concurrency,
        warmup_s: run.warmup_s,
        duration_s: run.duration_s,
        seed: run.seed,
        threads: None,
    })
}

fn parameter_file(placed: &Placed, name: &str) -> Result<(ParameterFile, Vec<ValueForm>), Failure> {
    let mut files = placed.set.files.iter();
    let file = files.find(|file| file.found.name == name).ok_or_else(|| {
        Failure::data(format!("the data set has no file `{name}`")).at(placed
            .set
            .folder
            .display()
            .to_string())
    })?;
    let form = |ty: ColumnType| match ty {
        ColumnType::Id | ColumnType::Int => ValueForm::Number,
        ColumnType::String => ValueForm::Quoted,
        ColumnType::Datetime => ValueForm::Datetime,
    };
    let columns = file
        .data
        .columns
        .iter()
        .map(|column| form(column.ty))
        .collect();
    let path = placed.folder.join(&file.found.path);
    let header = file.found.header == nbctl_core::dataset::HeaderAt::FirstLine;
    Ok((
        ParameterFile {
            path: path.as_str().into(),
            header,
        },
        columns,
    ))
}
