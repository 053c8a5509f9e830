//! Headers and schemas as cases.

use nbctl_core::dataset::{DataFile, Dates, FILES, Found, Schema, SpaceOptions, VidType, find};

pub(crate) const INT: VidType = VidType::Int64;
pub(crate) const PREFIXED: VidType = VidType::FixedString {
    length: 20,
    prefixed: true,
};
pub(crate) const SHORT: VidType = VidType::FixedString {
    length: 4,
    prefixed: false,
};

pub(crate) const POST: &str =
    "id|imageFile|creationDate|locationIP|browserUsed|language|content|length";
pub(crate) const POST_ROW: &str = "7|photo7.jpg|2010-02-14T15:32:10.447+0000|10.0.0.1|Firefox|||0";
pub(crate) const KNOWS: &str = "Person.id|Person.id|creationDate";
pub(crate) const KNOWS_ROW: &str = "1|2|2010-02-14T15:32:10.447+0000";

fn found(name: &str) -> Found {
    let paths: Vec<String> = FILES.iter().map(|name| format!("{name}_0_0.csv")).collect();
    find(&paths)
        .unwrap()
        .into_iter()
        .find(|file| file.name == name)
        .unwrap()
}

pub(crate) fn derive(name: &str, header: &str, row: Option<&str>, dates: Dates) -> DataFile {
    DataFile::derive(&found(name), header, row, dates).unwrap()
}

#[test]
fn types_come_from_the_first_row() {
    let string = Dates::String;
    let cases = [
        (
            "post",
            POST,
            Some(POST_ROW),
            string,
            "imageFile string, creationDate string, locationIP string, browserUsed string, language string, content string, length int",
        ),
        (
            "person_knows_person",
            KNOWS,
            Some(KNOWS_ROW),
            string,
            "creationDate string",
        ),
        (
            "person_knows_person",
            KNOWS,
            Some(KNOWS_ROW),
            Dates::Datetime,
            "creationDate datetime",
        ),
        (
            "person_knows_person",
            KNOWS,
            Some("1|2|2010-02-14T15:32:10.447"),
            Dates::Datetime,
            "creationDate datetime",
        ),
        (
            "person_knows_person",
            KNOWS,
            Some("1|2|1278777892244"),
            Dates::Datetime,
            "creationDate int",
        ),
        (
            "person_knows_person",
            KNOWS,
            Some("1|2|2010-02-14"),
            Dates::Datetime,
            "creationDate string",
        ),
        (
            "person_knows_person",
            KNOWS,
            Some("1|2|-5"),
            string,
            "creationDate string",
        ),
        (
            "person_knows_person",
            KNOWS,
            None,
            string,
            "creationDate string",
        ),
        (
            "person_knows_person",
            KNOWS,
            None,
            Dates::Datetime,
            "creationDate datetime",
        ),
        (
            "person_workAt_organisation",
            "Person.id|Organisation.id|workFrom",
            None,
            string,
            "workFrom int",
        ),
        (
            "forum_hasTag_tag",
            "Forum.id|Tag.id",
            Some("1|2"),
            string,
            "",
        ),
    ];
    for (name, header, row, dates, expected) in cases {
        let schema = Schema::of(&[derive(name, header, row, dates)]).unwrap();
        let created = schema.create_types().remove(0).replace('`', "");
        assert!(
            created.ends_with(&format!("({expected})")),
            "{name} {row:?}: {created}"
        );
    }
}

#[test]
fn bad_headers_are_refused() {
    let cases = [
        (
            "person_knows_person",
            "Person.id|Person.id|creationDate\r",
            None,
            "carriage return; hint: convert",
        ),
        (
            "person_knows_person",
            ":START_ID(Person)|:END_ID(Person)|creationDate",
            None,
            "does not begin with the ids",
        ),
        (
            "person_knows_person",
            "creationDate|Person.id|Person.id",
            None,
            "cannot be a property",
        ),
        (
            "post_hasTag_tag",
            "Comment.id|Tag.id",
            None,
            "does not begin with the ids",
        ),
        (
            "post_hasTag_tag",
            "Post.id",
            None,
            "does not begin with the ids",
        ),
        (
            "tag",
            "id|name|u`rl",
            None,
            "column \"u`rl\" cannot be a property",
        ),
        (
            "tag",
            "0|Hamid|http",
            None,
            "does not begin with the ids of tag",
        ),
        ("tag", "", None, "does not begin with the ids"),
        (
            "tag",
            "id|name|url",
            Some("1|a"),
            "3 columns, the first row has 2",
        ),
    ];
    for (name, header, row, expected) in cases {
        let error = DataFile::derive(&found(name), header, row, Dates::String)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(&format!("{name}_0_0.csv header: ")),
            "{error}"
        );
        assert!(
            error.contains(expected) && error.contains("; hint: "),
            "{error}"
        );
    }
}

/// A file without rows knows no types; another one of its type that has rows decides.
#[test]
fn files_of_one_type_must_agree() {
    let likes = |name: &str, class: &str, row| {
        derive(
            name,
            &format!("Person.id|{class}.id|creationDate"),
            row,
            Dates::String,
        )
    };
    let empty = likes("person_likes_post", "Post", None);
    let text = likes(
        "person_likes_post",
        "Post",
        Some("1|2|2010-02-14T15:32:10.447+0000"),
    );
    let number = likes("person_likes_comment", "Comment", Some("1|2|1278777892244"));
    for files in [[empty.clone(), number.clone()], [number.clone(), empty]] {
        let schema = Schema::of(&files).unwrap();
        assert_eq!(
            schema.create_types(),
            ["CREATE EDGE IF NOT EXISTS `LIKES`(`creationDate` int)"]
        );
    }
    let error = Schema::of(&[text, number]).unwrap_err().to_string();
    assert!(
        error.contains("type LIKES: person_likes_post_0_0.csv and person_likes_comment_0_0.csv"),
        "{error}"
    );
}

#[test]
fn spaces() {
    let space = |name: &str, vid| SpaceOptions {
        name: name.to_owned(),
        partitions: 24,
        replicas: 3,
        vid,
    };
    let created = space("sf1", INT).create().unwrap();
    assert_eq!(
        created,
        "CREATE SPACE IF NOT EXISTS `sf1` (partition_num = 24, replica_factor = 3, vid_type = int64)"
    );
    assert!(
        space("sf1", PREFIXED)
            .create()
            .unwrap()
            .ends_with("vid_type = fixed_string(20))")
    );
    for name in ["", "1a", "a b", "a`; DROP SPACE x", "ä"] {
        assert!(space(name, INT).create().is_err(), "{name}");
    }
}
