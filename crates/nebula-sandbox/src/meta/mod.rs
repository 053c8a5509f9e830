//! metad: the one place that knows spaces, schemas, hosts, jobs and sessions; and the client the others use.
//!
//! Several metads agree by a simple rule that is enough for a stand-in: with a majority alive the lowest living one
//! leads, after taking the newest document of them all; every change is pushed to a majority before it is answered.

pub mod balance;
mod client;
mod config_sync;
mod dispatch;
mod election;
mod hosts;
mod jobs;
mod jobtable;
pub mod message;
pub mod model;
mod moving;
mod schema;
mod service;
mod sessions;
mod spaces;
mod store;
mod transfer;

pub use client::MetaClient;
pub use config_sync::sync as sync_configs;
pub use service::Metad;
