//! Chromium: found, started on first need, watched and recycled. Pages are visited in contexts of their own,
//! and every byte they ask for passes the loopback proxy of `net`. Never judges what it brings.
//!
//! The way of a visit: [`Browsers`] gives it a place and a fresh tab → a lease of the proxy → emulation and rules →
//! navigation → readiness → actions → what was asked for is read out → the context is disposed of with all it held.

mod account;
mod actions;
pub mod ads;
mod asked;
mod brought;
mod browsers;
mod cdp;
mod error;
mod find;
mod flags;
mod home;
mod page;
mod process;
mod settings;
mod state;
mod tab;
mod targets;
mod tree;
mod visit;

pub use account::{Account, AccountError, BrowserUser};
pub use asked::{Action, PaperFormat, Screenshot, Visit};
pub use brought::{ActionResult, Picture, Ready, Timings, Visited};
pub use browsers::{Browsers, Confinement, Status};
pub use error::{NavigationError, Phase, VisitError};
pub use find::{NotFound, chromium_version, find_chromium};
pub use settings::{BrowserSettings, Sandbox};
pub use state::{Cookie, OriginStorage, StorageState};
