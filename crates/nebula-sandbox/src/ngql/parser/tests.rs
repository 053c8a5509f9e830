//! Texts and whether they parse.

use proptest::prelude::*;

use super::parse;

pub(super) const GOOD: &[&str] = &[
    "USE s",
    "CREATE SPACE IF NOT EXISTS `s`(PARTITION_NUM = 24, REPLICA_FACTOR = 3, vid_type = int64)",
    "CREATE SPACE s(partition_num=15, replica_factor=1, vid_type=fixed_string(20)) comment=\"x\"",
    "CREATE TAG IF NOT EXISTS `Person`(`firstName` string, `birthday` date NOT NULL DEFAULT date(\"2000-01-01\"))",
    "CREATE TAG empty()",
    "CREATE EDGE KNOWS(creationDate datetime) TTL_DURATION = 100, TTL_COL = \"creationDate\"",
    "CREATE TAG INDEX IF NOT EXISTS idx_person on Person(firstName(20))",
    "ALTER TAG Person ADD (x int), DROP (y)",
    "INSERT VERTEX `Person`(`a`,`b`), Other(c) VALUES 1:(\"x\", datetime(\"2010-01-01\"), -5), 2:('y', NULL, 1);",
    "INSERT VERTEX IGNORE_EXISTED_INDEX `Person` (`a`) VALUES 1:(\"x\")",
    "INSERT EDGE LIKES (creationDate) VALUES 1->2:(datetime(\"2010-01-01T00:00:00\")),3->4@7:(NULL)",
    "INSERT EDGE KNOWS() VALUES \"a\"->\"b\":()",
    "GO FROM 1 OVER KNOWS",
    "GO 3 STEPS FROM 1, 2 OVER KNOWS, LIKES REVERSELY WHERE KNOWS.creationDate > 1 AND $$.Person.x == \"y\" YIELD DISTINCT $$.Person.firstName AS name, KNOWS._dst",
    "GO 1 TO 3 STEP FROM 1 OVER * BIDIRECT yield id($$), properties(edge).x",
    "GO FROM 1 OVER KNOWS YIELD KNOWS._dst AS d | GO FROM $-.d OVER KNOWS YIELD KNOWS._dst | ORDER BY $-.d DESC | LIMIT 1, 5",
    "GO FROM 1 OVER KNOWS YIELD KNOWS._dst AS d | YIELD count(*) AS n",
    "GO FROM 1 OVER KNOWS YIELD KNOWS._dst AS d | GROUP BY $-.d YIELD $-.d, count(DISTINCT $-.d)",
    "FETCH PROP ON Person 1, 2 YIELD Person.firstName, vertex AS v",
    "FETCH PROP ON * 1 YIELD vertex AS v",
    "FETCH PROP ON KNOWS 1 -> 2@3, 4->5 YIELD KNOWS.creationDate",
    "LOOKUP ON Person WHERE Person.firstName == \"x\" YIELD id(vertex)",
    "FIND SHORTEST PATH FROM 1 TO -1 OVER * YIELD path as p",
    "FIND ALL PATH WITH PROP FROM 1 TO 2, 3 OVER KNOWS UPTO 3 STEPS YIELD path as p | LIMIT 3",
    "YIELD 1",
    "RETURN \"NEBULA GO PING\"",
    "YIELD 1 + 2 * 3 AS x, [1,2][0], {a: 1}.a, CASE WHEN true THEN 1 ELSE 2 END",
    "SHOW HOSTS; SHOW HOSTS GRAPH; SHOW SPACES; SHOW TAGS; SHOW EDGES; SHOW PARTS 1; SHOW STATS; SHOW JOBS; SHOW JOB 3",
    "SHOW SESSIONS; SHOW META LEADER; SHOW CONFIGS storage; SHOW TAG INDEXES; SHOW EDGE INDEX STATUS; SHOW CREATE TAG t",
    "ADD HOSTS 192.168.8.61:9779,\"node-1.lab\":9779, 10.0.0.1:9779",
    "DROP HOSTS 127.0.0.1:9779",
    "SUBMIT JOB COMPACT; SUBMIT JOB STATS; SUBMIT JOB BALANCE LEADER; BALANCE LEADER; STOP JOB 3; RECOVER JOB",
    "UPDATE CONFIGS heartbeat_interval_secs=1",
    "UPDATE CONFIGS storage:rocksdb_column_family_options = {disable_auto_compactions = true}",
    "GET CONFIGS storage:wal_ttl",
    "DELETE VERTEX 1, 2 WITH EDGE; DELETE EDGE KNOWS 1->2@0; DELETE TAG Person FROM 1",
    "DESC SPACE s; DESCRIBE TAG t; DESC EDGE `e`; DESC TAG INDEX i",
    "DROP SPACE IF EXISTS s; DROP TAG t; DROP EDGE INDEX IF EXISTS i",
    "MATCH (v) RETURN v",
    "MATCH p = (a:Person{age: 3}:Other)-[e:KNOWS|:LIKES*1..3{w: 1}]->(b)<--(c)--() WHERE id(a) = 1 RETURN DISTINCT *, length(p) AS n ORDER BY n DESC SKIP 1 LIMIT 3",
    "MATCH (a)-[*2]-(b), (b)-[:E*..4]->(c) OPTIONAL MATCH (c)-[e:E*0..]->() WITH a, count(DISTINCT e) AS n WHERE n > 1 UNWIND [1, n] AS x RETURN a, x",
    "UPDATE VERTEX ON T 1 SET a = a + 1, b = \"x\" WHEN a > 2 YIELD a AS A, b; UPSERT VERTEX 1 SET T.a = $^.T.a + 1",
    "UPDATE EDGE ON E 1->2@3 SET w = 1; UPSERT EDGE 1->2 OF E SET w = E.w + 1 YIELD w",
    "YIELD 1 UNION ALL YIELD 2 UNION YIELD 3 INTERSECT YIELD 4 MINUS YIELD 5 | LIMIT 1",
    "(YIELD 1 AS a UNION YIELD 2 AS a) | ORDER BY $-.a",
    "$a = GO FROM 1 OVER E YIELD dst(edge) AS d; GO FROM $a.d OVER E YIELD $a.d, dst(edge)",
    "EXPLAIN YIELD 1; PROFILE FORMAT=\"dot:struct\" {$a = YIELD 1 AS x; YIELD $a.x;}",
    "RETURN 1 ORDER BY `1` LIMIT 1",
    " ; ; ",
    "",
];

const BAD: &[&str] = &[
    "GO",
    "GO FROM OVER KNOWS",
    "SELECT 1",
    "INSERT VERTEX Person(a) VALUES 1:(2",
    "INSERT EDGE KNOWS(a) VALUES 1:(2)",
    "FETCH PROP ON A, B 1->2",
    "USE",
    "CREATE SPACE s(vid_type=double)",
    "YIELD 1 2",
    "YIELD \"open",
    "1",
    "MATCH (v)",
    "MATCH (v RETURN v",
    "MATCH (a)<-[e]->(b) RETURN a",
    "UNWIND [1] RETURN 1",
    "UPDATE VERTEX 1 SET",
    "UPDATE EDGE 1->2 SET w = 1",
    "EXPLAIN FORMAT=\"unknown\" YIELD 1",
    "EXPLAIN PROFILE YIELD 1",
    "EXPLAIN {}",
    "YIELD 1 UNION",
    "(YIELD 1",
];

#[test]
fn texts() {
    for text in GOOD {
        assert!(
            parse(text.as_bytes()).is_ok(),
            "{text}: {:?}",
            parse(text.as_bytes())
        );
    }
    for text in BAD {
        assert!(parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn depth_is_limited() {
    for part in [
        "(",
        "-",
        "NOT ",
        "[",
        "lower(",
        "1+",
        "1 OR ",
        "1 IS NULL ",
        "a.b",
        "[0]",
        ".x",
        "1|YIELD ",
        "1 UNION YIELD ",
        "CASE WHEN ",
        "{a: ",
        "count(",
        "(1+",
    ] {
        let text = format!("YIELD {}1", part.repeat(100_000));
        assert!(parse(text.as_bytes()).is_err(), "{part}");
    }
    for part in ["YIELD a[0]", "YIELD a.b", "YIELD a IS NULL"] {
        let last = part.rsplit(['a', ' ']).next().unwrap_or_default();
        let text = format!("{part}{}", last.repeat(100_000));
        assert!(parse(text.as_bytes()).is_err(), "{part}");
    }
    let long = format!("MATCH (a){} RETURN a", "--(b)".repeat(100_000));
    assert!(parse(long.as_bytes()).is_err());
}

proptest! {
    #[test]
    fn never_panics(text: Vec<u8>) {
        drop(parse(&text));
    }

    #[test]
    fn never_panics_on_words(words in prop::collection::vec(prop::sample::select(vec![
        "GO", "FROM", "OVER", "YIELD", "1", "\"a\"", ",", ";", "->", "@", "(", ")", "$$", ".", "x", "INSERT",
        "MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "WHERE", "AS", "<-", "{", "}", "..", "UNION", "$", "SET",
        "UPDATE", "UPSERT", "WHEN", "EXPLAIN", "PROFILE", "FORMAT", "LIMIT", "CASE", "END", "count",
        "VERTEX", "EDGE", "VALUES", ":", "CREATE", "TAG", "int", "|", "*", "SHOW", "JOB", "-", "[", "NOT", "=",
    ]), 0..40)) {
        drop(parse(words.join(" ").as_bytes()));
    }
}
