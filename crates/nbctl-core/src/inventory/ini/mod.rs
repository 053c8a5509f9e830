//! nebula-ansible's `inventory.ini`: read directly, or written out as YAML.
//!
//! Duty: `read` (sections and inheritance) → `meaning` (what each host is, by nebula-ansible's variables) → `write`
//! (the same cluster as YAML, with the line each line of it comes from). Problems found in the YAML are told with
//! the line of the INI file. A variable that means nothing here is named, never dropped in silence.

mod meaning;
mod read;
mod write;

use super::at::Place;
use super::problem::{Problem, Severity, Source};
use super::resolve::{Loaded, load_yaml};
use crate::units::Sha256;

/// An INI file as YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// An inventory that deploys the same cluster.
    pub yaml: String,
    /// What was left out, with its line: `line 12: …`.
    pub left_out: Vec<String>,
    /// By line of `yaml`: where it comes from.
    origin: Vec<Option<Place>>,
}

/// Whether this is an Ansible inventory: by its name, or because a section comes first, which YAML cannot be.
pub fn is_ini(source: &Source) -> bool {
    let named = source
        .path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("ini"));
    let mut lines = source.text.lines().map(str::trim);
    let first = lines.find(|l| !l.is_empty() && !l.starts_with(['#', ';']));
    let section = |l: &str| l.starts_with('[') && l.ends_with(']') && !l.contains([',', ' ', '"']);
    named || first.is_some_and(section)
}

/// Turns an INI file into YAML; absent when a problem is an error.
pub fn convert(source: &Source) -> (Option<Converted>, Vec<Problem>) {
    let mut problems = Vec::new();
    let ini = read::read(&source.text, &mut problems);
    let meaning = meaning::understand(&ini, &mut problems);
    let refused = problems.iter().any(|p| p.severity == Severity::Error);
    let converted = (!refused).then(|| write::write(&meaning, &source.path));
    let shown = problems.into_iter().map(|p| p.shown_in(source));
    (converted, shown.collect())
}

/// Reads, converts, resolves and checks an INI file.
pub(super) fn load(source: &Source) -> Loaded {
    let (converted, mut problems) = convert(source);
    let Some(converted) = converted else {
        return Loaded {
            cluster: None,
            problems,
        };
    };
    let yaml = Source {
        text: converted.yaml.clone(),
        ..source.clone()
    };
    let mut loaded = load_yaml(&yaml);
    problems.extend(loaded.problems.into_iter().map(|p| {
        Problem {
            place: p.place.and_then(|at| converted.place(at)),
            snippet: Vec::new(),
            ..p
        }
        .shown_in(source)
    }));
    problems.sort_by_key(|p| p.place);
    problems.dedup();
    if let Some(cluster) = &mut loaded.cluster {
        cluster.source.sha256 = Sha256::of(source.text.as_bytes());
        for host in &mut cluster.hosts {
            host.place = converted.place(host.place).unwrap_or(host.place);
        }
    }
    Loaded {
        cluster: loaded.cluster,
        problems,
    }
}

impl Converted {
    /// Where in the INI file a place of the YAML comes from.
    fn place(&self, at: Place) -> Option<Place> {
        let index = usize::try_from(at.line).ok()?.checked_sub(1)?;
        self.origin.get(index).copied().flatten()
    }
}
