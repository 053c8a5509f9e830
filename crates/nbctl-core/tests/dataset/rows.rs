//! Rows as cases: what they become, and which are refused.

use nbctl_core::dataset::{DataFile, Dates, RowEncoder, RowIds, VidType};

use crate::cases::{INT, KNOWS, KNOWS_ROW, POST, POST_ROW, PREFIXED, SHORT, derive};

#[test]
fn rows_become_values() {
    let string = Dates::String;
    let post = derive("post", POST, Some(POST_ROW), string);
    let knows = derive(
        "person_knows_person",
        KNOWS,
        Some(KNOWS_ROW),
        Dates::Datetime,
    );
    let tags = derive("forum_hasTag_tag", "Forum.id|Tag.id", None, string);
    let tag = derive("tag", "id|name|url", Some("1|a|b"), string);
    let (vertex, edge) = (RowIds::Vertex, RowIds::Edge);
    let cases = [
        (&tag, INT, r#"5|a"b\c|"#, r#"5:("a\"b\\c", "")"#, vertex(5)),
        (&tag, INT, r#"5|""|\"#, r#"5:("\"\"", "\\")"#, vertex(5)),
        (
            &tag,
            INT,
            "9223372036854775807|Ñandú 東京|\t",
            "9223372036854775807:(\"Ñandú 東京\", \"\t\")",
            vertex(i64::MAX),
        ),
        (&tag, INT, "007|a|b", r#"7:("a", "b")"#, vertex(7)),
        (&tag, PREFIXED, "5|a|b", r#""t-5":("a", "b")"#, vertex(5)),
        (
            &tag,
            SHORT,
            "1234|a|b",
            r#""1234":("a", "b")"#,
            vertex(1234),
        ),
        (
            &post,
            INT,
            "7||d|i|b|en|hi|2",
            r#"7:("", "d", "i", "b", "en", "hi", 2)"#,
            vertex(7),
        ),
        (
            &post,
            INT,
            "7||d|i|b|en|hi|",
            r#"7:("", "d", "i", "b", "en", "hi", NULL)"#,
            vertex(7),
        ),
        (
            &post,
            INT,
            "7||d|i|b|en|hi|010",
            r#"7:("", "d", "i", "b", "en", "hi", 10)"#,
            vertex(7),
        ),
        (&tags, INT, "3|4", "3->4:()", edge(3, 4)),
        (&tags, PREFIXED, "3|4", r#""f-3"->"t-4":()"#, edge(3, 4)),
        (
            &knows,
            INT,
            "1|2|2010-02-14T15:32:10.447+0000",
            r#"1->2:(datetime("2010-02-14T15:32:10.447000"))"#,
            edge(1, 2),
        ),
        (
            &knows,
            INT,
            "1|2|2010-02-14T15:32:10",
            r#"1->2:(datetime("2010-02-14T15:32:10.000000"))"#,
            edge(1, 2),
        ),
        (&knows, INT, "1|2|", "1->2:(NULL)", edge(1, 2)),
    ];
    for (file, vid, row, values, ids) in cases {
        let encoder = RowEncoder::new(file, vid).unwrap();
        let mut out = b"before ".to_vec();
        assert_eq!(
            encoder.append(2, row.as_bytes(), &mut out).unwrap(),
            ids,
            "{row}"
        );
        assert_eq!(
            String::from_utf8(out).unwrap(),
            format!("before {values}"),
            "{row}"
        );
    }
    let heads =
        [&tag, &knows, &tags].map(|file| RowEncoder::new(file, INT).unwrap().head().to_owned());
    assert_eq!(heads[0], "INSERT VERTEX `Tag`(`name`, `url`) VALUES ");
    assert_eq!(heads[1], "INSERT EDGE `KNOWS`(`creationDate`) VALUES ");
    assert_eq!(heads[2], "INSERT EDGE `HAS_TAG`() VALUES ");
    let skipped = derive("person_email_emailaddress", "Person.id|email", None, string);
    assert!(RowEncoder::new(&skipped, INT).is_none());
}

#[test]
fn bad_rows_are_refused_and_leave_nothing() {
    let post = derive("post", POST, Some(POST_ROW), Dates::String);
    let knows = derive(
        "person_knows_person",
        KNOWS,
        Some(KNOWS_ROW),
        Dates::Datetime,
    );
    let cases: [(&DataFile, VidType, &[u8], &str); 16] = [
        (
            &knows,
            INT,
            b"1|2",
            ": 2 columns, the header has 3; hint: the file was cut",
        ),
        (
            &knows,
            INT,
            b"",
            ": 1 columns, the header has 3; hint: an empty or cut line",
        ),
        (
            &knows,
            INT,
            b"1|2|2010-02-14T15:32:10.447|",
            ": 4 columns, the header has 3; hint: very old",
        ),
        (
            &knows,
            INT,
            b"1|2|3|4|5",
            ": 5 columns, the header has 3; hint: a text holds a |",
        ),
        (
            &knows,
            INT,
            b"1|x2|2010-02-14T15:32:10.447",
            ", column Person.id: id \"x2\" is not a number",
        ),
        (
            &knows,
            INT,
            b"|2|2010-02-14T15:32:10.447",
            ", column Person.id: id \"\" is not a number",
        ),
        (
            &knows,
            INT,
            b"-1|2|2010-02-14T15:32:10.447",
            ", column Person.id: id \"-1\" is not",
        ),
        (
            &knows,
            INT,
            b"9223372036854775808|2|2010-02-14T15:32:10.447",
            ", column Person.id: id",
        ),
        (
            &knows,
            INT,
            b"1|2|2010-02-14T15:32:10.447+0100",
            ", column creationDate: \"2010",
        ),
        (
            &knows,
            INT,
            b"1|2|2010-02-14T15:32:10.",
            ", column creationDate: \"2010",
        ),
        (
            &knows,
            INT,
            "1|2|2010-02-14T15:32:1é".as_bytes(),
            ", column creationDate: \"2010",
        ),
        (
            &knows,
            SHORT,
            b"1|12345|2010-02-14T15:32:10.447",
            ", column Person.id: id of 5 bytes does not fit",
        ),
        (
            &post,
            INT,
            b"7||d|i|b|en|hi|two",
            ", column length: \"two\" is not a whole number; hint: the type",
        ),
        (
            &post,
            INT,
            b"7||d|i|b|en|h\0i|2",
            ": holds a NUL byte; hint: ",
        ),
        (
            &post,
            INT,
            b"7||d|i|b|en|h\xffi|2",
            ": is not UTF-8; hint: ",
        ),
        (
            &post,
            INT,
            b"7||d|i|b|en|hi|2\r",
            ": ends in a carriage return; hint: ",
        ),
    ];
    for (file, vid, row, expected) in cases {
        let encoder = RowEncoder::new(file, vid).unwrap();
        let mut out = b"before".to_vec();
        let error = encoder.append(17, row, &mut out).unwrap_err().to_string();
        assert_eq!(out, b"before", "{error}");
        assert!(
            error.starts_with(&format!("{} line 17{expected}", file.path)),
            "{error}"
        );
        assert!(error.contains("; hint: "), "{error}");
    }
}
