//! Where packages come from: what can be seen to be wrong before anything is fetched.

use super::super::at::At;
use super::super::problem::Problem;
use super::super::spec::NebulaSpec;
use crate::package::{is_commit, is_date, strange_mirror};

pub(super) fn check(nebula: &NebulaSpec, problems: &mut Vec<Problem>) {
    let mirrors = nebula.mirrors.iter().flatten();
    problems.extend(mirrors.filter_map(mirror));
    if let Some(date) = nebula.nightly.as_ref().filter(|date| !is_date(date)) {
        let what = format!(
            "`{}` is not the date of a nightly build",
            date.escape_debug()
        );
        problems.push(Problem::error(Some(date.place), what).hint("as in 2023.09.01"));
    }
    if let Some(commit) = nebula.commit.as_ref().filter(|text| !is_commit(text)) {
        let what = format!("`{}` is not a commit", commit.escape_debug());
        let hint = "7 to 40 hexadecimal digits, as `/status` of a daemon tells them";
        problems.push(Problem::error(Some(commit.place), what).hint(hint));
    }
    if let (Some(file), Some(_)) = (&nebula.package, &nebula.mirrors) {
        let what = "package names one file, so nothing is fetched from mirrors";
        let hint = "name a folder: packages";
        problems.push(Problem::error(Some(file.place), what).hint(hint));
    }
}

fn mirror(mirror: &At<String>) -> Option<Problem> {
    let what = strange_mirror(mirror)?;
    let hint = "as in https://host/package, or https://host/releases/v{version}/{file}";
    Some(Problem::error(Some(mirror.place), what).hint(hint))
}
