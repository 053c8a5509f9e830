//! Patterns and paths against a count of our own: every way through a small random graph is tried, edge by edge.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Client, Cluster};
use nebula_wire::Value;

/// Vertices of each graph.
pub(crate) const VERTICES: i64 = 25;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Out,
    In,
    Both,
}

use Way::{Both, In, Out};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) kind: &'static str,
    pub(crate) from: i64,
    pub(crate) to: i64,
    rank: i64,
    weight: i64,
}

/// A graph of its own among the vertex ids from `base`.
pub(crate) struct Graph {
    pub(crate) base: i64,
    pub(crate) edges: Vec<Edge>,
}

/// xorshift, so that a seed always makes the same graph.
fn next(state: &mut u64, below: i64) -> i64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    i64::try_from(*state % below.unsigned_abs()).expect("small")
}

impl Graph {
    pub(crate) fn random(seed: u64) -> Self {
        let base = i64::try_from(seed).expect("small") * 1_000;
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut unique = BTreeMap::new();
        for _ in 0..70 {
            let kind = if next(&mut state, 3) == 0 { "F" } else { "E" };
            let from = base + next(&mut state, VERTICES);
            let to = base + next(&mut state, VERTICES);
            let rank = next(&mut state, 2);
            unique.insert((kind, from, to, rank), next(&mut state, 100));
        }
        let edge = |((kind, from, to, rank), weight)| Edge {
            kind,
            from,
            to,
            rank,
            weight,
        };
        Self {
            base,
            edges: unique.into_iter().map(edge).collect(),
        }
    }

    pub(crate) fn load(&self, client: &mut Client) {
        for id in self.base..self.base + VERTICES {
            client.until(&format!(
                "INSERT VERTEX P(n) VALUES {id}:({})",
                id - self.base
            ));
        }
        for edge in &self.edges {
            let Edge {
                kind,
                from,
                to,
                rank,
                weight,
            } = edge;
            client.until(&format!(
                "INSERT EDGE {kind}(w) VALUES {from}->{to}@{rank}:({weight})"
            ));
        }
    }

    /// Every way along `steps` without taking an edge twice: the vertices and the edges' numbers.
    pub(crate) fn ways(&self, start: i64, steps: &[(&str, Way)]) -> Vec<(Vec<i64>, Vec<usize>)> {
        let mut ways = vec![(vec![start], Vec::new())];
        for (kind, way) in steps {
            let mut longer = Vec::new();
            for (vertices, used) in &ways {
                let at = *vertices.last().expect("a start");
                for (number, edge) in self.edges.iter().enumerate() {
                    if used.contains(&number) || !(kind.is_empty() || edge.kind == *kind) {
                        continue;
                    }
                    let out = edge.from == at && *way != In;
                    let back = edge.to == at && *way != Out && !(out && edge.from == edge.to);
                    let ends = [out.then_some(edge.to), back.then_some(edge.from)];
                    for to in ends.into_iter().flatten() {
                        let vertices = vertices.iter().copied().chain([to]).collect();
                        longer.push((vertices, [used.as_slice(), &[number]].concat()));
                    }
                }
            }
            ways = longer;
        }
        ways
    }

    /// Ends of all ways of `least` to `most` steps of a kind.
    fn ends(&self, start: i64, kind: &str, way: Way, least: usize, most: usize) -> Vec<i64> {
        let lengths = (least..=most).map(|length| vec![(kind, way); length]);
        let ways = lengths.flat_map(|steps| self.ways(start, &steps));
        ways.map(|(vertices, _)| *vertices.last().expect("an end"))
            .collect()
    }
}

pub(crate) fn numbers(client: &mut Client, statement: &str) -> Vec<i64> {
    let table = client.ok(statement);
    assert_eq!(table.rows.len(), 1, "{statement}: {table:?}");
    let cells = table.rows[0].iter();
    cells.map(|cell| cell.as_int().expect("a number")).collect()
}

pub(crate) fn count<T>(items: &[T]) -> i64 {
    i64::try_from(items.len()).expect("few")
}

fn distinct(items: &[i64]) -> i64 {
    count(
        &items
            .iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>(),
    )
}

fn check_fixed(client: &mut Client, graph: &Graph, a: i64) {
    let cases: &[(&str, &[(&str, Way)])] = &[
        ("(a)-[:E]->(b)", &[("E", Out)]),
        ("(a)-[e]-(b)", &[("", Both)]),
        ("(a)-[:E]->(b)-[:E]->(c)", &[("E", Out), ("E", Out)]),
        ("(a)<-[:E]-(b)-[:F]->(c)", &[("E", In), ("F", Out)]),
        ("(a)--(b)--(c)", &[("", Both), ("", Both)]),
        (
            "(a)-[:E]-(b)<-[:E]-(c)-[:E|:F]->(d)",
            &[("E", Both), ("E", In), ("", Out)],
        ),
    ];
    for (pattern, steps) in cases {
        let ways = graph.ways(a, steps);
        let statement = format!("MATCH {pattern} WHERE id(a) == {a} RETURN count(*)");
        assert_eq!(numbers(client, &statement), [count(&ways)], "{statement}");
        // The same pattern from its other end.
        let last = pattern.matches('(').count();
        let end = ["a", "b", "c", "d"][last - 1];
        for id in [graph.base, graph.base + 7] {
            let statement = format!(
                "MATCH {pattern} WHERE id({end}) == {id} AND id(a) IN [{a}, {a}] RETURN count(*)"
            );
            let here = ways
                .iter()
                .filter(|(vertices, _)| vertices.last() == Some(&id));
            let wanted = i64::try_from(here.count()).expect("few");
            assert_eq!(numbers(client, &statement), [wanted], "{statement}");
            let turned = format!(
                "UNWIND [{id}] AS x MATCH {pattern} WHERE id({end}) == x WITH a WHERE id(a) == {a} RETURN count(*)"
            );
            assert_eq!(numbers(client, &turned), [wanted], "{turned}");
        }
    }
}

fn check_lengths(client: &mut Client, graph: &Graph, a: i64) {
    for (least, most) in [(1, 3), (0, 2), (2, 2)] {
        for (arrow, way) in [(("-", "->"), Out), (("<-", "-"), In), (("-", "-"), Both)] {
            let most = if way == Both { most.min(2) } else { most };
            let (left, right) = arrow;
            let statement = format!(
                "MATCH (a){left}[e:E*{least}..{most}]{right}(b) WHERE id(a) == {a} RETURN count(*), count(DISTINCT b)"
            );
            let ends = graph.ends(a, "E", way, least, most);
            assert_eq!(
                numbers(client, &statement),
                [count(&ends), distinct(&ends)],
                "{statement}"
            );
        }
    }
    let b = graph.base + 3;
    let ends = graph.ends(a, "", Out, 1, 3);
    let wanted = ends.iter().filter(|end| **end == b).count();
    let statement =
        format!("MATCH p = (a)-[*1..3]->(b) WHERE id(a) == {a} AND id(b) == {b} RETURN count(p)");
    assert_eq!(
        numbers(client, &statement),
        [i64::try_from(wanted).expect("few")],
        "{statement}"
    );
}

/// Conditions, shared names, several paths, NULL for what is missing.
fn check_joins(client: &mut Client, graph: &Graph, a: i64) {
    let two = graph.ways(a, &[("E", Out), ("E", Out)]);
    let passes = |(vertices, edges): &&(Vec<i64>, Vec<usize>)| {
        graph.edges[edges[0]].weight < 60 && vertices[2] - graph.base > 8
    };
    let wanted = i64::try_from(two.iter().filter(passes).count()).expect("few");
    let statement = format!(
        "MATCH (a)-[e:E]->(b)-[f:E]->(c) WHERE id(a) == {a} AND e.w < 60 AND c.P.n > 8 RETURN count(*)"
    );
    assert_eq!(numbers(client, &statement), [wanted], "{statement}");
    let round = graph.ways(a, &[("E", Out), ("", Both), ("E", Out)]);
    let round = round.iter().filter(|(vertices, _)| vertices[3] == a);
    let statement =
        format!("MATCH (a)-[:E]->(b)-[]-(c)-[:E]->(a) WHERE id(a) == {a} RETURN count(*)");
    let wanted = i64::try_from(round.count()).expect("few");
    assert_eq!(numbers(client, &statement), [wanted], "{statement}");
    // Two paths may share edges.
    let c = graph.base + 5;
    let (left, right) = (graph.ways(a, &[("E", Out)]), graph.ways(c, &[("", Both)]));
    let mut wanted = 0;
    let mut without = 0;
    for (from_a, _) in &left {
        let onward = count(&graph.ways(from_a[1], &[("F", Out)]));
        without += onward.max(1);
        wanted += i64::from(onward == 0);
    }
    let meeting = left
        .iter()
        .flat_map(|(l, _)| right.iter().filter(|(r, _)| r[1] == l[1]));
    let meeting = i64::try_from(meeting.count()).expect("few");
    let statement = format!(
        "MATCH (a)-[:E]->(b), (c)-[]-(b) WHERE id(a) == {a} AND id(c) == {c} RETURN count(*)"
    );
    assert_eq!(numbers(client, &statement), [meeting], "{statement}");
    let statement = format!(
        "MATCH (a)-[e:E]->(b) WHERE id(a) == {a} OPTIONAL MATCH (b)-[:F]->(d) RETURN count(*), count(*) - count(d)"
    );
    assert_eq!(
        numbers(client, &statement),
        [without, wanted],
        "{statement}"
    );
}

/// Lengths of the paths in a table.
pub(crate) fn lengths(client: &mut Client, statement: &str) -> Vec<usize> {
    let table = client.ok(statement);
    let length = |row: &Vec<Value>| match &row[0] {
        Value::Path(path) => path.steps.len(),
        other => panic!("{statement}: {other:?}"),
    };
    let mut lengths: Vec<_> = table.rows.iter().map(length).collect();
    lengths.sort_unstable();
    lengths
}

fn check_paths(client: &mut Client, graph: &Graph, a: i64) {
    let b = graph.base + 11;
    for (word, way) in [("", Out), ("REVERSELY", In), ("BIDIRECT", Both)] {
        let mut all = Vec::new();
        let mut loopless = Vec::new();
        for length in 1..=3 {
            for (vertices, _) in graph.ways(a, &vec![("", way); length]) {
                if vertices.last() == Some(&b) {
                    all.push(length);
                    let once: BTreeSet<_> = vertices.iter().collect();
                    loopless.extend((once.len() == vertices.len()).then_some(length));
                }
            }
        }
        let least = all.first().copied();
        let shortest: Vec<_> = all.iter().copied().filter(|n| Some(*n) == least).collect();
        for (kind, wanted) in [
            ("ALL", &all),
            ("NOLOOP", &loopless),
            ("SHORTEST", &shortest),
        ] {
            let statement = format!(
                "FIND {kind} PATH FROM {a} TO {b} OVER * {word} UPTO 3 STEPS YIELD path AS p"
            );
            assert_eq!(&lengths(client, &statement), wanted, "{statement}");
        }
    }
}

/// GO: vertices are made distinct between the steps, what the last one yields is not.
fn check_go(client: &mut Client, graph: &Graph, a: i64) {
    let out = |at: i64| {
        graph
            .edges
            .iter()
            .filter(move |edge| edge.from == at && edge.kind == "E")
    };
    let mut frontier = BTreeSet::from([a]);
    for steps in 1..=3 {
        let rows: i64 = frontier
            .iter()
            .map(|at| count(&out(*at).collect::<Vec<_>>()))
            .sum();
        let statement =
            format!("GO {steps} STEPS FROM {a} OVER E YIELD dst(edge) AS d | YIELD count(*) AS n");
        assert_eq!(numbers(client, &statement), [rows], "{statement}");
        frontier = frontier
            .iter()
            .flat_map(|at| out(*at))
            .map(|edge| edge.to)
            .collect();
    }
}

/// Three graphs in a cluster of their own, two starts in each.
pub(crate) fn on_random_graphs(check: impl Fn(&mut Client, &Graph, i64)) -> (Cluster, Client) {
    let cluster = Cluster::start("3.8.0", 2);
    let mut client = cluster.space(
        "int64",
        "CREATE TAG P(n int); CREATE EDGE E(w int); CREATE EDGE F(w int)",
    );
    for seed in 1..=3 {
        let graph = Graph::random(seed);
        graph.load(&mut client);
        for a in [graph.base, graph.base + 17] {
            check(&mut client, &graph, a);
        }
    }
    (cluster, client)
}

#[test]
fn patterns_equal_brute_force() {
    on_random_graphs(|client, graph, a| {
        check_fixed(client, graph, a);
        check_lengths(client, graph, a);
        check_joins(client, graph, a);
        check_paths(client, graph, a);
        check_go(client, graph, a);
    });
}
