//! Settle: every storaged leads partitions and the distribution stands still.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nbctl_core::failure::Failure;
use nbctl_core::playbook::Settle;

use crate::phase::bench::{Bench, Done};

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// Looks that must agree.
const SAME: u32 = 3;

/// Waits until SHOW HOSTS shows every storaged ONLINE and the same for a few seconds.
///
/// # Errors
/// Nobody answers, or the command is interrupted.
pub async fn run(bench: &Bench<'_>, wanted: &Settle) -> Result<Done, Failure> {
    let begun = Instant::now();
    let mut last: Option<BTreeMap<String, bool>> = None;
    let mut same = 0;
    let mut done = Done::plain(Vec::new());
    while same < SAME {
        if begun.elapsed() > Duration::from_secs(wanted.at_most_s) {
            done.notes.push(format!(
                "storageds were not steady within {} s",
                wanted.at_most_s
            ));
            break;
        }
        let now = bench.graph.storageds(bench.fleet).await?;
        let steady = last.as_ref() == Some(&now) && now.values().all(|online| *online);
        same = if steady { same + 1 } else { 0 };
        last = Some(now);
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = bench.cancel.cancelled() => return Err(crate::interrupt::failure()),
        }
    }
    let seconds = format!("{:.1}", begun.elapsed().as_secs_f64());
    done.result = nbctl_core::run::PhaseResult::Plain(vec![("seconds".to_owned(), seconds)]);
    Ok(done)
}
