//! How a run thinks. A [`Task`] is worked on by a [`Brain`] that sees the web only through [`Web`] and tells everything it does
//! to a [`Journal`]. It knows neither the store nor HTTP, so a run can be played with a scripted web.
//!
//! Two brains: [`BuiltIn`] works by rules alone; [`ModelDriven`] asks a language model what to do next, and falls back on the rules.
//! Text of pages is data to both of them: what a run may ask of the web is decided in `run`, whatever the text says.

mod addresses;
mod answer;
mod artifact;
mod bounds;
mod builtin;
mod calculate;
mod crew;
mod driven;
mod evidence;
mod filling;
#[cfg(test)]
mod injections;
mod parts;
#[cfg(test)]
mod rehearsal;
mod run;
mod wants;
mod worker;

pub use builtin::BuiltIn;
pub use driven::ModelDriven;
pub use parts::*;
