//! A scholarly work as importers produce it, and its binary encoding, which staging logs and index records
//! share.

use crate::citation_context::{self, CitationContext};
use crate::file::{Cursor, put_varint};
use crate::ids::Identifier;
use crate::truncate::truncate_text;

/// Size limits of one work. Anything beyond them is cut, so that one absurd record cannot harm the index.
pub mod limits {
    /// Of a line or an XML record that a work is read from.
    pub const MAX_RECORD_BYTES: usize = 64 << 20;
    pub const MAX_TITLE_BYTES: usize = 4 << 10;
    pub const MAX_ABSTRACT_BYTES: usize = 64 << 10;
    pub const MAX_PASSAGE_BYTES: usize = 8 << 10;
    pub const MAX_PASSAGES: usize = 4_000;
    pub const MAX_REFERENCES: usize = 20_000;
    pub const MAX_IDENTIFIERS: usize = 32;
    pub const MAX_AUTHORS: usize = 500;
    /// Of an author's name, or of a category.
    pub const MAX_NAME_BYTES: usize = 300;
    pub const MAX_CATEGORIES: usize = 100;
}

/// The source a work was imported from. The numbers are part of the stored form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum PaperSource {
    Jsonl = 1,
    OpenAlex = 2,
    SemanticScholar = 3,
    Arxiv = 4,
    PubMed = 5,
    Jats = 6,
    Crossref = 7,
    Bibtex = 8,
    Ris = 9,
}

impl PaperSource {
    /// All sources, with the names used on the command line.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Jsonl, "jsonl"),
        (Self::OpenAlex, "openalex"),
        (Self::SemanticScholar, "semantic-scholar"),
        (Self::Arxiv, "arxiv"),
        (Self::PubMed, "pubmed"),
        (Self::Jats, "jats"),
        (Self::Crossref, "crossref"),
        (Self::Bibtex, "bibtex"),
        (Self::Ris, "ris"),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(source, _)| *source == self).map_or("unknown", |(_, name)| name)
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(source, _)| *source)
    }

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.iter().find(|(source, _)| *source as u8 == byte).map(|(source, _)| *source)
    }
}

/// A day, a month or a year, as a number: 20240131, 20240100 or 20240000. Zero means unknown. Ordered by
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Date(u32);

impl Date {
    /// Parses `YYYY`, `YYYY-MM`, `YYYY-MM-DD`, or a timestamp that begins like that.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split(['-', '/', 'T', ' ']);
        let year = parts.next().filter(|part| part.len() == 4)?.parse().ok()?;
        let month = parts.next().map_or(Some(0), |part| part.parse().ok())?;
        let day = parts.next().map_or(Some(0), |part| part.parse().ok())?;
        Self::new(year, month, day)
    }

    /// Month and day may be 0 for unknown.
    pub fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        ((1000..=9999).contains(&year) && month <= 12 && day <= 31)
            .then_some(Self(year * 10_000 + month * 100 + day))
    }

    pub(crate) fn from_stored(number: u32) -> Option<Self> {
        Self::new(number / 10_000, number / 100 % 100, number % 100)
    }

    pub(crate) fn number(self) -> u32 {
        self.0
    }

    pub fn year(self) -> u32 {
        self.0 / 10_000
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The API needs full dates; an unknown month or day becomes the first.
        let (month, day) = ((self.0 / 100 % 100).max(1), (self.0 % 100).max(1));
        write!(out, "{:04}-{month:02}-{day:02}", self.year())
    }
}

/// A cited work, as far as the citing work describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reference {
    pub ids: Vec<Identifier>,
    pub title: String,
}

/// One work from one source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Work {
    pub ids: Vec<Identifier>,
    pub title: String,
    pub abstract_text: String,
    pub authors: Vec<String>,
    pub categories: Vec<String>,
    pub created: Option<Date>,
    pub updated: Option<Date>,
    pub references: Vec<Reference>,
    pub passages: Vec<String>,
    /// Sentences that cite several works, from which the weights of a collection are learnt.
    pub contexts: Vec<CitationContext>,
    pub retracted: bool,
    /// The source has withdrawn this work.
    pub withdrawn: bool,
}

impl Work {
    const RETRACTED: u8 = 1;
    pub(crate) const WITHDRAWN: u8 = 2;
    pub(crate) const HAS_CONTEXTS: u8 = 4;

    /// Cuts everything to its [`limits`] and removes duplicates.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        truncate_text(&mut self.title, limits::MAX_TITLE_BYTES);
        truncate_text(&mut self.abstract_text, limits::MAX_ABSTRACT_BYTES);
        self.ids.sort_by(|one, other| (one.preference(), one).cmp(&(other.preference(), other)));
        self.ids.dedup();
        self.ids.truncate(limits::MAX_IDENTIFIERS);
        self.authors.truncate(limits::MAX_AUTHORS);
        self.categories.truncate(limits::MAX_CATEGORIES);
        self.authors
            .iter_mut()
            .chain(&mut self.categories)
            .for_each(|name| truncate_text(name, limits::MAX_NAME_BYTES));
        self.references.truncate(limits::MAX_REFERENCES);
        self.references
            .iter_mut()
            .for_each(|reference| truncate_text(&mut reference.title, limits::MAX_TITLE_BYTES));
        self.passages.truncate(limits::MAX_PASSAGES);
        self.passages.iter_mut().for_each(|passage| truncate_text(passage, limits::MAX_PASSAGE_BYTES));
        citation_context::bound(&mut self.contexts, self.references.len());
        self
    }

    /// Appends the encoded work.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        out.push(
            flag(self.retracted, Self::RETRACTED)
                | flag(self.withdrawn, Self::WITHDRAWN)
                | flag(!self.contexts.is_empty(), Self::HAS_CONTEXTS),
        );
        put_ids(out, &self.ids);
        put_text(out, &self.title);
        put_text(out, &self.abstract_text);
        put_texts(out, &self.authors);
        put_texts(out, &self.categories);
        put_varint(out, u64::from(self.created.unwrap_or_default().number()));
        put_varint(out, u64::from(self.updated.unwrap_or_default().number()));
        put_varint(out, self.references.len() as u64);
        for reference in &self.references {
            put_ids(out, &reference.ids);
            put_text(out, &reference.title);
        }
        put_texts(out, &self.passages);
        if !self.contexts.is_empty() {
            citation_context::encode(&self.contexts, out);
        }
    }

    /// Decodes what [`Work::encode`] wrote; other bytes yield some work, never a panic.
    pub fn decode(bytes: &[u8]) -> Self {
        let mut cursor = Cursor::new(bytes);
        let flags = cursor.bytes(1).first().copied().unwrap_or(0);
        let ids = read_ids(&mut cursor);
        let title = cursor.text().to_owned();
        let abstract_text = cursor.text().to_owned();
        let authors = read_texts(&mut cursor);
        let categories = read_texts(&mut cursor);
        let created = Date::from_stored(cursor.varint32());
        let updated = Date::from_stored(cursor.varint32());
        let count = cursor.varint();
        let mut references = Vec::new();
        for _ in 0..count {
            if cursor.is_at_end() {
                break;
            }
            references.push(Reference { ids: read_ids(&mut cursor), title: cursor.text().to_owned() });
        }
        let passages = read_texts(&mut cursor);
        let contexts =
            if flags & Self::HAS_CONTEXTS == 0 { Vec::new() } else { citation_context::decode(&mut cursor) };
        Self {
            ids,
            title,
            abstract_text,
            authors,
            categories,
            created,
            updated,
            references,
            passages,
            contexts,
            retracted: flags & Self::RETRACTED != 0,
            withdrawn: flags & Self::WITHDRAWN != 0,
        }
    }
}

/// The source of each field of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Provenance {
    pub title: Option<PaperSource>,
    pub abstract_text: Option<PaperSource>,
    pub authors: Option<PaperSource>,
    pub dates: Option<PaperSource>,
    pub references: Option<PaperSource>,
}

impl Provenance {
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend(
            [self.title, self.abstract_text, self.authors, self.dates, self.references]
                .map(|source| source.map_or(0, |source| source as u8)),
        );
    }

    /// Splits a record into its provenance and the encoded work.
    pub fn decode(bytes: &[u8]) -> (Self, &[u8]) {
        let Some((head, rest)) = bytes.split_first_chunk::<5>() else { return (Self::default(), &[]) };
        let [title, abstract_text, authors, dates, references] = head.map(PaperSource::from_byte);
        (Self { title, abstract_text, authors, dates, references }, rest)
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn put_texts(out: &mut Vec<u8>, texts: &[String]) {
    put_varint(out, texts.len() as u64);
    for text in texts {
        put_text(out, text);
    }
}

fn read_texts(cursor: &mut Cursor<'_>) -> Vec<String> {
    let count = cursor.varint();
    let mut out = Vec::new();
    for _ in 0..count {
        if cursor.is_at_end() {
            break;
        }
        out.push(cursor.text().to_owned());
    }
    out
}

fn put_ids(out: &mut Vec<u8>, ids: &[Identifier]) {
    put_varint(out, ids.len() as u64);
    for id in ids {
        put_text(out, id.namespace());
        put_text(out, id.value());
    }
}

fn read_ids(cursor: &mut Cursor<'_>) -> Vec<Identifier> {
    let count = cursor.varint();
    let mut out = Vec::new();
    for _ in 0..count {
        if cursor.is_at_end() {
            break;
        }
        let namespace = cursor.text();
        out.push(Identifier::from_stored(namespace, cursor.text()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_work_survives_encoding() {
        let work = Work {
            ids: vec![Identifier::new("doi", "10.1/x").unwrap()],
            title: "A title".into(),
            abstract_text: "Text — with ünïcode".into(),
            authors: vec!["A. One".into()],
            created: Date::parse("2024-02"),
            references: vec![Reference {
                ids: vec![Identifier::new("pmid", "5").unwrap()],
                title: "Cited".into(),
            }],
            passages: vec!["first".into(), String::new()],
            contexts: vec![CitationContext { text: "As shown".into(), references: vec![0, 300] }],
            retracted: true,
            ..Work::default()
        };
        let mut bytes = Vec::new();
        work.encode(&mut bytes);
        assert_eq!(Work::decode(&bytes), work);
    }

    #[test]
    fn dates_have_any_precision() {
        assert_eq!(Date::parse("2024-02-29T10:00:00Z").unwrap().to_string(), "2024-02-29");
        assert_eq!(Date::parse("2024").unwrap().to_string(), "2024-01-01");
        assert!(Date::parse("2024-13").is_none());
        assert!(Date::parse("24-01-01").is_none());
        assert!(Date::parse("").is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_decode_to_a_work_that_survives_encoding(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let work = Work::decode(&bytes);
            let items = work.ids.len() + work.authors.len() + work.categories.len()
                + work.references.len() + work.passages.len()
                + work.contexts.iter().map(|context| 1 + context.references.len()).sum::<usize>();
            prop_assert!(items <= bytes.len(), "{} items from {} bytes", items, bytes.len());
            let mut encoded = Vec::new();
            work.encode(&mut encoded);
            prop_assert_eq!(Work::decode(&encoded), work);
        }
    }
}
