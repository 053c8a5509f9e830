//! The pure half of nbctl: what a cluster is, what must be done to it, and what a run measured.
//!
//! Purpose: everything that can be decided without touching the world: inventory, facts, plans, flags,
//! data-set model, statistics, run and report models.
//! Duties: no I/O, no async, no clock; callers hand in text, times and random seeds.

pub mod adopt;
pub mod conf;
pub mod config;
pub mod container;
pub mod dataset;
pub mod deploy;
pub mod duration;
pub mod facts;
pub mod failure;
pub mod flags;
pub mod inventory;
pub mod lease;
pub mod logs;
pub mod monitor;
pub mod owner;
pub mod package;
pub mod plan;
pub mod playbook;
pub mod report;
pub mod run;
pub mod scale;
pub mod scenario;
pub mod status;
pub mod teardown;
pub mod units;
pub mod upgrade;
