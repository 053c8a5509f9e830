//! Shortest paths of MATCH, and patterns as conditions, against a count of our own.

use crate::patterns::{Graph, VERTICES, Way, count, lengths, numbers, on_random_graphs};
use crate::support::{Client, Cluster};

/// Whether a vertex passes.
type Test<'t> = &'t dyn Fn(&i64) -> bool;

/// Lengths of all ways of at most three edges, the shortest ones.
fn shortest(graph: &Graph, a: i64, b: i64, kind: &str, way: Way) -> Vec<usize> {
    for length in 1..=3 {
        let ways = graph.ways(a, &vec![(kind, way); length]);
        let found = ways
            .iter()
            .filter(|(vertices, _)| vertices.last() == Some(&b));
        let found = found.count();
        if found > 0 {
            return vec![length; found];
        }
    }
    Vec::new()
}

fn check_shortest(client: &mut Client, graph: &Graph, a: i64) {
    let arrows = [
        ("-", "->", Way::Out),
        ("<-", "-", Way::In),
        ("-", "-", Way::Both),
    ];
    for b in [3, 11, 20]
        .map(|place| graph.base + place)
        .into_iter()
        .filter(|b| *b != a)
    {
        for (left, right, way) in arrows {
            for (kind, edge) in [("E", ":E"), ("", "")] {
                let all = shortest(graph, a, b, kind, way);
                let one: Vec<usize> = all.first().copied().into_iter().collect();
                for (function, wanted) in [("allShortestPaths", &all), ("shortestPath", &one)] {
                    let statement = format!(
                        "MATCH p = {function}((a){left}[{edge}*..3]{right}(b)) WHERE id(a) == {a} AND id(b) == {b} RETURN p"
                    );
                    assert_eq!(&lengths(client, &statement), wanted, "{statement}");
                }
            }
        }
    }
    // To every vertex there is a way to, but back to the start.
    let wanted = (graph.base..graph.base + VERTICES)
        .filter(|b| *b != a && !shortest(graph, a, *b, "", Way::Out).is_empty());
    let wanted = i64::try_from(wanted.count()).expect("few");
    let statement = format!(
        "MATCH p = shortestPath((a)-[*..3]->(b)) WHERE id(a) == {a} RETURN count(p), count(DISTINCT b)"
    );
    assert_eq!(numbers(client, &statement), [wanted, wanted], "{statement}");
}

fn check_conditions(client: &mut Client, graph: &Graph, a: i64) {
    let ends: Vec<i64> = graph
        .ways(a, &[("E", Way::Out)])
        .into_iter()
        .map(|(vertices, _)| vertices[1])
        .collect();
    let leaves = |b: &i64| !graph.ways(*b, &[("F", Way::Out)]).is_empty();
    let back = |b: &i64| {
        let ways = graph.ways(*b, &[("", Way::Both), ("E", Way::Out)]);
        ways.iter().any(|(vertices, _)| vertices[2] == a)
    };
    let cases: [(&str, Test<'_>); 6] = [
        ("(b)-[:F]->()", &leaves),
        ("NOT (b)-[:F]->()", &|b| !leaves(b)),
        ("exists((b)-[:F]->(:P))", &leaves),
        ("(b)-[]-()-[:E]->(a)", &back),
        ("(b)-[:F]->() AND NOT (b)-[]-()-[:E]->(a)", &|b| {
            leaves(b) && !back(b)
        }),
        (
            "((b)-[:F]->() OR (b)-[]-()-[:E]->(a)) AND id(b) > 0",
            &|b| leaves(b) || back(b),
        ),
    ];
    for (condition, test) in cases {
        let wanted: Vec<&i64> = ends.iter().filter(|b| test(b)).collect();
        let statement =
            format!("MATCH (a)-[:E]->(b) WHERE id(a) == {a} AND {condition} RETURN count(*)");
        assert_eq!(numbers(client, &statement), [count(&wanted)], "{statement}");
        let later = format!(
            "MATCH (a)-[:E]->(b) WHERE id(a) == {a} WITH a, b WHERE {condition} RETURN count(*)"
        );
        assert_eq!(numbers(client, &later), [count(&wanted)], "{later}");
    }
    // Brackets alone are no pattern.
    let plain = format!(
        "MATCH (a)-[e:E]->(b) WHERE id(a) == {a} AND (e.w) - (1) < 1000 AND (id(b)) > 0 RETURN count(*)"
    );
    assert_eq!(numbers(client, &plain), [count(&ends)], "{plain}");
}

#[test]
fn shortest_paths_and_conditions_equal_brute_force() {
    let (_cluster, mut client) = on_random_graphs(|client, graph, a| {
        check_shortest(client, graph, a);
        check_conditions(client, graph, a);
    });
    let refused = [
        "MATCH p = shortestPath((a)-[*..2]->(b)-[]->(c)) WHERE id(a) == 1000 RETURN p",
        "MATCH (a)-[:E]->(b) WHERE id(a) == 1000 AND (b)-[:F]->(stranger) RETURN b",
        "MATCH (a)-[:E]->(b) WHERE id(a) == 1000 AND (:P)-[:F]->() RETURN b",
        "MATCH (a)-[:E]->(b) WHERE id(a) == 1000 RETURN (b)-[:F]->()",
    ];
    for statement in refused {
        let (code, text) = client.fails(statement);
        assert_eq!(code, -1009, "{statement}: {text}");
    }
}

#[test]
fn the_old_line_knows_neither() {
    let cluster = Cluster::start("2.6.2", 1);
    let mut client = cluster.space("int64", "CREATE TAG P(n int); CREATE EDGE E(w int)");
    for statement in [
        "MATCH p = shortestPath((a)-[*..2]->(b)) WHERE id(a) == 1 AND id(b) == 2 RETURN p",
        "MATCH (a)-[:E]->(b) WHERE id(a) == 1 AND (b)-[:E]->() RETURN b",
    ] {
        let (code, text) = client.fails(statement);
        assert_eq!(code, -1004, "{statement}: {text}");
    }
}
