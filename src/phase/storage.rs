//! What the graph service says about storageds: who is there, and where partitions lie.

use nbctl_core::config::Space;
use nbctl_core::failure::Failure;
use nbctl_core::scale::{Copies, StorageHost, distribution};
use nebula_wire::value::{DataSet, Value};

use crate::graph::GraphService;
use crate::remote::Fleet;

/// Rows of SHOW HOSTS.
///
/// # Errors
/// Nobody answers.
pub async fn hosts(graph: &GraphService, fleet: &Fleet) -> Result<Vec<StorageHost>, Failure> {
    let mut session = graph.session(fleet).await?;
    let table = session.rows("SHOW HOSTS").await;
    session.close().await;
    Ok(rows(&table?))
}

/// Columns are found by name; the row `Total` has no port (`reference/deploy.md` 6.4).
fn rows(table: &DataSet) -> Vec<StorageHost> {
    let column = |name: &str| table.columns.iter().position(|c| c == name.as_bytes());
    let (host, port, status) = (column("Host"), column("Port"), column("Status"));
    let parts = column("Partition distribution");
    let row = |row: &Vec<Value>| {
        let Value::Int(port) = row.get(port?)? else {
            return None;
        };
        Some(StorageHost {
            endpoint: format!("{}:{port}", text(row.get(host?)?)?),
            online: text(row.get(status?)?)? == "ONLINE",
            partitions: distribution(&text(row.get(parts?)?)?),
        })
    };
    table.rows.iter().filter_map(row).collect()
}

/// Partitions of `spaces` with who has copies of them.
///
/// # Errors
/// Nobody answers.
pub async fn copies(
    graph: &GraphService,
    fleet: &Fleet,
    spaces: &[Space],
) -> Result<Vec<Copies>, Failure> {
    let mut session = graph.session(fleet).await?;
    let mut all = Vec::new();
    for space in spaces {
        session.rows(&format!("USE `{}`", space.name)).await?;
        let table = session.rows("SHOW PARTS").await?;
        all.extend(parts(&space.name, &table));
    }
    session.close().await;
    Ok(all)
}

fn parts(space: &str, table: &DataSet) -> Vec<Copies> {
    let column = |name: &str| table.columns.iter().position(|c| c == name.as_bytes());
    let (part, peers) = (column("Partition ID"), column("Peers"));
    let row = |row: &Vec<Value>| {
        let Value::Int(part) = row.get(part?)? else {
            return None;
        };
        Some(Copies::new(space, *part, &text(row.get(peers?)?)?))
    };
    table.rows.iter().filter_map(row).collect()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}
