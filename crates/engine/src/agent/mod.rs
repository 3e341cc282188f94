//! Agent runs: accepted ([`Agents`]), worked on ([`worker`]), and watched while they run ([`trace`]).
//!
//! How a run thinks is the `agent` crate's; what it may see of the web is [`web`]'s, and what it says goes
//! through [`journal`] into the store (`store::agents`), where it is durable before it counts. So any process
//! may die at any moment: its runs go on elsewhere from their last checkpoint.

mod allowed_pages;
mod attempt;
mod browser_page;
mod ending;
mod events;
mod journal;
mod open_agents;
pub mod order;
mod plan;
mod search;
mod skill;
mod sources;
mod start;
mod status;
mod sweep;
#[cfg(test)]
mod tests;
mod thread;
pub mod trace;
mod trace_event;
mod unpaid;
mod web;
mod web_error;
pub mod worker;

pub use ending::StoredResult;
pub use order::Order;
pub(crate) use sources::sources;
pub use start::{Acceptance, Agents};
pub use store::agents::RunKind;
pub use sweep::{MAX_LOST_WORKERS, sweep_runs};
pub use web::WebSearch;
pub use worker::{AgentTools, AgentWorker, brain};

/// What a run may cost when its caller does not say.
pub const DEFAULT_CREDITS: u64 = 2_500;
