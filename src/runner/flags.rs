//! Sets flags of a running daemon.
//!
//! Duty: ask first, so that what is already so is left alone; believe neither the status (200 for unknown flags, too) nor
//! the answer, but what `/flags` says afterwards.

use std::time::Duration;

use nbctl_core::deploy::{Difference, differences, parse_flags};
use nbctl_core::failure::Failure;
use nbctl_core::plan::{SetFlags, Step};
use serde_json::Value;

use crate::event::StepOutcome;
use crate::http;
use crate::remote::Fleet;

const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn set(
    fleet: &Fleet,
    step: &Step,
    set: &SetFlags,
) -> Result<StepOutcome, Failure> {
    let address = fleet.dial(&set.http).await?;
    let url = format!("http://{address}/flags");
    if read(&url, set).await?.is_empty() {
        return Ok(StepOutcome::AlreadySo);
    }
    let answer: Value = http::put_json(&url, &set.flags, PATIENCE).await?;
    let wrong = read(&url, set).await?;
    if wrong.is_empty() {
        return Ok(StepOutcome::Done);
    }
    let refused = answer
        .get("failedOptions")
        .map(|flags| format!("the daemon refused {flags}"));
    Err(Failure::step(format!("{}: not so afterwards", step.title))
        .at(set.http.clone())
        .lines(refused)
        .lines(wrong.iter().map(ToString::to_string)))
}

/// What still differs.
async fn read(url: &str, set: &SetFlags) -> Result<Vec<Difference>, Failure> {
    let names: Vec<&str> = set.flags.keys().map(String::as_str).collect();
    let url = format!("{url}?flags={}&format=json", names.join(","));
    let text = http::get_text(&url, PATIENCE).await?;
    let told = parse_flags(&text).map_err(|why| Failure::step(why).at(url))?;
    Ok(differences(&set.flags, &told))
}
