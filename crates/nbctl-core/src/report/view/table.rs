//! Tables as data.

use serde::Serialize;

/// A table.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Table {
    /// What it shows; empty when the heading above says it.
    pub caption: String,
    /// Names and values: the head line says nothing.
    pub headless: bool,
    /// Groups above the columns; empty when there are none. Their spans add up to the columns.
    pub groups: Vec<Group>,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows.
    pub rows: Vec<Row>,
    /// Below the table.
    pub note: String,
}

/// A title over several columns.
#[derive(Debug, Serialize)]
pub(crate) struct Group {
    /// May be empty.
    pub title: &'static str,
    /// How many columns.
    pub span: usize,
}

/// A column.
#[derive(Debug, Serialize)]
pub(crate) struct Column {
    /// Its title.
    pub title: &'static str,
    /// Title where groups cannot be shown.
    pub long: &'static str,
    /// Numbers are aligned to the right.
    pub right: bool,
}

/// A row.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// As many as there are columns.
    pub cells: Vec<String>,
    /// `holds`, `open`, `reported`, `fails` or empty.
    pub state: &'static str,
}

impl Column {
    pub(crate) fn words(title: &'static str) -> Self {
        Self {
            title,
            long: title,
            right: false,
        }
    }

    pub(crate) fn number(title: &'static str) -> Self {
        Self {
            title,
            long: title,
            right: true,
        }
    }

    /// A column of numbers within a group; `long` stands alone.
    pub(crate) fn grouped(title: &'static str, long: &'static str) -> Self {
        Self {
            title,
            long,
            right: true,
        }
    }
}

impl Row {
    pub(crate) fn new(cells: Vec<String>) -> Self {
        Self { cells, state: "" }
    }

    pub(crate) fn with_state(cells: Vec<String>, state: &'static str) -> Self {
        Self { cells, state }
    }
}

impl Table {
    /// Names and values without a head line.
    pub(crate) fn pairs<N: Into<String>>(pairs: impl IntoIterator<Item = (N, String)>) -> Self {
        Self {
            headless: true,
            columns: vec![Column::words("what"), Column::words("value")],
            rows: pairs
                .into_iter()
                .map(|(name, value)| Row::new(vec![name.into(), value]))
                .collect(),
            ..Self::default()
        }
    }
}
