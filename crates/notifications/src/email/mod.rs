//! Mails: the digest of a check, and the question whether somebody wants them. Built with lettre;
//! [`crate::smtp`] sends them. No I/O.

mod address;
mod confirmation;
mod digest;

pub use address::{AddressError, EmailAddress, MailSender};
pub use confirmation::confirmation;
pub use digest::{DigestOptions, digest};

use crate::html::Markup;
use jiff::Timestamp;
use lettre::Message;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::time::SystemTime;

/// A mail that is ready to be sent: to one recipient, so that none sees another's address or link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    pub from: EmailAddress,
    pub to: EmailAddress,
    pub message_id: String,
    /// The whole message, ASCII only, lines ended by CR LF.
    pub bytes: Vec<u8>,
}

/// The parts that mails differ in.
struct MailParts<'a> {
    sender: &'a MailSender,
    to: &'a EmailAddress,
    subject: String,
    date: Timestamp,
    /// What the mail is about. The same subject matter and recipient give the same `Message-ID`, by which
    /// receivers know a mail that was sent twice.
    identity: String,
    headers: Vec<(&'static str, String)>,
    text: String,
    html: Markup,
}

/// Why a mail could not be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the mail cannot be built: {0}")]
pub struct MailError(String);

fn build(parts: MailParts) -> Result<Mail, MailError> {
    let failed = |error: &dyn std::error::Error| MailError(error.to_string());
    let mailbox = |name: Option<&str>, address: &EmailAddress| {
        let parsed =
            address.as_str().parse().map_err(|error: lettre::address::AddressError| failed(&error))?;
        Ok::<_, MailError>(Mailbox::new(name.map(str::to_owned), parsed))
    };
    let message_id = message_id(&parts.identity, parts.to, &parts.sender.address);
    let mut builder = Message::builder()
        .from(mailbox(parts.sender.name.as_deref(), &parts.sender.address)?)
        .to(mailbox(None, parts.to)?)
        .subject(parts.subject)
        .date(SystemTime::from(parts.date))
        .message_id(Some(message_id.clone()));
    let automatic = ("Auto-Submitted", "auto-generated".to_owned());
    for (name, value) in parts.headers.into_iter().chain([automatic]) {
        builder = builder.raw_header(HeaderValue::new(HeaderName::new_from_ascii_str(name), value));
    }
    let body = MultiPart::alternative_plain_html(parts.text, parts.html.into_string());
    let bytes = builder.multipart(body).map_err(|error| failed(&error))?.formatted();
    if !bytes.is_ascii() {
        return Err(MailError("it contains characters that were not encoded".to_owned()));
    }
    Ok(Mail { from: parts.sender.address.clone(), to: parts.to.clone(), message_id, bytes })
}

fn message_id(identity: &str, to: &EmailAddress, from: &EmailAddress) -> String {
    let digest = Sha256::digest(format!("{identity}\0{to}"));
    let hash = digest.iter().take(12).fold(String::new(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    });
    format!("<{hash}.{identity}@{}>", from.domain())
}
