//! The egress guard decides whether a host at a given address may be connected to for a given purpose. It
//! hands out [`CheckedAddress`], the only thing the connector accepts. Never opens a connection, never
//! resolves a name.

use crate::address::{AddressClass, classify, embedded_ipv4};
use crate::allow::{EgressAllow, Purpose};
use crate::error::{BadUrl, EgressError};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use url::{Host, Url};

/// The longest URL that is fetched, in bytes.
pub const MAX_URL_BYTES: usize = 8 * 1024;

/// Top-level domains that are reserved for machines and private networks (RFC 6761, 6762 and 8375; ICANN for
/// `internal`).
const LOCAL_DOMAINS: [&str; 4] = ["localhost", "local", "internal", "home.arpa"];

/// Ports of protocols that could mistake an HTTP request for their own commands. Browsers refuse them for the
/// same reason.
const BLOCKED_PORTS: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6669, 6697, 10080,
];

/// What may be reached. Made once from the settings and shared by everything that connects.
#[derive(Debug, Clone, Default)]
pub struct EgressPolicy {
    allow: EgressAllow,
    own_listeners: Vec<SocketAddr>,
}

/// An address that passed the guard. Only the guard makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CheckedAddress(SocketAddr);

impl CheckedAddress {
    pub fn socket_address(self) -> SocketAddr {
        self.0
    }
}

/// The host and port of an http or https URL, as they will be connected to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Destination {
    pub host: Host<String>,
    pub port: u16,
    pub tls: bool,
}

impl Destination {
    /// Reads the destination of a URL. Unusual spellings of IP addresses are plain after this: `url`
    /// normalises decimal, octal, hexadecimal and short forms, full-width digits and percent-encoding.
    pub fn from_url(url: &Url) -> Result<Self, BadUrl> {
        if url.as_str().len() > MAX_URL_BYTES {
            return Err(BadUrl::TooLong(MAX_URL_BYTES));
        }
        let tls = match url.scheme() {
            "https" => true,
            "http" => false,
            other => return Err(BadUrl::Scheme(other.chars().take(32).collect())),
        };
        let host = match url.host() {
            None | Some(Host::Domain("")) => return Err(BadUrl::NoHost),
            Some(host) => host.to_owned(),
        };
        let port = url.port().unwrap_or(if tls { 443 } else { 80 });
        if BLOCKED_PORTS.contains(&port) {
            return Err(BadUrl::Port(port));
        }
        Ok(Self { host, port, tls })
    }

    /// The IP address, if the host is one and needs no DNS.
    pub fn literal(&self) -> Option<IpAddr> {
        match &self.host {
            Host::Ipv4(address) => Some(IpAddr::V4(*address)),
            Host::Ipv6(address) => Some(IpAddr::V6(*address)),
            // `url` leaves no IP address here, but a resolver might still read one.
            Host::Domain(name) => name.strip_suffix('.').unwrap_or(name).parse().ok(),
        }
    }

    /// `host:port`, with brackets around IPv6 addresses.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The host as resolvers and TLS libraries expect it: without brackets.
    pub fn name(&self) -> String {
        match &self.host {
            Host::Domain(name) => name.clone(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        }
    }
}

impl EgressPolicy {
    /// Allows public addresses and what `allow` adds to them.
    pub fn new(allow: EgressAllow) -> Self {
        Self { allow, own_listeners: Vec::new() }
    }

    /// Never connects to `listener`, whatever the allow-list says: a server that fetches from itself can be
    /// made to act with its own rights.
    #[must_use]
    pub fn refuse_own_listener(mut self, listener: SocketAddr) -> Self {
        self.own_listeners.push(listener);
        self
    }

    pub fn allow(&self) -> &EgressAllow {
        &self.allow
    }

    /// Checks a host that is an IP address. A host name passes: its addresses are checked once they are
    /// resolved.
    pub fn check_literal(&self, purpose: Purpose, destination: &Destination) -> Result<(), EgressError> {
        match destination.literal() {
            Some(address) => self.check_address(purpose, destination, address).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Checks what can be checked when a proxy resolves the name: IP addresses, and names that never belong
    /// to the public web. Those would lead to the proxy's own machine or network.
    pub fn check_through_proxy(
        &self,
        purpose: Purpose,
        destination: &Destination,
    ) -> Result<(), EgressError> {
        self.check_literal(purpose, destination)?;
        let Host::Domain(name) = &destination.host else { return Ok(()) };
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        if !is_local_name(&name) || self.allow.names_host(purpose, &name) {
            return Ok(());
        }
        // `localhost` needs no DNS: it is allowed where its address is.
        if is_or_below(&name, "localhost") && self.allow.holds_address(purpose, Ipv4Addr::LOCALHOST.into()) {
            return Ok(());
        }
        Err(EgressError::LocalName { host: name, purpose })
    }

    /// Checks one address of a destination.
    pub fn check_address(
        &self,
        purpose: Purpose,
        destination: &Destination,
        address: IpAddr,
    ) -> Result<CheckedAddress, EgressError> {
        let socket = SocketAddr::new(address, destination.port);
        if self.is_own_listener(socket) {
            return Err(EgressError::OwnListener { address: socket });
        }
        let named = match &destination.host {
            Host::Domain(name) => self.allow.names_host(purpose, name),
            _ => false,
        };
        let inner = match address {
            IpAddr::V6(outer) => embedded_ipv4(outer).map(IpAddr::V4),
            IpAddr::V4(_) => None,
        };
        // Both the address and the one embedded in it must pass: allowing a NAT64 network does not allow the
        // private hosts behind it.
        for candidate in std::iter::once(address).chain(inner) {
            if let Some(class) = self.denied_class(purpose, named, candidate) {
                return Err(EgressError::Address { host: destination.name(), address, class, purpose });
            }
            if self.is_own_listener(SocketAddr::new(candidate, destination.port)) {
                return Err(EgressError::OwnListener { address: socket });
            }
        }
        Ok(CheckedAddress(socket))
    }

    /// Checks all addresses of a name. One forbidden address refuses the whole name: an honest name does not
    /// resolve to both public and private addresses.
    pub fn check_addresses(
        &self,
        purpose: Purpose,
        destination: &Destination,
        addresses: &[IpAddr],
    ) -> Result<Vec<CheckedAddress>, EgressError> {
        addresses.iter().map(|address| self.check_address(purpose, destination, *address)).collect()
    }

    fn denied_class(&self, purpose: Purpose, named: bool, address: IpAddr) -> Option<AddressClass> {
        let class = classify(address)?;
        let open = self.allow.holds_address(purpose, address) || (named && class.allowed_by_name());
        (!open).then_some(class)
    }

    fn is_own_listener(&self, target: SocketAddr) -> bool {
        self.own_listeners.iter().any(|listener| {
            listener.port() == target.port() && reaches_listener(listener.ip().to_canonical(), target.ip())
        })
    }
}

/// Whether a lower-case name cannot belong to the public web: reserved, or without a top-level domain.
fn is_local_name(name: &str) -> bool {
    !name.contains('.') || LOCAL_DOMAINS.iter().any(|domain| is_or_below(name, domain))
}

fn is_or_below(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Whether a connection to `target` would arrive at a socket bound to `bound`.
fn reaches_listener(bound: IpAddr, target: IpAddr) -> bool {
    let target = target.to_canonical();
    if bound == target {
        return true;
    }
    // 0.0.0.0 as a target is this machine's loopback.
    if target.is_unspecified() {
        return bound.is_unspecified() || bound.is_loopback();
    }
    bound.is_unspecified() && (target.is_loopback() || is_this_machine(target))
}

/// Whether `address` belongs to this machine: then the kernel would send from the same address. A datagram
/// socket tells, which on connecting chooses its source address and sends nothing.
fn is_this_machine(address: IpAddr) -> bool {
    let any: IpAddr = match address {
        IpAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let source = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    source.is_ok_and(|source| source.ip() == address)
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
