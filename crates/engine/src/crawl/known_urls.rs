//! Addresses of one crawl that this process knows to be in the ledger for good. Most links of a site lead to
//! them, and need not be looked up in the store again. This is a cache: losing it costs time and nothing
//! else.

use super::outcome::Lead;
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use store::crawls::EntryKey;

/// Two hashes of a link.
type Fingerprint = (u64, u64);

/// Keys, and links, that are kept for one crawl.
const MAX_KNOWN_URLS: usize = 200_000;

#[derive(Debug, Default)]
pub struct KnownUrls {
    known: RwLock<KnownSets>,
    hashers: (RandomState, RandomState),
}

#[derive(Debug, Default)]
struct KnownSets {
    keys: HashSet<EntryKey>,
    /// Links as pages write them, resolved: those that came to one of `keys`.
    links: HashSet<Fingerprint>,
}

impl KnownUrls {
    pub fn contains(&self, key: &EntryKey) -> bool {
        self.known_sets().keys.contains(key)
    }

    pub fn add(&self, keys: impl IntoIterator<Item = EntryKey>) {
        let mut known = self.write();
        for key in keys {
            if known.keys.len() < MAX_KNOWN_URLS {
                known.keys.insert(key);
            }
        }
    }

    /// Makes leads of the links that are new. Links to known addresses are remembered, so that they are
    /// passed over at once on the next page that has them.
    pub fn new_leads<T>(
        &self,
        links: impl Iterator<Item = T>,
        url: impl Fn(&T) -> &str,
        lead: impl Fn(T) -> Lead,
    ) -> Vec<Lead> {
        // Making a lead may pause and let other work have the processor, so the lock is never held meanwhile: that
        // other work may wait for it.
        let links: Vec<(Fingerprint, T)> = links.map(|link| (self.fingerprint(url(&link)), link)).collect();
        let unknown: Vec<(Fingerprint, T)> = {
            let known = self.known_sets();
            links.into_iter().filter(|(fingerprint, _)| !known.links.contains(fingerprint)).collect()
        };
        let made: Vec<(Fingerprint, Lead)> =
            unknown.into_iter().map(|(fingerprint, link)| (fingerprint, lead(link))).collect();
        let mut known_links = Vec::new();
        let mut leads = Vec::new();
        {
            let known = self.known_sets();
            let mut here = HashSet::new();
            for (fingerprint, lead) in made {
                if known.keys.contains(&lead.key) {
                    known_links.push(fingerprint);
                } else if here.insert(lead.key) {
                    leads.push(lead);
                }
            }
        }
        if !known_links.is_empty() {
            let mut known = self.write();
            if known.links.len() < MAX_KNOWN_URLS {
                known.links.extend(known_links);
            }
        }
        leads
    }

    /// Two hashes with random keys of this process: collisions cannot be provoked, and are too unlikely to
    /// happen by chance.
    fn fingerprint(&self, url: &str) -> Fingerprint {
        (self.hashers.0.hash_one(url), self.hashers.1.hash_one(url))
    }

    fn known_sets(&self) -> RwLockReadGuard<'_, KnownSets> {
        self.known.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, KnownSets> {
        self.known.write()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_passed_over() {
        let lead = |url: &str| Lead { key: [url.as_bytes()[0]; 16], url: url.to_owned(), skip: None };
        let known_urls = KnownUrls::default();
        let new_leads = |links: &[&str]| {
            let leads = known_urls.new_leads(links.iter(), |link| link, |link| lead(link));
            leads.into_iter().map(|lead| lead.url).collect::<Vec<_>>()
        };
        assert_eq!(new_leads(&["a1", "a2", "b1"]), ["a1", "b1"], "one of each page");
        known_urls.add([[b'a'; 16]]);
        for _ in 0..2 {
            assert_eq!(new_leads(&["a1", "a2", "a3", "b1"]), ["b1"]);
        }
        assert!(known_urls.contains(&[b'a'; 16]) && !known_urls.contains(&[b'b'; 16]));
    }

    #[test]
    fn other_work_may_add_urls_while_a_lead_is_made() {
        let known_urls = KnownUrls::default();
        let lead = |url: &&str| {
            known_urls.add([[b'z'; 16]]);
            Lead { key: [url.as_bytes()[0]; 16], url: (*url).to_owned(), skip: None }
        };
        assert_eq!(known_urls.new_leads(["a", "b"].iter(), |link| link, lead).len(), 2);
    }
}
