//! Statements and what comes back, as data: `tests/statements/*.txt`.
//!
//! A file is read line by line. `= on 2.0.1 3.8.0` says where the following cases run (`= on all`), `= setup` begins a
//! statement that has to succeed before, `> ` a case. What a case must answer stands below it: `| column | column |` and
//! the rows likewise, or `! class: part of the text`, or nothing (no table). Without ORDER BY the order is free.

use std::{collections::BTreeMap, path::Path};

use nebula_sandbox::ngql::value_text;
use nebula_wire::DataSet;

use crate::support::{Client, Cluster};

#[derive(Debug, Clone, PartialEq)]
enum Wanted {
    Nothing,
    Table(Vec<Vec<String>>),
    Error(String, String),
}

#[derive(Debug)]
struct Case {
    at: usize,
    lines: Vec<String>,
    setup: bool,
    statement: String,
    wanted: Wanted,
}

impl Case {
    /// Takes one more line of the file.
    fn take(&mut self, line: &str) {
        if let Some(cells) = line.strip_prefix('|') {
            let cells = cells.trim_end().trim_end_matches('|').split(" | ");
            let row = cells.map(|cell| cell.trim().to_owned()).collect();
            match &mut self.wanted {
                Wanted::Table(rows) => rows.push(row),
                other => *other = Wanted::Table(vec![row]),
            }
        } else if let Some(error) = line.strip_prefix("! ") {
            let (class, part) = error.split_once(": ").unwrap_or((error, ""));
            self.wanted = Wanted::Error(class.to_owned(), part.to_owned());
        } else {
            self.statement.push(' ');
            self.statement.push_str(line.trim());
        }
    }
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let mut start = |setup: bool, statement: &str| {
            cases.push(Case {
                at: at + 1,
                lines: lines.clone(),
                setup,
                statement: statement.to_owned(),
                wanted: Wanted::Nothing,
            });
        };
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        if let Some(on) = line.strip_prefix("= on ") {
            lines = on.split_whitespace().map(str::to_owned).collect();
        } else if let Some(statement) = line.strip_prefix("= setup") {
            start(true, statement);
        } else if let Some(statement) = line.strip_prefix("> ") {
            start(false, statement);
        } else {
            cases.last_mut().expect("a case first").take(line);
        }
    }
    cases
}

/// Number of an error class on a line.
fn code(class: &str, line: &str) -> i32 {
    let (old, new) = match class {
        "syntax" => (-7, -1004),
        "execution" => (-8, -1005),
        "semantic" => (-12, -1009),
        other => panic!("class {other}"),
    };
    if line == "2.0.1" { old } else { new }
}

fn texts(table: &DataSet) -> Vec<Vec<String>> {
    let head = table.column_names().map(Into::into).collect();
    let rows = table.rows.iter().map(|row| {
        let cells = row.iter().map(|value| value_text(value, true));
        cells.collect()
    });
    std::iter::once(head).chain(rows).collect()
}

fn sorted(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut rows = rows.to_vec();
    if let Some(rest) = rows.get_mut(1..) {
        rest.sort();
    }
    rows
}

/// What is wrong with the answer, if anything.
fn complaint(case: &Case, line: &str, client: &mut Client) -> Option<String> {
    let found = client.run(&case.statement);
    match (&found, &case.wanted) {
        (Ok(None), Wanted::Nothing) => None,
        (Ok(Some(table)), Wanted::Table(wanted)) => {
            let (mut found, mut wanted) = (texts(table), wanted.clone());
            if !case.statement.to_ascii_uppercase().contains("ORDER BY") {
                (found, wanted) = (sorted(&found), sorted(&wanted));
            }
            (found != wanted).then(|| format!("{found:#?}"))
        }
        (Err((number, text)), Wanted::Error(class, part)) => {
            let good = *number == code(class, line) && text.contains(part);
            (!good).then(|| format!("{number} {text}"))
        }
        _ => Some(format!("{found:?}")),
    }
}

/// Runs a file on a line; all failures are told together.
fn run(file: &str, line: &'static str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/statements")
        .join(file);
    let text = std::fs::read_to_string(&path).expect("file");
    let on = |case: &Case| case.lines.iter().any(|on| on == line || on == "all");
    let cluster = Cluster::start(line, 2);
    let mut client = cluster.space("int64", "CREATE TAG Ready(x int)");
    client.until("INSERT VERTEX Ready(x) VALUES 0:(1)");
    client.ok("DELETE VERTEX 0");
    let mut complaints = BTreeMap::new();
    let mut count = 0;
    for case in cases(&text).iter().filter(|case| on(case)) {
        if case.setup {
            client.until(&case.statement);
            continue;
        }
        count += 1;
        if let Some(found) = complaint(case, line, &mut client) {
            complaints.insert(
                case.at,
                format!("{file}:{} {} {found}", case.at, case.statement),
            );
        }
    }
    let complaints: Vec<_> = complaints.into_values().collect();
    assert!(count > 0, "{file} has no case for {line}");
    assert!(complaints.is_empty(), "{line}:\n{}", complaints.join("\n"));
}

macro_rules! on_lines {
    ($($name:ident: $file:literal on $line:literal;)*) => {
        $(#[test]
        fn $name() {
            run($file, $line);
        })*
    };
}

on_lines! {
    match_on_2_0_1: "match.txt" on "2.0.1";
    match_on_2_6_2: "match.txt" on "2.6.2";
    match_on_3_8_0: "match.txt" on "3.8.0";
    ldbc_on_2_0_1: "ldbc.txt" on "2.0.1";
    ldbc_on_2_6_2: "ldbc.txt" on "2.6.2";
    ldbc_on_3_8_0: "ldbc.txt" on "3.8.0";
    rows_on_2_0_1: "rows.txt" on "2.0.1";
    rows_on_2_6_2: "rows.txt" on "2.6.2";
    rows_on_3_8_0: "rows.txt" on "3.8.0";
}
