//! How often one address may try something that needs no key, and all addresses together. Counted in the store, so
//! the numbers hold over all processes.

use sha2::{Digest, Sha256};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;
use store::{LimitStore, StoreResult};
use uuid::Uuid;

const WINDOW: Duration = Duration::from_hours(1);

/// Attempts in an hour.
#[derive(Debug, Clone, Copy)]
pub struct AttemptLimit {
    pub group: &'static str,
    pub per_address: u32,
    pub in_all: u32,
}

impl AttemptLimit {
    /// Counts an attempt; how long to wait when there were too many.
    pub async fn count(
        &self,
        store: &(impl LimitStore + ?Sized),
        address: IpAddr,
    ) -> StoreResult<Option<Duration>> {
        for (who, limit) in [(address_id(address), self.per_address), (Uuid::nil(), self.in_all)] {
            let taken = store.take_rate(who, self.group, limit, WINDOW, 1).await?;
            if taken.granted == 0 {
                return Ok(Some(taken.resets_in));
            }
        }
        Ok(None)
    }
}

/// What an address is counted under. An IPv6 client has a whole /64 to itself.
pub fn address_id(address: IpAddr) -> Uuid {
    let network = match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        address @ IpAddr::V4(_) => address,
    };
    let hash = Sha256::digest(format!("address {network}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let id = |text: &str| address_id(text.parse().unwrap());
        assert_eq!(id("2001:db8::1"), id("2001:db8::ffff:2"));
        assert_ne!(id("2001:db8::1"), id("2001:db8:0:1::1"));
        assert_eq!(id("::ffff:192.0.2.1"), id("192.0.2.1"));
        assert_ne!(id("192.0.2.1"), id("192.0.2.2"));
    }
}
