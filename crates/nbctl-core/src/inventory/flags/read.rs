//! Flags out of YAML, and their schema.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_yaml::Spanned;

use super::super::at::{At, Place};
use super::{FlagLine, FlagValue, Flags, Scalar};

impl<'de> Deserialize<'de> for Flags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned {
            value, referenced, ..
        } = Spanned::<Written>::deserialize(deserializer)?;
        Ok(match value {
            Written::Nothing => Self::default(),
            Written::Mapping(lines) => Self {
                lines,
                ..Self::default()
            },
            Written::Text(value) => Self {
                text: Some(At {
                    value,
                    place: Place::of(&referenced),
                }),
                ..Self::default()
            },
        })
    }
}

/// Flags before the place of a text is known.
enum Written {
    Nothing,
    Mapping(Vec<FlagLine>),
    Text(String),
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WrittenVisitor)
    }
}

struct WrittenVisitor;

impl<'de> Visitor<'de> for WrittenVisitor {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("flags by name, or a text with a flag on each line")
    }

    fn visit_unit<E: Error>(self) -> Result<Written, E> {
        Ok(Written::Nothing)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Written, E> {
        Ok(Written::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Written, A::Error> {
        let mut lines = Vec::new();
        while let Some((name, At { value, place })) = map.next_entry()? {
            lines.push(FlagLine {
                name,
                value,
                place,
                colon: false,
            });
        }
        Ok(Written::Mapping(lines))
    }
}

impl<'de> Deserialize<'de> for FlagValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(ValueVisitor { options: true })
            .and_then(|v| v.ok_or_else(|| D::Error::custom("a flag without a value")))
    }
}

/// A scalar, or nothing: the value of one option.
struct OptionValue(Option<Scalar>);

impl<'de> Deserialize<'de> for OptionValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(ValueVisitor { options: false })? {
            Some(FlagValue::Text(scalar)) => Ok(Self(Some(scalar))),
            _ => Ok(Self(None)),
        }
    }
}

struct ValueVisitor {
    /// Whether a mapping may stand here.
    options: bool,
}

/// Each scalar type becomes its text.
macro_rules! typed {
    ($($method:ident: $type:ty),*) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<Option<FlagValue>, E> {
            Ok(Some(FlagValue::Text(Scalar::typed(&value))))
        })*
    };
}

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Option<FlagValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.options {
            "a value, or options by name"
        } else {
            "a value"
        })
    }

    typed!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_i128: i128, visit_u128: u128, visit_f64: f64);

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(FlagValue::Text(Scalar::new(text))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        if !self.options {
            return Err(A::Error::custom("an option is one value, not a mapping"));
        }
        let mut options = BTreeMap::new();
        while let Some((
            name,
            At {
                value: OptionValue(value),
                place,
            },
        )) = map.next_entry()?
        {
            options.insert(name, At { value, place });
        }
        Ok(Some(FlagValue::Options(options)))
    }
}

impl JsonSchema for Flags {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Flags".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let scalar = ["string", "number", "boolean"];
        json_schema!({
            "anyOf": [
                { "type": "null" },
                { "type": "string" },
                { "type": "object", "additionalProperties": { "anyOf": [
                    { "type": scalar },
                    { "type": "object", "additionalProperties": { "type": ["string", "number", "boolean", "null"] } },
                ] } },
            ]
        })
    }
}
