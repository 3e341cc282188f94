//! The settings of a channel, checked. Errors name the field and what is expected, and never its value.

use super::Channel;
use std::fmt;
use url::Url;
use wire::SecretText;

const MAX_URL_BYTES: usize = 2_048;
const MAX_TOKEN_BYTES: usize = 512;
const MAX_ROOM_BYTES: usize = 255;
const TELEGRAM_URL: &str = "https://api.telegram.org";
const NTFY_URL: &str = "https://ntfy.sh";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChannelKind {
    Slack,
    Discord,
    Teams,
    Mattermost,
    Ntfy,
    Gotify,
    Telegram,
    Matrix,
    Generic,
}

impl ChannelKind {
    pub const ALL: [Self; 9] = [
        Self::Slack,
        Self::Discord,
        Self::Teams,
        Self::Mattermost,
        Self::Ntfy,
        Self::Gotify,
        Self::Telegram,
        Self::Matrix,
        Self::Generic,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Slack => "slack",
            Self::Discord => "discord",
            Self::Teams => "teams",
            Self::Mattermost => "mattermost",
            Self::Ntfy => "ntfy",
            Self::Gotify => "gotify",
            Self::Telegram => "telegram",
            Self::Matrix => "matrix",
            Self::Generic => "generic",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    fn default_url(self) -> Option<&'static str> {
        match self {
            Self::Telegram => Some(TELEGRAM_URL),
            Self::Ntfy => Some(NTFY_URL),
            _ => None,
        }
    }

    fn needs_token(self) -> bool {
        matches!(self, Self::Gotify | Self::Telegram | Self::Matrix)
    }

    fn takes_token(self) -> bool {
        self.needs_token() || matches!(self, Self::Ntfy | Self::Generic)
    }

    fn needs_room(self) -> bool {
        matches!(self, Self::Telegram | Self::Matrix | Self::Ntfy)
    }

    /// What the room is called by this service.
    fn room_name(self) -> &'static str {
        match self {
            Self::Telegram => "the id of a chat, such as -1001234567890 or @channel",
            Self::Matrix => "the id of a room, such as !abc:example.org",
            _ => "a topic of letters, digits, _ and -",
        }
    }
}

/// The settings of a channel as callers give them. `Debug` shows no address and no token.
#[derive(Clone, Copy, Default)]
pub struct ChannelFields<'a> {
    /// `slack`, `discord`, …
    pub kind: &'a str,
    pub url: Option<&'a str>,
    pub token: Option<&'a str>,
    /// Chat of Telegram, room of Matrix, topic of ntfy.
    pub room: Option<&'a str>,
}

impl fmt::Debug for ChannelFields<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ChannelFields").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// What is wrong with the settings of a channel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    #[error("`type` must be one of {}", ChannelKind::ALL.map(ChannelKind::name).join(", "))]
    UnknownKind,
    #[error("`{field}` is required for {}", kind.name())]
    Missing { kind: ChannelKind, field: &'static str },
    #[error("`{field}` has no meaning for {}", kind.name())]
    NotTaken { kind: ChannelKind, field: &'static str },
    #[error("`url` must be an http or https address of at most {MAX_URL_BYTES} bytes, without a user name")]
    Url,
    #[error("`token` must be at most {MAX_TOKEN_BYTES} visible ASCII characters")]
    Token,
    #[error("`room` must be {}", kind.room_name())]
    Room { kind: ChannelKind },
}

/// The address of a service. All of it is a secret but its host.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ServiceUrl(Url);

impl fmt::Debug for ServiceUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.host())
    }
}

impl ServiceUrl {
    fn parse(text: &str) -> Result<Self, ChannelError> {
        let url = Url::parse(text.trim()).map_err(|_| ChannelError::Url)?;
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        if !is_web || text.len() > MAX_URL_BYTES || !url.username().is_empty() || url.password().is_some() {
            return Err(ChannelError::Url);
        }
        Ok(Self(url))
    }

    pub(super) fn host(&self) -> String {
        self.0.host_str().unwrap_or_default().to_owned()
    }

    pub(super) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The address with more path segments, each percent-encoded.
    pub(super) fn join(&self, segments: &[&str]) -> String {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url.into()
    }
}

impl Channel {
    /// Checks settings.
    pub fn parse(fields: ChannelFields) -> Result<Self, ChannelError> {
        let kind = ChannelKind::from_name(fields.kind).ok_or(ChannelError::UnknownKind)?;
        let url = fields.url.or(kind.default_url()).ok_or(ChannelError::Missing { kind, field: "url" })?;
        let mut url = ServiceUrl::parse(url)?;
        let mut room = fields.room.map(str::to_owned);
        if kind == ChannelKind::Ntfy && room.is_none() {
            room = take_topic(&mut url);
        }
        if kind.needs_room() {
            let room = room.as_deref().ok_or(ChannelError::Missing { kind, field: "room" })?;
            if !is_room(kind, room) {
                return Err(ChannelError::Room { kind });
            }
        } else if room.is_some() {
            return Err(ChannelError::NotTaken { kind, field: "room" });
        }
        let token = match fields.token {
            Some(_) if !kind.takes_token() => return Err(ChannelError::NotTaken { kind, field: "token" }),
            None if kind.needs_token() => return Err(ChannelError::Missing { kind, field: "token" }),
            Some(token) if !is_token(kind, token) => return Err(ChannelError::Token),
            token => token.map(|token| SecretText(token.to_owned())),
        };
        Ok(Self { kind, url, token, room: room.map(SecretText) })
    }
}

/// `https://ntfy.example/topic` → the topic, which leaves the address.
fn take_topic(url: &mut ServiceUrl) -> Option<String> {
    let topic = url.0.path_segments()?.next_back()?.to_owned();
    url.0.path_segments_mut().ok()?.pop();
    url.0.set_query(None);
    Some(topic).filter(|topic| !topic.is_empty())
}

fn is_token(kind: ChannelKind, token: &str) -> bool {
    let visible =
        !token.is_empty() && token.len() <= MAX_TOKEN_BYTES && token.bytes().all(|b| b.is_ascii_graphic());
    // It becomes part of the path: `123456:ABC-def`.
    let is_path = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_' | b'-');
    visible && (kind != ChannelKind::Telegram || token.bytes().all(is_path))
}

fn is_room(kind: ChannelKind, room: &str) -> bool {
    if room.is_empty()
        || room.len() > MAX_ROOM_BYTES
        || room.chars().any(|c| c.is_control() || c.is_whitespace())
    {
        return false;
    }
    let is_name = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    match kind {
        ChannelKind::Telegram => match room.strip_prefix('@') {
            Some(name) => !name.is_empty() && is_name(name),
            None => room.parse::<i64>().is_ok(),
        },
        ChannelKind::Matrix => room.starts_with('!') && room.len() > 1,
        _ => room.len() <= 64 && is_name(room),
    }
}
