//! The client's side: one TCP connection to graphd.
//!
//! Framed strict binary is what every release from 2.0 to 3.8 accepts, the cheapest to decode, and
//! its end is found without parsing; `THeader` around the same payload is the fallback. A transport
//! error or a time-out leaves unknown bytes on the socket: such a connection refuses all further
//! use. Statements are never sent twice by this module.
//!
//! ```no_run
//! use nebula_wire::client::{ConnectOptions, Connection};
//! # async fn count() -> Result<(), nebula_wire::client::ClientError> {
//! let mut connection = Connection::connect("10.0.0.1:9669", &ConnectOptions::default()).await?;
//! let session = connection.authenticate("root", "nebula").await?;
//! let reply = connection.execute(session.id, b"YIELD 1").await?;
//! assert_eq!((reply.code(), reply.row_count()), (0, 1));
//! connection.signout(session.id).await?;
//! # Ok(())
//! # }
//! ```

mod connection;
mod deadline;
mod error;
mod handshake;
mod inbox;
mod options;
mod reply;
mod stream;
#[cfg(feature = "tls")]
mod tls;

pub use connection::Connection;
pub use error::ClientError;
pub use handshake::Session;
pub use options::{ConnectOptions, Transport};
pub use reply::Reply;
#[cfg(feature = "tls")]
pub use tls::{ClientCertificate, Tls, TlsError};

pub(crate) use reply::scan;
