//! What a template sees: the report as sections of blocks, every number already in words.
//!
//! Purpose: one order and one wording for HTML and Markdown; a template only decides how a block looks.
//! Duties: text here is raw; templates escape it. Only [`Block::Chart`] and [`Block::Charts`] hold markup,
//! made by our own SVG module, which escapes for itself.

mod charts;
mod facts;
mod head;
mod hosts;
mod phase;
mod results;
mod table;

use serde::Serialize;

use super::model::Report;
pub(crate) use table::{Column, Row, Table};

/// The whole page.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    title: String,
    subtitle: String,
    run_id: String,
    made_by: String,
    verdict: head::VerdictView,
    sandbox: bool,
    figures: Vec<head::Figure>,
    sections: Vec<Section>,
}

/// A heading and what is below it.
#[derive(Debug, Serialize)]
pub(crate) struct Section {
    /// For links within the page.
    id: String,
    /// Heading.
    title: String,
    /// Below a heading of its own level when false, one level deeper when true.
    nested: bool,
    /// In order.
    blocks: Vec<Block>,
}

impl Section {
    fn new(id: &str, title: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self {
            id: id.to_owned(),
            title: title.into(),
            nested: false,
            blocks,
        }
    }
}

/// One thing on the page.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Block {
    /// A paragraph.
    Text { text: String },
    /// A paragraph that must not be overlooked.
    Notice { text: String },
    /// A heading within a section.
    Heading { text: String },
    /// Something to copy.
    Code { text: String },
    /// A table.
    Table { table: Table },
    /// A chart over the whole width; `text` says the same in numbers.
    Chart { svg: String, text: String },
    /// Small charts side by side, with one heading.
    Charts { title: String, svgs: Vec<String> },
}

impl Block {
    fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    fn heading(text: impl Into<String>) -> Self {
        Self::Heading { text: text.into() }
    }

    fn notice(text: impl Into<String>) -> Self {
        Self::Notice { text: text.into() }
    }

    fn table(table: Table) -> Self {
        Self::Table { table }
    }
}

impl View {
    /// Puts a report into words.
    pub(crate) fn of(report: &Report) -> Self {
        let mut sections = vec![results::checks(report)];
        sections.extend(results::stress(report));
        sections.extend(results::imports(report));
        sections.push(facts::measured(report));
        sections.push(phase::overview(report));
        sections.extend(report.phases.iter().map(phase::section));
        sections.push(facts::reading(report));
        sections.push(facts::inputs(report));
        sections.push(facts::reproduce(report));
        Self {
            title: report.run.name.clone(),
            subtitle: head::subtitle(report),
            run_id: report.run.id.clone(),
            made_by: format!("nbctl {}", report.run.tool_version),
            verdict: head::verdict(report),
            sandbox: report.verdict.sandbox,
            figures: head::figures(report),
            sections,
        }
    }
}
