//! Reading untrusted files in a sandboxed process.
//!
//! [`DocumentParser`] is the server's side: it hands an open file to a process of the pool and returns its blocks or
//! a [`ParseError`]. [`prepare`] is the side of the process. Nothing of a file is interpreted in the server.

mod error;
mod handler;
mod job;
pub mod overlay;
mod parser;

pub use error::ParseError;
pub use handler::prepare;
pub use job::{MAX_FILE_BYTES, Mode, ParseJob, ParsedFile};
pub use parser::{DocumentParser, ParserOptions};

/// The role of the process, see [`sandbox::run_if_sandboxed`].
pub const ROLE: &str = "documents";
