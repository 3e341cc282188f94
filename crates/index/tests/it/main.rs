//! Tests of the public interface.

mod feed;
mod filters;
mod folder;
mod full_disk;
mod hostile;
mod kill;
mod languages;
mod ranking;
mod teams;

use index::{Document, Index, IndexEntry, IndexResults, Options, Query};
use tempfile::TempDir;
use uuid::Uuid;

/// A day in 2026.
const NOW: i64 = 1_790_000_000_000;
const DAY: i64 = 86_400_000;

/// An index in a temporary folder.
struct Fixture {
    folder: TempDir,
    index: Index,
    seq: i64,
}

impl Fixture {
    fn new() -> Self {
        Self::with(Options::default())
    }

    fn with(options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::open(folder.path(), small(options)).unwrap();
        Self { folder, index, seq: 0 }
    }

    /// An index of pages that are visible to every team.
    fn with_pages(documents: impl IntoIterator<Item = Document>) -> Self {
        let mut fixture = Self::new();
        fixture.add(documents);
        fixture
    }

    fn add(&mut self, documents: impl IntoIterator<Item = Document>) {
        let entries = documents.into_iter().map(|document| self.entry(document)).collect();
        self.index.feed(entries).unwrap();
        self.index.commit().unwrap();
    }

    fn entry(&mut self, document: Document) -> IndexEntry {
        self.seq += 1;
        IndexEntry {
            seq: self.seq,
            key: if document.url.len() > 2_000 {
                i128::from(self.seq).to_be_bytes()
            } else {
                key(&document.url)
            },
            team: Uuid::nil(),
            collection: "web".to_owned(),
            seen_at: NOW - DAY,
            document: Some(document),
        }
    }

    fn search(&self, query: &Query) -> IndexResults {
        self.index.search(query).unwrap()
    }

    /// Titles of the hits.
    fn titles(&self, query: &Query) -> Vec<String> {
        self.search(query).hits.into_iter().map(|hit| hit.document.title).collect()
    }

    fn ask(&self, text: &str) -> Vec<String> {
        self.titles(&query(text))
    }
}

/// Uses little memory, because many indexes are open at once in a test run.
fn small(options: Options) -> Options {
    Options { memory: 16 << 20, threads: 1, ..options }
}

fn key(url: &str) -> [u8; 16] {
    let number = index::address_number(url).unwrap_or(7);
    u128::from(number).to_be_bytes()
}

fn query(text: &str) -> Query {
    Query { collection: "web".to_owned(), text: text.to_owned(), limit: 10, now: NOW, ..Query::default() }
}

fn page(url: &str, title: &str, body: &str) -> Document {
    Document {
        url: url.to_owned(),
        title: title.to_owned(),
        body: body.to_owned(),
        language: Some("en".to_owned()),
        published: Some(NOW - 400 * DAY),
        ..Document::default()
    }
}
