//! Models, in two independent parts:
//!
//! - [`chat`]: a client for language models behind OpenAI-compatible servers, over `net` only.
//! - [`encoders`]: sentence embedders that run in this process, without a network.
//!
//! Neither knows pages, papers or callers.

pub mod chat;
pub mod encoders;

pub use encoders::{Error, InstalledModel, MiniLm, ModelDir, Result};
