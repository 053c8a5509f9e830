//! Executes one step.
//!
//! Duty: from an action to the link, the graph service or the engine; the check of a script goes in the same
//! round trip, that of any other action before it.

use std::time::Duration;

use nbctl_core::failure::Failure;
use nbctl_core::plan::{Action, RenderedFile, Script, Step, Upload, Wait};

use super::wait::Eyes;
use super::{Runner, delete, flags};
use crate::event::StepOutcome;
use crate::remote::{ALREADY_SO, Link, Written, unless};

/// For a check that is sent by itself.
const CHECK: Duration = Duration::from_mins(1);

impl Runner<'_> {
    pub(super) async fn step(&self, step: &Step) -> Result<StepOutcome, Failure> {
        if !matches!(step.action, Action::Run(_)) && self.checked(step).await? {
            return Ok(StepOutcome::AlreadySo);
        }
        match &step.action {
            Action::Run(script) => self.script(step, script).await,
            Action::Put(file) => put(self.link(step)?, file).await,
            Action::Upload(upload) => self.upload(step, upload).await,
            Action::Query(statement) => self.graph.execute(self.fleet, statement).await,
            Action::Flags(set) => flags::set(self.fleet, step, set).await,
            Action::Wait(wait) => self.wait(step, wait).await,
            Action::Delete(path) => delete(self.link(step)?, &step.title, path, self.sink).await,
            Action::Image(_) | Action::Container(_) | Action::Remove(_) => {
                let link = self.link(step)?;
                self.containers.apply(link, step, self.sink).await
            }
        }
    }

    fn link(&self, step: &Step) -> Result<&Link, Failure> {
        match &step.host {
            Some(host) => self.fleet.on(host),
            None => Err(Failure::step(format!("{}: has no host", step.title))),
        }
    }

    async fn script(&self, step: &Step, script: &Script) -> Result<StepOutcome, Failure> {
        let mut script = script.clone();
        if let Some(check) = &step.check {
            script.text = unless(check, &script.text);
        }
        let output = self.link(step)?.must(&step.title, &script).await?;
        Ok(match output.stdout.trim() {
            ALREADY_SO => StepOutcome::AlreadySo,
            _ => StepOutcome::Done,
        })
    }

    async fn upload(&self, step: &Step, upload: &Upload) -> Result<StepOutcome, Failure> {
        let _permit = self.fleet.upload_permit().await;
        let written = self.link(step)?.upload(upload, self.sink).await?;
        Ok(outcome(written))
    }

    /// Nothing is changed by waiting.
    async fn wait(&self, step: &Step, wait: &Wait) -> Result<StepOutcome, Failure> {
        let eyes = Eyes {
            fleet: self.fleet,
            graph: self.graph,
            cancel: &self.cancel,
        };
        eyes.wait(step, wait).await?;
        Ok(StepOutcome::AlreadySo)
    }

    /// Whether the step's own check says "already so".
    async fn checked(&self, step: &Step) -> Result<bool, Failure> {
        let (Some(check), Some(_)) = (&step.check, &step.host) else {
            return Ok(false);
        };
        let script = Script {
            text: unless(check, "exit 0"),
            sudo: matches!(&step.action, Action::Delete(delete) if delete.sudo),
            timeout: CHECK,
        };
        let output = self.link(step)?.must(&step.title, &script).await?;
        Ok(output.stdout.trim() == ALREADY_SO)
    }
}

async fn put(link: &Link, file: &RenderedFile) -> Result<StepOutcome, Failure> {
    let written = link.put(&file.path, file.mode, file.text.as_bytes(), false);
    Ok(outcome(written.await?))
}

fn outcome(written: Written) -> StepOutcome {
    match written {
        Written::AlreadySo => StepOutcome::AlreadySo,
        Written::Changed => StepOutcome::Done,
    }
}
