//! Reading untrusted files in a sandboxed process.
//!
//! [`DocumentParser`] is the server's side: it hands an open file to a process of the pool and returns its blocks or
//! a [`ParseError`]. [`prepare`] is the side of the process. Nothing of a file is interpreted in the server.
//!
//! The processes run the server's own program, which reads text, or [`OcrProgram`], which reads pictures too.

mod error;
mod handler;
mod job;
mod ocr_program;
pub mod overlay;
mod parser;

pub use error::ParseError;
pub use handler::prepare;
pub use job::{MAX_FILE_BYTES, Mode, ParseJob, ParsedFile};
pub use ocr_program::{INSTALL_OCR_MODELS, OCR_PROGRAM_VERSION, OcrProgram, OcrProgramError};
pub use parser::{DocumentParser, FileAnswer, OcrSetup, ParserOptions};

/// The role of the process, see [`sandbox::run_if_sandboxed`].
pub const ROLE: &str = "documents";
