//! Hosts that reach no registry, and one that only this machine reaches.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use nbctl_core::units::Sha256;
use serde_json::{Value, json};
use wiremock::matchers::{any, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::bed::Bed;

/// Name in the archive, and name and tag as `monitoring/stack.yaml` has them.
const IMAGES: [(&str, &str, &str); 2] = [
    ("node-exporter", "prom/node-exporter", "v1.9.1"),
    ("process-exporter", "ncabatoff/process-exporter", "0.8.7"),
];
const MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const BLOB: &str = "application/octet-stream";

#[tokio::test(flavor = "multi_thread")]
async fn images_come_from_a_registry_that_only_the_control_machine_reaches() {
    let Some(bed) = Bed::find() else {
        eprintln!("left out: no test hosts are up (NBCTL_BED_DIR; `make bed` starts them)");
        return;
    };
    let before = bed.listing();
    let registry = registry(&bed.images().join("exporters.tar.gz")).await;
    let address = registry.address();
    let ask = format!(
        "monitor: {{components: [node-exporter, process-exporter], registry: {{address: '{address}', reach: control}}}}"
    );
    let bed = bed.with_line("monitor: {", &ask);
    let up = bed.nbctl(&["monitor", "up"]);
    assert_eq!(up.code, 0, "{}\n{}", up.out, up.err);
    assert!(up.err.contains("through ssh"), "{}", up.err);
    for host in &bed.hosts {
        let names = bed.ssh(
            host,
            "docker ps --format '{{.Image}}'; docker images --format '{{.Repository}}:{{.Tag}}'",
        );
        for (_, name, tag) in IMAGES {
            assert!(names.contains(&format!("{name}:{tag}\n")), "{names}");
        }
        assert!(
            !names.contains("127.0.0.1"),
            "a name of the forward is left: {names}"
        );
    }
    let again = bed.nbctl(&["monitor", "up"]);
    assert!(
        again.out.contains("nothing to do"),
        "{}\n{}",
        again.out,
        again.err
    );
    let gone = bed.nbctl(&["monitor", "down", "--data", "--purge", "--yes"]);
    assert_eq!(gone.code, 0, "{}", gone.err);
    assert_eq!(bed.listing(), before, "monitor down left something");
}

/// Answers what an engine asks for when it pulls the images of an archive.
async fn registry(archive: &Path) -> MockServer {
    let files = unpacked(archive);
    let server = MockServer::start().await;
    serve(&server, "/v2/", "application/json", b"{}").await;
    let parsed: Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    for (kept, name, tag) in IMAGES {
        let named = |image: &&Value| image["RepoTags"].to_string().contains(&format!("/{kept}:"));
        let image = parsed.as_array().unwrap().iter().find(named).unwrap();
        offer(&server, &files, image, name, tag).await;
    }
    server
}

/// One image: its manifest by tag and digest, and what it names.
async fn offer(
    server: &MockServer,
    files: &BTreeMap<String, Vec<u8>>,
    image: &Value,
    name: &str,
    tag: &str,
) {
    let file = |name: &Value| &files[name.as_str().unwrap()];
    let config = file(&image["Config"]);
    let layers: Vec<&Vec<u8>> = image["Layers"]
        .as_array()
        .unwrap()
        .iter()
        .map(file)
        .collect();
    let part = |kind: &str, bytes: &[u8]| json!({"mediaType": format!("application/vnd.docker.{kind}"), "size": bytes.len(), "digest": digest(bytes)});
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": part("container.image.v1+json", config),
        "layers": layers.iter().map(|layer| part("image.rootfs.diff.tar.gzip", layer)).collect::<Vec<_>>(),
    });
    let manifest = manifest.to_string().into_bytes();
    for reference in [tag, &digest(&manifest)] {
        serve(
            server,
            &format!("/v2/{name}/manifests/{reference}"),
            MANIFEST,
            &manifest,
        )
        .await;
    }
    for blob in layers.into_iter().chain([config]) {
        serve(
            server,
            &format!("/v2/{name}/blobs/{}", digest(blob)),
            BLOB,
            blob,
        )
        .await;
    }
}

async fn serve(server: &MockServer, at: &str, kind: &str, bytes: &[u8]) {
    let answer = ResponseTemplate::new(200)
        .insert_header("docker-content-digest", digest(bytes))
        .set_body_raw(bytes.to_vec(), kind);
    Mock::given(any())
        .and(path(at))
        .respond_with(answer)
        .mount(server)
        .await;
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", Sha256::of(bytes))
}

fn unpacked(archive: &Path) -> BTreeMap<String, Vec<u8>> {
    let file = std::fs::File::open(archive).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let mut files = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.insert(name, bytes);
    }
    files
}
