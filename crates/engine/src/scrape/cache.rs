//! Stored pages: how one is put away and found again.

use super::capture::{Answer, Rung};
use super::keys::page_key;
use super::memory::BodyPlace;
use super::plan::ScrapePlan;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::io::{self, Read};
use std::time::Duration;
use store::pages::{CachedPage, NewPage};
use url::Url;
use zstd::bulk::Compressor;

/// The longest a page is of use: lockdown asks for pages of up to two years.
const KEPT: Duration = Duration::from_hours(2 * 365 * 24);
/// Fast rather than small: pages shrink to a quarter at any level, and every scrape pays for this.
const LEVEL: i32 = -1;

thread_local! {
    /// Its tables are large and would be made and cleared anew for every page.
    static PACKER: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}
/// Larger pages are not worth their place.
const LARGEST: usize = 16 << 20;

/// What is kept of the headers.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
    #[serde(default)]
    cut: bool,
}

/// A hash over parts of any length that cannot run into each other.
#[derive(Debug)]
pub struct Fields(Sha256);

impl Fields {
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

/// The address without the anchor in its page. A fragment that names a page of its own (`#/settings`, `#!about`) stays: scripts show
/// another page for it.
pub fn without_anchor(url: &Url) -> Url {
    let mut url = url.clone();
    if url.fragment().is_some_and(|fragment| !fragment.starts_with(['/', '!'])) {
        url.set_fragment(None);
    }
    url
}

/// A page to put away; none when it is too large or not worth it.
pub fn put_away(plan: &ScrapePlan, answer: &Answer, rung: Rung) -> Option<NewPage> {
    if !plan.cache.store || answer.status >= 400 || answer.body.len() > LARGEST {
        return None;
    }
    let kept =
        Kept { etag: answer.etag.clone(), last_modified: answer.last_modified.clone(), cut: answer.cut };
    Some(NewPage {
        key: page_key(plan)?,
        url: plan.url.to_string(),
        final_url: answer.url.to_string(),
        status: answer.status,
        content_type: answer.content_type.clone().unwrap_or_default(),
        headers: serde_json::to_string(&kept).ok()?,
        rung: rung.name().to_owned(),
        body: pack(&answer.body).ok()?,
        keep_for: KEPT,
    })
}

/// A stored page.
#[derive(Debug)]
pub struct Known {
    pub answer: Answer,
    /// The way it was had.
    pub rung: Rung,
    pub fetched_at: store::Millis,
}

impl Known {
    /// Whether its site can be asked for it only in case it changed.
    pub fn can_be_revalidated(&self) -> bool {
        self.rung == Rung::Http && (self.answer.etag.is_some() || self.answer.last_modified.is_some())
    }
}

/// How large the body of a stored page is likely to be once it is unpacked: text shrinks to about an eighth.
pub fn likely_size(page: &CachedPage) -> usize {
    page.body.len().saturating_mul(8)
}

/// A stored page as it was; none when it cannot be read, which then counts as not stored.
pub fn take_out(page: &CachedPage) -> Option<Known> {
    let kept: Kept = serde_json::from_str(&page.headers).ok()?;
    let rung = if page.rung == Rung::Browser.name() { Rung::Browser } else { Rung::Http };
    let answer = Answer {
        url: Url::parse(&page.final_url).ok()?,
        status: page.status,
        content_type: Some(page.content_type.clone()).filter(|kind| !kind.is_empty()),
        etag: kept.etag,
        last_modified: kept.last_modified,
        retry_after: None,
        body: unpack(&page.body).ok()?.into(),
        cut: kept.cut,
        place: BodyPlace::default(),
    };
    Some(Known { answer, rung, fetched_at: page.fetched_at })
}

/// Compresses what goes into the store.
pub fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    PACKER.with_borrow_mut(|packer| match packer {
        Some(packer) => packer.compress(bytes),
        None => packer.insert(Compressor::new(LEVEL)?).compress(bytes),
    })
}

/// The reverse of [`pack`], bounded by what we ever put in.
pub fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let most = store::scrapes::LARGEST_SCRAPE;
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
        let too_much = vec![0; store::scrapes::LARGEST_SCRAPE + 1];
        assert!(unpack(&pack(&too_much).unwrap()).is_err(), "never cut in silence");
    }
}
