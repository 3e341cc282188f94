//! DNS messages: one question out, addresses back. Reads hostile bytes: every step is bounded by the length of the message,
//! and names are passed over, never followed. Knows no sockets.

use super::MOST_ADDRESSES;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const HEADER: usize = 12;
const INTERNET: u16 = 1;

/// What is asked for.
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

/// What a name server said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// Empty where the name exists without addresses of this family.
    Addresses(Vec<IpAddr>),
    NoSuchName,
    /// The answer did not fit; it must be asked for over TCP.
    Truncated,
    /// It could not or would not answer: the code it gave.
    Failed(u8),
}

/// A question to a recursive name server; `None` for what is no name.
pub(super) fn question(id: u16, host: &str, family: Family) -> Option<Vec<u8>> {
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.is_empty() || host.len() > 253 {
        return None;
    }
    let mut message = Vec::with_capacity(HEADER + host.len() + 6);
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
    message.extend_from_slice(&INTERNET.to_be_bytes());
    Some(message)
}

/// Reads an answer to `question`; `None` when it is no answer to it, and the wait should go on.
pub(super) fn answer(question: &[u8], message: &[u8]) -> Option<Said> {
    let asked = question.get(HEADER..)?;
    let echoed = message.get(HEADER..HEADER + asked.len())?;
    let is_answer = message[2] & 0x80 != 0 && message[4..6] == [0, 1];
    if message[..2] != question[..2] || !is_answer || !echoed.eq_ignore_ascii_case(asked) {
        return None;
    }
    match message[3] & 0x0f {
        0 if message[2] & 0x02 != 0 => return Some(Said::Truncated),
        0 => {}
        3 => return Some(Said::NoSuchName),
        code => return Some(Said::Failed(code)),
    }
    let wanted = u16::from_be_bytes([asked[asked.len() - 4], asked[asked.len() - 3]]);
    let count = u16::from_be_bytes([message[6], message[7]]);
    let mut rest = Rest(&message[HEADER + asked.len()..]);
    let mut addresses = Vec::new();
    for _ in 0..count {
        // A record cut short ends the list; what came before it stands.
        let Some((record_type, data)) = rest.record() else { break };
        let address = match (record_type, data.len()) {
            (1, 4) => <[u8; 4]>::try_from(data).ok().map(|octets| IpAddr::from(Ipv4Addr::from(octets))),
            (28, 16) => <[u8; 16]>::try_from(data).ok().map(|octets| IpAddr::from(Ipv6Addr::from(octets))),
            // Aliases lead to the addresses that follow them in the same answer.
            _ => None,
        };
        addresses.extend(address.filter(|_| record_type == wanted && addresses.len() < MOST_ADDRESSES));
    }
    Some(Said::Addresses(addresses))
}

/// What has not been read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The type and the data of the next record of the internet's class; other classes have type 0.
    fn record(&mut self) -> Option<(u16, &'a [u8])> {
        self.pass_name()?;
        let fixed = self.take(10)?;
        let number = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let data = self.take(usize::from(number(8)))?;
        Some((if number(2) == INTERNET { number(0) } else { 0 }, data))
    }

    /// A name is labels up to an empty one, or up to a pointer to the rest of it.
    fn pass_name(&mut self) -> Option<()> {
        loop {
            match self.take(1)?[0] {
                0 => return Some(()),
                length @ 1..=63 => drop(self.take(usize::from(length))?),
                0xc0.. => return self.take(1).map(|_| ()),
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

    fn said(question: &[u8], flags: [u8; 2], count: u8, records: &[u8]) -> Vec<u8> {
        let mut message = question.to_vec();
        message[2..4].copy_from_slice(&flags);
        message[7] = count;
        message.extend_from_slice(records);
        message
    }

    #[test]
    fn questions_are_written_and_names_that_are_none_are_not() {
        let message = question(0x1234, "a.bc.", Family::V6).unwrap();
        assert_eq!(message, *b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\x02bc\0\0\x1c\0\x01");
        for wrong in ["", ".", "a..b", ".a", &"x".repeat(64), &"x.".repeat(200)] {
            assert_eq!(question(1, wrong, Family::V4), None, "{wrong}");
        }
    }

    #[test]
    fn answers_are_read_behind_aliases_and_by_family() {
        let asked = question(7, "a.example", Family::V4).unwrap();
        let both = [ALIAS, RECORD_A].concat();
        let found = vec!["192.0.2.7".parse().unwrap()];
        assert_eq!(answer(&asked, &said(&asked, [0x81, 0x80], 2, &both)), Some(Said::Addresses(found)));
        assert_eq!(answer(&asked, &said(&asked, [0x81, 0x80], 0, &[])), Some(Said::Addresses(vec![])));
        assert_eq!(answer(&asked, &said(&asked, [0x81, 0x83], 0, &[])), Some(Said::NoSuchName));
        assert_eq!(answer(&asked, &said(&asked, [0x81, 0x82], 0, &[])), Some(Said::Failed(2)));
        assert_eq!(answer(&asked, &said(&asked, [0x83, 0x80], 0, &[])), Some(Said::Truncated));
        let six = question(7, "a.example", Family::V6).unwrap();
        assert_eq!(answer(&six, &said(&six, [0x81, 0x80], 1, RECORD_A)), Some(Said::Addresses(vec![])));
    }

    #[test]
    fn answers_to_other_questions_are_none() {
        let asked = question(7, "a.example", Family::V4).unwrap();
        for other in [question(8, "a.example", Family::V4), question(7, "b.example", Family::V4)] {
            let other = other.unwrap();
            assert_eq!(answer(&asked, &said(&other, [0x81, 0x80], 1, RECORD_A)), None);
        }
        assert_eq!(answer(&asked, &asked), None, "an echo of the question is no answer");
        assert_eq!(answer(&asked, &[]), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_grow(records: Vec<u8>, count: u8, flags: [u8; 2]) {
            let asked = question(7, "a.example", Family::V4).unwrap();
            let message = said(&asked, flags, count, &records);
            if let Some(Said::Addresses(found)) = answer(&asked, &message) {
                prop_assert!(found.len() <= MOST_ADDRESSES && found.len() * 15 <= records.len());
            }
            for end in 0..message.len() {
                let _ = answer(&asked, &message[..end]);
            }
        }
    }
}
