//! What tests start and clean up again: temporary folders, free ports, a private PostgreSQL cluster
//! and an S3-compatible server. For tests only; nothing of the product uses it.
//!
//! Whatever is missing on the machine makes the test that needs it fail with a message that says what
//! to install. Nothing is ever skipped.

mod folder;
mod port;

pub use folder::TempDir;
pub use port::FreePort;
