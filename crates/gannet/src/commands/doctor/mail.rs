//! The mail server: whether it can be reached and takes the login. No mail is sent.

use super::{CheckResult, CheckStatus};
use crate::data_dir;
use crate::settings::Settings;
use net::Deadline;
use notifications::smtp::SmtpSender;
use std::time::Duration;

/// Time limit for connecting and logging in.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(20);

pub async fn check(settings: &Settings) -> CheckResult {
    let part = "mail";
    let Some(mail) = &settings.mail else {
        let text = "none; monitors send no mail: set smtp_url and mail_from; see docs/notifications.md";
        return CheckResult { part, verdict: CheckStatus::Missing, text: text.to_owned() };
    };
    let fetcher = match data_dir::open_fetcher(settings, None) {
        Ok(fetcher) => fetcher,
        Err(error) => return CheckResult { part, verdict: CheckStatus::Broken, text: format!("{error:#}") },
    };
    let sender = SmtpSender::new(mail.smtp.clone(), fetcher);
    let timeout = mail.timeout.min(LOGIN_TIMEOUT);
    let place = format!("{} from {}", mail.smtp.place(), mail.from.address);
    let (verdict, text) = match sender.test_login(Deadline::after(timeout)).await {
        Ok(()) if settings.public_url.is_none() => {
            (CheckStatus::Warning, format!("{place}: works, but links in mails need public_url"))
        }
        Ok(()) => (CheckStatus::Ok, format!("{place}: works")),
        Err(error) => (CheckStatus::Broken, format!("{place}: {error}")),
    };
    CheckResult { part, verdict, text }
}
