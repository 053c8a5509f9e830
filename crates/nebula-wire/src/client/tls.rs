//! TLS around the same bytes: what graphd (2.6+) speaks with `enable_ssl` or `enable_graph_ssl`.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{
    CertificateDer, InvalidDnsNameError, PrivateKeyDer, ServerName, UnixTime,
};
use tokio_rustls::rustls::{
    self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

/// Why a TLS configuration is refused.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The text holds no certificate or key, or a broken one.
    #[error("no usable certificate or key: {0:?}\nhint: PEM is expected, as openssl writes it")]
    Pem(pem::Error),
    /// rustls refuses a certificate or a key.
    #[error("certificate or key refused: {0}")]
    Refused(#[from] rustls::Error),
    /// No server certificate can be checked with these authorities.
    #[error("certificate authorities refused: {0}")]
    Authorities(#[from] rustls::client::VerifierBuilderError),
}

impl From<pem::Error> for TlsError {
    fn from(error: pem::Error) -> Self {
        Self::Pem(error)
    }
}

/// How a client encrypts. Cheap to clone; one serves all connections.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

/// Who a client is, where the server asks for it: certificate chain and key, PEM.
#[derive(Clone, Copy)]
pub struct ClientCertificate<'a> {
    /// Certificate, then those that signed it.
    pub chain: &'a [u8],
    /// Its private key.
    pub key: &'a [u8],
}

/// Without the key.
impl fmt::Debug for ClientCertificate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientCertificate")
    }
}

impl Tls {
    /// Accepts a server whose certificate was signed by one of `authorities` (PEM) and names the address that is
    /// dialled.
    pub fn trusting(
        authorities: &[u8],
        own: Option<ClientCertificate<'_>>,
    ) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authorities) {
            roots.add(certificate?)?;
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider());
        Self::with(verifier.build()?, own)
    }

    /// Accepts any server: encrypted, but nobody knows by whom it is read. What the Python client does by default.
    pub fn unverified(own: Option<ClientCertificate<'_>>) -> Result<Self, TlsError> {
        Self::with(Arc::new(Anybody(provider())), own)
    }

    fn with(
        verifier: Arc<dyn ServerCertVerifier>,
        own: Option<ClientCertificate<'_>>,
    ) -> Result<Self, TlsError> {
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let config = match own {
            None => builder.with_no_client_auth(),
            Some(own) => {
                let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(own.chain).collect();
                let key = PrivateKeyDer::from_pem_slice(own.key)?;
                builder.with_client_auth_cert(chain?, key)?
            }
        };
        Ok(Self {
            config: Arc::new(config),
        })
    }

    /// Shakes hands over `stream`; `addr` is `host:port` as it was dialled.
    pub(super) async fn connect(
        &self,
        addr: &str,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = server_name(addr).map_err(io::Error::other)?;
        TlsConnector::from(Arc::clone(&self.config))
            .connect(name, stream)
            .await
    }
}

fn server_name(addr: &str) -> Result<ServerName<'static>, InvalidDnsNameError> {
    let host = addr.rsplit_once(':').map_or(addr, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(host.to_owned())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Takes every certificate; signatures of the handshake are checked all the same.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
