//! The commands of `agent-browser` over the Chrome DevTools Protocol, for agents that know them: bash in a
//! session, prompts, and the MCP server. See [`Commander`].
//!
//! This crate knows one browser by the [`Cdp`] trait. It starts no browser, opens no connection, and knows
//! neither callers nor HTTP.

mod arguments;
mod cdp;
mod client;
mod commander;
mod commands;
mod element;
mod error;
mod events;
mod files;
mod frames;
mod input;
mod page;
pub mod prompt;
mod reply;
mod serve;
mod snapshot;
mod state;
mod words;

pub use arguments::command_names;
pub use cdp::{BoxFuture, Cdp, CdpError, CdpEvent};
pub use client::{CLIENT_NAME, client_main, is_client};
pub use commander::{Commander, CommanderOptions};
pub use frames::{COMMANDS_FD, COMMANDS_LOCK};
pub use reply::CommandReply;
pub use serve::serve;
pub use words::{parse_bare_command, split_line};
