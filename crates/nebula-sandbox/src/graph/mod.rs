//! graphd: speaks the graph service, plans nothing, computes everything from what the storageds hand out.

mod catalog;
mod engine;
mod error;
mod eval;
mod exec;
mod functions;
mod in_flight;
mod json;
mod key;
mod knobs;
mod operators;
mod row;
mod server;
mod session;
mod shards;
mod time;
mod tls;
mod vid;

pub use engine::Engine;
pub use server::serve;
