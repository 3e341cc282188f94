//! One connection to the mail server, from its greeting to QUIT.

use super::reply::{ReplyClass, ReplyReader, SmtpReply};
use super::settings::{SmtpSettings, SmtpTls};
use crate::email::Mail;
use crate::outcome::SendOutcome;
use crate::text::one_line;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use net::{Deadline, FetchError, Fetcher, GuardedStream, Purpose};
use std::io;
use std::time::Duration;
use tokio::io::AsyncWriteExt;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);
/// What a server may send over one connection, TLS included. An honest dialogue needs a few kilobytes for
/// each mail.
const MAX_RECEIVED_BYTES: u64 = 1 << 20;
const MAX_ERROR_CHARS: usize = 200;
/// "Service not available, closing transmission channel".
const SERVICE_CLOSING: u16 = 421;

/// Why there is no connection. All of these may be over later: they are the server's or the operator's, never
/// the recipient's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SmtpError {
    #[error("could not reach the mail server: {0}")]
    Connect(FetchError),
    #[error("the connection to the mail server failed: {0}")]
    Lost(String),
    #[error("the mail server did not reply within {0:?}")]
    Timeout(Duration),
    #[error("the mail server refused {step}: {reply}")]
    Refused { step: &'static str, reply: String },
    #[error("the mail server does not offer STARTTLS, which `smtp_url` asks for")]
    NoStartTls,
    #[error("the mail server sent data before TLS was negotiated")]
    DataBeforeTls,
    #[error("the mail server sent a reply that was not asked for")]
    UnaskedReply,
    #[error("the mail server offers no way to log in that is supported (PLAIN, LOGIN)")]
    NoLogin,
}

impl From<io::Error> for SmtpError {
    fn from(error: io::Error) -> Self {
        Self::Lost(one_line(&error.to_string(), MAX_ERROR_CHARS))
    }
}

/// What the server says it can do.
#[derive(Debug, Default)]
struct Extensions {
    start_tls: bool,
    auth_plain: bool,
    auth_login: bool,
    /// The longest message, where it says so.
    max_bytes: Option<usize>,
}

impl Extensions {
    fn from_reply(reply: &SmtpReply) -> Self {
        let mut extensions = Self::default();
        // The first line is the name of the server.
        for line in reply.lines.iter().skip(1) {
            let line = line.to_ascii_uppercase();
            let mut words = line.split([' ', '=']);
            match words.next() {
                Some("STARTTLS") => extensions.start_tls = true,
                Some("SIZE") => {
                    extensions.max_bytes =
                        words.next().and_then(|size| size.parse().ok()).filter(|size| *size > 0);
                }
                Some("AUTH") => {
                    for mechanism in words {
                        extensions.auth_plain |= mechanism == "PLAIN";
                        extensions.auth_login |= mechanism == "LOGIN";
                    }
                }
                _ => {}
            }
        }
        extensions
    }
}

/// An open dialogue.
#[derive(Debug)]
pub(super) struct SmtpConnection {
    stream: GuardedStream,
    replies: ReplyReader,
    extensions: Extensions,
    reply_timeout: Duration,
    is_lost: bool,
}

impl SmtpConnection {
    pub(super) async fn open(
        fetcher: &Fetcher,
        settings: &SmtpSettings,
        deadline: Deadline,
    ) -> Result<Self, SmtpError> {
        let connect = deadline.child(CONNECT_TIMEOUT);
        let connected =
            fetcher.connect(Purpose::Mail, &settings.host, settings.port, MAX_RECEIVED_BYTES, connect);
        let mut stream = connected.await.map_err(SmtpError::Connect)?;
        if settings.tls == SmtpTls::FromStart {
            stream = stream.start_tls(connect).await.map_err(SmtpError::Connect)?;
        }
        let mut connection = Self {
            stream,
            replies: ReplyReader::default(),
            extensions: Extensions::default(),
            reply_timeout: settings.reply_timeout,
            is_lost: false,
        };
        accept("the connection", connection.read_reply(deadline).await?)?;
        connection.hello(&settings.hello_name, deadline).await?;
        let offered = connection.extensions.start_tls;
        match settings.tls {
            SmtpTls::StartTls if !offered => return Err(SmtpError::NoStartTls),
            SmtpTls::StartTls => connection = connection.start_tls(&settings.hello_name, deadline).await?,
            SmtpTls::StartTlsIfOffered if offered => {
                connection = connection.start_tls(&settings.hello_name, deadline).await?;
            }
            SmtpTls::FromStart | SmtpTls::StartTlsIfOffered | SmtpTls::None => {}
        }
        if let Some((user, password)) = &settings.login {
            connection.log_in(user, &password.0, deadline).await?;
        }
        Ok(connection)
    }

    /// Whether no other mail can be sent over this connection.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    async fn hello(&mut self, name: &str, deadline: Deadline) -> Result<(), SmtpError> {
        let reply = self.command(&format!("EHLO {name}"), deadline).await?;
        self.extensions = Extensions::from_reply(&accept("EHLO", reply)?);
        Ok(())
    }

    async fn start_tls(mut self, name: &str, deadline: Deadline) -> Result<Self, SmtpError> {
        accept("STARTTLS", self.command("STARTTLS", deadline).await?)?;
        // Whatever came before TLS may come from anybody, so nothing of it may be taken for a reply over TLS.
        if self.replies.has_unread() {
            return Err(SmtpError::DataBeforeTls);
        }
        let stream =
            self.stream.start_tls(deadline.child(CONNECT_TIMEOUT)).await.map_err(SmtpError::Connect)?;
        let mut connection = Self { stream, ..self };
        connection.hello(name, deadline).await?;
        Ok(connection)
    }

    async fn log_in(&mut self, user: &str, password: &str, deadline: Deadline) -> Result<(), SmtpError> {
        if self.extensions.auth_plain {
            let response = STANDARD.encode(format!("\0{user}\0{password}"));
            let reply = self.command(&format!("AUTH PLAIN {response}"), deadline).await?;
            accept("the login", reply)?;
        } else if self.extensions.auth_login {
            for answer in ["AUTH LOGIN".to_owned(), STANDARD.encode(user)] {
                expect(ReplyClass::SendMore, "the login", self.command(&answer, deadline).await?)?;
            }
            accept("the login", self.command(&STANDARD.encode(password), deadline).await?)?;
        } else {
            return Err(SmtpError::NoLogin);
        }
        Ok(())
    }

    /// Sends one mail to its recipient.
    pub(super) async fn send(&mut self, mail: &Mail, deadline: Deadline) -> SendOutcome {
        if self.extensions.max_bytes.is_some_and(|max_bytes| mail.bytes.len() > max_bytes) {
            return SendOutcome::permanent("the mail is longer than the mail server takes");
        }
        let outcome = self.transaction(mail, deadline).await;
        match outcome {
            Ok(outcome) => {
                // A mail that was not taken leaves a transaction open; 421 says that the server closes.
                if outcome != SendOutcome::Delivered && !self.is_lost {
                    let reset = self.command("RSET", deadline).await;
                    self.is_lost |= !reset.is_ok_and(|reply| reply.class() == ReplyClass::Done);
                }
                outcome
            }
            Err(error) => {
                self.is_lost = true;
                SendOutcome::temporary(error.to_string())
            }
        }
    }

    async fn transaction(&mut self, mail: &Mail, deadline: Deadline) -> Result<SendOutcome, SmtpError> {
        // Addresses are checked when they are parsed, so they cannot end the command.
        let steps = [
            ("the sender", ReplyClass::Done, format!("MAIL FROM:<{}>", mail.from)),
            ("the recipient", ReplyClass::Done, format!("RCPT TO:<{}>", mail.to)),
            ("the mail", ReplyClass::SendMore, "DATA".to_owned()),
        ];
        for (step, expected, command) in steps {
            let reply = self.command(&command, deadline).await?;
            if reply.class() != expected {
                return self.refusal(step, &reply);
            }
        }
        self.write(&with_dots_doubled(&mail.bytes), deadline).await?;
        let reply = self.read_reply(deadline).await?;
        if reply.class() == ReplyClass::Done {
            Ok(SendOutcome::Delivered)
        } else {
            self.refusal("the mail", &reply)
        }
    }

    fn refusal(&mut self, step: &'static str, reply: &SmtpReply) -> Result<SendOutcome, SmtpError> {
        self.is_lost |= reply.code == SERVICE_CLOSING;
        let reason = format!("the mail server refused {step}: {}", reply.shown());
        match reply.class() {
            ReplyClass::RefusedForNow => Ok(SendOutcome::temporary(reason)),
            ReplyClass::Refused => Ok(SendOutcome::permanent(reason)),
            // Not a reply to what was asked: nothing that follows can be trusted.
            ReplyClass::Done | ReplyClass::SendMore => Err(SmtpError::Refused { step, reply: reply.shown() }),
        }
    }

    /// Says goodbye, and does not mind when nobody listens.
    pub(super) async fn quit(mut self, deadline: Deadline) {
        if !self.is_lost {
            let _ = self.command("QUIT", deadline.child(QUIT_TIMEOUT)).await;
        }
    }

    async fn command(&mut self, command: &str, deadline: Deadline) -> Result<SmtpReply, SmtpError> {
        self.write(format!("{command}\r\n").as_bytes(), deadline).await?;
        self.read_reply(deadline).await
    }

    async fn write(&mut self, bytes: &[u8], deadline: Deadline) -> Result<(), SmtpError> {
        // It would be taken for the reply to what is sent now.
        if self.replies.has_unread() {
            return Err(SmtpError::UnaskedReply);
        }
        let timeout = self.reply_timeout;
        let write = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        let written = deadline.child(timeout).run(write).await;
        Ok(written.map_err(|_| SmtpError::Timeout(timeout))??)
    }

    async fn read_reply(&mut self, deadline: Deadline) -> Result<SmtpReply, SmtpError> {
        let timeout = self.reply_timeout;
        let reply = deadline.child(timeout).run(self.replies.read(&mut self.stream)).await;
        Ok(reply.map_err(|_| SmtpError::Timeout(timeout))??)
    }
}

fn accept(step: &'static str, reply: SmtpReply) -> Result<SmtpReply, SmtpError> {
    expect(ReplyClass::Done, step, reply)
}

fn expect(class: ReplyClass, step: &'static str, reply: SmtpReply) -> Result<SmtpReply, SmtpError> {
    if reply.class() == class { Ok(reply) } else { Err(SmtpError::Refused { step, reply: reply.shown() }) }
}

/// The message as DATA carries it: a line that begins with a dot gets another one, and a dot alone ends it.
fn with_dots_doubled(message: &[u8]) -> Vec<u8> {
    let mut output = Vec::with_capacity(message.len() + 16);
    let mut at_line_start = true;
    for byte in message {
        if at_line_start && *byte == b'.' {
            output.push(b'.');
        }
        output.push(*byte);
        at_line_start = *byte == b'\n';
    }
    if !output.ends_with(b"\r\n") {
        output.extend_from_slice(b"\r\n");
    }
    output.extend_from_slice(b".\r\n");
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_mail_ends_it() {
        assert_eq!(with_dots_doubled(b".a\r\n.\r\nb.c"), b"..a\r\n..\r\nb.c\r\n.\r\n");
        assert_eq!(with_dots_doubled(b"a\r\n"), b"a\r\n.\r\n");
    }

    #[test]
    fn extensions_are_read_in_any_spelling() {
        let lines = ["mail.example STARTTLS", "size 1000", "AUTH LOGIN PLAIN", "8BITMIME", "SIZE"];
        let reply =
            SmtpReply { code: 250, lines: lines[..4].iter().map(|line| (*line).to_owned()).collect() };
        let found = Extensions::from_reply(&reply);
        assert!(found.auth_plain && found.auth_login && !found.start_tls);
        assert_eq!(found.max_bytes, Some(1_000));
    }
}
