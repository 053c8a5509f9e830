//! TLS on graphd's port, with certificates made by openssl for the occasion.

use std::path::{Path, PathBuf};

use nebula_wire::client::{ClientError, ConnectOptions, Connection, Tls};

use crate::{
    clients::installed,
    support::{Client, Cluster, command, is_open, wait},
};

/// Certificates in a folder: `ca.pem`, and one signed by it for `localhost` alone.
struct Certificates(tempfile::TempDir);

impl Certificates {
    /// `None`, and a word about it, without openssl.
    fn make() -> Option<Self> {
        let made = Self(tempfile::tempdir().expect("tempdir"));
        std::fs::write(made.path("names"), "subjectAltName=DNS:localhost").expect("write");
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        let steps = [
            format!("req -x509 {key} -keyout ca.key -out ca.pem -days 30 -subj /CN=ca"),
            format!("req {key} -keyout server.key -out server.csr -subj /CN=graphd"),
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 30 -extfile names"
                .to_owned(),
        ];
        for step in steps {
            let output = command("openssl")
                .args(step.split(' '))
                .current_dir(made.0.path())
                .output();
            let Ok(output) = output else {
                eprintln!("left out: no openssl to make certificates with");
                return None;
            };
            assert!(
                output.status.success(),
                "{step}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Some(made)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect(name)
    }

    fn flags(&self) -> [String; 3] {
        [
            "--enable_graph_ssl=true".to_owned(),
            format!("--cert_path={}", self.path("server.pem").display()),
            format!("--key_path={}", self.path("server.key").display()),
        ]
    }
}

/// A metad and a graphd with more flags.
fn cluster(line: &'static str, flags: &[String]) -> Cluster {
    let mut cluster = Cluster::plan(line, 1, 0);
    for flag in flags {
        cluster.graphd.with(flag);
    }
    cluster.metads[0].start();
    wait("metad", || is_open(cluster.metads[0].port));
    cluster.graphd.start();
    cluster
}

/// What `YIELD "…"` with a megabyte gives back over a connection, or why there is none.
fn ask(host: &str, port: u16, tls: Option<Tls>) -> Result<usize, ClientError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("runtime").block_on(async {
        let options = ConnectOptions {
            tls,
            ..ConnectOptions::default()
        };
        let mut connection = Connection::connect(&format!("{host}:{port}"), &options).await?;
        let session = connection.authenticate("root", "nebula").await?.id;
        let text = format!("YIELD \"{}\"", "x".repeat(1_000_000));
        let reply = connection.execute(session, text.as_bytes()).await?;
        let data = reply.data().expect("decodes").expect("a table");
        let length = data.rows[0][0].as_bytes().expect("a text").len();
        connection.signout(session).await?;
        Ok(length)
    })
}

#[test]
fn clients_that_trust_and_nobody_else() {
    let Some(made) = Certificates::make() else {
        return;
    };
    let other = Certificates::make().expect("openssl is there");
    for line in ["2.6.2", "3.8.0"] {
        let cluster = cluster(line, &made.flags());
        let port = cluster.graphd.port;
        wait("graphd", || is_open(port));
        let trusting = Tls::trusting(&made.bytes("ca.pem"), None).expect("usable");
        assert_eq!(
            ask("localhost", port, Some(trusting.clone())).expect("trusted"),
            1_000_000
        );
        let unverified = Tls::unverified(None).expect("usable");
        assert_eq!(
            ask("127.0.0.1", port, Some(unverified)).expect("unverified"),
            1_000_000
        );
        let refused = [
            ("another name", "127.0.0.1", Some(trusting)),
            (
                "another authority",
                "localhost",
                Tls::trusting(&other.bytes("ca.pem"), None).ok(),
            ),
            ("a plain client", "localhost", None),
        ];
        for (what, host, tls) in refused {
            let error = ask(host, port, tls).expect_err(what);
            assert!(error.is_transport(), "{line}: {what}: {error}");
        }
        official(&made, line, port);
    }
}

/// The client of that line's registry.
fn official(made: &Certificates, line: &str, port: u16) {
    if line != "3.8.0" {
        return;
    }
    let Some(home) = installed("nebula3-python", "3.8.3") else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/nebula3_tls.py");
    let python = home.join("../python/bin/python");
    let output = command(python.to_str().expect("utf-8"))
        .arg(script)
        .arg(port.to_string())
        .arg(made.path("ca.pem"))
        .env("PYTHONPATH", home)
        .output()
        .expect("python");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("passed"), "{said}");
}

#[test]
fn without_a_certificate_graphd_ends() {
    let mut cluster = cluster("3.8.0", &["--enable_ssl=true".to_owned()]);
    wait("graphd ends", || {
        cluster.graphd.ended().is_some_and(|code| code != 0)
    });
}

/// 2.0.1 has no such flags: in a conf they are ignored without a word, and the port stays plain.
#[test]
fn the_first_line_has_no_tls() {
    let dir = tempfile::tempdir().expect("tempdir");
    let conf = dir.path().join("graphd.conf");
    std::fs::write(&conf, "--enable_ssl=true\n--cert_path=nowhere\n").expect("write");
    let cluster = cluster("2.0.1", &[format!("--flagfile={}", conf.display())]);
    let port = cluster.graphd.port;
    wait("graphd", || is_open(port));
    Client::connect(port).ok("YIELD 1");
}
