//! The monitoring stack: on test hosts with engines of their own, against an engine's answers, and as files.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod ages;
mod bed;
mod dashboards;
mod engine;
mod engine_images;
mod exporter;
mod heal;
mod registry;
mod rules;
mod stack;
