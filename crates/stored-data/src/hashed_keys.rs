//! Hashes that the store knows pages, lists and requests by.

use sha2::{Digest, Sha256};
use sites::PageUrl;
use store::crawls::EntryKey;

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

/// What a page is known by in the ledger: equal for addresses that are one page.
pub fn entry_key(address: &PageUrl) -> EntryKey {
    short_hash("page", address.key())
}

/// The same for an address of a batch, which is one page for what is written and nothing else.
pub fn written_key(written: &str) -> EntryKey {
    short_hash("page", written)
}

/// What the lists of a host (robots, sitemaps, feeds) are known by: no page has such a key.
pub fn lists_key(host: &str) -> EntryKey {
    short_hash("lists", host)
}

/// Half of a SHA-256: too long for two addresses to meet by chance, and hardly by force.
fn short_hash(what: &str, text: &str) -> EntryKey {
    let mut hash = Sha256::new();
    hash.update(what);
    hash.update([0]);
    hash.update(text);
    let mut key = EntryKey::default();
    key.copy_from_slice(&hash.finalize()[..size_of::<EntryKey>()]);
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use sites::UrlEquivalence;

    #[test]
    fn one_page_has_one_key_and_lists_have_another() {
        let similar = UrlEquivalence { ignore_query: false, similar: true };
        let key = |text: &str| entry_key(&PageUrl::parse(text, similar).unwrap());
        assert_eq!(key("http://www.site.example/a/"), key("https://site.example/a#x"));
        assert_ne!(key("http://site.example/a"), key("http://site.example/b"));
        assert_ne!(written_key("site.example"), lists_key("site.example"));
    }
}
