//! Limits of the sessions of a process.

use std::path::PathBuf;

/// Limits of this process.
#[derive(Debug, Clone)]
pub struct InteractSettings {
    /// Sessions at once; each is a browser.
    pub max_sessions: usize,
    /// Memory of one browser.
    pub max_memory: u64,
    /// What pages, clients and code of one session may store.
    pub max_disk: u64,
    /// Bytes the pages of one session may receive.
    pub max_bytes: u64,
    /// Pages of one session; beyond them the newest is closed.
    pub max_pages: usize,
    /// Clients of the protocol of one session.
    pub max_clients: usize,
    /// The folder that clients on this machine share with the server: downloads are copied there for a client that names a
    /// folder below it, and files below it may be uploaded.
    pub shared_files: Option<PathBuf>,
    /// Whether a browser is started ahead of the next session.
    pub keep_warm: bool,
    /// Whether sessions are recorded unless their caller says otherwise.
    pub record: bool,
}

impl Default for InteractSettings {
    fn default() -> Self {
        Self {
            max_sessions: 20,
            max_memory: 2 << 30,
            max_disk: 4 << 30,
            max_bytes: 4 << 30,
            max_pages: 50,
            max_clients: 32,
            shared_files: None,
            keep_warm: true,
            record: true,
        }
    }
}
