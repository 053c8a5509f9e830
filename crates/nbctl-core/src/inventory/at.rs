//! Values that remember where they were written.
//!
//! Duty: carry line and column from the parser to the cross-field checks, without naming the
//! parser's own types anywhere else.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_yaml::{Location, Spanned};

/// A place in the inventory file: line and column count characters from 1, `len` is 0 when unknown.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Place {
    pub line: u64,
    pub column: u64,
    pub len: u64,
}

impl Place {
    pub(crate) fn of(location: &Location) -> Self {
        Self {
            line: location.line(),
            column: location.column(),
            len: location.span().len(),
        }
    }

    /// A place on the same line, `by` characters further.
    pub(crate) fn shifted(self, by: usize, len: usize) -> Self {
        Self {
            column: self.column + by as u64,
            len: len as u64,
            ..self
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A value with the place it was written at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At<T> {
    pub value: T,
    pub place: Place,
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<T>::deserialize(deserializer)?;
        let place = Place::of(&spanned.referenced);
        let value = spanned.value;
        Ok(Self { value, place })
    }
}

// The place is no part of the written form, so the schema is that of the value.
impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
