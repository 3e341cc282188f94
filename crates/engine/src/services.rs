//! What the capabilities of this process share. Built once at start, by whoever runs them; each capability is
//! given it and takes what it needs, so that none has to ask another one for it.

use crate::cpu_pool::CpuPool;
use crate::files::Files;
use crate::models::Models;
use crate::page_memory::PageMemory;
use crate::records::RecordWriter;
use access::Limiter;
use browser::Browsers;
use document_process::DocumentParser;
use net::{EgressAllow, Fetcher, Purpose};
use std::sync::Arc;
use store::Store;

/// Cheap to clone.
#[derive(Clone)]
pub struct Services {
    pub store: Arc<dyn Store>,
    pub limiter: Arc<Limiter>,
    pub fetcher: Fetcher,
    /// None where no Chromium was found, or the operator turned it off.
    pub browsers: Option<Browsers>,
    pub cpu_pool: CpuPool,
    /// Bounds the memory that bodies of pages take.
    pub page_memory: PageMemory,
    /// Reads pages that are files, and uploads.
    pub documents: DocumentParser,
    pub models: Models,
    pub files: Arc<Files>,
    /// Writes what requests came to.
    pub records: RecordWriter,
    /// What the operator opened in private address space.
    pub egress_allow: EgressAllow,
    /// Whether pages that are scraped and crawled are kept for search.
    pub pages_for_search: bool,
}

impl std::fmt::Debug for Services {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Services").field("browsers", &self.browsers).finish_non_exhaustive()
    }
}

impl Services {
    /// Whether the operator opened a host by its name for pages.
    pub fn names_host(&self, host: &str) -> bool {
        self.egress_allow.names_host(Purpose::Scrape, host)
    }

    /// Whether pages run in Chromium's sandbox; none before the browser was started for the first time.
    pub fn browser_is_sandboxed(&self) -> Option<bool> {
        let confinement = self.browsers.as_ref()?.confinement()?;
        Some(confinement.sandboxed)
    }
}
