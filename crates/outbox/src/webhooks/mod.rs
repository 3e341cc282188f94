//! Webhooks: what a request asks for ([`resolve`]), the deliveries of its events ([`Events`]), what they are
//! signed with ([`signing_secrets`]), and the [`DeliveryWorker`] that sends them. Deliveries are written to the store
//! together with what they tell of; from then on they are delivered at least once, or end as dead letters.

mod events;
mod post;
#[cfg(test)]
mod receiver;
mod resolve;
mod send_limits;
pub mod signing_secrets;
mod worker;

pub use events::Events;
pub use post::{job_id, target_url};
pub use resolve::{AGENT_EVENTS, JOB_EVENTS, Webhook, check_address, resolve};
pub use store::webhooks::{Delivery, WebhookSecret};
pub use worker::{DeliveryOptions, DeliveryWorker};
