//! Runs Chromium: finds it, starts it on first use, monitors and recycles it. Each visit gets a browser
//! context of its own, and all its traffic passes the loopback proxy of `net`. Never judges the pages it
//! loads.
//!
//! The steps of a visit: [`Browsers`] opens a session (a page slot, a new tab and a lease of the proxy) →
//! emulation and request rules → navigation → waiting until the page is ready → actions → reading the results
//! → the context is disposed of with everything in it.

mod account;
pub mod ads;
mod browsers;
mod cdp;
mod error;
mod file_access;
mod find;
mod flags;
mod indexed_db;
mod own_connections;
mod page;
mod process;
mod process_group;
mod profile_dir;
mod remove_tree;
mod running_browser;
mod session;
mod session_browser;
mod settings;
mod storage_state;
mod tab;
mod targets;
mod visit;
mod visit_request;
mod visit_result;

pub use account::{Account, AccountError, BrowserUser};
pub use browsers::{Browsers, Confinement, Status};
pub use cdp::{CallError, MessageReceiver, RawMessage};
pub use error::{ChromiumNotFound, NavigationError, Phase, VisitError};
pub use find::{chromium_version, find_chromium};
pub use indexed_db::{collect_databases_script, restore_databases_script};
pub use session_browser::{SESSION_WINDOW, SessionBrowser};
pub use settings::{BrowserSettings, Sandbox};
pub use storage_state::{
    Cookie, EMPTY_DOCUMENT, MAX_COOKIES, MAX_ORIGIN_BYTES, OriginStorage, StorageState, cookie_params,
};
pub use visit::actions::keyboard::key_events;
pub use visit::emulate::emulation_commands;
pub use visit::read_page::document_script;
pub use visit_request::{Action, PaperFormat, Screenshot, Visit};
pub use visit_result::{ActionResult, Ready, ScreenshotImage, Timings, Visited};
