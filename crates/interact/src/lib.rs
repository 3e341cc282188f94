//! Browser sessions: a Chromium of its own for each, which any number of clients of its protocol drive at once.
//!
//! A [`Session`] owns the browser. [`Session::connect`] gives a client a [`CdpPort`]: messages of the protocol in both
//! directions, as over a WebSocket of Chromium's own. [`CdpClient`] is such a client for our own code.

pub mod bridge;
mod client;
pub mod emulation;
pub mod live_view;
pub mod recording;
mod screencast;
mod session;
mod storage;
mod targets;
mod warm;

pub use bridge::{CODE_FOLDER, CdpPort, PortReceiver, PortSender};
pub use client::{CdpClient, CdpError, CdpEvent};
pub use session::{EndReason, Session, SessionRules, StartError};
pub use targets::PageInfo;
pub use warm::SessionBrowsers;
