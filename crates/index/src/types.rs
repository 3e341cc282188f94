//! Documents, queries and results of the index.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A page as it is stored for search. Its producer limits the size of every field ([`Document::bounded`]).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Document {
    /// As shown in results.
    pub url: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// Plain text of the main content.
    pub body: String,
    /// ISO 639-1, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// When it was published or last changed, as the page says; milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<i64>,
    /// Pages that its content links to, as [`crate::address_number`]. Not stored: hits come without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<u64>,
    /// Images of the content with their texts, for image search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// `article`, `news`, `doc`, `issue`, `pull_request`, `readme`, `opinion`, …: the type of document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Attributes that collections filter by: `repo`, `source`, `language`, `topic`, `license`, `stars`,
    /// `archived`, `fork`, `jurisdiction`, `court`, `courtType`, `cites`, …; lists are joined by newlines.
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

/// One entry of the feed: a page that was added, changed or deleted.
#[derive(Debug, Clone)]
pub struct IndexEntry {
    /// Increases along the feed; the index stores the last one.
    pub seq: i64,
    /// The identity of a page within a team and a collection: a newer entry replaces the older one.
    pub key: [u8; 16],
    /// Nil: visible to every team.
    pub team: Uuid,
    /// `web`, `developer` or `gov`.
    pub collection: String,
    /// When it was fetched or added; milliseconds since the Unix epoch.
    pub seen_at: i64,
    /// None: the page was deleted.
    pub document: Option<Document>,
}

/// A query to the index, with operators already parsed.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub team: Uuid,
    pub collection: String,
    /// The search words, without operators.
    pub text: String,
    pub phrases: Vec<String>,
    /// Words that must not occur.
    pub without: Vec<String>,
    pub in_title: Vec<String>,
    pub in_url: Vec<String>,
    /// `pdf`, `html`, …: the extension of the path.
    pub file_types: Vec<String>,
    /// Hosts with their subdomains; a path may follow (`docs.rs/tokio`).
    pub sites: Vec<String>,
    pub without_sites: Vec<String>,
    /// Published (or, without a date, seen) within; milliseconds since the Unix epoch.
    pub since: Option<i64>,
    pub until: Option<i64>,
    pub newest_first: bool,
    /// Documents in this language rank higher, and its word forms are searched too. Others are still found.
    pub language: Option<String>,
    pub kinds: Vec<String>,
    pub filters: Vec<Filter>,
    /// Hosts and URLs that the team rated as valuable, with a weight from 0 to 1.
    pub valued: Vec<(String, f32)>,
    pub limit: usize,
    /// The number of passages for each hit, best first.
    pub passages: usize,
    /// Milliseconds since the Unix epoch, for freshness.
    pub now: i64,
}

/// A condition on an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// One of these values, ignoring case.
    Is(String, Vec<String>),
    AtLeast(String, f64),
    AtMost(String, f64),
}

#[derive(Debug, Clone, PartialEq)]
pub struct IndexHit {
    pub document: Document,
    pub seen_at: i64,
    pub score: f32,
    /// Verbatim passages that match the query, best first.
    pub passages: Vec<String>,
}

/// The results of a query.
#[derive(Debug, Clone, Default)]
pub struct IndexResults {
    pub hits: Vec<IndexHit>,
    /// The number of matching documents, if counted.
    pub matched: Option<u64>,
    /// The number of documents visible to this team in this collection.
    pub searched: u64,
}
