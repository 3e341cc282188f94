//! Webhooks: what a caller asked to be told ([`resolve`]), the deliveries that tell it ([`Events`]), what they are
//! signed with ([`secrets`]), and the [`Sender`] that carries them out. Deliveries are written to the store together
//! with what they tell of; from then on they are delivered at least once, or end as dead letters.

mod asked;
mod events;
mod post;
#[cfg(test)]
mod receiver;
pub mod secrets;
mod sender;
mod turnstile;

pub use asked::{AGENT_EVENTS, JOB_EVENTS, resolve};
pub use events::Events;
pub use post::target_url;
pub use sender::{Sender, SenderOptions};
