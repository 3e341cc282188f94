//! Limits of the sessions of a process.

/// Limits of this process.
#[derive(Debug, Clone, Copy)]
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
            keep_warm: true,
            record: true,
        }
    }
}
