//! Names to addresses. The system resolver is the default, name servers can be set; what they say is checked by the guard and the
//! checked answer is what is connected to, so a second look-up never happens. Answers are remembered for a moment.

mod message;
mod recent;
mod servers;

pub use recent::RecentNames;
pub use servers::NameServers;

use async_trait::async_trait;
use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Look-ups that may be waiting at once. The system's look-up holds a thread and cannot be interrupted, so a
/// dead name server must not be able to take them all.
const LOOKUPS: usize = 64;

/// Addresses of one name that are looked at; a longer answer is not an honest one.
const MOST_ADDRESSES: usize = 64;

/// Finds the addresses of a name.
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
        Self { permits: Arc::new(Semaphore::new(LOOKUPS)) }
    }
}

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(io::Error::other)?;
        let host = host.to_owned();
        let lookup = tokio::task::spawn_blocking(move || {
            // Held until the look-up is over, also when nobody waits for it any more.
            let _permit = permit;
            let found = (host.as_str(), 0).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).take(MOST_ADDRESSES).collect::<Vec<_>>())
        });
        lookup.await.map_err(io::Error::other)?
    }
}

/// Whether a failed look-up means that there is no such name, rather than that nobody could be asked.
pub(crate) fn means_not_found(error: &io::Error) -> bool {
    if error.kind() == io::ErrorKind::NotFound {
        return true;
    }
    let text = error.to_string();
    // The system's own words; there is no error kind for them.
    text.contains("not known")
        || text.contains("No address associated")
        || text.contains("nodename nor servname")
}
