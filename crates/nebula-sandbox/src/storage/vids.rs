//! Vertex ids as 64-bit keys: integers are their own key, strings are numbered as they come.

use std::{collections::HashMap, sync::Arc};

use super::hash::{IdHash, murmur};
use crate::{
    meta::model::VidType,
    rpc::wire::{Malformed, Reader, put_bytes},
};

/// A vertex id on the internal wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VidRef<'a> {
    Int(i64),
    Text(&'a [u8]),
}

impl<'a> VidRef<'a> {
    /// Partition number from 0: the same rule graphd and storaged go by.
    pub fn part(self, parts: usize) -> usize {
        let hash = match self {
            Self::Int(id) => id.cast_unsigned(),
            Self::Text(text) => match <[u8; 8]>::try_from(text) {
                Ok(word) => u64::from_le_bytes(word),
                Err(_) => murmur(text),
            },
        };
        usize::try_from(hash % parts.max(1) as u64).unwrap_or(0)
    }

    pub fn put(self, out: &mut Vec<u8>) {
        match self {
            Self::Int(id) => out.extend_from_slice(&id.to_le_bytes()),
            Self::Text(text) => put_bytes(out, text),
        }
    }

    pub fn read(reader: &mut Reader<'a>, kind: VidType) -> Result<Self, Malformed> {
        match kind {
            VidType::Int => reader.i64().map(Self::Int),
            VidType::Text(_) => reader.bytes().map(Self::Text),
        }
    }
}

/// Key of a vertex inside one storaged.
pub(super) type Key = u64;

/// Numbers the string ids of a space.
#[derive(Debug, Default)]
pub(super) struct Vids {
    keys: HashMap<Arc<[u8]>, Key, IdHash>,
    names: Vec<Arc<[u8]>>,
}

impl Vids {
    /// The key of `vid`, numbering it when it is new.
    pub(super) fn intern(&mut self, vid: VidRef<'_>) -> Key {
        let text = match vid {
            VidRef::Int(id) => return id.cast_unsigned(),
            VidRef::Text(text) => text,
        };
        if let Some(key) = self.keys.get(text) {
            return *key;
        }
        let key = self.names.len() as Key;
        let name: Arc<[u8]> = text.into();
        self.names.push(Arc::clone(&name));
        self.keys.insert(name, key);
        key
    }

    /// The key of a known `vid`.
    pub(super) fn find(&self, vid: VidRef<'_>) -> Option<Key> {
        match vid {
            VidRef::Int(id) => Some(id.cast_unsigned()),
            VidRef::Text(text) => self.keys.get(text).copied(),
        }
    }

    /// The id behind a key.
    pub(super) fn vid(&self, key: Key, kind: VidType) -> VidRef<'_> {
        match kind {
            VidType::Int => VidRef::Int(key.cast_signed()),
            VidType::Text(_) => {
                let name = usize::try_from(key).ok().and_then(|at| self.names.get(at));
                VidRef::Text(name.map_or(&[], |name| name))
            }
        }
    }
}
