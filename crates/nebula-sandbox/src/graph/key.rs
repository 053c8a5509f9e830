//! Values as bytes that are equal when the values are: for DISTINCT, groups and joins.

use std::collections::HashSet;

use nebula_wire::{
    Value,
    value::{Edge, Path},
};

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn put_list(out: &mut Vec<u8>, mark: u8, items: &[Value]) {
    out.push(mark);
    out.extend_from_slice(&(items.len() as u64).to_le_bytes());
    for item in items {
        put_key(out, item);
    }
}

/// An edge is the same whichever way it was travelled.
fn put_edge(out: &mut Vec<u8>, edge: &Edge) {
    out.push(b'e');
    let (from, to) = if edge.etype < 0 {
        (&edge.dst, &edge.src)
    } else {
        (&edge.src, &edge.dst)
    };
    put_key(out, from);
    put_key(out, to);
    put_bytes(out, &edge.name);
    out.extend_from_slice(&edge.ranking.to_le_bytes());
}

fn put_path(out: &mut Vec<u8>, path: &Path) {
    out.push(b'p');
    put_key(out, &path.src.vid);
    out.extend_from_slice(&(path.steps.len() as u64).to_le_bytes());
    for step in &path.steps {
        put_bytes(out, &step.name);
        out.extend_from_slice(&step.etype.signum().to_le_bytes());
        out.extend_from_slice(&step.ranking.to_le_bytes());
        put_key(out, &step.dst.vid);
    }
}

/// Appends the key of `value`.
pub(super) fn put_key(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Empty => out.push(b'-'),
        Value::Null(_) => out.push(b'n'),
        Value::Bool(b) => out.extend_from_slice(&[b'b', u8::from(*b)]),
        Value::Int(i) => {
            out.push(b'i');
            out.extend_from_slice(&i.to_le_bytes());
        }
        Value::Float(x) => {
            out.push(b'f');
            out.extend_from_slice(&x.to_bits().to_le_bytes());
        }
        Value::String(text) => {
            out.push(b's');
            put_bytes(out, text);
        }
        Value::Vertex(vertex) => {
            out.push(b'v');
            put_key(out, &vertex.vid);
        }
        Value::Edge(edge) => put_edge(out, edge),
        Value::Path(path) => put_path(out, path),
        Value::List(items) => put_list(out, b'l', items),
        Value::Set(items) => put_list(out, b't', items),
        other => {
            out.push(b'?');
            put_bytes(out, format!("{other:?}").as_bytes());
        }
    }
}

/// The key of a row.
pub(super) fn key_of(row: &[Value]) -> Vec<u8> {
    let mut key = Vec::with_capacity(row.len() * 10);
    for value in row {
        put_key(&mut key, value);
    }
    key
}

/// Removes what was there before; the first one stays.
pub(super) fn keep_first<T>(items: &mut Vec<T>, key: impl Fn(&T) -> Vec<u8>) {
    let mut seen = HashSet::with_capacity(items.len());
    items.retain(|item| seen.insert(key(item)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_keys() {
        let edge = |src: i64, dst: i64, etype| {
            Value::Edge(Box::new(Edge {
                src: Value::Int(src),
                dst: Value::Int(dst),
                etype,
                name: b"E".to_vec(),
                ..Edge::default()
            }))
        };
        let cases = [
            (edge(1, 2, 3), edge(2, 1, -3), true),
            (edge(1, 2, 3), edge(2, 1, 3), false),
            (Value::Int(1), Value::Float(1.0), false),
            (Value::from("ab"), Value::from("ab"), true),
            (Value::NULL, Value::Empty, false),
            (
                Value::List(vec![Value::from("a"), Value::from("b")]),
                Value::List(vec![Value::from("ab")]),
                false,
            ),
        ];
        for (left, right, same) in cases {
            let key = |value: &Value| key_of(std::slice::from_ref(value));
            let keys = (key(&left), key(&right));
            assert_eq!(keys.0 == keys.1, same, "{left:?} {right:?}");
        }
    }
}
