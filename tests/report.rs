//! Reports of a made-up run: from the store's files to HTML, Markdown and JSON.

#![expect(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "a test, and made-up numbers that are small"
)]

mod sample_run;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nbctl::assets::Assets;
use nbctl::record::RunStore;
use nbctl::report::{Format, load, render, resolve_run, show, write_all};
use nbctl_core::report::{Report, Spectra};
use nbctl_core::run::{CheckState, Outcome, PhaseResult};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs/sample")
}

/// Every file below `folder` by its relative name.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if !entry.path().ends_with("run.lock") {
                let name = entry.path().strip_prefix(folder).unwrap().to_owned();
                found.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

/// The fixture is what the builder writes; `NBCTL_WRITE_FIXTURES=1` writes it anew.
#[test]
fn the_fixture_is_what_the_store_writes() {
    let root = tempfile::tempdir().unwrap();
    let store = sample_run::write(root.path());
    let written = files(store.folder());
    if std::env::var_os("NBCTL_WRITE_FIXTURES").is_some() {
        drop(std::fs::remove_dir_all(fixture()));
        for (name, bytes) in &written {
            let path = fixture().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }
    let kept = files(&fixture());
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&kept), names(&written));
    for (name, bytes) in &written {
        assert!(kept[name] == *bytes, "{} differs", name.display());
    }
}

fn rendered(format: Format) -> String {
    let report = load(&RunStore::open(&fixture()).unwrap()).unwrap();
    render(&report, format, &Assets::default()).unwrap()
}

#[test]
fn markdown_reads_as_agreed() {
    insta::assert_snapshot!("sample.md", rendered(Format::Md));
}

#[test]
fn json_has_the_agreed_shape() {
    let report: serde_json::Value = serde_json::from_str(&rendered(Format::Json)).unwrap();
    insta::assert_snapshot!("sample.json", shape(&report, 0));
}

/// Keys with the kinds of their values; of a list its first entry.
fn shape(value: &serde_json::Value, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    match value {
        serde_json::Value::Object(fields) => fields
            .iter()
            .map(|(key, inner)| match inner {
                serde_json::Value::Object(_) | serde_json::Value::Array(_) => {
                    format!("{indent}{key}:\n{}", shape(inner, depth + 1))
                }
                leaf => format!("{indent}{key}: {}\n", kind(leaf)),
            })
            .collect(),
        serde_json::Value::Array(items) => match items.iter().max_by_key(|i| i.to_string().len()) {
            None => format!("{indent}- (empty)\n"),
            Some(first) => format!("{indent}-\n{}", shape(first, depth + 1)),
        },
        leaf => format!("{indent}{}\n", kind(leaf)),
    }
}

fn kind(leaf: &serde_json::Value) -> &'static str {
    match leaf {
        serde_json::Value::Null => "null",
        serde_json::Value::Bool(_) => "bool",
        serde_json::Value::Number(_) => "number",
        _ => "string",
    }
}

#[test]
fn json_round_trips() {
    let store = RunStore::open(&fixture()).unwrap();
    let report = load(&store).unwrap();
    let text = nbctl_core::report::json(&report).unwrap();
    let back: Report = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&back.verdict, &back.checks),
        (&report.verdict, &report.checks)
    );
    assert_eq!(back.cluster, report.cluster);
    assert_eq!(back.phases.len(), report.phases.len());
    let stress = |report: &Report| report.phases[6].stress.clone().unwrap();
    assert_eq!(
        stress(&back).clocks.service.unwrap().p999_us,
        stress(&report).clocks.service.unwrap().p999_us
    );
}

#[test]
fn html_is_one_file_that_loads_nothing() {
    let html = rendered(Format::Html);
    // Kept to be looked at.
    std::fs::write(
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html"),
        &html,
    )
    .unwrap();
    for forbidden in ["http://", "https://", "<script", "<link", "@import", "url("] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(html.contains("prefers-color-scheme: dark") && html.contains("@media print"));
    assert!(!html.contains("NaN") && !html.contains("inf\""));
}

#[test]
fn html_says_what_must_be_said() {
    let html = rendered(Format::Html);
    let needed = [
        "SANDBOX, shared kernel: ",
        "Measured against nebula-sandbox",
        "This is not an LDBC Benchmark test run",
        "node2, node3 share one kernel",
        "too few",
        "E_RPC_FAILURE",
        "nbctl bench full -i &#39;lab inventory.yaml&#39; --seed 42",
        "rocksdb_block_cache",
        "server time",
        "see node2",
        "queries of graphd on node1, node2, node3",
    ];
    for text in needed {
        let found = html.contains(text) || html.contains(&text.replace("&#39;", "&#x27;"));
        assert!(found, "{text}");
    }
}

#[test]
fn html_is_well_formed() {
    let html = rendered(Format::Html);
    let mut open: Vec<String> = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    for tag in html
        .split('<')
        .skip(1)
        .map(|rest| rest.split('>').next().unwrap())
    {
        let name = tag
            .split([' ', '\n', '/'])
            .find(|part| !part.is_empty())
            .unwrap_or("");
        if let Some(id) = tag
            .split("id=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
        {
            assert!(ids.insert(id.to_owned()), "id {id} twice");
        }
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closing {name}");
        } else if !tag.starts_with('!') && !tag.ends_with('/') && name != "meta" {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for link in html.split("href=\"#").skip(1) {
        let target = link.split('"').next().unwrap();
        assert!(ids.contains(target), "#{target}");
    }
}

#[test]
fn a_number_that_is_no_result_is_not_printed_as_one() {
    let mut manifest = RunStore::open(&fixture()).unwrap().manifest().clone();
    for phase in &mut manifest.phases {
        if let PhaseResult::Stress(stress) = &mut phase.result {
            stress.generator_cpu_percent = 799.0;
        }
        if let PhaseResult::Import(_) = &phase.result {
            phase.outcome = Outcome::Unfinished;
        }
    }
    let report = Report::of(&manifest, Spectra::new());
    assert_eq!(
        report.verdict.exit_code, 130,
        "cut off weighs more than not valid"
    );
    let html = render(&report, Format::Html, &Assets::default()).unwrap();
    let marked = ["<td>✗ Fetch", "<td>✗ Go1", "<td>✗ Go2", "<td>✗ Find"]
        .map(|row| html.matches(row).count());
    assert_eq!(marked, [1, 3, 2, 1]);
    let figures = html
        .split("class=\"figures\"")
        .nth(1)
        .unwrap()
        .split("</dl>")
        .next()
        .unwrap();
    for label in ["Import", "Highest throughput", "Slowest p99"] {
        assert!(!figures.contains(label), "{label}: {figures}");
    }
    assert!(!html.contains("Throughput by requests in flight"));
    std::fs::write(
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("invalid.html"),
        &html,
    )
    .unwrap();
}

#[test]
fn a_cluster_known_by_address_has_no_hosts() {
    let mut manifest = RunStore::open(&fixture()).unwrap().manifest().clone();
    manifest.hosts.clear();
    manifest
        .phases
        .iter_mut()
        .for_each(|phase| phase.metrics = None);
    let report = Report::of(&manifest, Spectra::new());
    let html = render(&report, Format::Html, &Assets::default()).unwrap();
    assert!(html.contains("known by address only") && html.contains("Hosts not observed"));
    let open = report
        .checks
        .iter()
        .filter(|c| c.state == CheckState::Unobserved);
    assert_eq!(open.count(), 8, "restarts of an import and seven scenarios");
}

#[test]
fn text_of_users_and_databases_stays_text() {
    let root = tempfile::tempdir().unwrap();
    let mut store = sample_run::write(root.path());
    let evil = "<script>alert(1)</script>\"' onload=x |`*[a](javascript:1)\n# h";
    let phase = store.manifest().phases.last().unwrap().clone();
    store.note(phase.index, evil).unwrap();
    let facts = PhaseResult::Plain(vec![(evil.to_owned(), evil.to_owned())]);
    let failed = Outcome::Failed(evil.to_owned());
    store
        .end_phase(phase.index, phase.window, failed, facts)
        .unwrap();
    let report = load(&store).unwrap();
    let html = render(&report, Format::Html, &Assets::default()).unwrap();
    assert!(html.contains("&lt;script&gt;") && !html.contains("<script"));
    let md = render(&report, Format::Md, &Assets::default()).unwrap();
    let outside_code: String = md.split("````").step_by(2).collect();
    assert!(!outside_code.contains("<script") && !outside_code.contains("\n# h"));
    assert!(outside_code.contains(r"\[a\]"));
}

#[test]
fn files_are_written_beside_the_run_or_elsewhere() {
    let root = tempfile::tempdir().unwrap();
    sample_run::write(root.path());
    let store = resolve_run(root.path(), "latest").unwrap();
    let paths = write_all(&store, &Format::ALL, None, &Assets::default()).unwrap();
    assert_eq!(paths.len(), 3);
    assert!(
        paths
            .iter()
            .all(|path| path.starts_with(store.folder()) && path.is_file())
    );
    let out = root.path().join("elsewhere/deep");
    let paths = write_all(&store, &[Format::Md], Some(&out), &Assets::default()).unwrap();
    assert_eq!(paths, [out.join("report.md")]);
}

#[test]
fn a_run_is_found_by_what_names_it_alone() {
    let root = tempfile::tempdir().unwrap();
    let first = sample_run::write(root.path()).manifest().id.clone();
    let second = sample_run::write(root.path()).manifest().id.clone();
    let id = |name: &str| resolve_run(root.path(), name).map(|s| s.manifest().id.clone());
    assert_eq!(id(&first).unwrap(), first);
    let folder = root.path().join(&second);
    assert_eq!(id(folder.to_str().unwrap()).unwrap(), second);
    assert!(id("synthetic").unwrap_err().what.contains("2 runs"));
    assert!(id("nowhere").unwrap_err().hint.is_some());
}

#[test]
fn the_terminal_sees_verdict_and_phases() {
    let store = RunStore::open(&fixture()).unwrap();
    insta::assert_snapshot!("sample.show", show(store.manifest()));
}
