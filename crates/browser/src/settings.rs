//! How the browser is set up. Every setting has a default that suits one server of ordinary size.

use crate::account::BrowserUser;
use std::path::PathBuf;
use std::time::Duration;

/// How browsers are started, kept and ended.
#[derive(Debug, Clone)]
pub struct BrowserSettings {
    /// The program to start; `None` looks for one.
    pub executable: Option<PathBuf>,
    pub sandbox: Sandbox,
    /// The account that it runs under.
    pub user: BrowserUser,
    /// Whether every site has a process of its own, also where pages of several sites are frames of one page.
    pub site_isolation: bool,
    /// Visits at once in this process.
    pub max_pages: usize,
    /// After so many pages a fresh browser takes over.
    pub recycle_after_pages: u32,
    /// A fresh browser takes over when all processes of one together hold more private memory than this; at twice
    /// as much the old one is ended at once.
    pub recycle_above_bytes: u64,
    /// A browser without work for so long is ended.
    pub idle_shutdown: Duration,
    /// Bytes a visit may bring in, over all its connections.
    pub bytes_per_visit: u64,
    /// Where the browser keeps its files while it runs; `None` is the system's folder for such.
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
            folder: None,
        }
    }
}

/// Whether pages run in Chromium's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sandbox {
    /// Wherever it works: not under root's account, and not where the kernel forbids it.
    #[default]
    Auto,
    /// Always; without it the browser does not start.
    On,
    Off,
}
