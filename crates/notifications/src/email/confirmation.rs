//! The mail that asks a recipient outside of the team whether they want the messages of a monitor. It is sent
//! once, and says little: the address may belong to somebody who never asked.

use super::{EmailAddress, Mail, MailError, MailParts, MailSender, build};
use crate::html::Markup;
use crate::text::one_line;
use jiff::Timestamp;
use uuid::Uuid;

const MAX_NAME_CHARS: usize = 60;

/// `subscription` is the id of the recipient's subscription, `confirm_url` its signed link.
pub fn confirmation(
    sender: &MailSender,
    to: &EmailAddress,
    monitor_name: &str,
    subscription: Uuid,
    confirm_url: &str,
    now: Timestamp,
) -> Result<Mail, MailError> {
    let name = shown_name(monitor_name);
    let text = format!(
        "Somebody asked to send you messages when the pages of the monitor \"{name}\" change.\n\n\
         If you want them, open this address and confirm:\n{confirm_url}\n\n\
         If not, do nothing: without your confirmation no messages are sent.\n"
    );
    let mut html = Markup::new();
    html.raw("<p>Somebody asked to send you messages when the pages of the monitor “")
        .text(&name)
        .raw("” change.</p><p>")
        .link(confirm_url, "Confirm that you want them")
        .raw("</p><p>If not, do nothing: without your confirmation no messages are sent.</p>");
    build(MailParts {
        sender,
        to,
        subject: format!("Confirm messages of the monitor \"{name}\""),
        date: now,
        identity: format!("confirm.{subscription}"),
        headers: Vec::new(),
        text,
        html,
    })
}

/// The name without anything that mail programs turn into a link: it is written by whoever made the monitor,
/// and this mail goes to people who do not know them.
fn shown_name(name: &str) -> String {
    let words = one_line(name, MAX_NAME_CHARS);
    words.replace("://", " ").replace("www.", "www ").replace('.', "\u{2024}").replace('@', "(at)")
}
