//! Messages of monitors to people: mail, chat and push services. [`message_delivery`] makes deliveries for
//! the outbox, [`MessageSender`] sends one of them, [`subscriptions`] knows recipients of mail by their
//! links. What messages look like is decided in the crate `notifications`.

mod delivery;
mod sender;
pub mod subscriptions;

pub use delivery::{
    ChannelMessage, HeldCheck, MessageBody, MessageTarget, ToldCheck, held_id, held_until, message_delivery,
    parse_channel,
};
pub use sender::{MailService, MessageSender};

use notifications::links::NotificationLinks;
use store::{ServerSecrets, StoreResult};

const LINK_SECRET: &str = "monitor links";

/// The signed links in messages. `base_url` is how people reach this server.
pub async fn open_links(store: &dyn ServerSecrets, base_url: &str) -> StoreResult<NotificationLinks> {
    let secret = store.server_secret(LINK_SECRET).await?;
    Ok(NotificationLinks::new(secret, base_url))
}
