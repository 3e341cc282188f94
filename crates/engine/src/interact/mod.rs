//! Interact: browser sessions of teams. A session is a row in the store and a browser in one process. While the process
//! lives it renews its right to the row; a row without that is a lost session, which the janitor ends.
//!
//! Whoever has a signed link of a session may connect to its browser or watch it; everything else needs a key.

mod active;
mod billing;
pub mod code;
mod links;
mod plan;
mod reopen;
mod runner;
mod session_cdp;
mod sessions;

pub use ::interact::live_view::{ViewInput, ViewOutput};
pub use ::interact::{CdpPort, PortReceiver, PortSender};
pub use billing::end_lost_sessions;
pub use code::{CodeError, CodeOutput, CodeRunner, Language, PromptOutput};
pub use links::LinkPurpose;
pub use runner::{SessionCode, SessionCodeSettings};
pub use sessions::{InteractSettings, OnActivity, Sessions};
