//! The page cache: how a response is stored and read back, and how data for the store is compressed.

use super::fetched_page::{PageResponse, Rung};
use super::keys::page_key;
use super::memory::BodyMemory;
use super::plan::ScrapePlan;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::io::{self, Read};
use std::time::Duration;
use store::pages::{CachedPage, NewPage};
use url::Url;
use zstd::bulk::Compressor;

/// How long a page is stored: lockdown accepts pages of up to two years.
const PAGE_RETENTION: Duration = Duration::from_hours(2 * 365 * 24);
/// Fast rather than small: pages shrink to a quarter at any level, and every scrape pays for this.
const COMPRESSION_LEVEL: i32 = -1;

thread_local! {
    /// Its tables are large and would be made and cleared anew for every page.
    static PACKER: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}
/// Larger pages are not cached.
const MAX_PAGE_BYTES: usize = 16 << 20;

/// The headers that are stored with a page.
#[derive(Debug, Default, Serialize, Deserialize)]
struct StoredHeaders {
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
    #[serde(default)]
    cut: bool,
}

/// A hash over parts of any length, each with its length, so that no two lists of parts are alike.
#[derive(Debug)]
pub struct KeyHasher(Sha256);

impl KeyHasher {
    pub fn new(what: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.add(what);
        fields
    }

    pub fn add(&mut self, part: &str) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part.as_bytes());
    }

    pub fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

/// The address without the anchor in its page. A fragment that names a page of its own (`#/settings`,
/// `#!about`) stays: scripts show another page for it.
pub fn without_anchor(url: &Url) -> Url {
    let mut url = url.clone();
    if url.fragment().is_some_and(|fragment| !fragment.starts_with(['/', '!'])) {
        url.set_fragment(None);
    }
    url
}

/// A response as it is cached; none where it is too large, an error, or not to be stored.
pub fn to_new_page(plan: &ScrapePlan, response: &PageResponse, rung: Rung) -> Option<NewPage> {
    if !plan.cache.store || response.status >= 400 || response.body.len() > MAX_PAGE_BYTES {
        return None;
    }
    let headers = StoredHeaders {
        etag: response.etag.clone(),
        last_modified: response.last_modified.clone(),
        cut: response.cut,
    };
    Some(NewPage {
        key: page_key(plan)?,
        url: plan.url.to_string(),
        final_url: response.url.to_string(),
        status: response.status,
        content_type: response.content_type.clone().unwrap_or_default(),
        headers: serde_json::to_string(&headers).ok()?,
        rung: rung.name().to_owned(),
        body: pack(&response.body).ok()?,
        keep_for: PAGE_RETENTION,
    })
}

/// A response from the cache.
#[derive(Debug)]
pub struct CachedResponse {
    pub response: PageResponse,
    /// How it was fetched.
    pub rung: Rung,
    pub fetched_at: store::Millis,
}

impl CachedResponse {
    /// Whether the site can be asked with a conditional request.
    pub fn can_be_revalidated(&self) -> bool {
        self.rung == Rung::Http && (self.response.etag.is_some() || self.response.last_modified.is_some())
    }
}

/// The likely size of a cached body once it is decompressed: text shrinks to about an eighth.
pub fn estimate_size(page: &CachedPage) -> usize {
    page.body.len().saturating_mul(8)
}

/// Reads a cached page; none where it cannot be read, which counts as not cached.
pub fn from_cached_page(page: &CachedPage) -> Option<CachedResponse> {
    let headers: StoredHeaders = serde_json::from_str(&page.headers).ok()?;
    let rung = if page.rung == Rung::Browser.name() { Rung::Browser } else { Rung::Http };
    let response = PageResponse {
        url: Url::parse(&page.final_url).ok()?,
        status: page.status,
        content_type: Some(page.content_type.clone()).filter(|kind| !kind.is_empty()),
        etag: headers.etag,
        last_modified: headers.last_modified,
        retry_after: None,
        body: unpack(&page.body).ok()?.into(),
        cut: headers.cut,
        held_memory: BodyMemory::default(),
    };
    Some(CachedResponse { response, rung, fetched_at: page.fetched_at })
}

/// Compresses what goes into the store.
pub fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    PACKER.with_borrow_mut(|packer| match packer {
        Some(packer) => packer.compress(bytes),
        None => packer.insert(Compressor::new(COMPRESSION_LEVEL)?).compress(bytes),
    })
}

/// The reverse of [`pack`], bounded by what we ever put in.
pub fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let most = store::scrapes::MAX_SCRAPE_BYTES;
    let mut plain = Vec::new();
    zstd::stream::Decoder::new(bytes)?.take(most as u64 + 1).read_to_end(&mut plain)?;
    // Half a document would be read as a broken one.
    if plain.len() > most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "larger than anything that is kept"));
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        for text in ["", "a", &"<p>gannets dive</p>".repeat(5_000)] {
            let packed = pack(text.as_bytes()).unwrap();
            assert!(packed.len() < text.len() / 10 + 32);
            assert_eq!(unpack(&packed).unwrap(), text.as_bytes());
        }
        assert!(unpack(b"no such thing").is_err());
        let too_much = vec![0; store::scrapes::MAX_SCRAPE_BYTES + 1];
        assert!(unpack(&pack(&too_much).unwrap()).is_err(), "never cut in silence");
    }
}
