//! Lines of many hosts as they come: the source in front, or one JSON value a line.

use std::sync::{Mutex, PoisonError};

use crate::context::Context;

/// Shows lines; the first error of standard output is kept.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    ctx: &'a Context,
    width: usize,
    error: Mutex<Option<std::io::Error>>,
}

impl<'a> Lines<'a> {
    /// `sources` are the names that will come in front of lines.
    pub(super) fn new(ctx: &'a Context, sources: impl Iterator<Item = String>) -> Self {
        Self {
            ctx,
            width: sources.map(|name| name.len()).max().unwrap_or_default(),
            error: Mutex::new(None),
        }
    }

    pub(super) fn show(&self, source: &str, line: &str) {
        let text = format!("{source:width$}  {line}", width = self.width);
        let value = serde_json::json!({"source": source, "line": line});
        if let Err(error) = self.ctx.reporter.result(&text, &value) {
            let kept = self.error.lock();
            kept.unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(error);
        }
    }

    /// Whether all lines could be shown.
    pub(super) fn ended(self) -> std::io::Result<()> {
        let kept = self.error.into_inner();
        kept.unwrap_or_else(PoisonError::into_inner)
            .map_or(Ok(()), Err)
    }
}
