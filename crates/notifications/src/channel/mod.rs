//! Chat and push services. A [`Channel`] is where messages go; [`Channel::request`] is the one HTTP request
//! that tells a check there. One file for each service: its limits, and how text is kept from being markup or
//! a mention. No I/O.

mod discord;
mod generic;
mod gotify;
mod matrix;
mod mattermost;
mod ntfy;
mod request;
mod settings;
mod slack;
mod teams;
mod telegram;

pub use request::ChannelRequest;
pub use settings::{ChannelError, ChannelFields, ChannelKind};

use crate::message::CheckMessage;
use settings::ServiceUrl;
use wire::SecretText;

/// Where messages of a monitor are sent. `Debug` shows the kind and the host only: addresses of incoming
/// webhooks are secrets as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    kind: ChannelKind,
    url: ServiceUrl,
    token: Option<SecretText>,
    /// The chat of Telegram, the room of Matrix.
    room: Option<SecretText>,
}

impl Channel {
    pub fn kind(&self) -> ChannelKind {
        self.kind
    }

    /// The host that messages go to, for people.
    pub fn host(&self) -> String {
        self.url.host()
    }

    /// The request that tells about a check. The same message gives the same request, byte for byte.
    pub fn request(&self, message: &CheckMessage) -> ChannelRequest {
        match self.kind {
            ChannelKind::Slack => slack::request(self, message),
            ChannelKind::Discord => discord::request(self, message),
            ChannelKind::Teams => teams::request(self, message),
            ChannelKind::Mattermost => mattermost::request(self, message),
            ChannelKind::Ntfy => ntfy::request(self, message),
            ChannelKind::Gotify => gotify::request(self, message),
            ChannelKind::Telegram => telegram::request(self, message),
            ChannelKind::Matrix => matrix::request(self, message),
            ChannelKind::Generic => generic::request(self, message),
        }
    }

    fn bearer(&self) -> Option<(&'static str, String)> {
        self.token.as_ref().map(|token| ("authorization", format!("Bearer {}", token.0)))
    }
}
