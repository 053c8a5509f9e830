//! The integrity checker: loads a whole data set and checks what must hold between its files.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use snb_datagen::{FILES, Manifest};

use crate::table::{Table, load_all};

type Tables = HashMap<&'static str, Table>;
/// Milliseconds by id, or by pair of ids.
type Dates<'a> = HashMap<&'a str, i64>;
type PairDates<'a> = HashMap<(&'a str, &'a str), i64>;

const CLASSES: [(&str, &str); 8] = [
    ("Person", "person"),
    ("Forum", "forum"),
    ("Post", "post"),
    ("Comment", "comment"),
    ("Place", "place"),
    ("Organisation", "organisation"),
    ("Tag", "tag"),
    ("TagClass", "tagclass"),
];

/// The folder holds the 33 files and the manifest, which tells the truth about each.
pub(crate) fn layout(dir: &Path, manifest: &Manifest) {
    assert_eq!(Manifest::load(dir).unwrap().as_ref(), Some(manifest));
    assert_eq!((manifest.files.len(), FILES.len()), (33, 33));
    let count = |sub: &str| fs::read_dir(dir.join(sub)).unwrap().count();
    assert_eq!((count(""), count("dynamic"), count("static")), (3, 25, 8));
    for (file, spec) in manifest.files.iter().zip(FILES) {
        let bytes = fs::read(dir.join(&file.path)).unwrap();
        let lines = bytes.split(|&byte| byte == b'\n').count() as u64;
        let digest: String = Sha256::digest(&bytes)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!((file.path.as_str(), file.rows + 2), (spec.path, lines));
        assert_eq!(
            (file.bytes, &file.sha256),
            (bytes.len() as u64, &digest),
            "{}",
            file.path
        );
    }
}

/// Ids and pairs are distinct, every reference meets its target, every date follows its cause.
pub(crate) fn integrity(dir: &Path) {
    let tables = load_all(dir);
    distinct(&tables);
    references(&tables);
    exactly_one(&tables);
    person_dates(&tables);
    message_dates(&tables);
    text_lengths(&tables);
}

fn column<'a>(tables: &'a Tables, name: &str, at: usize) -> impl Iterator<Item = &'a str> {
    tables[name].rows.iter().map(move |row| row[at].as_str())
}

fn distinct(tables: &Tables) {
    for class in [
        "person",
        "forum",
        "place",
        "organisation",
        "tag",
        "tagclass",
    ] {
        let ids: HashSet<_> = column(tables, class, 0).collect();
        assert_eq!(ids.len(), tables[class].rows.len(), "{class}");
    }
    let messages: HashSet<_> = column(tables, "post", 0)
        .chain(column(tables, "comment", 0))
        .collect();
    assert_eq!(
        messages.len(),
        tables["post"].rows.len() + tables["comment"].rows.len()
    );
    for table in tables.values() {
        let pairs: HashSet<_> = table.rows.iter().map(|row| (&row[0], &row[1])).collect();
        assert_eq!(pairs.len(), table.rows.len(), "{}", table.spec.path);
    }
}

fn references(tables: &Tables) {
    let classes: HashMap<&str, HashSet<&str>> = CLASSES
        .iter()
        .map(|(class, file)| (*class, column(tables, file, 0).collect()))
        .collect();
    for table in tables.values() {
        for (at, name) in table.spec.header.split('|').enumerate() {
            let Some(class) = name.strip_suffix(".id") else {
                continue;
            };
            let dangling = table
                .rows
                .iter()
                .find(|row| !classes[class].contains(row[at].as_str()));
            assert_eq!(dangling, None, "{} column {name}", table.spec.path);
        }
    }
}

/// Each of these gives everything of a class one partner, no more and no less.
fn exactly_one(tables: &Tables) {
    for (class, edges, at) in [
        ("person", vec!["person_isLocatedIn_place"], 0),
        ("forum", vec!["forum_hasModerator_person"], 0),
        ("post", vec!["post_hasCreator_person"], 0),
        ("post", vec!["post_isLocatedIn_place"], 0),
        ("post", vec!["forum_containerOf_post"], 1),
        ("comment", vec!["comment_hasCreator_person"], 0),
        ("comment", vec!["comment_isLocatedIn_place"], 0),
        (
            "comment",
            vec!["comment_replyOf_post", "comment_replyOf_comment"],
            0,
        ),
        ("tag", vec!["tag_hasType_tagclass"], 0),
        ("organisation", vec!["organisation_isLocatedIn_place"], 0),
    ] {
        let mut ids: Vec<_> = column(tables, class, 0).collect();
        let mut ends: Vec<_> = edges
            .iter()
            .flat_map(|edge| column(tables, edge, at))
            .collect();
        ids.sort_unstable();
        ends.sort_unstable();
        assert_eq!(ids, ends, "{class} and {edges:?}");
    }
}

fn millis(text: &str) -> i64 {
    let plain = text
        .strip_suffix("+0000")
        .unwrap_or_else(|| panic!("{text}"));
    assert!(
        text.len() == 28 && text < "2012-09-13T09:36:00.000+0000",
        "{text}"
    );
    format!("{plain}Z")
        .parse::<Timestamp>()
        .unwrap()
        .as_millisecond()
}

fn dates<'a>(tables: &'a Tables, name: &str, at: usize) -> Dates<'a> {
    tables[name]
        .rows
        .iter()
        .map(|row| (row[0].as_str(), millis(&row[at])))
        .collect()
}

/// The partner of each id in a file of pairs.
fn partners<'a>(tables: &'a Tables, name: &str, from: usize) -> HashMap<&'a str, &'a str> {
    let rows = tables[name].rows.iter();
    rows.map(|row| (row[from].as_str(), row[1 - from].as_str()))
        .collect()
}

fn person_dates(tables: &Tables) {
    let (persons, forums) = (dates(tables, "person", 5), dates(tables, "forum", 2));
    for row in &tables["person_knows_person"].rows {
        let (a, b): (u64, u64) = (row[0].parse().unwrap(), row[1].parse().unwrap());
        let both = persons[row[0].as_str()].max(persons[row[1].as_str()]);
        assert!(a < b && millis(&row[2]) >= both + 10_000, "{row:?}");
    }
    let moderators = partners(tables, "forum_hasModerator_person", 0);
    for row in &tables["forum_hasMember_person"].rows {
        let both = forums[row[0].as_str()].max(persons[row[1].as_str()]);
        assert!(
            millis(&row[2]) >= both && moderators[row[0].as_str()] != row[1],
            "{row:?}"
        );
    }
    for (forum, moderator) in moderators {
        assert!(forums[forum] >= persons[moderator] + 10_000, "{forum}");
    }
}

fn message_dates(tables: &Tables) {
    let (posts, comments) = (dates(tables, "post", 2), dates(tables, "comment", 1));
    let forums = partners(tables, "forum_containerOf_post", 1);
    let joins: PairDates<'_> = tables["forum_hasMember_person"]
        .rows
        .iter()
        .map(|row| ((row[0].as_str(), row[1].as_str()), millis(&row[2])))
        .collect();
    let created = dates(tables, "forum", 2);
    let moderators = partners(tables, "forum_hasModerator_person", 0);
    for (post, author) in partners(tables, "post_hasCreator_person", 0) {
        let forum = forums[post];
        let owner = moderators[forum] == author;
        let since = if owner {
            created[forum]
        } else {
            joins[&(forum, author)]
        };
        assert!(posts[post] >= since + 10_000, "{post}");
    }
    for (reply, parents) in [
        ("comment_replyOf_post", &posts),
        ("comment_replyOf_comment", &comments),
    ] {
        for (comment, parent) in partners(tables, reply, 0) {
            assert!(comments[comment] >= parents[parent] + 10_000, "{comment}");
        }
    }
    let persons = dates(tables, "person", 5);
    for (likes, messages) in [
        ("person_likes_post", &posts),
        ("person_likes_comment", &comments),
    ] {
        for row in &tables[likes].rows {
            let both = messages[row[1].as_str()].max(persons[row[0].as_str()]);
            assert!(millis(&row[2]) >= both + 10_000, "{row:?}");
        }
    }
    for (comment, author) in partners(tables, "comment_hasCreator_person", 0) {
        assert!(comments[comment] > persons[author], "{comment}");
    }
}

fn text_lengths(tables: &Tables) {
    for (name, content) in [("post", 6), ("comment", 4)] {
        for row in &tables[name].rows {
            let length = row[content].encode_utf16().count();
            assert_eq!(row[content + 1], length.to_string(), "{row:?}");
            let is_photo = name == "post" && !row[1].is_empty();
            assert_eq!(length == 0, is_photo, "{row:?}");
        }
    }
}
