//! Agent runs: accepted and told of ([`Agents`]), carried to their end ([`crew`]), seen while they go on ([`trace`]).
//!
//! How a run thinks is the `agent` crate's; what it may see of the web is [`web`]'s, and what it says goes through [`journal`] into
//! the store (`store::agents`), where it is durable before it counts. So any process may die at any moment: its runs go on elsewhere
//! from their last checkpoint.

pub mod crew;
mod ends;
mod events;
mod journal;
mod look;
pub mod order;
mod plan;
mod search;
mod start;
mod status;
#[cfg(test)]
mod tests;
mod thread;
mod tidy;
mod told;
pub mod trace;
mod unpaid;
mod web;
mod work;

pub use crew::{AgentCrew, AgentCrewOptions, AgentTools, brain};
pub use ends::StoredResult;
pub use order::Order;
pub use start::{Acceptance, Agents};
pub use tidy::{MOST_LOST, tidy};
pub use web::WebSearch;

/// What a run may cost when its caller does not say.
pub const DEFAULT_CREDITS: u64 = 2_500;
