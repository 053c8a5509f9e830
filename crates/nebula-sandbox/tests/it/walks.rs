//! Traversals and paths of GO and FIND PATH against a count of our own.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Client, Cluster, wait};
use nebula_wire::Value;

/// Edges by source: (destination, rank, weight).
type Model = BTreeMap<i64, Vec<(i64, i64, i64)>>;

/// Deterministic numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        i64::try_from((self.0 >> 33) % limit).expect("small")
    }
}

fn graph(vertices: u64, edges: usize) -> Model {
    let mut numbers = Numbers(7);
    let mut seen = BTreeMap::new();
    for _ in 0..edges {
        let (src, dst, rank) = (
            numbers.below(vertices),
            numbers.below(vertices),
            numbers.below(2),
        );
        seen.insert((src, rank, dst), numbers.below(100));
    }
    let mut model = Model::new();
    for ((src, rank, dst), weight) in seen {
        model.entry(src).or_default().push((dst, rank, weight));
    }
    model
}

fn reversed(model: &Model) -> Model {
    let mut turned = Model::new();
    for (src, edges) in model {
        for (dst, rank, weight) in edges {
            turned.entry(*dst).or_default().push((*src, *rank, *weight));
        }
    }
    turned
}

/// What `GO n STEPS` yields: the vertices are made distinct between the steps, the edges of the last one are not.
fn walk(model: &Model, start: i64, steps: usize) -> Vec<(i64, i64)> {
    let mut frontier = BTreeSet::from([start]);
    for _ in 1..steps {
        let next = frontier.iter().filter_map(|v| model.get(v)).flatten();
        frontier = next.map(|(dst, ..)| *dst).collect();
    }
    let last = frontier.iter().filter_map(|v| model.get(v)).flatten();
    let mut rows: Vec<_> = last.map(|(dst, _, weight)| (*dst, *weight)).collect();
    rows.sort_unstable();
    rows
}

fn vid(id: i64, text: bool) -> String {
    if text {
        format!("\"v{id}\"")
    } else {
        id.to_string()
    }
}

fn number(value: &Value) -> i64 {
    match value {
        Value::Int(id) => *id,
        other => other
            .as_str()
            .expect("vid")
            .trim_start_matches('v')
            .parse()
            .expect("number"),
    }
}

fn load(client: &mut Client, model: &Model, text: bool) {
    for id in 0..60 {
        let vid = vid(id, text);
        client.until(&format!(
            "INSERT VERTEX P(name, n) VALUES {vid}:(\"name {id}\", {id})"
        ));
    }
    for (src, edges) in model {
        let rows = edges.iter().map(|(dst, rank, weight)| {
            format!("{}->{}@{rank}:({weight})", vid(*src, text), vid(*dst, text))
        });
        let rows: Vec<_> = rows.collect();
        client.until(&format!("INSERT EDGE E(w) VALUES {}", rows.join(",")));
    }
}

fn check_walks(client: &mut Client, model: &Model, text: bool) {
    let turned = reversed(model);
    for start in [0, 1, 5, 17, 59] {
        for steps in 1..=3 {
            for (word, graph) in [("", model), ("REVERSELY", &turned)] {
                let from = vid(start, text);
                let statement =
                    format!("GO {steps} STEPS FROM {from} OVER E {word} YIELD E._dst, E.w");
                let table = client.ok(&statement);
                let mut rows: Vec<_> = table
                    .rows
                    .iter()
                    .map(|row| (number(&row[0]), row[1].as_int().expect("w")))
                    .collect();
                rows.sort_unstable();
                assert_eq!(rows, walk(graph, start, steps), "{statement}");
                let statement = format!("{statement} | YIELD count(*) AS n");
                assert_eq!(
                    client.ok(&statement).rows[0][0].as_int(),
                    i64::try_from(rows.len()).ok()
                );
            }
        }
    }
    let statement = format!(
        "GO FROM {} OVER E WHERE $$.P.n > 30 AND E.w < 50 YIELD $$.P.name, id($$)",
        vid(1, text)
    );
    let wanted = model[&1]
        .iter()
        .filter(|(dst, _, w)| *dst > 30 && *w < 50)
        .count();
    let table = client.ok(&statement);
    assert_eq!(table.rows.len(), wanted, "{statement}");
    for row in &table.rows {
        assert_eq!(
            row[0].as_str().expect("name"),
            format!("name {}", number(&row[1]))
        );
    }
}

/// Length of a shortest path and how many of them there are, `None` beyond five steps.
fn shortest(model: &Model, from: i64, to: i64) -> Option<(usize, usize)> {
    let mut ways = BTreeMap::from([(from, 1usize)]);
    let mut seen = BTreeSet::from([from]);
    for length in 1..=5 {
        let mut next: BTreeMap<i64, usize> = BTreeMap::new();
        for (vertex, count) in &ways {
            for (dst, ..) in model
                .get(vertex)
                .into_iter()
                .flatten()
                .filter(|(dst, ..)| !seen.contains(dst))
            {
                *next.entry(*dst).or_default() += count;
            }
        }
        if let Some(count) = next.get(&to) {
            return Some((length, *count));
        }
        seen.extend(next.keys());
        ways = next;
    }
    None
}

/// How many ways of at most `left` more steps lead to `to`, no edge twice.
fn trails(model: &Model, at: i64, to: i64, left: usize, used: &mut Vec<(i64, i64, i64)>) -> usize {
    let mut count = 0;
    for (dst, rank, _) in model.get(&at).into_iter().flatten() {
        let edge = (at, *rank, *dst);
        if used.contains(&edge) {
            continue;
        }
        count += usize::from(*dst == to);
        if left > 1 {
            used.push(edge);
            count += trails(model, *dst, to, left - 1, used);
            used.pop();
        }
    }
    count
}

fn check_paths(client: &mut Client, model: &Model) {
    for (from, to) in [(0, 1), (3, 40), (7, 7_000), (58, 2), (11, 12)] {
        let table = client.ok(&format!(
            "FIND SHORTEST PATH FROM {from} TO {to} OVER * YIELD path AS p"
        ));
        let lengths: BTreeSet<_> = table
            .rows
            .iter()
            .map(|row| match &row[0] {
                Value::Path(path) => path.steps.len(),
                other => panic!("{other:?}"),
            })
            .collect();
        match shortest(model, from, to) {
            None => assert!(table.rows.is_empty(), "{from} {to}"),
            Some((length, count)) => {
                assert_eq!(
                    (table.rows.len(), lengths),
                    (count, BTreeSet::from([length])),
                    "{from} {to}"
                );
            }
        }
        let text = format!(
            "FIND ALL PATH FROM {from} TO {to} OVER E UPTO 2 STEPS YIELD path AS p | YIELD count(*)"
        );
        let wanted = trails(model, from, to, 2, &mut Vec::new());
        assert_eq!(
            client.ok(&text).rows[0][0].as_int(),
            i64::try_from(wanted).ok(),
            "{text}"
        );
    }
    assert_eq!(
        client.fails("LOOKUP ON P YIELD P.n").1,
        "IndexNotFound: No valid index found"
    );
    client.ok("CREATE TAG INDEX i ON P(name(10))");
    let table = client.until("LOOKUP ON P WHERE P.name == \"name 5\" YIELD id(vertex), P.n");
    assert_eq!(table.rows, [[Value::Int(5), Value::Int(5)]]);
    client.ok("CREATE EDGE INDEX j ON E(w)");
    let light = model.values().flatten().filter(|(.., w)| *w < 10).count();
    let table = client.until("LOOKUP ON E WHERE E.w < 10 YIELD src(edge), dst(edge), E.w");
    assert_eq!(table.rows.len(), light);
}

#[test]
fn traversals_equal_brute_force() {
    let cluster = Cluster::start("3.8.0", 3);
    let schema = "CREATE TAG P(name string, n int); CREATE EDGE E(w int)";
    let model = graph(60, 700);
    let total: i64 = model
        .values()
        .map(|edges| i64::try_from(edges.len()).expect("few"))
        .sum();
    for (space, text) in [("int64", false), ("fixed_string(16)", true)] {
        let mut client = cluster.space(space, schema);
        load(&mut client, &model, text);
        check_walks(&mut client, &model, text);
        if !text {
            check_paths(&mut client, &model);
        }
        assert_eq!(
            client.counts(),
            [
                ("P".to_owned(), 60),
                ("E".to_owned(), total),
                ("vertices".to_owned(), 60),
                ("edges".to_owned(), total)
            ]
        );
        client.ok("DROP SPACE s");
        wait("space is gone", || client.run("USE s").is_err());
    }
}
