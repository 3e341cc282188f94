//! DNS. The system resolver is the default; name servers can be configured instead. The guard checks the
//! resolved addresses, and the checked addresses are the ones connected to, so no second lookup can change
//! them. Results are cached for a few seconds.

mod cache;
mod dns;
mod dns_message;

pub use cache::CachingResolver;
pub use dns::DnsResolver;

use async_trait::async_trait;
use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Lookups in progress at once. The system's lookup blocks a thread and cannot be interrupted, so a dead name
/// server must not be able to block them all.
const MAX_CONCURRENT_LOOKUPS: usize = 64;

/// Addresses of one name that are used; a longer list is not an honest one.
const MAX_ADDRESSES: usize = 64;

/// Resolves host names.
#[async_trait]
pub trait Resolve: Debug + Send + Sync {
    /// All addresses of `host`, in the order they should be tried.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
#[derive(Debug, Clone)]
pub struct SystemResolver {
    permits: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(MAX_CONCURRENT_LOOKUPS)) }
    }
}

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(io::Error::other)?;
        let host = host.to_owned();
        let lookup = tokio::task::spawn_blocking(move || {
            // Held until the lookup is over, also when nobody waits for it any more.
            let _permit = permit;
            let found = (host.as_str(), 0).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).take(MAX_ADDRESSES).collect::<Vec<_>>())
        });
        lookup.await.map_err(io::Error::other)?
    }
}

/// Whether a failed lookup means that the name does not exist, rather than that no name server could be
/// asked.
pub(crate) fn means_not_found(error: &io::Error) -> bool {
    if error.kind() == io::ErrorKind::NotFound {
        return true;
    }
    let text = error.to_string();
    // The system's own texts; there is no error kind for them.
    text.contains("not known")
        || text.contains("No address associated")
        || text.contains("nodename nor servname")
}
