//! Interact: browser sessions of teams. A session is a row in the store and a browser in one process. While the process
//! lives it renews its right to the row; a row without that is a lost session, which the janitor ends.
//!
//! Whoever has a signed link of a session may connect to its browser or watch it; everything else needs a key.

mod active;
mod billing;
pub mod code;
mod connect;
mod end;
mod links;
mod list;
mod openings;
mod plan;
mod profiles;
mod recordings;
mod reopen;
mod replays;
mod run_browser;
mod runner;
mod session_cdp;
mod sessions;
mod settings;
mod starting;
mod tasks;

pub use ::interact::live_view::{ViewInput, ViewOutput};
pub use ::interact::{CdpPort, PortReceiver, PortSender};
pub use billing::end_lost_sessions;
pub use code::{CodeError, CodeOutput, CodeRunner, Language, PromptOutput};
pub use connect::{OnActivity, SessionUpload};
pub use links::LinkPurpose;
pub use profiles::{delete_profile, list_profiles};
pub use recordings::{PREFIX as RECORDING_PREFIX, RecordingIndex, RecordingSettings, Recordings};
pub use replays::Replays;
pub use run_browser::RunBrowser;
pub use runner::{SessionCode, SessionCodeSettings};
pub use sessions::Sessions;
pub use settings::InteractSettings;
