//! The settings of mail.

use super::values::{Values, duration, list, optional};
use anyhow::{Context, Result, ensure};
use notifications::email::MailSender;
use notifications::smtp::SmtpSettings;
use outbox::messages::subscriptions::TrustedAddresses;
use std::time::Duration;
use url::Url;

/// The mail server and who mails are from.
#[derive(Debug, Clone)]
pub struct MailSettings {
    pub smtp: SmtpSettings,
    pub from: MailSender,
    pub trusted: TrustedAddresses,
    pub timeout: Duration,
}

pub fn parse_settings(values: &Values<'_>) -> Result<Option<MailSettings>> {
    let timeout = values.parse("mail_timeout", |text| duration(text, Duration::from_millis(100)))?;
    let smtp = values.parse("smtp_url", |text| {
        let parse = |url: String| Ok(SmtpSettings::parse(&url)?.with_reply_timeout(timeout));
        optional(text).map(parse).transpose()
    })?;
    let from = values.parse("mail_from", |text| {
        let from = optional(text).map(|from| MailSender::parse(&from)).transpose()?;
        ensure!(smtp.is_none() || from.is_some(), "must be set with smtp_url");
        Ok(from)
    })?;
    let trusted = values.parse("mail_trusted", |text| list(text, trusted_entry))?;
    // The server introduces itself by the name that people know.
    let host = values.parse("public_url", |text| {
        Ok(Url::parse(text).ok().and_then(|url| url.host_str().map(str::to_owned)))
    })?;
    let Some(smtp) = smtp else { return Ok(None) };
    let smtp = host.iter().fold(smtp, |smtp, host| smtp.with_hello_name(host));
    let from = from.context("mail_from is missing")?;
    Ok(Some(MailSettings { smtp, from, trusted: TrustedAddresses::new(trusted), timeout }))
}

fn trusted_entry(text: &str) -> Result<String> {
    let is_clean = !text.contains(|c: char| c.is_whitespace() || c.is_control());
    ensure!(is_clean && text.contains('.'), "`{text}` is neither a domain nor an address");
    Ok(text.to_owned())
}
