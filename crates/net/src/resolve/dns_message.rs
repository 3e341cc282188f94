//! DNS messages: encodes a query and parses the response. Reads hostile bytes: every step is bounded by the
//! length of the message, and compressed names are skipped, never followed. Knows no sockets.

use super::MAX_ADDRESSES;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const HEADER_BYTES: usize = 12;
const CLASS_INTERNET: u16 = 1;

/// The address family that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

impl Family {
    fn record_type(self) -> u16 {
        match self {
            Self::V4 => 1,
            Self::V6 => 28,
        }
    }
}

/// What a name server responded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DnsResponse {
    /// Empty if the name exists without addresses of this family.
    Addresses(Vec<IpAddr>),
    NoSuchName,
    /// The response did not fit; it must be asked for over TCP.
    Truncated,
    /// The server could not or would not resolve: its response code.
    Failed(u8),
}

/// A query to a recursive name server; `None` if `host` is not a valid name.
pub(super) fn encode_query(id: u16, host: &str, family: Family) -> Option<Vec<u8>> {
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.is_empty() || host.len() > 253 {
        return None;
    }
    let mut message = Vec::with_capacity(HEADER_BYTES + host.len() + 6);
    message.extend_from_slice(&id.to_be_bytes());
    // Recursion desired; one question.
    message.extend_from_slice(&[0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in host.split('.') {
        let length = u8::try_from(label.len()).ok().filter(|length| (1..=63).contains(length))?;
        message.push(length);
        message.extend_from_slice(label.as_bytes());
    }
    message.push(0);
    message.extend_from_slice(&family.record_type().to_be_bytes());
    message.extend_from_slice(&CLASS_INTERNET.to_be_bytes());
    Some(message)
}

/// Parses the response to `query`; `None` if it is for another query, so the caller keeps waiting.
pub(super) fn parse_response(query: &[u8], message: &[u8]) -> Option<DnsResponse> {
    let asked = query.get(HEADER_BYTES..)?;
    let echoed = message.get(HEADER_BYTES..HEADER_BYTES + asked.len())?;
    let is_answer = message[2] & 0x80 != 0 && message[4..6] == [0, 1];
    if message[..2] != query[..2] || !is_answer || !echoed.eq_ignore_ascii_case(asked) {
        return None;
    }
    match message[3] & 0x0f {
        0 if message[2] & 0x02 != 0 => return Some(DnsResponse::Truncated),
        0 => {}
        3 => return Some(DnsResponse::NoSuchName),
        code => return Some(DnsResponse::Failed(code)),
    }
    let wanted = u16::from_be_bytes([asked[asked.len() - 4], asked[asked.len() - 3]]);
    let count = u16::from_be_bytes([message[6], message[7]]);
    let mut reader = MessageReader(&message[HEADER_BYTES + asked.len()..]);
    let mut addresses = Vec::new();
    for _ in 0..count {
        // A truncated record ends the list; the records before it still count.
        let Some((record_type, data)) = reader.read_record() else { break };
        let address = match (record_type, data.len()) {
            (1, 4) => <[u8; 4]>::try_from(data).ok().map(|octets| IpAddr::from(Ipv4Addr::from(octets))),
            (28, 16) => <[u8; 16]>::try_from(data).ok().map(|octets| IpAddr::from(Ipv6Addr::from(octets))),
            // Aliases (CNAME) are followed in the response by the addresses they lead to.
            _ => None,
        };
        addresses.extend(address.filter(|_| record_type == wanted && addresses.len() < MAX_ADDRESSES));
    }
    Some(DnsResponse::Addresses(addresses))
}

/// The part of a message that has not been read yet.
struct MessageReader<'a>(&'a [u8]);

impl<'a> MessageReader<'a> {
    fn read_bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The type and data of the next record of class IN; other classes get type 0.
    fn read_record(&mut self) -> Option<(u16, &'a [u8])> {
        self.skip_name()?;
        let fixed = self.read_bytes(10)?;
        let number = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let data = self.read_bytes(usize::from(number(8)))?;
        Some((if number(2) == CLASS_INTERNET { number(0) } else { 0 }, data))
    }

    /// A name is a list of labels that ends with an empty one or with a pointer.
    fn skip_name(&mut self) -> Option<()> {
        loop {
            match self.read_bytes(1)?[0] {
                0 => return Some(()),
                length @ 1..=63 => drop(self.read_bytes(usize::from(length))?),
                0xc0.. => return self.read_bytes(1).map(|_| ()),
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RECORD_A: &[u8] = &[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 7];
    const ALIAS: &[u8] = &[0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 9, 0, 4, 1, b'b', 0xc0, 14];

    fn response_to(query: &[u8], flags: [u8; 2], count: u8, records: &[u8]) -> Vec<u8> {
        let mut message = query.to_vec();
        message[2..4].copy_from_slice(&flags);
        message[7] = count;
        message.extend_from_slice(records);
        message
    }

    #[test]
    fn questions_are_written_and_names_that_are_none_are_not() {
        let message = encode_query(0x1234, "a.bc.", Family::V6).unwrap();
        assert_eq!(message, *b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\x02bc\0\0\x1c\0\x01");
        for wrong in ["", ".", "a..b", ".a", &"x".repeat(64), &"x.".repeat(200)] {
            assert_eq!(encode_query(1, wrong, Family::V4), None, "{wrong}");
        }
    }

    #[test]
    fn answers_are_read_behind_aliases_and_by_family() {
        let asked = encode_query(7, "a.example", Family::V4).unwrap();
        let both = [ALIAS, RECORD_A].concat();
        let found = vec!["192.0.2.7".parse().unwrap()];
        assert_eq!(
            parse_response(&asked, &response_to(&asked, [0x81, 0x80], 2, &both)),
            Some(DnsResponse::Addresses(found))
        );
        assert_eq!(
            parse_response(&asked, &response_to(&asked, [0x81, 0x80], 0, &[])),
            Some(DnsResponse::Addresses(vec![]))
        );
        assert_eq!(
            parse_response(&asked, &response_to(&asked, [0x81, 0x83], 0, &[])),
            Some(DnsResponse::NoSuchName)
        );
        assert_eq!(
            parse_response(&asked, &response_to(&asked, [0x81, 0x82], 0, &[])),
            Some(DnsResponse::Failed(2))
        );
        assert_eq!(
            parse_response(&asked, &response_to(&asked, [0x83, 0x80], 0, &[])),
            Some(DnsResponse::Truncated)
        );
        let six = encode_query(7, "a.example", Family::V6).unwrap();
        assert_eq!(
            parse_response(&six, &response_to(&six, [0x81, 0x80], 1, RECORD_A)),
            Some(DnsResponse::Addresses(vec![]))
        );
    }

    #[test]
    fn answers_to_other_questions_are_none() {
        let asked = encode_query(7, "a.example", Family::V4).unwrap();
        for other in [encode_query(8, "a.example", Family::V4), encode_query(7, "b.example", Family::V4)] {
            let other = other.unwrap();
            assert_eq!(parse_response(&asked, &response_to(&other, [0x81, 0x80], 1, RECORD_A)), None);
        }
        assert_eq!(parse_response(&asked, &asked), None, "an echo of the question is no answer");
        assert_eq!(parse_response(&asked, &[]), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_grow(records: Vec<u8>, count: u8, flags: [u8; 2]) {
            let asked = encode_query(7, "a.example", Family::V4).unwrap();
            let message = response_to(&asked, flags, count, &records);
            if let Some(DnsResponse::Addresses(found)) = parse_response(&asked, &message) {
                prop_assert!(found.len() <= MAX_ADDRESSES && found.len() * 15 <= records.len());
            }
            for end in 0..message.len() {
                let _ = parse_response(&asked, &message[..end]);
            }
        }
    }
}
