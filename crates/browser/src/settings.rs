//! Browser settings. The defaults suit one server of ordinary size.

use crate::account::BrowserUser;
use std::path::PathBuf;
use std::time::Duration;

/// How browsers are started, recycled and ended.
#[derive(Debug, Clone)]
pub struct BrowserSettings {
    /// The program to start; `None` searches for one.
    pub executable: Option<PathBuf>,
    pub sandbox: Sandbox,
    /// The account it runs under.
    pub user: BrowserUser,
    /// Whether every site gets a process of its own, also frames of other sites within a page.
    pub site_isolation: bool,
    /// Concurrent visits in this process.
    pub max_pages: usize,
    /// The browser is replaced after this many pages.
    pub recycle_after_pages: u32,
    /// The browser is replaced when all its processes together use more private memory than this; at twice as
    /// much the old one is killed at once.
    pub recycle_above_bytes: u64,
    /// An idle browser is ended after this time.
    pub idle_shutdown: Duration,
    /// Bytes a visit may receive, over all its connections.
    pub bytes_per_visit: u64,
    /// Whether the kernel keeps the browser from all files but its own and those of the system, and from all ports but that of
    /// its proxy. Only for a program whose `main` calls [`sandbox::run_if_sandboxed`], because it is started in between.
    pub restrict_files: bool,
    /// The folder for the browser's files; `None` uses the system's temporary folder.
    pub folder: Option<PathBuf>,
}

impl Default for BrowserSettings {
    fn default() -> Self {
        Self {
            executable: None,
            sandbox: Sandbox::Auto,
            user: BrowserUser::Auto,
            site_isolation: true,
            max_pages: 4,
            recycle_after_pages: 500,
            recycle_above_bytes: 2 << 30,
            idle_shutdown: Duration::from_mins(2),
            bytes_per_visit: 64 << 20,
            restrict_files: false,
            folder: None,
        }
    }
}

/// Whether pages run in Chromium's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sandbox {
    /// Where it works: not as root, and not where the kernel forbids it.
    #[default]
    Auto,
    /// Always; the browser does not start without it.
    On,
    Off,
}
