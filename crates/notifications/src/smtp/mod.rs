//! Sends mails over SMTP: RFC 5321 with STARTTLS (RFC 3207), TLS from the start (RFC 8314) and AUTH (RFC
//! 4954).
//!
//! lettre builds the messages, but the dialogue with the server is our own, for reasons seen in its version
//! 0.11.23:
//! - STARTTLS on a connection that was handed to it needs a TLS configuration of its own. Ours is that of
//!   `net`: the same root certificates, the same library, the operator's `extra_certificates`.
//! - What a server sent before TLS stays in its buffer and is read as if it had come over TLS afterwards.
//! - A line without an end is read into memory without a bound.
//! - It does not say how far the dialogue had come, which decides whether a failure is the recipient's or the
//!   server's.
//!
//! Connections are made by `net`, so every address passes the egress guard, for the purpose `mail`. The
//! operator's own mail server is often on a private address; [`SmtpSettings::allow_in`] opens exactly its
//! host for that purpose, as is done for configured model servers. Callers choose recipients, never the
//! server.

mod connection;
mod reply;
mod settings;

pub use settings::{SmtpSettings, SmtpSettingsError, SmtpTls};

use crate::email::Mail;
use crate::outcome::SendOutcome;
use connection::{SmtpConnection, SmtpError};
use futures_util::future::BoxFuture;
use net::{Deadline, Fetcher};

/// Sends mails by the operator's server.
#[derive(Debug, Clone)]
pub struct SmtpSender {
    settings: SmtpSettings,
    fetcher: Fetcher,
}

impl SmtpSender {
    /// The policy of `fetcher` must allow the server: see [`SmtpSettings::allow_in`].
    pub fn new(settings: SmtpSettings, fetcher: Fetcher) -> Self {
        Self { settings, fetcher }
    }

    /// Sends mails over one connection, in order. The result has one outcome for each mail, also when the
    /// deadline passes: a mail whose last reply did not come is to be sent again.
    pub fn send<'a>(&'a self, mails: &'a [Mail], deadline: Deadline) -> BoxFuture<'a, Vec<SendOutcome>> {
        Box::pin(async move {
            let mut outcomes = Vec::with_capacity(mails.len());
            if mails.is_empty() {
                return outcomes;
            }
            let mut connection = match self.connect(deadline).await {
                Ok(connection) => connection,
                Err(error) => {
                    outcomes.resize(mails.len(), SendOutcome::temporary(error.to_string()));
                    return outcomes;
                }
            };
            for mail in mails {
                let outcome = connection.send(mail, deadline).await;
                let lost = connection.is_lost();
                outcomes.push(outcome);
                if lost {
                    break;
                }
            }
            let unsent = SendOutcome::temporary("the connection to the mail server ended before this mail");
            outcomes.resize(mails.len(), unsent);
            connection.quit(deadline).await;
            outcomes
        })
    }

    /// Connects, negotiates TLS and logs in, without sending anything: for `gannet doctor`.
    pub fn test_login(&self, deadline: Deadline) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let connection = self.connect(deadline).await.map_err(|error| error.to_string())?;
            connection.quit(deadline).await;
            Ok(())
        })
    }

    async fn connect(&self, deadline: Deadline) -> Result<SmtpConnection, SmtpError> {
        SmtpConnection::open(&self.fetcher, &self.settings, deadline).await
    }
}
