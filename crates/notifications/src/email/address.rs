//! Addresses of mail.

use crate::text::one_line;
use std::fmt;

/// The longest address that SMTP can carry (RFC 5321, 4.5.3.1.3, less the angle brackets).
const MAX_ADDRESS_BYTES: usize = 254;
const MAX_SENDER_NAME_CHARS: usize = 80;

/// A checked address of plain ASCII: the domain of an international one in its ASCII form, in lower case.
/// Made of characters that cannot end a command of SMTP or a header.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EmailAddress(String);

/// What is wrong with an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("an e-mail address must look like name@example.com")]
    Form,
    #[error("an e-mail address must have at most {MAX_ADDRESS_BYTES} characters")]
    TooLong,
    #[error(
        "the part before the @ of an e-mail address must be ASCII letters, digits or .!#$%&'*+-/=?^_`{{|}}~"
    )]
    LocalPart,
    #[error("the domain of an e-mail address must be a name such as example.com")]
    Domain,
}

impl EmailAddress {
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        if text.len() > MAX_ADDRESS_BYTES {
            return Err(AddressError::TooLong);
        }
        let (local, domain) = text.rsplit_once('@').ok_or(AddressError::Form)?;
        if !is_local_part(local) {
            return Err(AddressError::LocalPart);
        }
        let domain = match url::Host::parse(domain) {
            Ok(url::Host::Domain(domain)) if is_domain(&domain) => domain,
            _ => return Err(AddressError::Domain),
        };
        let address = format!("{local}@{domain}");
        if address.len() > MAX_ADDRESS_BYTES {
            return Err(AddressError::TooLong);
        }
        // The library that builds mails has the last word.
        address.parse::<lettre::Address>().map_err(|_| AddressError::Form)?;
        Ok(Self(address))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn domain(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(_, domain)| domain)
    }
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Without quoted forms, which nobody uses and many servers refuse.
fn is_local_part(local: &str) -> bool {
    let is_atom = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&b);
    local.len() <= 64 && local.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atom))
}

fn is_domain(domain: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    domain.split('.').all(is_label)
}

/// Who mails are from: the setting `mail_from`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSender {
    pub name: Option<String>,
    pub address: EmailAddress,
}

impl MailSender {
    /// `gannet@example.com` or `Gannet <gannet@example.com>`.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        match text.trim().strip_suffix('>').and_then(|text| text.split_once('<')) {
            None => Ok(Self { name: None, address: EmailAddress::parse(text)? }),
            Some((name, address)) => {
                let name = one_line(name.trim().trim_matches('"'), MAX_SENDER_NAME_CHARS);
                let name = Some(name).filter(|name| !name.is_empty());
                Ok(Self { name, address: EmailAddress::parse(address)? })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        for (text, expected) in [
            ("a@b.example", "a@b.example"),
            (" First.Last+tag@Sub.EXAMPLE.com ", "First.Last+tag@sub.example.com"),
            ("x@bücher.example", "x@xn--bcher-kva.example"),
            ("root@localhost", "root@localhost"),
        ] {
            assert_eq!(EmailAddress::parse(text).unwrap().as_str(), expected);
        }
        for (text, error) in [
            ("", AddressError::Form),
            ("a", AddressError::Form),
            ("@b.example", AddressError::LocalPart),
            ("a..b@c.example", AddressError::LocalPart),
            ("\"a b\"@c.example", AddressError::LocalPart),
            ("é@c.example", AddressError::LocalPart),
            ("a@b@c.example", AddressError::LocalPart),
            ("a>\r\nRCPT TO:<x@y.example", AddressError::LocalPart),
            ("a@", AddressError::Domain),
            ("a@127.0.0.1", AddressError::Domain),
            ("a@[::1]", AddressError::Domain),
            ("a@b_c.example", AddressError::Domain),
            ("a@-b.example", AddressError::Domain),
            ("a@b.example\r\nBcc: x", AddressError::Domain),
        ] {
            assert_eq!(EmailAddress::parse(text), Err(error), "{text}");
        }
        let long = format!("a@{}.example", "b.".repeat(200));
        assert_eq!(EmailAddress::parse(&long), Err(AddressError::TooLong));
    }

    #[test]
    fn a_sender_may_have_a_name() {
        let sender = MailSender::parse("\"Gannet \r\nmonitors\" <g@a.example>").unwrap();
        assert_eq!(
            (sender.name.as_deref(), sender.address.as_str()),
            (Some("Gannet monitors"), "g@a.example")
        );
        assert_eq!(MailSender::parse("g@a.example").unwrap().name, None);
        assert!(MailSender::parse("Gannet <nobody>").is_err());
    }
}
