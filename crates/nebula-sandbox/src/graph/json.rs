//! The answer to `executeJson` (2.6+): the same result as JSON text.
//!
//! Shape: `{"results": [{"columns", "data": [{"row", "meta"}], "spaceName", "latencyInUs", "errors"}], "errors":
//! [{"code", "message"}]}`. A cell is its plain value; `meta` beside it says what JSON cannot (the id of a vertex or
//! an edge, that a text is a date). Times are UTC. The shape is the same on all lines that have the method.

use nebula_wire::{
    DataSet, Value,
    value::{Edge, Path, Props, Vertex},
};
use serde_json::{Map, Value as Json, json};

use super::{engine::Outcome, exec::Answer};
use crate::ngql::value_text;

/// The whole answer.
pub(super) fn text(outcome: &Outcome) -> String {
    let (code, message) = match &outcome.result {
        Ok(_) => (0, None),
        Err((code, text)) => (*code, Some(text.as_str())),
    };
    let mut error = json!({ "code": code });
    if let Some(message) = message {
        error["message"] = message.into();
    }
    let mut result = json!({
        "spaceName": &*outcome.space, "latencyInUs": outcome.micros, "errors": error,
    });
    if let Ok(Answer {
        table: Some(data), ..
    }) = &outcome.result
    {
        result["columns"] = data.column_names().collect();
        result["data"] = rows(data);
    }
    json!({ "results": [result], "errors": [error] }).to_string()
}

fn rows(data: &DataSet) -> Json {
    let row = |row: &Vec<Value>| {
        json!({
            "row": row.iter().map(plain).collect::<Json>(),
            "meta": row.iter().map(meta).collect::<Json>(),
        })
    };
    data.rows.iter().map(row).collect()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The value without what `meta` says.
fn plain(value: &Value) -> Json {
    match value {
        Value::Empty | Value::Null(_) => Json::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Float(value) => (*value).into(),
        Value::String(bytes) => lossy(bytes).into(),
        Value::List(items) | Value::Set(items) => items.iter().map(plain).collect(),
        Value::Map(items) => Json::Object(props("", items)),
        Value::Vertex(vertex) => vertex_props(vertex),
        Value::Edge(edge) => Json::Object(props("", &edge.props)),
        Value::Path(path) => along(path, vertex_props, |edge| {
            Json::Object(props("", &edge.props))
        }),
        Value::DataSet(data) => {
            json!({ "columns": data.column_names().collect::<Json>(), "data": rows(data) })
        }
        // A moment says that it is UTC.
        Value::Time(_) | Value::DateTime(_) => format!("{}Z", value_text(value, false)).into(),
        Value::Date(_) | Value::Geography(_) | Value::Duration(_) => {
            value_text(value, false).into()
        }
    }
}

fn props(owner: &str, props: &Props) -> Map<String, Json> {
    let name = |name: &[u8]| format!("{owner}{}", lossy(name));
    props
        .iter()
        .map(|(key, value)| (name(key), plain(value)))
        .collect()
}

/// `{"Tag.prop": value}`.
fn vertex_props(vertex: &Vertex) -> Json {
    let tags = vertex.tags.iter();
    let all = tags.flat_map(|tag| props(&format!("{}.", lossy(&tag.name)), &tag.props));
    Json::Object(all.collect())
}

/// What the plain value does not say; null where it says everything.
fn meta(value: &Value) -> Json {
    match value {
        Value::Date(_) => json!({ "type": "date" }),
        Value::Time(_) => json!({ "type": "time" }),
        Value::DateTime(_) => json!({ "type": "datetime" }),
        Value::Duration(_) => json!({ "type": "duration" }),
        Value::Geography(_) => json!({ "type": "geography" }),
        Value::List(items) | Value::Set(items) => items.iter().map(meta).collect(),
        Value::Map(items) => items.iter().map(|(_, item)| meta(item)).collect(),
        Value::Vertex(vertex) => vertex_meta(vertex),
        Value::Edge(edge) => edge_meta(edge),
        Value::Path(path) => along(path, vertex_meta, edge_meta),
        _ => Json::Null,
    }
}

fn vertex_meta(vertex: &Vertex) -> Json {
    json!({ "id": plain(&vertex.vid), "type": "vertex" })
}

fn edge_meta(edge: &Edge) -> Json {
    let id = json!({
        "src": plain(&edge.src), "dst": plain(&edge.dst), "type": edge.etype, "name": lossy(&edge.name),
        "ranking": edge.ranking,
    });
    json!({ "id": id, "type": "edge" })
}

/// Vertex, edge, vertex, … of a path.
fn along(path: &Path, vertex: impl Fn(&Vertex) -> Json, edge: impl Fn(&Edge) -> Json) -> Json {
    let mut all = vec![vertex(&path.src)];
    let mut from = &path.src;
    for step in &path.steps {
        all.push(edge(&Edge {
            src: from.vid.clone(),
            dst: step.dst.vid.clone(),
            etype: step.etype,
            name: step.name.clone(),
            ranking: step.ranking,
            props: step.props.clone(),
        }));
        all.push(vertex(&step.dst));
        from = &step.dst;
    }
    Json::Array(all)
}

#[cfg(test)]
mod tests {
    use nebula_wire::value::{Step, Tag};

    use super::*;

    fn vertex(id: i64) -> Vertex {
        Vertex {
            vid: Value::Int(id),
            tags: vec![Tag {
                name: b"Person".to_vec(),
                props: vec![(b"age".to_vec(), Value::Int(30 + id))],
            }],
        }
    }

    #[test]
    fn graph_values_and_what_is_beside_them() {
        let edge = Edge {
            src: Value::Int(1),
            dst: Value::from("b"),
            etype: -4,
            name: b"KNOWS".to_vec(),
            ranking: 3,
            props: vec![(b"w".to_vec(), Value::Float(0.5))],
        };
        let path = Path {
            src: vertex(1),
            steps: vec![Step {
                dst: vertex(2),
                etype: 4,
                name: b"KNOWS".to_vec(),
                ..Step::default()
            }],
        };
        let edge_id = json!({"src": 1, "dst": "b", "type": -4, "name": "KNOWS", "ranking": 3});
        let step_id = json!({"src": 1, "dst": 2, "type": 4, "name": "KNOWS", "ranking": 0});
        let person = |id: i64| json!({"Person.age": 30 + id});
        let is = |id: i64| json!({"id": id, "type": "vertex"});
        let cases = [
            (Value::Vertex(Box::new(vertex(1))), person(1), is(1)),
            (
                Value::Edge(Box::new(edge)),
                json!({"w": 0.5}),
                json!({"id": edge_id, "type": "edge"}),
            ),
            (
                Value::Path(Box::new(path)),
                json!([person(1), {}, person(2)]),
                json!([is(1), {"id": step_id, "type": "edge"}, is(2)]),
            ),
            (Value::Empty, Json::Null, Json::Null),
            (
                Value::Map(vec![(b"k".to_vec(), Value::Bool(true))]),
                json!({"k": true}),
                json!([null]),
            ),
        ];
        for (value, expected, beside) in cases {
            assert_eq!(
                (plain(&value), meta(&value)),
                (expected, beside),
                "{value:?}"
            );
        }
    }
}
