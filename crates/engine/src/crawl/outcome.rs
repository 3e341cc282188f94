//! What a worker found out about an entry, stored in the ledger until the entry is settled.
//!
//! The names of fields and variants are those of stored JSON: crawls of an earlier version are read by them.

use crate::Error;
use serde::{Deserialize, Serialize};
use sites::Fingerprint;
use std::borrow::Cow;
use store::crawls::EntryKey;
use stored_data::stored_json::{self, StoredJsonError};

/// What errors about an [`Outcome`] call it.
const OUTCOME: &str = "the outcome of a crawl entry";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Outcome {
    Page(PageFindings),
    Failed(EntryError),
    /// The page does not belong to the crawl after all; one word says why.
    Skipped(Cow<'static, str>),
    Lists(ListedUrls),
}

/// What settling needs to know of a page that was scraped.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PageFindings {
    /// Where redirects led, when that is another page.
    pub landed: Option<Lead>,
    /// The canonical page that this one names, when that is another page of the crawl.
    pub canonical: Option<Lead>,
    /// Every address on the page, in order, each page once.
    pub leads: Vec<Lead>,
    /// Feeds that a start page names.
    pub feeds: Vec<String>,
    pub likeness: Option<Likeness>,
    /// What the page costs beyond the price of a page.
    #[serde(default)]
    pub extra_credits: i64,
}

/// What the lists of a site named.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ListedUrls {
    pub leads: Vec<Lead>,
    /// Lists that the site names and that could not be fetched.
    pub failed: usize,
    /// There were more addresses than are read.
    pub cut: bool,
}

/// An address that was found on a page or in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lead {
    #[serde(with = "hex_key")]
    pub key: EntryKey,
    pub url: String,
    /// Why it is not taken, when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<Cow<'static, str>>,
}

/// What tells pages apart whose addresses differ in their query only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Likeness {
    /// The address without its query.
    pub place: u64,
    pub print: u64,
}

impl Likeness {
    pub fn is_like(self, other: Self) -> bool {
        let distance = Fingerprint::from_bits(self.print).distance(Fingerprint::from_bits(other.print));
        self.place == other.place && distance <= 1
    }
}

/// Why a page could not be scraped, as callers see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryError {
    pub code: String,
    pub error: String,
}

impl EntryError {
    pub fn from_error(error: &Error) -> Self {
        let wire = error.to_wire();
        let code = wire.kind.entry().code.to_owned();
        Self { code, error: wire.text().to_owned() }
    }

    /// As it is stored with the entry.
    pub fn to_json(&self) -> String {
        serde_json::json!({ "code": self.code, "error": self.error }).to_string()
    }
}

impl Outcome {
    pub fn pack(&self) -> Vec<u8> {
        // Plain data of ours always serialises, and memory always compresses. If not, the entry fails as unreadable
        // when it is settled.
        stored_json::or_log(stored_json::pack(OUTCOME, self)).unwrap_or_default()
    }

    pub fn unpack(packed: &[u8]) -> Result<Self, StoredJsonError> {
        stored_json::unpack(OUTCOME, packed)
    }
}

mod hex_key {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use store::crawls::EntryKey;

    pub fn serialize<S: Serializer>(key: &EntryKey, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&format!("{:032x}", u128::from_be_bytes(*key)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<EntryKey, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(input)?;
        u128::from_str_radix(&text, 16).map(u128::to_be_bytes).map_err(de::Error::custom)
    }
}
