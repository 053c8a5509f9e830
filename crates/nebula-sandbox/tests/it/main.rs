//! Real daemons, packages and clients. One binary, so that it is linked once.
#![cfg(test)]

mod clients;
mod cluster;
mod package;
mod statements;
mod support;
mod traps;
