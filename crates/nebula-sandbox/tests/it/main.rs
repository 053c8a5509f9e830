//! Real daemons, packages and clients. One binary, so that it is linked once.
#![cfg(test)]

mod clients;
mod cluster;
mod conditions;
mod durable;
mod knobs;
mod moving;
mod package;
mod patterns;
mod root;
mod sessions;
mod statements;
mod support;
mod tls;
mod traps;
mod walks;
mod wire;
