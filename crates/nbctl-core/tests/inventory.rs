//! Whole inventories: the examples that ship, the schema, what a resolved cluster says, and the
//! refusals as cases.

#![expect(
    clippy::unwrap_used,
    reason = "a test helper that fails is a failed test"
)]

mod cases;

use std::fs;
use std::path::PathBuf;

use nbctl_core::inventory::{Cluster, DaemonRole, Inventory, Severity, Source, load};
use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> Cluster {
    let path = root().join("inventory").join(name);
    let text = fs::read_to_string(&path).unwrap();
    let loaded = load(&Source::new(path, text));
    assert!(loaded.problems.is_empty(), "{name}: {}", loaded.problems[0]);
    loaded.cluster.unwrap()
}

#[test]
fn every_example_resolves_without_a_problem() {
    for name in ["example.yaml", "single-host.yaml", "three-hosts.yaml"] {
        let cluster = example(name);
        assert!(cluster.daemons_of(DaemonRole::Metad).count() % 2 == 1);
        let json = serde_json::to_string(&cluster).unwrap();
        assert_eq!(
            serde_json::from_str::<Cluster>(&json).unwrap(),
            cluster,
            "{name}"
        );
    }
}

#[test]
fn schema_file_is_up_to_date() {
    let path = root().join("inventory/schema.json");
    let schema = serde_json::to_string_pretty(&Inventory::json_schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &schema).unwrap();
    }
    assert_eq!(
        fs::read_to_string(path).unwrap(),
        schema,
        "run with UPDATE=1"
    );
}

/// What of a value a schema refuses; only the keywords that our schema uses, any other one is a failure.
fn refused(schema: &Value, value: &Value, root: &Value) -> Vec<String> {
    let keywords = schema.as_object().into_iter().flatten();
    keywords
        .flat_map(|(keyword, rule)| keyword_refuses(keyword, rule, schema, value, root))
        .collect()
}

fn keyword_refuses(
    keyword: &str,
    rule: &Value,
    schema: &Value,
    value: &Value,
    root: &Value,
) -> Vec<String> {
    let is = |kind: &Value| match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => value.is_null(),
    };
    let good = match keyword {
        "type" => rule
            .as_array()
            .map_or_else(|| is(rule), |kinds| kinds.iter().any(is)),
        "enum" => rule.as_array().unwrap().contains(value),
        "const" => rule == value,
        "anyOf" | "oneOf" => rule
            .as_array()
            .unwrap()
            .iter()
            .any(|one| refused(one, value, root).is_empty()),
        "minimum" => value.as_f64().is_none_or(|v| v >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|v| v <= rule.as_f64().unwrap()),
        "minItems" => value
            .as_array()
            .is_none_or(|v| v.len() as u64 >= rule.as_u64().unwrap()),
        "required" => value.as_object().is_none_or(|v| {
            rule.as_array()
                .unwrap()
                .iter()
                .all(|k| v.contains_key(k.as_str().unwrap()))
        }),
        "$ref" => {
            return refused(
                root.pointer(rule.as_str().unwrap().trim_start_matches('#'))
                    .unwrap(),
                value,
                root,
            );
        }
        "items" => {
            return value
                .as_array()
                .into_iter()
                .flatten()
                .flat_map(|v| refused(rule, v, root))
                .collect();
        }
        "properties" | "additionalProperties" => {
            return object_refuses(keyword, schema, value, root);
        }
        "$defs" | "$schema" | "title" | "description" | "default" | "format" | "pattern" => true,
        other => unreachable!("keyword {other}"),
    };
    if good {
        Vec::new()
    } else {
        vec![format!("{keyword}: {value}")]
    }
}

fn object_refuses(keyword: &str, schema: &Value, value: &Value, root: &Value) -> Vec<String> {
    let known = |name: &str| schema.get("properties").and_then(|p| p.get(name));
    let fields = value.as_object().into_iter().flatten();
    let of = |(name, value): (&String, &Value)| match (
        known(name),
        keyword,
        &schema["additionalProperties"],
    ) {
        (Some(schema), "properties", _) => refused(schema, value, root),
        (None, "additionalProperties", Value::Bool(false)) => vec![format!("unknown key {name}")],
        (None, "additionalProperties", rest) if rest.is_object() => refused(rest, value, root),
        _ => Vec::new(),
    };
    fields.flat_map(of).collect()
}

#[test]
fn every_example_fits_the_schema() {
    let schema = Inventory::json_schema();
    let fits = |text: &str| refused(&schema, &serde_yaml::from_str(text).unwrap(), &schema);
    for name in ["example.yaml", "single-host.yaml", "three-hosts.yaml"] {
        let text = fs::read_to_string(root().join("inventory").join(name)).unwrap();
        assert_eq!(fits(&text), [""; 0], "{name}");
    }
    let text = fs::read_to_string(root().join("inventory/example.yaml")).unwrap();
    for (from, to) in [
        ("format: 1", "format: 2"),
        ("cluster: example", "colour: red"),
        ("port: 9559", "port: 99999"),
        ("[metad, graphd, storaged]", "[metad, graf]"),
        ("{cpus: 8-31", "{cpus: [8]"),
        ("write_buffer_size: 134217728", "write_buffer_size: {a: 1}"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(!fits(&text.replacen(from, to, 1)).is_empty(), "{to}");
    }
}

#[test]
fn settings_come_from_the_strongest_layer() {
    let cluster = example("example.yaml");
    let flag = |host: &str, name: &str| {
        let mut all = cluster.daemons_of(DaemonRole::Storaged);
        let daemon = all.find(|d| d.host.as_str() == host).unwrap();
        daemon.flags.get(name).cloned()
    };
    assert_eq!(flag("s1", "rocksdb_block_cache").as_deref(), Some("8192"));
    assert_eq!(
        flag("node04.lab", "rocksdb_block_cache").as_deref(),
        Some("16384")
    );
    assert_eq!(
        flag("node04.lab", "memory_tracker_limit_ratio").as_deref(),
        Some("0.5")
    );
    assert_eq!(
        flag("s1", "data_path").as_deref(),
        Some("/disk1/nebula/storage,/disk2/nebula/storage")
    );
    assert_eq!(flag("s1", "local_ip").as_deref(), Some("192.168.8.61"));
    // A shipped value that nobody overrides.
    assert_eq!(flag("s1", "rocksdb_compression").as_deref(), Some("lz4"));
    // Flags of other roles stay away.
    assert_eq!(flag("s1", "max_sessions_per_ip_per_user"), None);
    let metads = "192.168.8.61:9559,192.168.8.62:9559,192.168.8.63:9559";
    assert!(
        cluster
            .daemons
            .iter()
            .all(|d| d.flags["meta_server_addrs"] == metads)
    );
}

/// Options inside a flag are merged one by one, whichever way they are written; values stay as written.
#[test]
fn options_of_flags_are_merged_by_layer() {
    let text = "format: 1\ncluster: c\nssh: {user: v}\nnebula:\n  version: 3.8.0\n  deploy_dir: /home/v/nebula\n  flags:
    rocksdb_column_family_options: {write_buffer_size: 1, num_levels: 6, max_write_buffer_number: ~}
    memory_tracker_limit_ratio: 0.50
    rocksdb_db_options: {max_background_jobs: 4}
  storaged:
    flags: |
      rocksdb_column_family_options={\"write_buffer_size\":\"2\",\"disable_auto_compactions\":\"true\"}
      # last word
      --rocksdb_block_cache = 4096
hosts:
  - address: 10.0.0.1
    roles: [metad, graphd, storaged, monitor, load]
    storaged: {flags: {rocksdb_column_family_options: {write_buffer_size: 0x40, disable_auto_compactions: false}}}
  - address: 10.0.0.2
    roles: [storaged]
    flags: {rocksdb_db_options: {max_background_jobs: null}}";
    let loaded = load(&Source::new("inv.yaml", text));
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let cluster = loaded.cluster.unwrap();
    let flags: Vec<_> = cluster
        .daemons_of(DaemonRole::Storaged)
        .map(|d| &d.flags)
        .collect();
    let cases = [
        (
            "rocksdb_column_family_options",
            // max_bytes_for_level_base is the shipped value; the shipped max_write_buffer_number was taken away.
            r#"{"disable_auto_compactions":"false","max_bytes_for_level_base":"268435456","num_levels":"6","write_buffer_size":"0x40"}"#,
            r#"{"disable_auto_compactions":"true","max_bytes_for_level_base":"268435456","num_levels":"6","write_buffer_size":"2"}"#,
        ),
        ("rocksdb_db_options", r#"{"max_background_jobs":"4"}"#, "{}"),
        ("memory_tracker_limit_ratio", "0.50", "0.50"),
        ("rocksdb_block_cache", "4096", "4096"),
    ];
    for (name, first, second) in cases {
        assert_eq!(flags[0][name], first);
        assert_eq!(flags[1][name], second);
    }
    let metad = cluster.daemons_of(DaemonRole::Metad).next().unwrap();
    assert!(!metad.flags.contains_key("rocksdb_db_options"));
}

const HEAD: &str = "format: 1\ncluster: c\nssh: {user: v}\nnebula:\n  version: 3.8.0\n  deploy_dir: /home/v/nebula";
const HOSTS: &str =
    "hosts:\n  - address: 10.0.0.1\n    roles: [metad, graphd, storaged, monitor, load]";

/// The problems of one case as they are shown; a good inventory says so.
fn problems(text: &str) -> String {
    let text = text.replace("%head", HEAD).replace("%hosts", HOSTS);
    let loaded = load(&Source::new("inv.yaml", text));
    let refused = loaded
        .problems
        .iter()
        .any(|p| p.severity == Severity::Error);
    assert_eq!(loaded.cluster.is_none(), refused);
    let lines = loaded.problems.iter().map(|p| format!("\n{p}"));
    lines.collect()
}

#[test]
fn every_problem_is_told_with_its_line() {
    cases::hold("inventory-refused.txt", problems);
}
