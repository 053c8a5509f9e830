//! Reading values. Unknown fields are skipped, an unknown union field reads as [`Value::Empty`].

use crate::WireError;
use crate::protocol::{ReadProtocol, TType};
use crate::value::{
    Coordinate, DataSet, Date, DateTime, Duration, Edge, Geography, Path, Props, Step, Tag, Time,
    Value, Vertex,
};

/// Most elements room is made for before any of them has been seen.
const PREALLOCATED: usize = 1024;

/// An empty `Vec` with room for `count` elements, but not for more than a wire count may claim.
pub(crate) fn bounded_vec<T>(count: usize) -> Vec<T> {
    Vec::with_capacity(count.min(PREALLOCATED))
}

/// Reads a list of structs with `element`.
pub(crate) fn read_list<'a, R: ReadProtocol<'a>, T>(
    r: &mut R,
    mut element: impl FnMut(&mut R) -> Result<T, WireError>,
) -> Result<Vec<T>, WireError> {
    let count = r.list_of(TType::Struct)?;
    let mut list = bounded_vec(count);
    for _ in 0..count {
        list.push(element(r)?);
    }
    Ok(list)
}

/// Reads one value.
pub fn read_value<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Value, WireError> {
    let mut value = Value::Empty;
    r.read_struct(|r, id, ty| {
        value = match (id, ty) {
            (1, TType::I32) => Value::Null(r.i32()?.into()),
            (2, TType::Bool) => Value::Bool(r.bool()?),
            (3, TType::I64) => Value::Int(r.i64()?),
            (4, TType::Double) => Value::Float(r.double()?),
            (5, TType::Bytes) => Value::String(r.bytes()?.to_vec()),
            (6..=17, TType::Struct) => read_struct_value(r, id)?,
            _ => return r.skip(ty),
        };
        Ok(())
    })?;
    Ok(value)
}

/// The union fields that are structs. Out of line, so that reading scalars stays small.
#[inline(never)]
fn read_struct_value<'a, R: ReadProtocol<'a>>(r: &mut R, id: i16) -> Result<Value, WireError> {
    Ok(match id {
        6 => Value::Date(read_date(r)?),
        7 => Value::Time(read_time(r)?),
        8 => Value::DateTime(read_date_time(r)?),
        9 => Value::Vertex(Box::new(read_vertex(r)?)),
        10 => Value::Edge(Box::new(read_edge(r)?)),
        11 => Value::Path(Box::new(read_path(r)?)),
        12 => Value::List(read_elements(r, TType::List)?),
        13 => Value::Map(read_map(r)?),
        14 => Value::Set(read_elements(r, TType::Set)?),
        15 => Value::DataSet(Box::new(read_data_set(r)?)),
        16 => Value::Geography(Box::new(read_geography(r)?)),
        _ => Value::Duration(read_duration(r)?),
    })
}

fn read_date<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Date, WireError> {
    let mut date = Date::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::I16) => date.year = r.i16()?,
            (2, TType::Byte) => date.month = r.byte()?,
            (3, TType::Byte) => date.day = r.byte()?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(date)
}

fn read_time<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Time, WireError> {
    let mut time = Time::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::Byte) => time.hour = r.byte()?,
            (2, TType::Byte) => time.minute = r.byte()?,
            (3, TType::Byte) => time.sec = r.byte()?,
            (4, TType::I32) => time.microsec = r.i32()?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(time)
}

fn read_date_time<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<DateTime, WireError> {
    let mut dt = DateTime::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::I16) => dt.date.year = r.i16()?,
            (2, TType::Byte) => dt.date.month = r.byte()?,
            (3, TType::Byte) => dt.date.day = r.byte()?,
            (4, TType::Byte) => dt.time.hour = r.byte()?,
            (5, TType::Byte) => dt.time.minute = r.byte()?,
            (6, TType::Byte) => dt.time.sec = r.byte()?,
            (7, TType::I32) => dt.time.microsec = r.i32()?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(dt)
}

fn read_duration<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Duration, WireError> {
    let mut duration = Duration::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::I64) => duration.seconds = r.i64()?,
            (2, TType::I32) => duration.microseconds = r.i32()?,
            (3, TType::I32) => duration.months = r.i32()?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(duration)
}

fn read_vertex<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Vertex, WireError> {
    let mut vertex = Vertex::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::Struct) => vertex.vid = read_value(r)?,
            (2, TType::List) => vertex.tags = read_list(r, read_tag)?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(vertex)
}

fn read_tag<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Tag, WireError> {
    let mut tag = Tag::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::Bytes) => tag.name = r.bytes()?.to_vec(),
            (2, TType::Map) => tag.props = read_props(r)?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(tag)
}

fn read_edge<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Edge, WireError> {
    let mut edge = Edge::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::Struct) => edge.src = read_value(r)?,
            (2, TType::Struct) => edge.dst = read_value(r)?,
            (3, TType::I32) => edge.etype = r.i32()?,
            (4, TType::Bytes) => edge.name = r.bytes()?.to_vec(),
            (5, TType::I64) => edge.ranking = r.i64()?,
            (6, TType::Map) => edge.props = read_props(r)?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(edge)
}

fn read_path<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Path, WireError> {
    let mut path = Path::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::Struct) => path.src = read_vertex(r)?,
            (2, TType::List) => path.steps = read_list(r, read_step)?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(path)
}

fn read_step<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Step, WireError> {
    let mut step = Step::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::Struct) => step.dst = read_vertex(r)?,
            (2, TType::I32) => step.etype = r.i32()?,
            (3, TType::Bytes) => step.name = r.bytes()?.to_vec(),
            (4, TType::I64) => step.ranking = r.i64()?,
            (5, TType::Map) => step.props = read_props(r)?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(step)
}

/// Reads a map from bytes to values.
pub(crate) fn read_props<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Props, WireError> {
    let count = r.map_of(TType::Bytes, TType::Struct)?;
    let mut props = bounded_vec(count);
    for _ in 0..count {
        let key = r.bytes()?.to_vec();
        props.push((key, read_value(r)?));
    }
    Ok(props)
}

fn read_map<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Props, WireError> {
    let mut props = Props::new();
    r.read_struct(|r, id, ty| {
        if (id, ty) == (1, TType::Map) {
            props = read_props(r)?;
            return Ok(());
        }
        r.skip(ty)
    })?;
    Ok(props)
}

/// `NList` and `NSet`: a struct around one list or set of values.
fn read_elements<'a, R: ReadProtocol<'a>>(
    r: &mut R,
    container: TType,
) -> Result<Vec<Value>, WireError> {
    let mut values = Vec::new();
    r.read_struct(|r, id, ty| {
        if (id, ty) == (1, container) {
            values = read_list(r, read_value)?;
            return Ok(());
        }
        r.skip(ty)
    })?;
    Ok(values)
}

/// Reads a table.
pub fn read_data_set<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<DataSet, WireError> {
    let mut data = DataSet::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::List) => data.columns = read_columns(r)?,
            (2, TType::List) => data.rows = read_list(r, |r| read_elements(r, TType::List))?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(data)
}

fn read_columns<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Vec<Vec<u8>>, WireError> {
    let count = r.list_of(TType::Bytes)?;
    let mut columns = bounded_vec(count);
    for _ in 0..count {
        columns.push(r.bytes()?.to_vec());
    }
    Ok(columns)
}

fn read_geography<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Geography, WireError> {
    let mut geography = Geography::Empty;
    r.read_struct(|r, id, ty| {
        if ty != TType::Struct {
            return r.skip(ty);
        }
        r.read_struct(|r, inner, ty| {
            geography = match (id, inner, ty) {
                (1, 1, TType::Struct) => Geography::Point(read_coordinate(r)?),
                (2, 1, TType::List) => Geography::LineString(read_list(r, read_coordinate)?),
                (3, 1, TType::List) => Geography::Polygon(read_rings(r)?),
                _ => return r.skip(ty),
            };
            Ok(())
        })
    })?;
    Ok(geography)
}

fn read_rings<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Vec<Vec<Coordinate>>, WireError> {
    let count = r.list_of(TType::List)?;
    let mut rings = bounded_vec(count);
    for _ in 0..count {
        rings.push(read_list(r, read_coordinate)?);
    }
    Ok(rings)
}

fn read_coordinate<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Coordinate, WireError> {
    let mut coordinate = Coordinate::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::Double) => coordinate.x = r.double()?,
            (2, TType::Double) => coordinate.y = r.double()?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(coordinate)
}
