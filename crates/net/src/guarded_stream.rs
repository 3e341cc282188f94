//! Connections for protocols other than HTTP, made under the same rules: the egress guard, our DNS,
//! connecting to checked addresses only, TLS with the same root certificates. Used for mail servers. Speaks
//! no protocol.

use crate::allow::Purpose;
use crate::connect::{ConnectRequest, Connector, ReadBudget, Stream, tls_handshake};
use crate::deadline::Deadline;
use crate::error::{BadUrl, FetchError};
use crate::fetch::Fetcher;
use crate::guard::Destination;
use crate::route::Route;
use futures_util::future::BoxFuture;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use url::Host;

/// An open connection to an address that passed the egress guard, without TLS until [`Self::start_tls`].
pub struct GuardedStream {
    stream: Pin<Box<dyn Stream>>,
    budget: Arc<ReadBudget>,
    connector: Connector,
    host: String,
}

impl fmt::Debug for GuardedStream {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("GuardedStream").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Fetcher {
    /// Connects to `host` without a proxy. All ports may be used: unlike the address of a page, host and port
    /// come from the operator's settings. No more than `max_bytes` are read from the connection.
    pub fn connect<'a>(
        &'a self,
        purpose: Purpose,
        host: &'a str,
        port: u16,
        max_bytes: u64,
        deadline: Deadline,
    ) -> BoxFuture<'a, Result<GuardedStream, FetchError>> {
        Box::pin(async move {
            let (connector, _) = self.connector_and_routes();
            let host = Host::parse(host).map_err(|error| BadUrl::Invalid(error.to_string()))?;
            let destination = Destination { host, port, tls: false };
            let request = ConnectRequest {
                purpose,
                destination: &destination,
                route: &Route::Direct,
                check_certificate: true,
                raw: true,
                deadline,
            };
            let opened = connector.open(&request).await?;
            opened.budget.start(max_bytes, max_bytes);
            Ok(GuardedStream {
                stream: opened.stream,
                budget: opened.budget,
                connector,
                host: destination.name(),
            })
        })
    }
}

impl GuardedStream {
    /// Negotiates TLS. The certificate must be valid for the host that was connected to.
    pub fn start_tls(self, deadline: Deadline) -> BoxFuture<'static, Result<Self, FetchError>> {
        Box::pin(async move {
            let Self { stream, budget, connector, host } = self;
            let (stream, _) = tls_handshake(connector.tls.without_alpn(), &host, stream, deadline).await?;
            Ok(Self { stream, budget, connector, host })
        })
    }

    /// Whether the other side sent more than the connection may read.
    pub fn is_exhausted(&self) -> bool {
        self.budget.is_exhausted()
    }
}

impl AsyncRead for GuardedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_read(context, buffer)
    }
}

impl AsyncWrite for GuardedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(context)
    }
}
