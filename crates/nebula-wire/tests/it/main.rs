//! Tests of the crate from outside, in one binary so that it links once.

#[cfg(test)]
mod client;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod hardening;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod support;
