//! The `egress_allow` setting: which private addresses may be reached, and for which purpose. Owns the syntax
//! and the matching; [`crate::EgressPolicy`] uses it to decide. Never resolves a name.

use std::fmt;
use std::net::IpAddr;

/// What a connection is made for. Allow-lists and proxies are configured per purpose, so that allowing an
/// intranet for scraping does not allow it for webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    Scrape,
    Webhook,
    Model,
    Search,
    Mail,
    /// Public keys of issuers that the operator trusts.
    Identity,
    /// The collector of OpenTelemetry that the operator configured.
    Telemetry,
}

impl Purpose {
    pub const ALL: [Self; 7] =
        [Self::Scrape, Self::Webhook, Self::Model, Self::Search, Self::Mail, Self::Identity, Self::Telemetry];

    pub fn name(self) -> &'static str {
        match self {
            Self::Scrape => "scrape",
            Self::Webhook => "webhook",
            Self::Model => "model",
            Self::Search => "search",
            Self::Mail => "mail",
            Self::Identity => "identity",
            Self::Telemetry => "telemetry",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.name() == name)
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Allowed targets by purpose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EgressAllow(Vec<(Purpose, Vec<AllowedTarget>)>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum AllowedTarget {
    Network {
        address: IpAddr,
        prefix: u8,
    },
    /// A host name, or `*.name` for all its subdomains.
    Host(String),
}

/// An allow-list that does not parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AllowError(String);

impl EgressAllow {
    /// `scrape=127.0.0.0/8,intranet.example;webhook=10.1.2.0/24`
    pub fn parse(text: &str) -> Result<Self, AllowError> {
        let mut allowed: Vec<(Purpose, Vec<AllowedTarget>)> = Vec::new();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((purpose, targets)) = part.split_once('=') else {
                return Err(AllowError(format!("`{part}` must be PURPOSE=TARGET,…")));
            };
            let name = purpose.trim();
            let Some(purpose) = Purpose::from_name(name) else {
                let known = Purpose::ALL.map(Purpose::name).join(", ");
                return Err(AllowError(format!("unknown purpose `{name}`; known purposes: {known}")));
            };
            if allowed.iter().any(|(known, _)| *known == purpose) {
                return Err(AllowError(format!("purpose `{purpose}` is given twice")));
            }
            let targets =
                targets.split(',').map(|target| parse_target(target.trim())).collect::<Result<_, _>>()?;
            allowed.push((purpose, targets));
        }
        Ok(Self(allowed))
    }

    /// Adds one more host (a name or an IP address), for example a model server from the settings. A host
    /// that is not a valid target is ignored.
    #[must_use]
    pub fn with_host(mut self, purpose: Purpose, host: &str) -> Self {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let bare = bare.strip_suffix('.').unwrap_or(bare);
        if let Ok(target) = parse_target(bare) {
            match self.0.iter_mut().find(|(known, _)| *known == purpose) {
                Some((_, targets)) if targets.contains(&target) => {}
                Some((_, targets)) => targets.push(target),
                None => self.0.push((purpose, vec![target])),
            }
        }
        self
    }

    /// Whether a network of the list contains `address`. IPv4 and IPv6 never mix: an IPv4 network does not
    /// allow IPv6 addresses that embed an IPv4 address.
    pub fn holds_address(&self, purpose: Purpose, address: IpAddr) -> bool {
        self.targets(purpose).any(|target| match target {
            AllowedTarget::Network { address: network, prefix } => within(address, *network, *prefix),
            AllowedTarget::Host(_) => false,
        })
    }

    /// Whether the list contains the host name `host`, directly or below a `*.` entry.
    pub fn names_host(&self, purpose: Purpose, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        self.targets(purpose).any(|target| match target {
            AllowedTarget::Network { .. } => false,
            AllowedTarget::Host(name) => match name.strip_prefix("*.") {
                Some(parent) => {
                    host.strip_suffix(parent).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
                }
                None => host == *name,
            },
        })
    }

    fn targets(&self, purpose: Purpose) -> impl Iterator<Item = &AllowedTarget> {
        self.0.iter().filter(move |(known, _)| *known == purpose).flat_map(|(_, targets)| targets)
    }
}

fn parse_target(text: &str) -> Result<AllowedTarget, AllowError> {
    let (address, prefix) =
        text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
    if let Ok(address) = address.parse::<IpAddr>() {
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => longest,
            Some(prefix) => match prefix.parse::<u8>() {
                Ok(prefix) if prefix <= longest => prefix,
                _ => return Err(AllowError(format!("`{text}` has an invalid prefix length"))),
            },
        };
        return Ok(AllowedTarget::Network { address, prefix });
    }
    let name = text.strip_prefix("*.").unwrap_or(text);
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    if prefix.is_some() || name.is_empty() || !name.bytes().all(legal) {
        return Err(AllowError(format!("`{text}` is neither a host name nor a network such as 10.1.2.0/24")));
    }
    Ok(AllowedTarget::Host(text.to_ascii_lowercase()))
}

/// Whether the first `prefix` bits of both addresses, of one family, are equal.
pub(crate) fn within(address: IpAddr, network: IpAddr, prefix: u8) -> bool {
    let (address, network, width) = match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            (u128::from(address.to_bits()), u128::from(network.to_bits()), 32)
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => (address.to_bits(), network.to_bits(), 128),
        _ => return false,
    };
    // A prefix of zero would shift by the whole width.
    (address ^ network).checked_shr(width - u32::from(prefix)).unwrap_or(0) == 0
}

impl fmt::Display for EgressAllow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return out.write_str("no private addresses");
        }
        for (place, (purpose, targets)) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { "; " };
            write!(out, "{separator}{purpose}: ")?;
            for (place, target) in targets.iter().enumerate() {
                let comma = if place == 0 { "" } else { ", " };
                match target {
                    AllowedTarget::Network { address, prefix } => write!(out, "{comma}{address}/{prefix}")?,
                    AllowedTarget::Host(name) => write!(out, "{comma}{name}")?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_networks_and_hosts_by_purpose() {
        let allowed =
            EgressAllow::parse("scrape=127.0.0.0/8,10.1.2.0/24;webhook=::1,*.corp.example").unwrap();
        assert_eq!(allowed.to_string(), "scrape: 127.0.0.0/8, 10.1.2.0/24; webhook: ::1/128, *.corp.example");
        assert_eq!(EgressAllow::parse("").unwrap(), EgressAllow::default());
    }

    #[test]
    fn one_more_host_is_open_for_its_purpose_alone() {
        let allowed =
            EgressAllow::default().with_host(Purpose::Search, "searxng").with_host(Purpose::Search, "[::1]");
        assert!(
            allowed.names_host(Purpose::Search, "searxng") && !allowed.names_host(Purpose::Scrape, "searxng")
        );
        assert!(allowed.holds_address(Purpose::Search, "::1".parse().unwrap()));
        assert_eq!(
            allowed.clone().with_host(Purpose::Search, "searxng").with_host(Purpose::Search, "a b"),
            allowed
        );
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        for wrong in [
            "127.0.0.1",
            "sms=1.2.3.4",
            "scrape=1.2.3.4/33",
            "scrape=",
            "scrape=a b",
            "scrape=1.1.1.1;scrape=2.2.2.2",
            "model=h/8",
        ] {
            assert!(EgressAllow::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_network_holds_its_addresses_and_no_others() {
        let allowed =
            EgressAllow::parse("scrape=10.1.2.0/23,fd00:1::/32,0.0.0.0/0;model=192.168.1.7").unwrap();
        let holds = |purpose, address: &str| allowed.holds_address(purpose, address.parse().unwrap());
        assert!(holds(Purpose::Scrape, "10.1.3.255"));
        assert!(holds(Purpose::Scrape, "8.8.8.8"), "a prefix of zero holds all of its family");
        assert!(holds(Purpose::Scrape, "fd00:1:ffff::1"));
        assert!(!holds(Purpose::Scrape, "fd00:2::1"));
        assert!(!holds(Purpose::Scrape, "::ffff:10.1.2.3"), "an IPv4 network says nothing about IPv6");
        assert!(holds(Purpose::Model, "192.168.1.7"));
        assert!(!holds(Purpose::Model, "192.168.1.8"));
        assert!(!holds(Purpose::Webhook, "10.1.2.3"), "lists are per purpose");
    }

    #[test]
    fn a_configured_host_is_open_for_its_purpose_and_nothing_else_is() {
        let mut allowed = EgressAllow::parse("scrape=10.0.0.0/8").unwrap();
        for host in ["LocalHost.", "127.0.0.1", "[fd00::7]", "127.0.0.1"] {
            allowed = allowed.with_host(Purpose::Model, host);
        }
        assert_eq!(allowed.to_string(), "scrape: 10.0.0.0/8; model: localhost, 127.0.0.1/32, fd00::7/128");
        assert!(allowed.names_host(Purpose::Model, "localhost"));
        assert!(!allowed.names_host(Purpose::Scrape, "localhost"));
        let holds = |purpose, address: &str| allowed.holds_address(purpose, address.parse().unwrap());
        assert!(holds(Purpose::Model, "127.0.0.1") && !holds(Purpose::Model, "127.0.0.2"));
        assert!(!holds(Purpose::Scrape, "127.0.0.1") && !holds(Purpose::Webhook, "127.0.0.1"));
    }

    #[test]
    fn a_name_is_itself_and_a_star_is_what_lies_below() {
        let allowed = EgressAllow::parse("scrape=intranet.example,*.corp.example").unwrap();
        let names = |host| allowed.names_host(Purpose::Scrape, host);
        assert!(names("intranet.example") && names("INTRANET.example."));
        assert!(names("a.corp.example") && names("a.b.corp.example"));
        for other in ["corp.example", "xcorp.example", ".corp.example", "a.intranet.example", "example"] {
            assert!(!names(other), "{other}");
        }
    }
}
