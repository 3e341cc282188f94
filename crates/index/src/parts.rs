//! What goes into the index, what is asked of it, and what comes out.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A page as it is kept for search. Everything in it is bounded by whoever made it ([`Document::bounded`]).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Document {
    /// As it is shown.
    pub url: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// Plain text of the main content.
    pub body: String,
    /// ISO 639-1, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// When it was published or last changed, as the page says; milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<i64>,
    /// Pages its content links to, by their [`crate::address_number`]. Hits come without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<u64>,
    /// Pictures of the content with their texts, for `images`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// `article`, `news`, `doc`, `issue`, `pull_request`, `readme`, `opinion`, …: what kind of thing it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What collections filter by: `repo`, `source`, `language`, `topic`, `license`, `stars`, `archived`, `fork`, `jurisdiction`, `court`,
    /// `courtType`, `cites`, …; lists are joined by newlines.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    pub url: String,
    #[serde(default)]
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
}

/// One line of the feed: a page that came, changed or went.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Grows along the feed; the index remembers the last it has.
    pub seq: i64,
    /// What makes two pages one, within a team and a collection: the newer takes the place of the older.
    pub key: [u8; 16],
    /// Nil: for every team.
    pub team: Uuid,
    /// `web`, `developer` or `gov`.
    pub collection: String,
    /// When it was fetched or added; milliseconds since the Unix epoch.
    pub seen_at: i64,
    /// None: it is gone.
    pub document: Option<Document>,
}

/// A question to the index, operators taken apart already.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub team: Uuid,
    pub collection: String,
    /// What is looked for, without operators.
    pub text: String,
    pub phrases: Vec<String>,
    /// None of these words.
    pub without: Vec<String>,
    pub in_title: Vec<String>,
    pub in_url: Vec<String>,
    /// `pdf`, `html`, …: the end of the path.
    pub file_types: Vec<String>,
    /// Hosts with all below them; a path may follow (`docs.rs/tokio`).
    pub sites: Vec<String>,
    pub without_sites: Vec<String>,
    /// Seen or published within, milliseconds since the Unix epoch.
    pub since: Option<i64>,
    pub until: Option<i64>,
    pub newest_first: bool,
    /// Documents in it come forward, and words are taken in its forms too; others are found all the same.
    pub language: Option<String>,
    pub kinds: Vec<String>,
    pub filters: Vec<Filter>,
    /// Hosts and addresses that the team found valuable, with how much (0 to 1).
    pub valued: Vec<(String, f32)>,
    pub limit: usize,
    /// Passages of each hit, best first.
    pub passages: usize,
    /// Milliseconds since the Unix epoch, for freshness.
    pub now: i64,
}

/// A condition on an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// One of these, without regard to case.
    Is(String, Vec<String>),
    AtLeast(String, f64),
    AtMost(String, f64),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub document: Document,
    pub seen_at: i64,
    pub score: f32,
    /// Passages that answer the query, word for word, best first.
    pub passages: Vec<String>,
}

/// What an answer covers.
#[derive(Debug, Clone, Default)]
pub struct Found {
    pub hits: Vec<Hit>,
    /// Documents that match, when that was counted.
    pub matched: Option<u64>,
    /// Documents of this team and collection.
    pub searched: u64,
}
