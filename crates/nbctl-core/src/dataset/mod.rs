//! What a folder of LDBC SNB `CsvBasic` files means to NebulaGraph.
//!
//! Purpose: from file names, header lines and first rows to the schema and to the text of `INSERT` statements, by
//! the rules of nebula-bench, so that results stay comparable: 33 files, of which 31 give 8 tags and 15 edge types.
//! Duties: pure; whoever streams the files hands in lines and sends the statements. [`DistinctCounter`] tells how
//! many vertices a count may expect, because ids repeat across classes.

mod distinct;
mod encode;
mod error;
mod header;
mod kind;
mod layout;
mod schema;

pub use distinct::{DistinctCounter, Merge, Spill};
pub use encode::{RowEncoder, RowIds, VidType};
pub use error::DatasetError;
pub use header::{Column, ColumnType, DataFile, Dates};
pub use kind::{FILES, FileKind};
pub use layout::{Found, HeaderAt, find};
pub use schema::{Schema, SpaceOptions, TypeDef};
