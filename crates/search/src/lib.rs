//! Web search: one question, several who may know. The query and its operators, providers behind one trait, their health, and how
//! what they answer becomes one list. It knows neither callers nor the store; pages of hits are scraped by the engine.
//!
//! A [`Question`] is put to a [`Desk`]; the desk asks each [`Provider`] that is well, in order or all at once, filters what they
//! could not, and fuses the lists. [`Found`] has the hits, and who failed and why.

mod category;
mod desk;
mod filter;
mod fusion;
mod health;
mod hit;
mod line;
mod operators;
mod provider;
pub mod providers;
mod question;
mod report;
mod settings;
mod window;

pub use category::Category;
pub use desk::{Desk, Mode};
pub use health::{Condition, Quota};
pub use hit::{Hit, Picture};
pub use line::Key;
pub use operators::{Terms, site};
pub use provider::{Abilities, Answer, Leave, Problem, Provider};
pub use providers::Local;
pub use question::{Kind, Question, WEB, lies_within};
pub use report::{Found, Outcome, Report};
pub use settings::{Keys, Listed, Make, SearchSettings, read_quota};
pub use window::{Unit, Window};
