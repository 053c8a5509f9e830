//! What a playbook will take, before it is started: time and disk.

use serde::Serialize;

use super::{Phase, Playbook};

/// Rows a second assumed when nothing better is known.
const ROWS_PER_SECOND: u64 = 50_000;
/// Bytes on disk for a byte of CSV, WAL included (`reference/deploy.md` 8: ×7.5 with three replicas).
const DISK_FACTOR_PER_REPLICA: f64 = 2.5;

/// Size of the data set, when known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Volume {
    /// Rows to import.
    pub rows: u64,
    /// Bytes of CSV.
    pub bytes: u64,
}

impl Volume {
    /// A generated set.
    pub fn of_persons(persons: u64) -> Self {
        Self {
            rows: persons * ROWS_PER_PERSON,
            bytes: persons * BYTES_PER_PERSON,
        }
    }
}

/// Rows a generated person brings along: SF0.1 has 1,700 persons and 1.8 M rows; larger sets have somewhat more.
const ROWS_PER_PERSON: u64 = 1_100;
/// Bytes of CSV a generated person brings along: SF0.1 has 76 MB.
const BYTES_PER_PERSON: u64 = 45_000;

/// Time and disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Import, seconds.
    pub import_s: u64,
    /// Stress: warm-ups and windows, seconds. Exact.
    pub stress_s: u64,
    /// Disk on all storage hosts together, bytes.
    pub disk_bytes: u64,
}

impl Estimate {
    /// Of a playbook with a data set of `volume`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "an estimate"
    )]
    pub fn of(playbook: &Playbook, volume: Volume) -> Self {
        let mut estimate = Self {
            import_s: 0,
            stress_s: 0,
            disk_bytes: 0,
        };
        let mut replicas = 1;
        for phase in &playbook.phases {
            match phase {
                Phase::Schema(schema) => replicas = schema.replicas,
                Phase::Import(_) => {
                    estimate.import_s += volume.rows / ROWS_PER_SECOND + 1;
                    let factor = DISK_FACTOR_PER_REPLICA * f64::from(replicas);
                    estimate.disk_bytes += (volume.bytes as f64 * factor) as u64;
                }
                Phase::Stress(stress) => {
                    let runs = (stress.scenarios.len() * stress.concurrency.len()) as u64;
                    estimate.stress_s += runs * (stress.warmup_s + stress.duration_s);
                }
                Phase::Data(_) | Phase::Compact(_) | Phase::Settle(_) => {}
            }
        }
        estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::{Import, Stress};

    #[test]
    fn stress_time_is_exact_and_import_scales() {
        let stress = Stress {
            scenarios: vec!["A".into(), "B".into()],
            concurrency: vec![1, 2, 3],
            warmup_s: 2,
            duration_s: 10,
        };
        let playbook = Playbook {
            format: 1,
            name: "t".into(),
            about: String::new(),
            phases: vec![Phase::Import(Import::default()), Phase::Stress(stress)],
        };
        let small = Estimate::of(
            &playbook,
            Volume {
                rows: 1_000_000,
                bytes: 1_000_000,
            },
        );
        assert_eq!(small.stress_s, 72);
        assert_eq!(small.import_s, 21);
        assert_eq!(small.disk_bytes, 2_500_000);
    }
}
