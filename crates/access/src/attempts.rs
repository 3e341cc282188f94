//! How often one address may try something that needs no key, and all addresses together. Counted in the store, so
//! the numbers hold over all processes.
//!
//! What proves itself by a token or an assertion is never counted before it is verified: strangers could use up what
//! others need. Its failures are counted, those of each address alone.

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
    /// Counts an attempt that leaves something behind, whoever makes it; how long to wait when there were too many.
    pub async fn count(
        &self,
        store: &(impl LimitStore + ?Sized),
        address: IpAddr,
    ) -> StoreResult<Option<Duration>> {
        for (who, limit) in [(address_id(address), self.per_address), (Uuid::nil(), self.in_all)] {
            let wait = take_attempt(store, who, self.group, limit).await?;
            if wait.is_some() {
                return Ok(wait);
            }
        }
        Ok(None)
    }
}

/// Failed attempts of one address in an hour, after which it is told to wait instead of why.
#[derive(Debug, Clone, Copy)]
pub struct FailureLimit {
    pub group: &'static str,
    pub per_address: u32,
}

impl FailureLimit {
    /// Counts a failure; how long to wait when there were too many.
    pub async fn count(
        &self,
        store: &(impl LimitStore + ?Sized),
        address: IpAddr,
    ) -> StoreResult<Option<Duration>> {
        take_attempt(store, address_id(address), self.group, self.per_address).await
    }

    /// The same where nobody is told to wait: how many are left, or none when there were none.
    pub async fn take(
        &self,
        store: &(impl LimitStore + ?Sized),
        address: IpAddr,
    ) -> StoreResult<Option<u32>> {
        take_rate_of(store, address_id(address), self.group, self.per_address, WINDOW).await
    }
}

/// Takes one of so many in a window; how many are left, or none when there were none.
pub(crate) async fn take_rate_of(
    store: &(impl LimitStore + ?Sized),
    who: Uuid,
    group: &str,
    limit: u32,
    window: Duration,
) -> StoreResult<Option<u32>> {
    let grant = store.take_rate(who, group, limit, window, 1).await?;
    Ok((grant.granted > 0).then_some(grant.remaining))
}

/// Takes one of the attempts of an hour; how long to wait when there is none left.
async fn take_attempt(
    store: &(impl LimitStore + ?Sized),
    who: Uuid,
    group: &str,
    limit: u32,
) -> StoreResult<Option<Duration>> {
    let grant = store.take_rate(who, group, limit, WINDOW, 1).await?;
    Ok((grant.granted == 0).then_some(grant.resets_in))
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
