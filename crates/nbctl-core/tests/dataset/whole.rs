//! Whole data sets: one that is generated, and, where it is at hand, a real one with dates in epoch milliseconds.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use nbctl_core::dataset::{
    ColumnType, DataFile, Dates, DistinctCounter, FileKind, Found, HeaderAt, RowEncoder, RowIds,
    Schema, Spill, VidType, find,
};

/// What an import of a folder would send.
struct Imported {
    schema: Schema,
    files: usize,
    /// Rows by tag or edge type.
    rows: BTreeMap<String, u64>,
    vertices: u64,
}

/// Runs in memory.
struct Memory(Vec<Vec<i64>>);

impl Spill<i64> for Memory {
    type Error = std::convert::Infallible;
    type Run = std::vec::IntoIter<Result<i64, Self::Error>>;

    fn store(&mut self, run: &[i64]) -> Result<(), Self::Error> {
        self.0.push(run.to_vec());
        Ok(())
    }

    fn runs(&mut self) -> Result<Vec<Self::Run>, Self::Error> {
        let read = |run: &mut Vec<i64>| run.drain(..).map(Ok).collect::<Vec<_>>().into_iter();
        Ok(self.0.iter_mut().map(read).collect())
    }
}

fn paths(dir: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            paths(&entry.path(), &format!("{name}/"), found);
        } else {
            found.push(name);
        }
    }
}

fn derive(dir: &Path, found: &Found, dates: Dates) -> DataFile {
    let path = match &found.header {
        HeaderAt::FirstLine => &found.path,
        HeaderAt::File(path) => path,
    };
    let text = fs::read_to_string(dir.join(path)).unwrap();
    let mut lines = text.lines();
    DataFile::derive(found, lines.next().unwrap(), lines.next(), dates).unwrap()
}

fn import(dir: &Path, vid: VidType, dates: Dates) -> Imported {
    let mut listing = Vec::new();
    paths(dir, "", &mut listing);
    let found = find(&listing).unwrap();
    let files: Vec<DataFile> = found
        .iter()
        .map(|found| derive(dir, found, dates))
        .collect();
    let mut rows: BTreeMap<String, u64> = BTreeMap::new();
    let mut vertices = DistinctCounter::new(1000, Memory(Vec::new()));
    let mut out = Vec::new();
    for (found, file) in found.iter().zip(&files) {
        let Some(encoder) = RowEncoder::new(file, vid) else {
            continue;
        };
        let text = fs::read(dir.join(&file.path)).unwrap();
        let header = u64::from(found.header == HeaderAt::FirstLine);
        for (line, row) in (1..)
            .zip(text.split(|&byte| byte == b'\n'))
            .filter(|(_, row)| !row.is_empty())
        {
            if line > header {
                out.clear();
                let ids = encoder.append(line, row, &mut out).unwrap();
                *rows
                    .entry(file.kind.type_name().unwrap().to_owned())
                    .or_default() += 1;
                if let RowIds::Vertex(id) = ids {
                    vertices.add(id).unwrap();
                }
            }
        }
    }
    let files_imported = files
        .iter()
        .filter(|f| !matches!(f.kind, FileKind::Skipped { .. }))
        .count();
    let schema = Schema::of(&files).unwrap();
    Imported {
        schema,
        files: files_imported,
        rows,
        vertices: vertices.finish().unwrap(),
    }
}

fn assert_is_snb(imported: &Imported) {
    let names = |defs: &[nbctl_core::dataset::TypeDef]| {
        let mut names: Vec<String> = defs.iter().map(|def| def.name.clone()).collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(imported.files, 31);
    assert_eq!(
        names(&imported.schema.tags),
        "Comment Forum Organisation Person Place Post Tag Tagclass"
    );
    assert_eq!(
        names(&imported.schema.edges),
        "CONTAINER_OF HAS_CREATOR HAS_INTEREST HAS_MEMBER HAS_MODERATOR HAS_TAG HAS_TYPE \
         IS_LOCATED_IN IS_PART_OF IS_SUBCLASS_OF KNOWS LIKES REPLY_OF STUDY_AT WORK_AT"
    );
}

fn property(imported: &Imported, ty: &str, name: &str) -> ColumnType {
    let mut defs = imported.schema.tags.iter().chain(&imported.schema.edges);
    let def = defs.find(|def| def.name == ty).unwrap();
    def.properties
        .iter()
        .find(|(property, _)| property == name)
        .unwrap()
        .1
}

#[test]
fn generated_set_is_understood() {
    let dir = tempfile::tempdir().unwrap();
    let config = snb_datagen::Config {
        persons: 60,
        seed: 5,
    };
    let manifest = snb_datagen::generate(&config, dir.path(), &mut |_| ()).unwrap();
    let skipped = |path: &str| path.contains("_email_") || path.contains("_speaks_");
    let expected: u64 = manifest
        .files
        .iter()
        .filter(|f| !skipped(&f.path))
        .map(|f| f.rows)
        .sum();
    let prefixed = VidType::FixedString {
        length: 20,
        prefixed: true,
    };
    for (vid, dates, ty) in [
        (VidType::Int64, Dates::String, ColumnType::String),
        (prefixed, Dates::Datetime, ColumnType::Datetime),
    ] {
        let imported = import(dir.path(), vid, dates);
        assert_is_snb(&imported);
        assert_eq!(imported.rows.values().sum::<u64>(), expected);
        assert_eq!(property(&imported, "KNOWS", "creationDate"), ty);
        assert_eq!(
            property(&imported, "Person", "birthday"),
            ColumnType::String
        );
        assert_eq!(
            property(&imported, "STUDY_AT", "classYear"),
            ColumnType::Int
        );
    }
}

#[test]
fn real_set_with_long_dates_is_understood() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = env::var_os("NBCTL_SHARED").map_or(beside, PathBuf::from);
    let dir = shared.join("ldbc/snb-250p-1y-long/social_network");
    if !dir.is_dir() {
        eprintln!("left out: {} is not there", dir.display());
        return;
    }
    let imported = import(&dir, VidType::Int64, Dates::Datetime);
    assert_is_snb(&imported);
    for (ty, rows) in [
        ("Person", 222),
        ("KNOWS", 825),
        ("LIKES", 1383),
        ("HAS_TAG", 8596),
        ("Tag", 16_080),
    ] {
        assert_eq!(imported.rows[ty], rows, "{ty}");
    }
    for (ty, name) in [
        ("Person", "birthday"),
        ("Person", "creationDate"),
        ("LIKES", "creationDate"),
        ("Post", "length"),
    ] {
        assert_eq!(
            property(&imported, ty, name),
            ColumnType::Int,
            "{ty}.{name}"
        );
    }
    let vertex_rows: u64 = imported
        .schema
        .tags
        .iter()
        .map(|tag| imported.rows[&tag.name])
        .sum();
    assert_eq!((vertex_rows, imported.vertices), (34_735, 24_847));
}
