//! TLS on the graph service's port, from 2.6 on: `enable_ssl` or `enable_graph_ssl` with `cert_path` and `key_path`.
//!
//! As in NebulaGraph a plain client is refused once it is on, and nobody is asked for a certificate. The daemons
//! among themselves stay plain, whatever `enable_ssl` says.

use std::{path::Path, sync::Arc};

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

use crate::flags::Flags;

/// What the flags ask for; `None` = plain.
pub(super) fn acceptor(flags: &Flags) -> Result<Option<TlsAcceptor>, String> {
    if !flags.on("enable_ssl") && !flags.on("enable_graph_ssl") {
        return Ok(None);
    }
    if !flags.text("password_path").is_empty() {
        return Err("sandbox: an encrypted key (password_path) is not supported".to_owned());
    }
    let config = config(&flags.text("cert_path"), &flags.text("key_path"))?;
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

fn config(certificate: &str, key: &str) -> Result<ServerConfig, String> {
    let failed = |path: &str| {
        let path = path.to_owned();
        move |error: &dyn std::fmt::Debug| {
            format!("Load certificate or key {path} failed: {error:?}")
        }
    };
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(Path::new(certificate)).and_then(Iterator::collect);
    let chain = chain.map_err(|error| failed(certificate)(&error))?;
    let key_file = PrivateKeyDer::from_pem_file(Path::new(key));
    let key_file = key_file.map_err(|error| failed(key)(&error))?;
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    builder
        .with_no_client_auth()
        .with_single_cert(chain, key_file)
        .map_err(|error| failed(certificate)(&error))
}
