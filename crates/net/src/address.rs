//! Classifies IP addresses with one table taken from the IANA registries of special-purpose addresses. Pure,
//! total and strict: an address that is not known to be on the public internet counts as not public.

use crate::allow::within;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Kinds of addresses that are refused unless an allow-list opens them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressClass {
    /// `0.0.0.0/8` and `::`: most systems treat them as this machine.
    Unspecified,
    Loopback,
    /// RFC 1918.
    Private,
    /// `fc00::/7`.
    UniqueLocal,
    LinkLocal,
    /// `100.64.0.0/10`, used inside carriers and overlay networks.
    CarrierGrade,
    /// The well-known addresses of cloud metadata services.
    Metadata,
    Multicast,
    Broadcast,
    Documentation,
    Benchmarking,
    /// An IPv6 address that embeds an IPv4 address: mapped, compatible, 6to4, Teredo, NAT64, ISATAP.
    EmbeddedIpv4,
    /// Everything else that no public host uses.
    Reserved,
}

impl AddressClass {
    /// Whether listing a host name in an allow-list is enough to allow this class. All others need a network
    /// in the list: no intranet host name should ever resolve to a metadata service or a multicast group.
    pub fn allowed_by_name(self) -> bool {
        matches!(self, Self::Loopback | Self::Private | Self::UniqueLocal | Self::CarrierGrade)
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Unspecified => "an unspecified address",
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::UniqueLocal => "a unique local address",
            Self::LinkLocal => "a link-local address",
            Self::CarrierGrade => "a carrier-grade NAT address",
            Self::Metadata => "a cloud metadata address",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "a broadcast address",
            Self::Documentation => "a documentation address",
            Self::Benchmarking => "a benchmarking address",
            Self::EmbeddedIpv4 => "an IPv6 address that embeds an IPv4 address",
            Self::Reserved => "a reserved address",
        })
    }
}

use AddressClass::{
    Benchmarking, Broadcast, CarrierGrade, Documentation, EmbeddedIpv4, LinkLocal, Loopback, Metadata,
    Multicast, Private, Reserved, UniqueLocal, Unspecified,
};

/// First match wins, so single addresses come before the networks that contain them.
const IPV4: [(Ipv4Addr, u8, AddressClass); 23] = [
    (Ipv4Addr::new(169, 254, 169, 254), 32, Metadata),
    (Ipv4Addr::new(169, 254, 170, 2), 32, Metadata),
    (Ipv4Addr::new(100, 100, 100, 200), 32, Metadata),
    (Ipv4Addr::new(192, 0, 0, 192), 32, Metadata),
    (Ipv4Addr::new(168, 63, 129, 16), 32, Metadata),
    (Ipv4Addr::UNSPECIFIED, 8, Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, CarrierGrade),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Loopback),
    (Ipv4Addr::new(169, 254, 0, 0), 16, LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Documentation),
    (Ipv4Addr::new(192, 31, 196, 0), 24, Reserved),
    (Ipv4Addr::new(192, 52, 193, 0), 24, Reserved),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Reserved),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Benchmarking),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Documentation),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Multicast),
    (Ipv4Addr::BROADCAST, 32, Broadcast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Reserved),
];

const fn v6(head: [u16; 4]) -> Ipv6Addr {
    Ipv6Addr::new(head[0], head[1], head[2], head[3], 0, 0, 0, 0)
}

const IPV6: [(Ipv6Addr, u8, AddressClass); 21] = [
    (Ipv6Addr::UNSPECIFIED, 128, Unspecified),
    (Ipv6Addr::LOCALHOST, 128, Loopback),
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128, Metadata),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128, Metadata),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, EmbeddedIpv4),
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, EmbeddedIpv4),
    (v6([0; 4]), 96, EmbeddedIpv4),
    (v6([0x64, 0xff9b, 0, 0]), 96, EmbeddedIpv4),
    (v6([0x64, 0xff9b, 1, 0]), 48, EmbeddedIpv4),
    (v6([0x2002, 0, 0, 0]), 16, EmbeddedIpv4),
    (v6([0x2001, 0, 0, 0]), 32, EmbeddedIpv4),
    (v6([0x2001, 2, 0, 0]), 48, Benchmarking),
    (v6([0x2001, 0, 0, 0]), 23, Reserved),
    (v6([0x2001, 0xdb8, 0, 0]), 32, Documentation),
    (v6([0x3fff, 0, 0, 0]), 20, Documentation),
    (v6([0x2620, 0x4f, 0x8000, 0]), 48, Reserved),
    (v6([0xfc00, 0, 0, 0]), 7, UniqueLocal),
    (v6([0xfe80, 0, 0, 0]), 10, LinkLocal),
    (v6([0xfec0, 0, 0, 0]), 10, LinkLocal),
    (v6([0xff00, 0, 0, 0]), 8, Multicast),
    (v6([0x100, 0, 0, 0]), 64, Reserved),
];

/// The special class of `address`; `None` for the public internet.
pub fn classify(address: IpAddr) -> Option<AddressClass> {
    match address {
        IpAddr::V4(address) => IPV4
            .iter()
            .find(|(network, prefix, _)| within(address.into(), (*network).into(), *prefix))
            .map(|(_, _, class)| *class),
        IpAddr::V6(v6) => {
            let listed = IPV6
                .iter()
                .find(|(network, prefix, _)| within(address, (*network).into(), *prefix))
                .map(|(_, _, class)| *class);
            // Only 2000::/3 is assigned to hosts of the public internet.
            let global = v6.segments()[0] & 0xe000 == 0x2000;
            let isatap = v6.segments()[5] == 0x5efe && v6.segments()[4] & 0xfdff == 0;
            listed.or((!global).then_some(Reserved)).or(isatap.then_some(EmbeddedIpv4))
        }
    }
}

/// The IPv4 address embedded in an IPv6 address, if there is one.
pub fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    if classify(address.into()) != Some(EmbeddedIpv4) {
        return None;
    }
    let bits = address.to_bits();
    let segments = address.segments();
    let low = |bits: u128| Ipv4Addr::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap_or_default());
    Some(match segments[..2] {
        [0x2002, _] => low(bits >> 80),
        // Teredo stores the client address with all bits inverted.
        [0x2001, 0] => low(!bits),
        _ => low(bits),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(text: &str) -> Option<AddressClass> {
        classify(text.parse().unwrap())
    }

    #[test]
    fn public_addresses_have_no_class() {
        for public in [
            "8.8.8.8",
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "223.255.255.255",
            "198.17.255.255",
            "198.20.0.0",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "2003::1",
            "2a00:1450::1",
        ] {
            assert_eq!(class(public), None, "{public}");
        }
    }

    #[test]
    fn special_addresses_have_theirs() {
        for (address, expected) in [
            ("0.0.0.0", Unspecified),
            ("0.1.2.3", Unspecified),
            ("::", Unspecified),
            ("127.0.0.1", Loopback),
            ("127.255.255.254", Loopback),
            ("::1", Loopback),
            ("10.255.0.1", Private),
            ("172.16.0.1", Private),
            ("172.31.255.255", Private),
            ("192.168.0.1", Private),
            ("fc00::1", UniqueLocal),
            ("fdff::1", UniqueLocal),
            ("169.254.0.1", LinkLocal),
            ("fe80::1", LinkLocal),
            ("febf::1", LinkLocal),
            ("fec0::1", LinkLocal),
            ("100.64.0.1", CarrierGrade),
            ("100.127.255.255", CarrierGrade),
            ("169.254.169.254", Metadata),
            ("100.100.100.200", Metadata),
            ("168.63.129.16", Metadata),
            ("fd00:ec2::254", Metadata),
            ("224.0.0.1", Multicast),
            ("239.255.255.255", Multicast),
            ("ff02::1", Multicast),
            ("255.255.255.255", Broadcast),
            ("192.0.2.1", Documentation),
            ("198.51.100.1", Documentation),
            ("203.0.113.1", Documentation),
            ("2001:db8::1", Documentation),
            ("3fff::1", Documentation),
            ("198.18.0.1", Benchmarking),
            ("198.19.255.255", Benchmarking),
            ("2001:2::1", Benchmarking),
            ("240.0.0.1", Reserved),
            ("192.0.0.1", Reserved),
            ("192.88.99.1", Reserved),
            ("100::1", Reserved),
            ("5f00::1", Reserved),
            ("4000::1", Reserved),
            ("2001:20::1", Reserved),
            ("::ffff:8.8.8.8", EmbeddedIpv4),
            ("::8.8.8.8", EmbeddedIpv4),
            ("::ffff:0:8.8.8.8", EmbeddedIpv4),
            ("2002:808:808::1", EmbeddedIpv4),
            ("2001:0:1:2::1", EmbeddedIpv4),
            ("64:ff9b::8.8.8.8", EmbeddedIpv4),
            ("64:ff9b:1::1", EmbeddedIpv4),
            ("2a00::5efe:7f00:1", EmbeddedIpv4),
        ] {
            assert_eq!(class(address), Some(expected), "{address}");
        }
    }

    #[test]
    fn the_ipv4_address_inside_is_found() {
        for (outer, inner) in [
            ("::ffff:127.0.0.1", "127.0.0.1"),
            ("::127.0.0.1", "127.0.0.1"),
            ("2002:7f00:1::", "127.0.0.1"),
            ("2001:0:4136:e378:8000:63bf:80ff:fffe", "127.0.0.1"),
            ("64:ff9b::10.0.0.1", "10.0.0.1"),
            ("2a00::5efe:10.0.0.1", "10.0.0.1"),
        ] {
            assert_eq!(embedded_ipv4(outer.parse().unwrap()), Some(inner.parse().unwrap()), "{outer}");
        }
        assert_eq!(embedded_ipv4("2a00::1".parse().unwrap()), None);
    }
}
