//! The data set model: cases, and whole data sets from file names to statements.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]
#![expect(clippy::too_many_lines, reason = "tables of cases")]

mod cases;
mod rows;
mod whole;
