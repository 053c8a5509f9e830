//! One timed run of a program, and several of them.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// What one run took and said.
#[derive(Debug)]
pub(crate) struct Run {
    /// From start to end, s.
    pub(crate) wall: f64,
    /// Of that the daemons' own, s.
    pub(crate) waited: f64,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs of one case.
#[derive(Debug, Default)]
pub(crate) struct Runs(Vec<Run>);

impl Runs {
    pub(crate) fn push(&mut self, run: Run) {
        self.0.push(run);
    }

    /// Mean without the daemons' own waiting, s.
    pub(crate) fn tool(&self) -> f64 {
        self.mean(|run| run.wall - run.waited)
    }

    /// Mean of that waiting, s.
    pub(crate) fn waited(&self) -> f64 {
        self.mean(|run| run.waited)
    }

    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    fn mean(&self, of: impl Fn(&Run) -> f64) -> f64 {
        self.0.iter().map(of).sum::<f64>() / self.0.len() as f64
    }
}

/// Runs to the end; ends the bench with what the program said when it fails.
pub(crate) fn timed(what: &str, command: &mut Command) -> Run {
    let begun = Instant::now();
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let wall = begun.elapsed().as_secs_f64();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let run = Run {
        wall,
        waited: 0.0,
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    };
    assert!(
        output.status.success(),
        "{what}: {}\n{}\n{}",
        output.status,
        run.stdout,
        run.stderr
    );
    run
}

/// Writes a file that a program of the bench reads.
pub(crate) fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
