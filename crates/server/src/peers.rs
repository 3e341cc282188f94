//! Client addresses: the connection limit of each, and the networks of trusted proxies.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;
use std::sync::Arc;

/// Counts the connections of each address. IPv6 clients are counted by /64 network, which belongs to one
/// client.
#[derive(Debug)]
pub struct PeerLimit {
    max: usize,
    counts: Mutex<HashMap<IpAddr, usize>>,
}

impl PeerLimit {
    /// `max` of 0 is no limit.
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, counts: Mutex::default() })
    }

    /// A slot for one connection of `peer`; none if it has reached the limit.
    pub fn acquire(self: &Arc<Self>, peer: IpAddr) -> Option<PeerSlot> {
        if self.max == 0 {
            return Some(PeerSlot(None));
        }
        let peer = client_network(peer);
        let mut counts = self.counts.lock();
        let count = counts.entry(peer).or_default();
        if *count >= self.max {
            return None;
        }
        *count += 1;
        Some(PeerSlot(Some((self.clone(), peer))))
    }
}

/// The slot of one connection; released when dropped.
#[derive(Debug)]
pub struct PeerSlot(Option<(Arc<PeerLimit>, IpAddr)>);

impl PeerSlot {
    /// For connections that are not counted.
    pub fn uncounted() -> Self {
        Self(None)
    }
}

impl Drop for PeerSlot {
    fn drop(&mut self) {
        let Some((limit, peer)) = self.0.take() else { return };
        let mut counts = limit.counts.lock();
        if let Some(count) = counts.get_mut(&peer) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&peer);
            }
        }
    }
}

fn client_network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        address @ IpAddr::V4(_) => address,
    }
}

/// An address or a network such as `10.1.0.0/16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u32,
}

impl Network {
    pub fn contains(&self, address: IpAddr) -> bool {
        let (left, right, width) = match (self.address, address.to_canonical()) {
            (IpAddr::V4(left), IpAddr::V4(right)) => {
                (u128::from(left.to_bits()), u128::from(right.to_bits()), 32)
            }
            (IpAddr::V6(left), IpAddr::V6(right)) => (left.to_bits(), right.to_bits(), 128),
            _ => return false,
        };
        // A prefix of 0 would shift by the whole width.
        (left ^ right).checked_shr(width - self.prefix).unwrap_or(0) == 0
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not an address or a network such as 10.1.0.0/16");
        let (address, prefix) =
            text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(width), str::parse).map_err(|_| wrong())?;
        if prefix > width { Err(wrong()) } else { Ok(Self { address, prefix }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn connections_of_one_address_are_limited() {
        let limit = PeerLimit::new(2);
        let first = limit.acquire(address("192.0.2.1")).unwrap();
        let _second = limit.acquire(address("::ffff:192.0.2.1")).unwrap();
        assert!(limit.acquire(address("192.0.2.1")).is_none());
        let _other = limit.acquire(address("192.0.2.2")).unwrap();
        drop(first);
        assert!(limit.acquire(address("192.0.2.1")).is_some());
        let _one = limit.acquire(address("2001:db8::1")).unwrap();
        let _two = limit.acquire(address("2001:db8::2")).unwrap();
        assert!(limit.acquire(address("2001:db8::3")).is_none(), "one network is one client");
        assert!(limit.acquire(address("2001:db8:0:1::3")).is_some());
        assert_eq!(limit.counts.lock().len(), 3, "closed connections are forgotten");
        let open = PeerLimit::new(0);
        let held: Vec<_> = (0..9).map(|_| open.acquire(address("192.0.2.1"))).collect();
        assert!(held.iter().all(Option::is_some));
    }

    #[test]
    fn networks_contain_their_addresses() {
        let contains =
            |network: &str, member: &str| network.parse::<Network>().unwrap().contains(address(member));
        assert!(contains("10.1.0.0/16", "10.1.255.1") && !contains("10.1.0.0/16", "10.2.0.1"));
        assert!(contains("127.0.0.1", "127.0.0.1") && !contains("127.0.0.1", "127.0.0.2"));
        assert!(contains("127.0.0.1", "::ffff:127.0.0.1") && !contains("10.0.0.0/8", "::1"));
        assert!(contains("0.0.0.0/0", "203.0.113.7") && contains("fd00::/8", "fd12::1"));
        for wrong in ["", "10.0.0.0/33", "::1/129", "10.0.0.0/", "proxy.example", "10.0.0.0/-1"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
