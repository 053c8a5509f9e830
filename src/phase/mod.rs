//! Phases: what commands are made of, one file each.
//!
//! Purpose: each phase asks the world what it must know, lets `nbctl-core` plan, and has the runner do it.
//! Duties: no parsing of arguments, no printing; a phase can be read without knowing any other.

pub mod bench;
pub mod bundle;
pub mod compact;
pub mod config;
pub mod connect;
pub mod counts;
pub mod course;
pub mod data;
pub mod facts;
pub mod import;
pub mod jobs;
pub mod lease;
pub mod logs;
pub mod many;
pub mod monitor;
mod moving;
pub mod observe;
pub mod package;
pub mod schema;
pub mod settle;
pub mod snapshot;
pub mod storage;
pub mod stress;
mod worker;
