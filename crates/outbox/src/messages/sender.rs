//! Sends one message. Says what came of it; the worker of the outbox decides what follows.

use super::delivery::{ChannelMessage, HeldCheck, MessageBody, MessageTarget, ToldCheck, parse_channel};
use super::subscriptions::token_hash;
use crate::http_post::{PostAnswer, send_post};
use jiff::Timestamp;
use net::{Deadline, FetchError, Fetcher};
use notifications::email::{DigestOptions, EmailAddress, Mail, MailError, MailSender, confirmation, digest};
use notifications::links::{NotificationLink, NotificationLinks};
use notifications::message::CheckMessage;
use notifications::outcome::SendOutcome;
use notifications::smtp::SmtpSender;
use std::sync::Arc;
use std::time::Duration;
use store::monitors::RecipientStatus;
use store::webhooks::Delivery;
use store::{Store, StoreResult};
use stored_data::time;
use uuid::Uuid;

/// Checks of one night that are put into one message.
const MAX_JOINED_CHECKS: u32 = 100;
/// Clocks of machines may differ by this much.
const CLOCK_SKEW_MILLIS: i64 = 600_000;

/// The operator's mail server, and who mails are from.
#[derive(Debug, Clone)]
pub struct MailService {
    pub smtp: SmtpSender,
    pub from: MailSender,
}

/// Sends messages of monitors. One per process.
pub struct MessageSender {
    pub store: Arc<dyn Store>,
    pub fetcher: Fetcher,
    pub links: NotificationLinks,
    /// None where mail is not set up.
    pub mail: Option<MailService>,
}

impl std::fmt::Debug for MessageSender {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("MessageSender").field("mail", &self.mail).finish_non_exhaustive()
    }
}

impl MessageSender {
    /// Sends a message once. An error is one of the store: no attempt was made.
    pub async fn send(
        &self,
        delivery: &Delivery,
        target: &MessageTarget,
        timeout: Duration,
    ) -> StoreResult<SendOutcome> {
        let Ok(body) = serde_json::from_slice::<MessageBody>(&delivery.body) else {
            return Ok(unreadable());
        };
        match target {
            MessageTarget::Confirmation { email, subscription, .. } => {
                let MessageBody::Confirmation { monitor_name } = &body else { return Ok(unreadable()) };
                // Who has decided meanwhile is not asked.
                if !self.has_status(*subscription, RecipientStatus::Pending).await? {
                    return Ok(SendOutcome::Delivered);
                }
                let url = self.links.url(NotificationLink::Confirm, *subscription);
                let now =
                    Timestamp::from_millisecond(delivery.created_at).unwrap_or_else(|_| Timestamp::now());
                let build = |from: &MailSender, to: &EmailAddress| {
                    confirmation(from, to, monitor_name, *subscription, &url, now)
                };
                Ok(self.send_mail(email, build, timeout).await)
            }
            MessageTarget::Mail { email, subscription, include_diffs, .. } => {
                if !self.has_status(*subscription, RecipientStatus::Confirmed).await? {
                    return Ok(SendOutcome::Delivered);
                }
                let Some(message) = self.message(body).await? else { return Ok(SendOutcome::Delivered) };
                let unsubscribe_url = self.links.url(NotificationLink::Unsubscribe, *subscription);
                let options =
                    DigestOptions { include_diffs: *include_diffs, unsubscribe_url: &unsubscribe_url };
                let build = |from: &MailSender, to: &EmailAddress| digest(from, to, &message, options);
                Ok(self.send_mail(email, build, timeout).await)
            }
            MessageTarget::Channel(ChannelMessage { channel, .. }) => {
                let Ok(channel) = parse_channel(channel) else { return Ok(unreadable()) };
                let Some(message) = self.message(body).await? else { return Ok(SendOutcome::Delivered) };
                let request = channel.request(&message);
                Ok(judge(send_post(&self.fetcher, || request.to_net_request(), timeout).await))
            }
        }
    }

    async fn has_status(&self, subscription: Uuid, status: RecipientStatus) -> StoreResult<bool> {
        let found = self.store.recipient(&token_hash(subscription)).await?;
        Ok(found.is_some_and(|(_, recipient)| recipient.status == status))
    }

    async fn send_mail(
        &self,
        email: &str,
        build: impl FnOnce(&MailSender, &EmailAddress) -> Result<Mail, MailError>,
        timeout: Duration,
    ) -> SendOutcome {
        let Some(MailService { smtp, from }) = &self.mail else {
            return SendOutcome::permanent("mail is not set up; see the setting smtp_url");
        };
        let mail = match EmailAddress::parse(email) {
            Ok(to) => build(from, &to).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match mail {
            Ok(mail) => {
                let outcomes = smtp.send(&[mail], Deadline::after(timeout)).await;
                outcomes.into_iter().next().unwrap_or_else(unreadable)
            }
            Err(error) => SendOutcome::permanent(error),
        }
    }

    /// What is told; nothing where the monitor was deleted while its messages were held.
    async fn message(&self, body: MessageBody) -> StoreResult<Option<CheckMessage>> {
        match body {
            MessageBody::Check(message) => Ok(Some(*message)),
            MessageBody::Held(check) => self.night_message(check).await,
            MessageBody::Confirmation { .. } => Ok(None),
        }
    }

    /// One message for all checks of a night, none where the monitor is gone.
    async fn night_message(&self, check: HeldCheck) -> StoreResult<Option<CheckMessage>> {
        if self.store.linked_monitor(check.monitor).await?.is_none() {
            return Ok(None);
        }
        let ended = check.since - CLOCK_SKEW_MILLIS..=time::now() + CLOCK_SKEW_MILLIS;
        let checks = self.store.told_checks(check.monitor, ended, MAX_JOINED_CHECKS).await;
        let mut told: Vec<ToldCheck> = checks?
            .iter()
            .map(|check| ToldCheck::from_result(check.result.as_deref()))
            .filter(|told| told.held_until == Some(check.until))
            .collect();
        // They come newest first, and are read as they happened.
        told.reverse();
        Ok(CheckMessage::join(told.into_iter().filter_map(|told| told.message)))
    }
}

fn unreadable() -> SendOutcome {
    SendOutcome::permanent("the message cannot be read")
}

fn judge(outcome: Result<PostAnswer, FetchError>) -> SendOutcome {
    match outcome {
        Ok(answer) => SendOutcome::from_status(answer.status.as_u16(), answer.retry_after),
        Err(error @ FetchError::Refused(_)) => {
            SendOutcome::permanent(format!("{error}; the setting egress_allow opens private targets"))
        }
        Err(error @ (FetchError::BadUrl(_) | FetchError::BadRequest(_))) => {
            SendOutcome::permanent(error.to_string())
        }
        Err(error) => SendOutcome::temporary(error.to_string()),
    }
}
