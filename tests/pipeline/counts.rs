//! Counts made by awk over the CSV files, against those in the report.

use std::collections::BTreeMap;
use std::process::Command;

/// Rows of each type, and distinct vertex ids, by awk: `type<TAB>count`. Rows with equal ids are one.
const AWK: &str = r#"
cd "$1"
type_of() {
  case $1 in *_*_*) echo "$1" | cut -d_ -f2 | sed 's/\([A-Z]\)/_\1/g' | tr a-z A-Z;; *) echo "$1" | awk '{print toupper(substr($0,1,1)) substr($0,2)}';; esac
}
for file in */*_0_0.csv; do
  name=$(basename "$file" _0_0.csv)
  case $name in person_email_emailaddress|person_speaks_language) continue;; esac
  kind=edge; case $name in *_*) ;; *) kind=tag; awk -F'|' 'NR>1{print $1}' "$file" >>"$2/vids";; esac
  awk -F'|' -v t="$kind $(type_of "$name")" 'NR>1{print t "|" $1 (t ~ /^edge/ ? "|" $2 : "")}' "$file" >>"$2/rows"
done
sort -u "$2/rows" | cut -d'|' -f1 | sort | uniq -c | awk '{print $2 " " $3 "\t" $1}'
echo "space vertices	$(sort -u "$2/vids" | wc -l)"
"#;

/// The report's counts are awk's counts, and what the cluster found is what was expected.
pub(crate) fn hold(manifest: &serde_json::Value, data: &str) {
    let phases = manifest["phases"].as_array().expect("phases");
    let import = phases
        .iter()
        .find(|phase| phase["name"] == "import")
        .expect("import");
    let counts = import["result"]["import"]["counts"]
        .as_array()
        .expect("counts");
    let found: BTreeMap<String, u64> = counts
        .iter()
        .map(|count| {
            let key = format!(
                "{} {}",
                count["kind"].as_str().expect("kind"),
                count["name"].as_str().expect("name")
            );
            (key, count["found"].as_u64().expect("found"))
        })
        .collect();
    for (key, expected) in by_awk(data) {
        assert_eq!(
            found.get(&key),
            Some(&expected),
            "{key}: awk counts {expected}; report: {found:?}"
        );
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a second opinion that shares no code with the importer"
)]
fn by_awk(data: &str) -> BTreeMap<String, u64> {
    let scratch = tempfile::tempdir().expect("temp dir");
    let output = Command::new("bash")
        .args(["-ec", AWK, "counts", data])
        .arg(scratch.path())
        .output()
        .expect("bash starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let counts: BTreeMap<String, u64> = text
        .lines()
        .map(|line| {
            let (key, count) = line.split_once('\t').expect("a tab");
            (key.to_owned(), count.trim().parse().expect("a count"))
        })
        .collect();
    assert_eq!(
        counts.len(),
        8 + 15 + 1,
        "8 tags, 15 edge types, vertices: {counts:?}"
    );
    counts
}
