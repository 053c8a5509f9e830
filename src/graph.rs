//! The graph service as commands and the runner use it: log in, ask, read rows.
//!
//! Purpose: one place that turns `nebula-wire`'s client into answers and [`Failure`]s.
//! Duties: the password is read by its handle, kept in memory only and never shown; a session is signed out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Cluster, DaemonRole, Secret};
use nbctl_core::plan::{Script, Statement};
use nbctl_core::units::HostName;
use nebula_wire::client::{ConnectOptions, Connection, Session, Tls};
use nebula_wire::codes::classify;
use nebula_wire::value::{DataSet, Value};

use crate::event::StepOutcome;
use crate::remote::{Fleet, Link};
use crate::runner::Graph;

/// Password of a fresh cluster (`reference/deploy.md` 6.5).
const FACTORY_PASSWORD: &str = "nebula";
/// Connecting and answering an administrative statement.
const PATIENCE: Duration = Duration::from_secs(10);

/// For how long a statement is sent again whose answer was lost; metads that were just started and busy hosts take their
/// time.
const AGAIN: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_secs(1);
/// What is told of a statement that may have been executed or not.
const LOST: &str = "no answer came";

/// Login to the graph service of a cluster.
pub struct GraphService {
    endpoints: Vec<String>,
    user: String,
    password: String,
    tls: Option<Encryption>,
}

impl fmt::Debug for GraphService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphService")
            .field("endpoints", &self.endpoints)
            .finish_non_exhaustive()
    }
}

impl GraphService {
    /// Reads the password of the inventory's login.
    ///
    /// # Errors
    /// The file or command that holds the password gives none.
    pub async fn new(cluster: &Cluster) -> Result<Self, Failure> {
        let graphds = cluster.daemons_of(DaemonRole::Graphd);
        Ok(Self {
            endpoints: graphds
                .map(nbctl_core::inventory::Daemon::endpoint)
                .collect(),
            user: cluster.graph.user.clone(),
            tls: Encryption::of(cluster)?,
            password: read_secret(&cluster.graph.password).await?,
        })
    }

    /// Every graphd, `address:port`.
    pub fn endpoints(&self) -> &[String] {
        &self.endpoints
    }

    /// User and password, for a worker's job; never to be logged.
    pub fn login(&self) -> (&str, &str) {
        (&self.user, &self.password)
    }

    /// How clients encrypt, if they do.
    pub fn tls(&self) -> Option<&Encryption> {
        self.tls.as_ref()
    }

    /// A session on the first graphd that lets us in.
    ///
    /// # Errors
    /// One line for every graphd that did not.
    pub async fn session(&self, fleet: &Fleet) -> Result<GraphSession, Failure> {
        let mut refused = Vec::new();
        for endpoint in &self.endpoints {
            match self.open(fleet, endpoint).await {
                Ok(session) => return Ok(session),
                Err(failure) => refused.push(format!("{endpoint}: {}", failure.what)),
            }
        }
        Err(Failure::cluster("no graphd lets us in")
            .lines(refused)
            .hint("`nbctl status` shows which daemons run"))
    }

    async fn once(&self, fleet: &Fleet, statement: &Statement) -> Result<StepOutcome, Failure> {
        let mut session = self.session(fleet).await?;
        let done = session.rows(&statement.text).await;
        session.close().await;
        match (done, &statement.tolerate) {
            (Ok(_), _) => Ok(StepOutcome::Done),
            (Err(failure), Some(text)) if failure.what.contains(text.as_str()) => {
                Ok(StepOutcome::AlreadySo)
            }
            (Err(failure), _) => Err(failure),
        }
    }

    async fn open(&self, fleet: &Fleet, endpoint: &str) -> Result<GraphSession, Failure> {
        self.open_at(fleet.dial(endpoint).await?).await
    }

    async fn open_at(&self, address: SocketAddr) -> Result<GraphSession, Failure> {
        let options = ConnectOptions {
            connect_timeout: PATIENCE,
            request_timeout: PATIENCE,
            tls: self.tls.as_ref().map(|tls| tls.client.clone()),
            ..ConnectOptions::default()
        };
        let failed = |error: nebula_wire::client::ClientError| Failure::cluster(error.to_string());
        let mut connection = Connection::connect(&address.to_string(), &options)
            .await
            .map_err(failed)?;
        let session = connection
            .authenticate(&self.user, &self.password)
            .await
            .map_err(failed)?;
        Ok(GraphSession {
            connection,
            session,
        })
    }

    /// Whether this graphd answers a query (`reference/deploy.md` 6.2: HTTP alone proves nothing).
    pub async fn is_ready(&self, fleet: &Fleet, endpoint: &str) -> bool {
        match fleet.dial(endpoint).await {
            Ok(address) => self.ready(address).await.is_ok(),
            Err(_) => false,
        }
    }

    /// Storageds of SHOW HOSTS by `address:port`, with whether they are ONLINE.
    ///
    /// # Errors
    /// Nobody answers.
    pub async fn storageds(&self, fleet: &Fleet) -> Result<BTreeMap<String, bool>, Failure> {
        let mut session = self.session(fleet).await?;
        let table = session.rows("SHOW HOSTS").await?;
        session.close().await;
        Ok(hosts(&table))
    }
}

/// One session on one graphd.
#[derive(Debug)]
pub struct GraphSession {
    connection: Connection,
    session: Session,
}

impl GraphSession {
    /// Executes a statement and gives its table (empty when it has none).
    ///
    /// # Errors
    /// The connection broke, or the statement failed; then its class is in the failure's detail.
    pub async fn rows(&mut self, statement: &str) -> Result<DataSet, Failure> {
        let release = self.connection.line();
        let place = format!("{}: {statement}", self.connection.addr());
        let reply = self
            .connection
            .execute(self.session.id, statement.as_bytes())
            .await
            .map_err(|error| Failure::cluster(format!("{LOST}: {error}")).at(place.clone()))?;
        if !reply.is_ok() {
            let text = reply.error_text().into_owned();
            let class = release.map(|line| classify(line, reply.code(), reply.error_msg()).name);
            let class =
                class.map_or_else(|| reply.code().to_string(), std::borrow::Cow::into_owned);
            return Err(Failure::cluster(format!("{text} [{class}]")).at(place));
        }
        let data = reply
            .data()
            .map_err(|error| Failure::cluster(error.to_string()).at(place))?;
        Ok(data.unwrap_or_default())
    }

    /// Signs out; graphd counts forgotten sessions against the user.
    pub async fn close(mut self) {
        drop(self.connection.signout(self.session.id).await);
    }
}

impl Graph for GraphService {
    fn execute<'a>(
        &'a self,
        fleet: &'a Fleet,
        statement: &'a Statement,
    ) -> BoxFuture<'a, Result<StepOutcome, Failure>> {
        async move {
            let end = Instant::now() + AGAIN;
            loop {
                let failure = match self.once(fleet, statement).await {
                    Err(failure) if statement.tolerate.is_some() && is_lost(&failure) => failure,
                    ended => return ended,
                };
                if Instant::now() >= end {
                    return Err(failure);
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        .boxed()
    }

    fn ready(&self, address: SocketAddr) -> BoxFuture<'_, Result<(), Failure>> {
        async move {
            let mut session = self.open_at(address).await?;
            let answer = session.rows("SHOW HOSTS").await;
            session.close().await;
            answer.map(drop)
        }
        .boxed()
    }

    fn online<'a>(&'a self, fleet: &'a Fleet) -> BoxFuture<'a, Result<BTreeSet<String>, Failure>> {
        async move {
            let hosts = self.storageds(fleet).await?;
            Ok(hosts
                .into_iter()
                .filter(|(_, online)| *online)
                .map(|(host, _)| host)
                .collect())
        }
        .boxed()
    }
}

/// It may have been executed or not; whoever tolerates "already so" can send it again.
fn is_lost(failure: &Failure) -> bool {
    failure.what.starts_with(LOST)
}

/// Rows of SHOW HOSTS; the `Total` row has no port and fewer cells (`reference/deploy.md` 6.4).
fn hosts(table: &DataSet) -> BTreeMap<String, bool> {
    let column = |name: &str| table.columns.iter().position(|c| c == name.as_bytes());
    let (Some(host), Some(port), Some(status)) = (column("Host"), column("Port"), column("Status"))
    else {
        return BTreeMap::new();
    };
    let row = |row: &Vec<Value>| match (row.get(host)?, row.get(port)?, row.get(status)?) {
        (Value::String(host), Value::Int(port), Value::String(status)) => {
            let endpoint = format!("{}:{port}", String::from_utf8_lossy(host));
            Some((endpoint, status == b"ONLINE"))
        }
        _ => None,
    };
    table.rows.iter().filter_map(row).collect()
}

/// How clients of the graph service encrypt.
#[derive(Debug, Clone)]
pub struct Encryption {
    /// Certificates of the authorities, PEM; `None` takes any server.
    pub ca: Option<String>,
    /// The same for connections of this process.
    pub client: Tls,
}

impl Encryption {
    /// What the inventory's certificates come to.
    fn of(cluster: &Cluster) -> Result<Option<Self>, Failure> {
        let Some(wanted) = &cluster.tls else {
            return Ok(None);
        };
        let place = wanted.ca.path.display().to_string();
        let text = std::fs::read_to_string(&wanted.ca.path).map_err(|error| {
            Failure::inventory(format!("cannot read the authority's certificate: {error}"))
                .at(&place)
        })?;
        let ca = wanted.verify.then_some(text);
        let client = match &ca {
            Some(ca) => Tls::trusting(ca.as_bytes(), None),
            None => Tls::unverified(None),
        };
        let client = client.map_err(|why| {
            Failure::inventory(format!("not the certificate of an authority: {why}")).at(place)
        })?;
        Ok(Some(Self { ca, client }))
    }
}

/// First line of what a handle leads to.
///
/// # Errors
/// The file or command gives none.
pub async fn read_secret(secret: &Secret) -> Result<String, Failure> {
    let text = match secret {
        Secret::Factory => return Ok(FACTORY_PASSWORD.to_owned()),
        Secret::File(path) => std::fs::read_to_string(path).map_err(|error| {
            Failure::inventory(format!("cannot read the password file: {error}"))
                .at(path.display().to_string())
        })?,
        Secret::Command(command) => output_of(command).await?,
    };
    let line = text.lines().next().filter(|line| !line.is_empty());
    line.map(str::to_owned)
        .ok_or_else(|| Failure::inventory("the password file or command gives an empty first line"))
}

async fn output_of(command: &str) -> Result<String, Failure> {
    let here = Link::local(HostName::new("control"));
    let script = Script {
        text: command.to_owned(),
        sudo: false,
        timeout: PATIENCE,
    };
    Ok(here.must("ask the password command", &script).await?.stdout)
}
