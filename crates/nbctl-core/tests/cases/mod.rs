//! Case files: sections that begin with `== title`; what follows the line `--` is what the test makes of the text
//! before it.

use std::fs;
use std::path::PathBuf;

/// Holds every case of `file` (below `tests/`) against `made`, which gets a case's text and answers with lines that
/// each begin with a line end. `UPDATE=1` rewrites the file instead.
pub(crate) fn hold(file: &str, made: impl Fn(&str) -> String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(file);
    let was = fs::read_to_string(&path).unwrap();
    let mut sections = was.split("\n== ");
    let mut is = sections.next().unwrap().to_owned();
    for case in sections {
        let (given, _) = case.split_once("\n--").unwrap();
        let (_, text) = given.split_once('\n').unwrap();
        is = format!("{is}\n== {given}\n--{}", made(text));
    }
    if std::env::var_os("UPDATE").is_some() {
        return fs::write(&path, is + "\n").unwrap();
    }
    for (is, was) in is.split("\n== ").zip(was.trim_end().split("\n== ")) {
        let hint = "run with UPDATE=1 and read the difference";
        assert!(is == was, "{file}: {hint}:\n{is}\nwas\n{was}");
    }
}
