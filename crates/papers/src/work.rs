//! A scholarly work as importers hand it over, and its form in bytes (staging logs and index records use the same one).

use crate::file::{Cursor, put_varint};
use crate::ids::Identifier;

/// Bounds on one work. What is beyond them is cut, so that one absurd record cannot harm the whole.
pub mod bounds {
    /// Bytes of a title.
    pub const TITLE: usize = 4 << 10;
    /// Bytes of an abstract.
    pub const ABSTRACT: usize = 64 << 10;
    /// Bytes of one passage.
    pub const PASSAGE: usize = 8 << 10;
    /// Passages of one work.
    pub const PASSAGES: usize = 4_000;
    /// References of one work.
    pub const REFERENCES: usize = 20_000;
    /// Identifiers of one work.
    pub const IDENTIFIERS: usize = 32;
    /// Authors of one work.
    pub const AUTHORS: usize = 500;
    /// Bytes of one author's name, or of one category.
    pub const NAME: usize = 300;
    /// Categories of one work.
    pub const CATEGORIES: usize = 100;
}

/// Where a work was read from. Numbers are part of the stored form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Source {
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

impl Source {
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

/// A day, a month or a year, as a number: 20240131, 20240100 or 20240000. Zero is "not known". Compares by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Date(u32);

impl Date {
    /// Reads `YYYY`, `YYYY-MM`, `YYYY-MM-DD` or the beginning of a longer time in that form.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split(['-', '/', 'T', ' ']);
        let year = parts.next().filter(|part| part.len() == 4)?.parse().ok()?;
        let month = parts.next().map_or(Some(0), |part| part.parse().ok())?;
        let day = parts.next().map_or(Some(0), |part| part.parse().ok())?;
        Self::new(year, month, day)
    }

    /// Month and day may be 0 for "not known".
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
        // The contract wants whole days; what is not known is its first.
        let (month, day) = ((self.0 / 100 % 100).max(1), (self.0 % 100).max(1));
        write!(out, "{:04}-{month:02}-{day:02}", self.year())
    }
}

/// A work that another one cites, as far as the citing one tells.
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
    pub retracted: bool,
    /// The source says that it no longer has this work.
    pub withdrawn: bool,
}

impl Work {
    const RETRACTED: u8 = 1;
    pub(crate) const WITHDRAWN: u8 = 2;

    /// Cuts everything to [`bounds`] and removes repeats.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        cut(&mut self.title, bounds::TITLE);
        cut(&mut self.abstract_text, bounds::ABSTRACT);
        self.ids.sort_by(|one, other| (one.preference(), one).cmp(&(other.preference(), other)));
        self.ids.dedup();
        self.ids.truncate(bounds::IDENTIFIERS);
        self.authors.truncate(bounds::AUTHORS);
        self.categories.truncate(bounds::CATEGORIES);
        self.authors.iter_mut().chain(&mut self.categories).for_each(|name| cut(name, bounds::NAME));
        self.references.truncate(bounds::REFERENCES);
        self.references.iter_mut().for_each(|reference| cut(&mut reference.title, bounds::TITLE));
        self.passages.truncate(bounds::PASSAGES);
        self.passages.iter_mut().for_each(|passage| cut(passage, bounds::PASSAGE));
        self
    }

    /// Appends the whole work.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        out.push(flag(self.retracted, Self::RETRACTED) | flag(self.withdrawn, Self::WITHDRAWN));
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
    }

    /// Reads what [`Work::encode`] wrote; other bytes give some work, never a panic.
    pub fn decode(bytes: &[u8]) -> Self {
        let mut cursor = Cursor::new(bytes);
        let flags = cursor.bytes(1).first().copied().unwrap_or(0);
        let ids = ids(&mut cursor);
        let title = cursor.text().to_owned();
        let abstract_text = cursor.text().to_owned();
        let authors = texts(&mut cursor);
        let categories = texts(&mut cursor);
        let created = Date::from_stored(cursor.varint32());
        let updated = Date::from_stored(cursor.varint32());
        let count = cursor.varint();
        let mut references = Vec::new();
        for _ in 0..count {
            if cursor.is_at_end() {
                break;
            }
            references.push(Reference { ids: self::ids(&mut cursor), title: cursor.text().to_owned() });
        }
        let passages = texts(&mut cursor);
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
            retracted: flags & Self::RETRACTED != 0,
            withdrawn: flags & Self::WITHDRAWN != 0,
        }
    }
}

/// Which source each shown field of a paper came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Provenance {
    pub title: Option<Source>,
    pub abstract_text: Option<Source>,
    pub authors: Option<Source>,
    pub dates: Option<Source>,
    pub references: Option<Source>,
}

impl Provenance {
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend(
            [self.title, self.abstract_text, self.authors, self.dates, self.references]
                .map(|source| source.map_or(0, |source| source as u8)),
        );
    }

    /// Splits a record into its provenance and the work after it.
    pub fn decode(bytes: &[u8]) -> (Self, &[u8]) {
        let Some((head, rest)) = bytes.split_first_chunk::<5>() else { return (Self::default(), &[]) };
        let [title, abstract_text, authors, dates, references] = head.map(Source::from_byte);
        (Self { title, abstract_text, authors, dates, references }, rest)
    }
}

/// Shortens to at most `most` bytes, at a character boundary.
pub fn cut(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
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

fn texts(cursor: &mut Cursor<'_>) -> Vec<String> {
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

fn ids(cursor: &mut Cursor<'_>) -> Vec<Identifier> {
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
    fn a_work_comes_back_whole() {
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
            retracted: true,
            ..Work::default()
        };
        let mut bytes = Vec::new();
        work.encode(&mut bytes);
        assert_eq!(Work::decode(&bytes), work);
    }

    #[test]
    fn dates_of_any_precision() {
        assert_eq!(Date::parse("2024-02-29T10:00:00Z").unwrap().to_string(), "2024-02-29");
        assert_eq!(Date::parse("2024").unwrap().to_string(), "2024-01-01");
        assert!(Date::parse("2024-13").is_none());
        assert!(Date::parse("24-01-01").is_none());
        assert!(Date::parse("").is_none());
    }

    #[test]
    fn cutting_respects_characters() {
        let mut text = "aé".repeat(10);
        cut(&mut text, 5);
        assert_eq!(text, "aéa");
    }

    proptest! {
        #[test]
        fn any_bytes_decode(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Work::decode(&bytes);
        }
    }
}
