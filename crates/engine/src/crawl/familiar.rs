//! Addresses of one crawl that this process knows to be in the ledger for good: links to them, which most links of a site are, need
//! not be looked up again. Forgetting costs time and nothing else.

use super::outcome::Lead;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use store::crawls::EntryKey;

/// What is kept at most of each, for one crawl.
const MOST: usize = 200_000;

#[derive(Debug, Default)]
pub struct Familiar {
    known: RwLock<Known>,
    hashers: (RandomState, RandomState),
}

#[derive(Debug, Default)]
struct Known {
    keys: HashSet<EntryKey>,
    /// Links as pages write them, resolved: those that came to one of `keys`.
    links: HashSet<(u64, u64)>,
}

impl Familiar {
    pub fn has(&self, key: &EntryKey) -> bool {
        self.read().keys.contains(key)
    }

    pub fn add(&self, keys: impl IntoIterator<Item = EntryKey>) {
        let mut known = self.write();
        for key in keys {
            if known.keys.len() < MOST {
                known.keys.insert(key);
            }
        }
    }

    /// Makes leads of the links that are new; those that lead to what is known are remembered, so that the next page that has
    /// them passes them over at once.
    pub fn sift<T>(
        &self,
        links: impl Iterator<Item = T>,
        url: impl Fn(&T) -> &str,
        lead: impl Fn(T) -> Lead,
    ) -> Vec<Lead> {
        let mut familiar = Vec::new();
        let mut leads = Vec::new();
        {
            let known = self.read();
            let mut here = HashSet::new();
            for link in links {
                let print = self.print(url(&link));
                if known.links.contains(&print) {
                    continue;
                }
                let lead = lead(link);
                if known.keys.contains(&lead.key) {
                    familiar.push(print);
                } else if here.insert(lead.key) {
                    leads.push(lead);
                }
            }
        }
        if !familiar.is_empty() {
            let mut known = self.write();
            if known.links.len() < MOST {
                known.links.extend(familiar);
            }
        }
        leads
    }

    /// Two hashes with secrets of this process: nobody can make two links meet, and chance will not.
    fn print(&self, url: &str) -> (u64, u64) {
        (self.hashers.0.hash_one(url), self.hashers.1.hash_one(url))
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_passed_over() {
        let lead = |url: &str| Lead { key: [url.as_bytes()[0]; 16], url: url.to_owned(), skip: None };
        let familiar = Familiar::default();
        let sift = |links: &[&str]| {
            let leads = familiar.sift(links.iter(), |link| link, |link| lead(link));
            leads.into_iter().map(|lead| lead.url).collect::<Vec<_>>()
        };
        assert_eq!(sift(&["a1", "a2", "b1"]), ["a1", "b1"], "one of each page");
        familiar.add([[b'a'; 16]]);
        for _ in 0..2 {
            assert_eq!(sift(&["a1", "a2", "a3", "b1"]), ["b1"]);
        }
        assert!(familiar.has(&[b'a'; 16]) && !familiar.has(&[b'b'; 16]));
    }
}
