//! What the settlements of one crawl remember between them. Its size is bounded, and it is stored with the
//! crawl.

use super::outcome::Likeness;
use serde::{Deserialize, Serialize};
use sites::TrapState;
use std::collections::BTreeMap;
use store::Millis;
use store::crawls::EntryKey;
use stored_data::stored_json;

/// What errors about it call it.
const MEMORY: &str = "what settlements of a crawl remember";
/// Pages that named a canonical page, and fingerprints of pages whose addresses differ in their query only.
const MAX_CANONICAL: usize = 20_000;
const MAX_LIKENESSES: usize = 20_000;
/// Pages that name a page that names a page…
const MAX_CANONICAL_CHAIN: usize = 32;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettlementMemory {
    pub traps: TrapState,
    /// From pages to those that they named, by key.
    canonical: BTreeMap<u128, u128>,
    alike: Vec<Likeness>,
    /// A page with very many addresses is settled in parts: which one, and from which address on.
    pub at: Option<(u64, usize)>,
}

impl SettlementMemory {
    pub fn from_stored(stored: Option<&[u8]>, now: Millis) -> Self {
        let read = stored.and_then(|packed| stored_json::or_log(stored_json::unpack(MEMORY, packed)));
        read.unwrap_or_else(|| Self {
            traps: TrapState::new(year_of(now)),
            canonical: BTreeMap::new(),
            alike: Vec::new(),
            at: None,
        })
    }

    /// What is to be stored; none when that is stored already.
    pub fn to_stored(&self, stored: Option<&[u8]>) -> Option<Vec<u8>> {
        let packed = stored_json::or_log(stored_json::pack(MEMORY, self))?;
        (stored != Some(packed.as_slice())).then_some(packed)
    }

    /// From where on the addresses of an entry are to be settled.
    pub fn offset_in(&self, seq: u64) -> usize {
        self.at.filter(|(of, _)| *of == seq).map_or(0, |(_, place)| place)
    }

    /// Whether what a page names leads back to the page itself.
    pub fn leads_back_to(&self, page: EntryKey, named: EntryKey) -> bool {
        let (page, mut at) = (u128::from_be_bytes(page), u128::from_be_bytes(named));
        for _ in 0..MAX_CANONICAL_CHAIN {
            if at == page {
                return true;
            }
            match self.canonical.get(&at) {
                Some(next) => at = *next,
                None => return false,
            }
        }
        true
    }

    pub fn remember_canonical(&mut self, page: EntryKey, named: EntryKey) {
        if self.canonical.len() < MAX_CANONICAL {
            self.canonical.insert(u128::from_be_bytes(page), u128::from_be_bytes(named));
        }
    }

    /// Whether a page is remembered to have named another one.
    pub fn names_canonical(&self, page: EntryKey, named: EntryKey) -> bool {
        self.canonical.get(&u128::from_be_bytes(page)) == Some(&u128::from_be_bytes(named))
    }

    /// Whether a page says what another page at its place said; it is remembered when not.
    pub fn is_like_another(&mut self, likeness: Likeness) -> bool {
        if self.alike.iter().any(|other| other.is_like(likeness)) {
            return true;
        }
        if self.alike.len() < MAX_LIKENESSES {
            self.alike.push(likeness);
        }
        false
    }
}

fn year_of(now: Millis) -> i16 {
    jiff::Timestamp::from_millisecond(now).map_or(1970, |now| now.to_zoned(jiff::tz::TimeZone::UTC).year())
}
