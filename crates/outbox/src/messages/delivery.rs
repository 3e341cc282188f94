//! Messages as deliveries of the outbox. Each is a subject of its own: a recipient whose mail server puts us
//! off holds up nobody else.

use notifications::channel::{Channel, ChannelError, ChannelFields};
use notifications::message::CheckMessage;
use serde::{Deserialize, Serialize};
use store::Millis;
use store::webhooks::{Delivery, NewDelivery};
use stored_data::hashed_keys::KeyHasher;
use stored_data::stored_json;
use uuid::{Builder, Uuid};
use wire::SecretText;
use wire::monitor::ChannelInput;

const MESSAGE_EVENT: &str = "monitor.message";
const CONFIRMATION_EVENT: &str = "monitor.email.confirm";

/// Where a message goes; stored with it, encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "to", rename_all = "lowercase")]
pub enum MessageTarget {
    /// A recipient who is asked whether they want messages of a monitor.
    Confirmation {
        email: String,
        subscription: Uuid,
        monitor: Uuid,
    },
    Mail {
        email: String,
        subscription: Uuid,
        include_diffs: bool,
        check: Uuid,
    },
    Channel(ChannelMessage),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelMessage {
    pub channel: ChannelInput,
    pub check: Uuid,
}

/// What is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageBody {
    Check(Box<CheckMessage>),
    /// What checks found in quiet hours; it is put together when they have ended.
    Held(HeldCheck),
    Confirmation {
        monitor_name: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCheck {
    pub monitor: Uuid,
    /// When the first check ended whose message is held.
    pub since: Millis,
    /// When the message is due. Checks carry it too, and so are known to belong to it.
    pub until: Millis,
}

/// What the stored result of a check says about messages.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToldCheck {
    /// What there was to tell, if anything.
    pub message: Option<CheckMessage>,
    /// The end of the quiet hours that it is held for.
    pub held_until: Option<Millis>,
}

impl ToldCheck {
    /// Of the stored result of a check.
    pub fn from_result(result: Option<&str>) -> Self {
        let read = |text| stored_json::or_log(stored_json::from_text("a check", text));
        result.and_then(read).unwrap_or_default()
    }
}

impl MessageTarget {
    /// `None` for targets of webhooks.
    pub fn parse(target: &str) -> Option<Self> {
        serde_json::from_str(target).ok()
    }

    pub fn is_mail(&self) -> bool {
        !matches!(self, Self::Channel(_))
    }

    /// What the message is about.
    pub fn job(&self) -> Uuid {
        match self {
            Self::Confirmation { monitor, .. } => *monitor,
            Self::Mail { check, .. } | Self::Channel(ChannelMessage { check, .. }) => *check,
        }
    }

    /// Where it goes, for people: the address of a recipient, the host of a service.
    pub fn shown_url(&self) -> String {
        match self {
            Self::Confirmation { email, .. } | Self::Mail { email, .. } => format!("mailto:{email}"),
            Self::Channel(message) => parse_channel(&message.channel)
                .map_or_else(|_| String::new(), |channel| format!("https://{}", channel.host())),
        }
    }
}

/// The settings of a channel, checked.
pub fn parse_channel(input: &ChannelInput) -> Result<Channel, ChannelError> {
    let text = |secret: &'_ Option<SecretText>| secret.as_ref().map(|SecretText(text)| text.clone());
    let (url, token, room) = (text(&input.url), text(&input.token), text(&input.room));
    Channel::parse(ChannelFields {
        kind: input.kind.as_deref().unwrap_or_default(),
        url: url.as_deref(),
        token: token.as_deref(),
        room: room.as_deref(),
    })
}

/// The id of the one message that tells a receiver what was found in quiet hours: the same for every check in
/// them, so it is written once.
pub fn held_id(held: HeldCheck, receiver: Uuid) -> Uuid {
    let mut key = KeyHasher::new("held message of a monitor");
    key.add(&held.monitor.to_string());
    key.add(&receiver.to_string());
    key.add(&held.until.to_string());
    let mut bytes = [0; 10];
    bytes.copy_from_slice(&key.finish()[..10]);
    let millis = u64::try_from(held.until).unwrap_or_default();
    Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
}

/// When a message could first be sent, where it was held.
pub fn held_until(delivery: &Delivery) -> Millis {
    match serde_json::from_slice(&delivery.body) {
        Ok(MessageBody::Held(held)) => held.until,
        _ => 0,
    }
}

/// A message as a delivery. What cannot be written is logged and not sent.
pub fn message_delivery(
    team: Uuid,
    id: Uuid,
    target: &MessageTarget,
    body: &MessageBody,
) -> Option<NewDelivery> {
    let is_confirmation = matches!(target, MessageTarget::Confirmation { .. });
    let not_before = match body {
        MessageBody::Held(held) => Some(held.until),
        MessageBody::Check(_) | MessageBody::Confirmation { .. } => None,
    };
    Some(NewDelivery {
        id,
        team_id: team,
        subject: id,
        event: if is_confirmation { CONFIRMATION_EVENT } else { MESSAGE_EVENT }.to_owned(),
        target: stored_json::or_log(stored_json::to_text("the target of a message", target))?,
        body: stored_json::or_log(stored_json::to_text("a message", body))?.into_bytes(),
        document: None,
        not_before,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_told_from_webhooks_and_show_no_secret() {
        let channel = ChannelInput {
            kind: Some("slack".to_owned()),
            url: Some(SecretText("https://hooks.slack.test/T0/s3cret".to_owned())),
            ..ChannelInput::default()
        };
        let target = MessageTarget::Channel(ChannelMessage { channel, check: Uuid::nil() });
        let written = serde_json::to_string(&target).unwrap();
        assert_eq!(MessageTarget::parse(&written), Some(target.clone()));
        assert_eq!(target.shown_url(), "https://hooks.slack.test");
        assert!(!format!("{target:?}").contains("s3cret"));
        assert_eq!(MessageTarget::parse(r#"{"url":"https://a.test/","headers":{}}"#), None);
    }

    #[test]
    fn one_message_for_all_checks_of_a_night() {
        let held = |since| HeldCheck { monitor: Uuid::from_u128(1), since, until: 1_800_000_000_000 };
        let receiver = Uuid::from_u128(2);
        assert_eq!(held_id(held(1), receiver), held_id(held(2), receiver));
        assert_ne!(held_id(held(1), receiver), held_id(held(1), Uuid::from_u128(3)));
    }
}
