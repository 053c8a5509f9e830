//! Values and tables in either encoding: the field numbers of common.thrift.

mod read;
mod write;

pub use read::{read_data_set, read_value};
pub use write::{write_data_set, write_value};

pub(crate) use read::{bounded_vec, read_list, read_props};
pub(crate) use write::write_props;
