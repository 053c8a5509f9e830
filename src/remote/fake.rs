//! A host that is not there: prepared answers, and a record of what was asked.
//!
//! Duty: let phases be tested for what they would do without any machine.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use nbctl_core::failure::Failure;
use nbctl_core::plan::Script;
use nbctl_core::units::HostName;

use super::Output;

type Answer = dyn Fn(&str, &Script) -> Output + Send + Sync;

/// Answers scripts by a function of title and script; cheap to clone, clones share the record.
#[derive(Clone)]
pub struct Fake {
    answer: Arc<Answer>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    /// With these answers.
    pub fn new(answer: impl Fn(&str, &Script) -> Output + Send + Sync + 'static) -> Self {
        Self {
            answer: Arc::new(answer),
            asked: Arc::default(),
        }
    }

    /// Titles of what was run so far, and `put PATH` for files.
    pub fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn note(&self, text: String) {
        let asked = self.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).push(text);
    }

    pub(super) fn answer(
        &self,
        host: &HostName,
        title: &str,
        script: &Script,
    ) -> Result<Output, Failure> {
        self.note(title.to_owned());
        let output = (self.answer)(title, script);
        if script.sudo {
            output.check_sudo(host)?;
        }
        Ok(output)
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fake")
            .field("asked", &self.asked)
            .finish_non_exhaustive()
    }
}
