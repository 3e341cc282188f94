//! `egress_allow`: what may be reached in private address space, and for which purpose. Parsed and
//! checked here; held by whatever opens connections.

use anyhow::{Result, bail, ensure};
use std::fmt;
use std::net::IpAddr;

const PURPOSES: [&str; 3] = ["scrape", "webhook", "model"];

/// Allowed targets by purpose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EgressAllow(Vec<(String, Vec<Target>)>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Network {
        address: IpAddr,
        prefix: u8,
    },
    /// A host name, or `*.name` for all below it.
    Host(String),
}

impl EgressAllow {
    /// `scrape=127.0.0.0/8,intranet.example;webhook=10.1.2.0/24`
    pub fn parse(text: &str) -> Result<Self> {
        let mut allowed: Vec<(String, Vec<Target>)> = Vec::new();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((purpose, targets)) = part.split_once('=') else {
                bail!("`{part}` must be PURPOSE=TARGET,…");
            };
            let purpose = purpose.trim();
            ensure!(
                PURPOSES.contains(&purpose),
                "unknown purpose `{purpose}`; there are {}",
                PURPOSES.join(", ")
            );
            ensure!(allowed.iter().all(|(known, _)| known != purpose), "purpose `{purpose}` is given twice");
            let targets =
                targets.split(',').map(|target| parse_target(target.trim())).collect::<Result<_>>()?;
            allowed.push((purpose.to_owned(), targets));
        }
        Ok(Self(allowed))
    }
}

fn parse_target(text: &str) -> Result<Target> {
    let (address, prefix) =
        text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
    if let Ok(address) = address.parse::<IpAddr>() {
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => longest,
            Some(prefix) => match prefix.parse::<u8>() {
                Ok(prefix) if prefix <= longest => prefix,
                _ => bail!("`{text}` has a wrong prefix length"),
            },
        };
        return Ok(Target::Network { address, prefix });
    }
    let name = text.strip_prefix("*.").unwrap_or(text);
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    ensure!(
        prefix.is_none() && !name.is_empty() && name.bytes().all(legal),
        "`{text}` is neither a host name nor a network such as 10.1.2.0/24"
    );
    Ok(Target::Host(text.to_ascii_lowercase()))
}

impl fmt::Display for EgressAllow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return out.write_str("nothing in private space");
        }
        for (place, (purpose, targets)) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { "; " };
            write!(out, "{separator}{purpose}: ")?;
            for (place, target) in targets.iter().enumerate() {
                let comma = if place == 0 { "" } else { ", " };
                match target {
                    Target::Network { address, prefix } => write!(out, "{comma}{address}/{prefix}")?,
                    Target::Host(name) => write!(out, "{comma}{name}")?,
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
    fn refuses_what_it_does_not_understand() {
        for wrong in [
            "127.0.0.1",
            "mail=1.2.3.4",
            "scrape=1.2.3.4/33",
            "scrape=",
            "scrape=a b",
            "scrape=1.1.1.1;scrape=2.2.2.2",
            "model=h/8",
        ] {
            assert!(EgressAllow::parse(wrong).is_err(), "{wrong}");
        }
    }
}
