//! What this service sends by itself: webhooks of jobs ([`webhooks`]) and messages of monitors
//! ([`messages`]). Both are deliveries of the outbox in the store, written together with what they tell of,
//! and sent by one worker.

mod http_post;
pub mod messages;
pub mod webhooks;
