//! What values mean together.
//!
//! Duty: one file per subject; each check adds every problem it finds and none stops another.

mod flags;
mod folders;
mod options;
mod packages;
mod ports;
mod shape;
mod values;

use super::problem::Problem;
use super::resolve::Draft;

pub(super) fn all(draft: &Draft<'_>, problems: &mut Vec<Problem>) {
    shape::check(draft, problems);
    ports::check(draft, problems);
    folders::check(draft, problems);
    flags::check(draft, problems);
    values::check(draft, problems);
    packages::check(&draft.spec.nebula, problems);
}
