//! Who is told besides the webhook: recipients of mail, channels, quiet hours. What was asked is checked
//! here, where its caller can still see what is wrong.

use jiff::Timestamp;
use net::EgressAllow;
use notifications::alerts::QuietHours;
use outbox::messages::{parse_channel, subscriptions::normal_address};
use outbox::webhooks;
use uuid::Uuid;
use wire::monitor::{ChannelInput, ChannelView, EmailInput, NotificationInput, NotificationView};
use wire::{Issues, SecretText};

const MAX_RECIPIENTS: usize = 25;
const MAX_CHANNELS: usize = 10;

/// What was asked, checked: addresses in their normal form and once each, channels with their ids. `before`
/// is what the monitor has, whose channels are kept by their ids.
pub fn resolve_notification(
    asked: &NotificationInput,
    before: Option<&NotificationInput>,
    (allow, timezone): (&EgressAllow, Option<&str>),
    issues: &mut Issues,
) -> NotificationInput {
    let known = before.and_then(|before| before.channels.as_deref()).unwrap_or_default();
    let mut resolved = asked.clone();
    if let Some(email) = &mut resolved.email {
        resolve_recipients(email, issues);
    }
    if let Some(channels) = &mut resolved.channels {
        if channels.len() > MAX_CHANNELS {
            issues.add("notification.channels", "must have at most 10 entries", "too_big");
        }
        for channel in channels.iter_mut().take(MAX_CHANNELS) {
            *channel = resolve_channel(channel, known);
            if let Err(why) = check_channel(channel, allow) {
                issues.add("notification.channels", &why, "invalid_value");
            }
        }
    }
    if let Some(hours) = &mut resolved.quiet_hours {
        let zone = hours.timezone.get_or_insert_with(|| timezone.unwrap_or("UTC").to_owned());
        if let Err(error) = QuietHours::parse(&hours.from, &hours.until, zone) {
            issues.add("notification.quietHours", &error.to_string(), "invalid_value");
        }
    }
    resolved
}

fn resolve_recipients(email: &mut EmailInput, issues: &mut Issues) {
    let Some(asked) = &mut email.recipients else { return };
    if asked.len() > MAX_RECIPIENTS {
        issues.add("notification.email.recipients", "must have at most 25 entries", "too_big");
        asked.truncate(MAX_RECIPIENTS);
    }
    let mut recipients: Vec<String> = Vec::new();
    for address in asked.iter() {
        match normal_address(address) {
            Ok(address) if !recipients.contains(&address) => recipients.push(address),
            Ok(_) => {}
            Err(error) => issues.add("notification.email.recipients", &error, "invalid_value"),
        }
    }
    *asked = recipients;
}

/// A channel with its id. One that the monitor has keeps what is not given anew.
fn resolve_channel(asked: &ChannelInput, known: &[ChannelInput]) -> ChannelInput {
    let before = asked.id.and_then(|id| known.iter().find(|channel| channel.id == Some(id)));
    let before = before.filter(|before| asked.kind.is_none() || asked.kind == before.kind);
    let or_before = |given: &Option<SecretText>, field: fn(&ChannelInput) -> &Option<SecretText>| {
        given.clone().or_else(|| field(before?).clone())
    };
    ChannelInput {
        id: asked.id.or_else(|| Some(Uuid::now_v7())),
        kind: asked.kind.clone().or_else(|| before?.kind.clone()),
        url: or_before(&asked.url, |channel| &channel.url),
        token: or_before(&asked.token, |channel| &channel.token),
        room: or_before(&asked.room, |channel| &channel.room),
        host: None,
    }
}

fn check_channel(channel: &ChannelInput, allow: &EgressAllow) -> Result<(), String> {
    parse_channel(channel).map_err(|error| error.to_string())?;
    let Some(SecretText(url)) = &channel.url else { return Ok(()) };
    webhooks::check_address(url, allow).map_err(|why| format!("`url` {why}"))
}

/// As callers see it.
pub fn notification_view(notification: &NotificationInput) -> NotificationView {
    let channels = notification.channels.as_ref().map(|channels| channels.iter().filter_map(view).collect());
    NotificationView {
        email: notification.email.clone(),
        channels,
        quiet_hours: notification.quiet_hours.clone(),
    }
}

fn view(channel: &ChannelInput) -> Option<ChannelView> {
    let host = parse_channel(channel).ok()?.host();
    Some(ChannelView { id: channel.id?, kind: channel.kind.clone()?, host })
}

/// The addresses that get mail.
pub fn recipients(notification: Option<&NotificationInput>) -> &[String] {
    let email = notification.and_then(|notification| notification.email.as_ref());
    let enabled = email.filter(|email| email.enabled == Some(true));
    enabled.and_then(|email| email.recipients.as_deref()).unwrap_or_default()
}

/// When a message that is ready `now` may be sent, where that is later.
pub fn quiet_until(notification: Option<&NotificationInput>, now: Timestamp) -> Option<Timestamp> {
    let hours = notification?.quiet_hours.as_ref()?;
    let zone = hours.timezone.as_deref().unwrap_or("UTC");
    let quiet = QuietHours::parse(&hours.from, &hours.until, zone).ok()?;
    Some(quiet.send_at(now)).filter(|until| *until > now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn resolve(asked: Value, before: Option<&NotificationInput>) -> (NotificationInput, String) {
        let asked: NotificationInput = serde_json::from_value(asked).unwrap();
        let mut issues = Issues::default();
        let resolved = resolve_notification(
            &asked,
            before,
            (&EgressAllow::default(), Some("Europe/Berlin")),
            &mut issues,
        );
        let wrong = issues.finish().err().map(|issues| format!("{issues:?}"));
        (resolved, wrong.unwrap_or_default())
    }

    #[test]
    fn addresses_are_normal_and_once_each() {
        let asked = json!({ "email": { "enabled": true, "recipients": [" a@B.Example", "a@b.example"] } });
        let (resolved, wrong) = resolve(asked, None);
        assert_eq!((recipients(Some(&resolved)), wrong.as_str()), (&["a@b.example".to_owned()][..], ""));
        let off = resolve(json!({ "email": { "recipients": ["a@b.example"] } }), None).0;
        assert!(recipients(Some(&off)).is_empty(), "off unless it is enabled");
    }

    #[test]
    fn what_is_wrong_is_said_without_secrets() {
        for (asked, word) in [
            (json!({ "channels": [{ "type": "pager" }] }), "must be one of slack"),
            (json!({ "channels": [{ "type": "slack" }] }), "`url` is required"),
            (json!({ "channels": [{ "type": "slack", "url": "http://10.0.0.1/s3cret" }] }), "egress_allow"),
            (json!({ "channels": [{ "type": "slack", "url": "http://intranet/s3cret" }] }), "top-level"),
            (
                json!({ "channels": [{ "type": "matrix", "url": "https://a.test/", "token": "s3cret" }] }),
                "room",
            ),
            (
                json!({ "channels": vec![json!({ "type": "slack", "url": "https://a.test/" }); 11] }),
                "at most 10",
            ),
            (json!({ "quietHours": { "from": "25:00", "until": "7:00" } }), "22:00"),
            (json!({ "quietHours": { "from": "5:00", "until": "7:00", "timezone": "Mars" } }), "IANA"),
            (json!({ "email": { "recipients": ["nobody"] } }), "e-mail"),
        ] {
            let wrong = resolve(asked.clone(), None).1;
            assert!(wrong.contains(word) && !wrong.contains("s3cret"), "{asked}: {wrong}");
        }
    }

    #[test]
    fn a_channel_is_kept_by_its_id() {
        let asked =
            json!({ "channels": [{ "type": "gotify", "url": "https://push.test/", "token": "s3cret" }] });
        let before = resolve(asked, None).0;
        let shown = serde_json::to_value(notification_view(&before)).unwrap();
        assert_eq!(
            (&shown["channels"][0]["host"], shown.to_string().contains("s3cret")),
            (&json!("push.test"), false)
        );
        let (kept, wrong) = resolve(shown.clone(), Some(&before));
        assert_eq!((&kept, wrong.as_str()), (&before, ""));
        let other = json!({ "channels": [{ "id": shown["channels"][0]["id"], "type": "generic", "url": "https://b.test/" }] });
        let (changed, _) = resolve(other, Some(&before));
        assert_eq!(changed.channels.unwrap()[0].token, None, "another service never gets this token");
    }

    #[test]
    fn quiet_hours_are_in_the_zone_of_the_schedule() {
        let (resolved, _) = resolve(json!({ "quietHours": { "from": "22:00", "until": "07:30" } }), None);
        let at =
            |time: &str| quiet_until(Some(&resolved), time.parse().unwrap()).map(|until| until.to_string());
        assert_eq!(at("2026-01-10T21:30:00Z").as_deref(), Some("2026-01-11T06:30:00Z"));
        assert_eq!(at("2026-01-10T12:00:00Z"), None);
    }
}
