//! The rows of a statement between its clauses.

use nebula_wire::Value;

use super::{
    cell::Cell,
    scope::CellScope,
    store::{Env, check_size},
};
use crate::{
    graph::{error::QueryError, eval},
    ngql::ast::Expr,
};

/// Column with the number of the row that a row comes from.
pub(super) const ORIGIN: &str = " origin";

/// The number in column `slot`.
pub(super) fn origin(row: &[Cell], slot: usize) -> usize {
    match row.get(slot) {
        Some(Cell::Value(Value::Int(at))) => usize::try_from(*at).unwrap_or(0),
        _ => 0,
    }
}

/// Named columns of cells. Names that begin with a blank are the evaluator's own.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
}

impl Rows {
    /// What a statement starts with: one row without columns.
    pub(super) fn unit() -> Self {
        Self {
            columns: Vec::new(),
            rows: vec![Vec::new()],
        }
    }

    /// The same columns and `more`, without rows.
    pub(super) fn wider(&self, more: impl IntoIterator<Item = String>) -> Self {
        let columns = self.columns.iter().cloned().chain(more);
        Self {
            columns: columns.collect(),
            rows: Vec::new(),
        }
    }

    pub(super) fn slot(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Adds a row, as long as there is room.
    pub(super) fn push(&mut self, row: Vec<Cell>) -> Result<(), QueryError> {
        check_size((self.rows.len() + 1) * self.columns.len().max(1))?;
        self.rows.push(row);
        Ok(())
    }

    /// Adds a row that continues `old`.
    pub(super) fn extend(
        &mut self,
        old: &[Cell],
        more: impl IntoIterator<Item = Cell>,
    ) -> Result<(), QueryError> {
        let mut row = Vec::with_capacity(self.columns.len());
        row.extend_from_slice(old);
        row.extend(more);
        self.push(row)
    }

    /// The rows with their numbers.
    pub(super) fn numbered(&self) -> Result<Self, QueryError> {
        let mut numbered = self.wider([ORIGIN.to_owned()]);
        for (at, row) in self.rows.iter().enumerate() {
            let at = i64::try_from(at).unwrap_or(i64::MAX);
            numbered.extend(row, [Cell::Value(Value::Int(at))])?;
        }
        Ok(numbered)
    }

    /// Numbers of the rows that these come from.
    pub(super) fn origins(&self) -> impl Iterator<Item = usize> {
        let slot = self.columns.iter().rposition(|column| column == ORIGIN);
        let rows = self.rows.iter().filter(move |_| slot.is_some());
        rows.map(move |row| origin(row, slot.unwrap_or(0)))
    }

    /// Keeps the rows that pass.
    pub(super) fn filter(&mut self, filter: &Expr, env: &Env<'_>) -> Result<(), QueryError> {
        let columns = &self.columns;
        let mut result = Ok(());
        self.rows.retain(|row| {
            let scope = CellScope { env, columns, row };
            match eval::passes(Some(filter), &scope) {
                Ok(passed) => passed,
                Err(error) => {
                    result = Err(error);
                    false
                }
            }
        });
        result
    }

    /// Removes the evaluator's own columns.
    pub(super) fn drop_hidden(&mut self) {
        self.keep(|name| !name.starts_with(' '));
    }

    pub(super) fn keep(&mut self, wanted: impl Fn(&str) -> bool) {
        let stays: Vec<bool> = self.columns.iter().map(|name| wanted(name)).collect();
        if stays.iter().all(|stays| *stays) {
            return;
        }
        let mut at = stays.iter();
        self.columns.retain(|_| *at.next().unwrap_or(&true));
        for row in &mut self.rows {
            let mut at = stays.iter();
            row.retain(|_| *at.next().unwrap_or(&true));
        }
    }

    /// Names that a user gave.
    pub(super) fn named(&self) -> impl Iterator<Item = &String> {
        self.columns.iter().filter(|name| !name.starts_with(' '))
    }
}
