//! What recipients get, read back by a parser that is not ours.

use crate::fixtures::{HOSTILE, hostile_message, long_message, message, time};
use mail_parser::{MessageParser, MimeHeaders};
use notifications::email::{DigestOptions, EmailAddress, Mail, MailSender, confirmation, digest};
use uuid::Uuid;

const UNSUBSCRIBE: &str = "https://gannet.example/monitor/email/unsubscribe?token=abc";

fn sender() -> MailSender {
    MailSender::parse("Gannet <monitors@gannet.example>").unwrap()
}

fn to(address: &str) -> EmailAddress {
    EmailAddress::parse(address).unwrap()
}

fn mail(message: &notifications::message::CheckMessage, include_diffs: bool) -> Mail {
    let options = DigestOptions { include_diffs, unsubscribe_url: UNSUBSCRIBE };
    digest(&sender(), &to("a@b.example"), message, options).unwrap()
}

#[test]
fn a_digest_says_what_changed_as_text_and_as_html() {
    let mail = mail(&message(), true);
    let parsed = MessageParser::default().parse(&mail.bytes).unwrap();
    assert_eq!(parsed.subject(), Some("Shop prices: 1 changed, 1 new, 1 error"));
    assert_eq!(parsed.from().unwrap().first().unwrap().address(), Some("monitors@gannet.example"));
    assert_eq!(parsed.to().unwrap().first().unwrap().address(), Some("a@b.example"));
    assert_eq!(parsed.date().unwrap().to_rfc3339(), "2026-11-18T09:30:00Z");
    assert_eq!(parsed.header_raw("List-Unsubscribe-Post").unwrap().trim(), "List-Unsubscribe=One-Click");
    let unsubscribe: String = parsed.header_raw("List-Unsubscribe").unwrap().split_whitespace().collect();
    assert_eq!(unsubscribe, format!("<{UNSUBSCRIBE}>"));
    assert_eq!(parsed.header_raw("Auto-Submitted").unwrap().trim(), "auto-generated");
    let text = parsed.body_text(0).unwrap();
    let html = parsed.body_html(0).unwrap();
    for body in [&text, &html] {
        for part in ["$49 a month", "$39 a month", "status 503", "Matters (medium confidence)", UNSUBSCRIBE] {
            assert!(body.contains(part), "without {part}: {body}");
        }
    }
    assert!(parsed.text_part(0).unwrap().content_type().is_some());
}

#[test]
fn without_diffs_no_text_of_pages_is_in_the_mail() {
    let mail = mail(&message(), false);
    let parsed = MessageParser::default().parse(&mail.bytes).unwrap();
    for body in [parsed.body_text(0).unwrap(), parsed.body_html(0).unwrap()] {
        assert!(!body.contains("$39 a month"), "{body}");
        assert!(body.contains("5 changes") && body.contains("Matters"), "{body}");
    }
}

#[test]
fn a_mail_that_is_sent_again_can_be_recognised() {
    let id = |mail: &Mail| mail.message_id.clone();
    let first = mail(&message(), true);
    assert_eq!(id(&first), id(&mail(&message(), true)));
    let parsed = MessageParser::default().parse(&first.bytes).unwrap();
    assert_eq!(format!("<{}>", parsed.message_id().unwrap()), first.message_id);
    let options = DigestOptions { include_diffs: true, unsubscribe_url: UNSUBSCRIBE };
    let other = digest(&sender(), &to("c@b.example"), &message(), options).unwrap();
    assert_ne!(id(&first), id(&other), "each recipient has mails of their own");
    let mut next = message();
    next.check_id = Uuid::from_u128(9);
    assert_ne!(id(&first), id(&mail(&next, true)));
}

#[test]
fn hostile_text_adds_no_header_and_no_markup() {
    for hostile in HOSTILE {
        let mail = mail(&hostile_message(hostile), true);
        assert!(mail.bytes.is_ascii());
        let parsed = MessageParser::default().parse(&mail.bytes).unwrap();
        assert!(parsed.bcc().is_none(), "{hostile}");
        assert_eq!(parsed.headers().iter().filter(|header| header.name() == "Subject").count(), 1);
        let html = parsed.body_html(0).unwrap().to_lowercase();
        for tag in [
            "<script",
            "<img",
            "<svg",
            "<iframe",
            "<form",
            "<meta http-equiv",
            "<base",
            "<link",
            "href=\"javascript",
        ] {
            assert!(!html.contains(tag), "{tag} in {html}");
        }
        let text =
            confirmation(&sender(), &to("a@b.example"), hostile, Uuid::nil(), UNSUBSCRIBE, time()).unwrap();
        let parsed = MessageParser::default().parse(&text.bytes).unwrap();
        assert!(parsed.bcc().is_none() && !parsed.body_html(0).unwrap().contains("<script"));
    }
}

#[test]
fn long_messages_are_cut() {
    let mail = mail(&long_message(), true);
    assert!(mail.bytes.len() < 600_000, "{} bytes", mail.bytes.len());
    assert!(
        mail.bytes.split(|b| *b == b'\n').all(|line| line.len() <= 998),
        "a line is longer than SMTP takes"
    );
    let parsed = MessageParser::default().parse(&mail.bytes).unwrap();
    assert!(parsed.body_text(0).unwrap().contains("more pages"));
}

#[test]
fn a_confirmation_shows_no_address_of_the_one_who_asks() {
    let name = "Buy now at https://evil.example or www.evil.example";
    let mail =
        confirmation(&sender(), &to("a@b.example"), name, Uuid::nil(), "https://gannet.example/c", time())
            .unwrap();
    let parsed = MessageParser::default().parse(&mail.bytes).unwrap();
    let text = parsed.body_text(0).unwrap();
    assert!(text.contains("https://gannet.example/c") && !text.contains("evil.example"), "{text}");
}
