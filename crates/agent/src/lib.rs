//! The reasoning of an agent run. A [`Brain`] works on a [`Task`]. It reaches the web only through [`Web`]
//! and reports everything it does to a [`Journal`]. It knows neither the store nor HTTP, so tests can run it
//! over a fake web.
//!
//! There are two brains: [`BuiltIn`] works by rules alone; [`ModelDriven`] asks a language model what to do
//! next and falls back on the rules. Page text is data to both: `run` decides which URLs may be requested,
//! whatever a page says.

mod addresses;
mod agent;
mod artifact;
mod builtin;
mod calculate;
mod conclude;
mod controls;
mod evidence;
mod filling;
#[cfg(test)]
mod injection_tests;
mod limits;
mod model_driven;
mod prompt_words;
mod run;
mod subagents;
#[cfg(test)]
mod test_doubles;
mod types;

pub use builtin::BuiltIn;
pub use model_driven::ModelDriven;
pub use types::*;
