//! Writing values in field-id order, as graphd does.

use crate::protocol::{TType, WriteProtocol};
use crate::value::{
    Coordinate, DataSet, Date, DateTime, Duration, Edge, Geography, Path, Props, Step, Tag, Time,
    Value, Vertex,
};

/// Writes one value.
#[inline]
pub fn write_value<W: WriteProtocol>(w: &mut W, value: &Value) {
    let outer = w.begin_struct();
    match value {
        Value::Empty => {}
        Value::Null(kind) => w.i32_field(1, (*kind).into()),
        Value::Bool(value) => w.bool_field(2, *value),
        Value::Int(value) => w.i64_field(3, *value),
        Value::Float(value) => w.double_field(4, *value),
        Value::String(value) => w.bytes_field(5, value),
        structured => write_struct_value(w, structured),
    }
    w.end_struct(outer);
}

/// The union fields that are structs. Out of line, so that writing scalars stays small.
#[inline(never)]
fn write_struct_value<W: WriteProtocol>(w: &mut W, value: &Value) {
    let id = match value {
        Value::Date(_) => 6,
        Value::Time(_) => 7,
        Value::DateTime(_) => 8,
        Value::Vertex(_) => 9,
        Value::Edge(_) => 10,
        Value::Path(_) => 11,
        Value::List(_) => 12,
        Value::Map(_) => 13,
        Value::Set(_) => 14,
        Value::DataSet(_) => 15,
        Value::Geography(_) => 16,
        Value::Duration(_) => 17,
        // Scalars are written by the caller.
        _ => return,
    };
    w.field(id, TType::Struct);
    write_inner(w, value);
}

fn write_inner<W: WriteProtocol>(w: &mut W, value: &Value) {
    match value {
        Value::Date(date) => write_date(w, *date),
        Value::Time(time) => write_time(w, *time),
        Value::DateTime(dt) => write_date_time(w, *dt),
        Value::Vertex(vertex) => write_vertex(w, vertex),
        Value::Edge(edge) => write_edge(w, edge),
        Value::Path(path) => write_path(w, path),
        Value::List(values) => write_elements(w, TType::List, values),
        Value::Map(props) => write_map(w, props),
        Value::Set(values) => write_elements(w, TType::Set, values),
        Value::DataSet(data) => write_data_set(w, data),
        Value::Geography(geography) => write_geography(w, geography),
        Value::Duration(duration) => write_duration(w, *duration),
        _ => {}
    }
}

fn write_date<W: WriteProtocol>(w: &mut W, date: Date) {
    let outer = w.begin_struct();
    w.i16_field(1, date.year);
    w.byte_field(2, date.month);
    w.byte_field(3, date.day);
    w.end_struct(outer);
}

fn write_time<W: WriteProtocol>(w: &mut W, time: Time) {
    let outer = w.begin_struct();
    w.byte_field(1, time.hour);
    w.byte_field(2, time.minute);
    w.byte_field(3, time.sec);
    w.i32_field(4, time.microsec);
    w.end_struct(outer);
}

fn write_date_time<W: WriteProtocol>(w: &mut W, dt: DateTime) {
    let outer = w.begin_struct();
    w.i16_field(1, dt.date.year);
    w.byte_field(2, dt.date.month);
    w.byte_field(3, dt.date.day);
    w.byte_field(4, dt.time.hour);
    w.byte_field(5, dt.time.minute);
    w.byte_field(6, dt.time.sec);
    w.i32_field(7, dt.time.microsec);
    w.end_struct(outer);
}

fn write_duration<W: WriteProtocol>(w: &mut W, duration: Duration) {
    let outer = w.begin_struct();
    w.i64_field(1, duration.seconds);
    w.i32_field(2, duration.microseconds);
    w.i32_field(3, duration.months);
    w.end_struct(outer);
}

fn write_vertex<W: WriteProtocol>(w: &mut W, vertex: &Vertex) {
    let outer = w.begin_struct();
    w.field(1, TType::Struct);
    write_value(w, &vertex.vid);
    w.field(2, TType::List);
    w.list(TType::Struct, vertex.tags.len());
    for tag in &vertex.tags {
        write_tag(w, tag);
    }
    w.end_struct(outer);
}

fn write_tag<W: WriteProtocol>(w: &mut W, tag: &Tag) {
    let outer = w.begin_struct();
    w.bytes_field(1, &tag.name);
    w.field(2, TType::Map);
    write_props(w, &tag.props);
    w.end_struct(outer);
}

fn write_edge<W: WriteProtocol>(w: &mut W, edge: &Edge) {
    let outer = w.begin_struct();
    w.field(1, TType::Struct);
    write_value(w, &edge.src);
    w.field(2, TType::Struct);
    write_value(w, &edge.dst);
    w.i32_field(3, edge.etype);
    w.bytes_field(4, &edge.name);
    w.i64_field(5, edge.ranking);
    w.field(6, TType::Map);
    write_props(w, &edge.props);
    w.end_struct(outer);
}

fn write_path<W: WriteProtocol>(w: &mut W, path: &Path) {
    let outer = w.begin_struct();
    w.field(1, TType::Struct);
    write_vertex(w, &path.src);
    w.field(2, TType::List);
    w.list(TType::Struct, path.steps.len());
    for step in &path.steps {
        write_step(w, step);
    }
    w.end_struct(outer);
}

fn write_step<W: WriteProtocol>(w: &mut W, step: &Step) {
    let outer = w.begin_struct();
    w.field(1, TType::Struct);
    write_vertex(w, &step.dst);
    w.i32_field(2, step.etype);
    w.bytes_field(3, &step.name);
    w.i64_field(4, step.ranking);
    w.field(5, TType::Map);
    write_props(w, &step.props);
    w.end_struct(outer);
}

/// Writes a map from bytes to values.
pub(crate) fn write_props<W: WriteProtocol>(w: &mut W, props: &Props) {
    w.map(TType::Bytes, TType::Struct, props.len());
    for (key, value) in props {
        w.bytes(key);
        write_value(w, value);
    }
}

fn write_map<W: WriteProtocol>(w: &mut W, props: &Props) {
    let outer = w.begin_struct();
    w.field(1, TType::Map);
    write_props(w, props);
    w.end_struct(outer);
}

/// `NList`, `NSet` and `Row`: a struct around one list or set of values.
#[inline]
fn write_elements<W: WriteProtocol>(w: &mut W, container: TType, values: &[Value]) {
    let outer = w.begin_struct();
    w.field(1, container);
    w.list(TType::Struct, values.len());
    for value in values {
        write_value(w, value);
    }
    w.end_struct(outer);
}

/// Writes a table.
pub fn write_data_set<W: WriteProtocol>(w: &mut W, data: &DataSet) {
    let outer = w.begin_struct();
    w.field(1, TType::List);
    w.list(TType::Bytes, data.columns.len());
    for column in &data.columns {
        w.bytes(column);
    }
    w.field(2, TType::List);
    w.list(TType::Struct, data.rows.len());
    for row in &data.rows {
        write_elements(w, TType::List, row);
    }
    w.end_struct(outer);
}

fn write_geography<W: WriteProtocol>(w: &mut W, geography: &Geography) {
    let outer = w.begin_struct();
    if let Some(id) = geography_id(geography) {
        w.field(id, TType::Struct);
        let shape = w.begin_struct();
        write_shape(w, geography);
        w.end_struct(shape);
    }
    w.end_struct(outer);
}

const fn geography_id(geography: &Geography) -> Option<i16> {
    match geography {
        Geography::Empty => None,
        Geography::Point(_) => Some(1),
        Geography::LineString(_) => Some(2),
        Geography::Polygon(_) => Some(3),
    }
}

fn write_shape<W: WriteProtocol>(w: &mut W, geography: &Geography) {
    match geography {
        Geography::Empty => {}
        Geography::Point(at) => {
            w.field(1, TType::Struct);
            write_coordinate(w, *at);
        }
        Geography::LineString(line) => {
            w.field(1, TType::List);
            write_coordinates(w, line);
        }
        Geography::Polygon(rings) => {
            w.field(1, TType::List);
            w.list(TType::List, rings.len());
            for ring in rings {
                write_coordinates(w, ring);
            }
        }
    }
}

fn write_coordinates<W: WriteProtocol>(w: &mut W, line: &[Coordinate]) {
    w.list(TType::Struct, line.len());
    for at in line {
        write_coordinate(w, *at);
    }
}

fn write_coordinate<W: WriteProtocol>(w: &mut W, at: Coordinate) {
    let outer = w.begin_struct();
    w.double_field(1, at.x);
    w.double_field(2, at.y);
    w.end_struct(outer);
}
