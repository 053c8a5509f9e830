//! The monitoring stack: on test hosts with engines of their own, against an engine's answers, and as files.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests; a test says what it leaves out"
)]

mod bed;
mod dashboards;
mod engine;
mod exporter;
mod stack;
