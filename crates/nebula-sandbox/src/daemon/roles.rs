//! The order in which each daemon opens its ports.

use std::{fmt::Write, net::SocketAddr, path::PathBuf, sync::Arc};

use super::{free_bytes, log::log};
use crate::{
    flags::Flags,
    graph::{self, Engine},
    http::{self, Extra, Request, Response, Router},
    line::{Line, Role},
    meta::{Metad, model::HostPort},
    rpc,
    stats::Stats,
    storage::Storaged,
};

/// One of the three.
pub(super) struct Daemon {
    role: Role,
    line: Line,
    flags: Arc<Flags>,
    stats: Arc<Stats>,
    me: HostPort,
    storaged: Option<Arc<Storaged>>,
}

impl Daemon {
    pub(super) fn new(role: Role, line: Line, flags: &Arc<Flags>, stats: &Arc<Stats>) -> Self {
        Self {
            role,
            line,
            me: HostPort::new(flags.text("local_ip"), flags.port("port")),
            flags: Arc::clone(flags),
            stats: Arc::clone(stats),
            storaged: None,
        }
    }

    /// Serves until something fails.
    pub(super) async fn run(&mut self) -> Result<(), String> {
        match self.role {
            Role::Metad => self.metad().await,
            Role::Graphd => self.graphd().await,
            Role::Storaged => self.storaged().await,
        }
    }

    /// What must be on disk before a stop.
    pub(super) fn flush(&self) {
        if let Some(storaged) = &self.storaged {
            storaged.flush();
        }
    }

    fn open_http(&self, extra: Extra) -> Result<(), String> {
        let ip = self.flags.text("ws_ip");
        let port = self.flags.port("ws_http_port");
        let address: SocketAddr = format!("{ip}:{port}")
            .parse()
            .map_err(|_| format!("bad ws_ip {ip}"))?;
        let router = Router {
            line: self.line,
            flags: Arc::clone(&self.flags),
            stats: Arc::clone(&self.stats),
            extra,
        };
        let opened = http::serve(address, Arc::new(router));
        opened.map_err(|error| format!("Failed to start web service on {address}: {error}"))?;
        if !self.line.is_3x() {
            self.open_http2(address);
        }
        Ok(())
    }

    /// 2.x listens on a port for HTTP/2, too. Nothing is served there; who looks at ports finds it.
    fn open_http2(&self, http: SocketAddr) {
        let address = SocketAddr::new(http.ip(), self.flags.port("ws_h2_port"));
        match std::net::TcpListener::bind(address) {
            Ok(listener) => drop(std::thread::spawn(move || {
                listener.incoming().for_each(drop);
            })),
            Err(error) => log!(Error, "Failed to start HTTP/2 on {address}: {error}"),
        }
    }

    /// HTTP opens once there is a leader and a cluster id, RPC after that.
    async fn metad(&self) -> Result<(), String> {
        let path = PathBuf::from(self.flags.text("data_path"));
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let reserved = self.flags.count("minimum_reserved_bytes");
        if free_bytes(&path).is_some_and(|free| free < reserved) {
            return Err(format!(
                "Put failed: {} has less than {reserved} bytes left",
                path.display()
            ));
        }
        let opened = Metad::open(
            self.line,
            Arc::clone(&self.flags),
            Arc::clone(&self.stats),
            self.me.clone(),
        );
        let metad = opened.map_err(|error| format!("{}: {error}", path.display()))?;
        metad
            .elect()
            .await
            .map_err(|error| self.port_taken(&error))?;
        self.open_http(Box::new(|_| None))?;
        metad.serve().await.map_err(|error| self.port_taken(&error))
    }

    fn port_taken(&self, error: &std::io::Error) -> String {
        format!(
            "{} cannot listen on {} and its neighbours: {error}",
            self.role.binary(),
            self.me.port
        )
    }

    /// HTTP says "running" before metad was reached.
    async fn graphd(&self) -> Result<(), String> {
        self.open_http(Box::new(|_| None))?;
        let engine = Engine::new(
            self.line,
            Arc::clone(&self.flags),
            Arc::clone(&self.stats),
            self.me.clone(),
        );
        if let Err(failure) = engine.register().await {
            if self.line.graphd_gives_up() {
                return Err(failure.text);
            }
            log!(Error, "{failure}");
        }
        let listener = rpc::listen(self.me.port).map_err(|error| self.port_taken(&error))?;
        drop(tokio::spawn(Arc::clone(&engine).keep_house()));
        graph::serve(listener, engine).await
    }

    /// Nothing is open before metad accepted this host and its spaces are loaded.
    async fn storaged(&mut self) -> Result<(), String> {
        let storaged = Storaged::new(
            self.line,
            Arc::clone(&self.flags),
            Arc::clone(&self.stats),
            self.me.clone(),
        );
        self.storaged = Some(Arc::clone(&storaged));
        storaged.register().await.map_err(|failure| failure.text)?;
        storaged.serve().map_err(|error| self.port_taken(&error))?;
        let admin = Arc::clone(&storaged);
        self.open_http(Box::new(move |request| storage_routes(&admin, request)))?;
        storaged.keep_beating().await;
        Ok(())
    }
}

fn storage_routes(storaged: &Storaged, request: &Request) -> Option<Response> {
    if request.method != "GET" {
        return None;
    }
    match request.path.as_str() {
        "/admin" => Some(Response::ok(
            storaged.admin(request.param("op").unwrap_or_default()),
        )),
        "/rocksdb_stats" => {
            let mut text = String::new();
            for (space, bytes) in storaged.open_spaces() {
                writeln!(text, "sandbox.space.{space}.log.bytes={bytes}").ok();
            }
            Some(Response::ok(text))
        }
        "/rocksdb_property" => match (request.param("space"), request.param("property")) {
            (Some(_), Some(_)) => Some(Response::ok("[]")),
            _ => Some(Response::empty(400)),
        },
        _ => None,
    }
}
