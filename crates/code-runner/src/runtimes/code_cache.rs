//! Compiled code of Playwright, written once by a process of ours. Processes of users' code only read it.

use super::{Runtime, ask};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tempfile::TempDir;

const WRITER: &str =
    concat!(include_str!("../drivers/load_playwright.js"), include_str!("../drivers/write_cache.js"));
/// The heap of Node, below the limit of memory so that the error is one that Node explains. Compiled code is good for a
/// process with the same options.
pub(crate) const NODE_HEAP_OPTION: &str = "--max-old-space-size=768";

/// A folder with compiled code, which goes with it.
#[derive(Debug)]
pub(crate) struct CodeCache(TempDir);

impl CodeCache {
    /// Compiles the Playwright of this runtime. `None` where that does not work: it is compiled at each start then.
    pub(crate) async fn write(node: &Runtime) -> Option<Self> {
        let playwright = node.playwright.as_deref()?;
        let folder = tempfile::Builder::new().prefix("gannet-code-").tempdir().ok()?;
        // Code may run under another account.
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).ok()?;
        let (from, to) = (playwright.to_str()?, folder.path().to_str()?);
        ask(&node.executable, [NODE_HEAP_OPTION, "-e", WRITER, from, to]).await?;
        let has_any = std::fs::read_dir(folder.path()).ok()?.next().is_some();
        has_any.then_some(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}
