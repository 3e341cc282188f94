//! Reads an encoded work without copying it. Most works have a single record, which a build mostly copies as
//! it is.

use crate::file::Cursor;
use crate::hash::stable_hash;
use crate::ids::{Identifier, WELL_KNOWN};
use crate::work::{PaperSource, Provenance, Reference, Work};

/// What [`Work::encode`] wrote; other bytes yield some work, never a panic.
#[derive(Debug, Clone, Copy)]
pub struct StoredWork<'a> {
    bytes: &'a [u8],
    flags: u8,
    ids: StoredList<'a>,
    pub title: &'a str,
    pub abstract_text: &'a str,
    authors: StoredList<'a>,
    categories: StoredList<'a>,
    /// As in [`crate::work::Date`]; zero if unknown.
    pub created: u32,
    /// Start of the references and end of the head.
    references_at: usize,
}

/// A list of items with their number.
#[derive(Debug, Clone, Copy)]
struct StoredList<'a> {
    bytes: &'a [u8],
    count: u64,
}

impl<'a> StoredList<'a> {
    /// Calls `each` with the cursor for every item, which must read it, and returns the bytes read.
    fn skip_over(cursor: &mut Cursor<'a>, whole: &'a [u8], mut each: impl FnMut(&mut Cursor<'a>)) -> Self {
        let stated = cursor.varint();
        let start = cursor.position();
        let mut count = 0;
        while count < stated && !cursor.is_at_end() {
            each(cursor);
            count += 1;
        }
        Self { bytes: &whole[start..cursor.position()], count }
    }

    fn texts(self) -> impl Iterator<Item = &'a [u8]> {
        let mut cursor = Cursor::new(self.bytes);
        (0..self.count).map(move |_| cursor.blob())
    }
}

impl<'a> StoredWork<'a> {
    pub fn parse(bytes: &'a [u8]) -> Self {
        let mut cursor = Cursor::new(bytes);
        let flags = cursor.bytes(1).first().copied().unwrap_or(0);
        let ids = StoredList::skip_over(&mut cursor, bytes, skip_id);
        let (title, abstract_text) = (cursor.text(), cursor.text());
        let authors = StoredList::skip_over(&mut cursor, bytes, skip_text);
        let categories = StoredList::skip_over(&mut cursor, bytes, skip_text);
        let created = cursor.varint32();
        cursor.varint();
        let references_at = cursor.position();
        Self { bytes, flags, ids, title, abstract_text, authors, categories, created, references_at }
    }

    /// The numbers of its identifiers, each with the index of its namespace among the well-known ones.
    pub fn numbers(&self) -> impl Iterator<Item = (u64, Option<usize>)> {
        let mut cursor = Cursor::new(self.ids.bytes);
        (0..self.ids.count).map(move |_| {
            let (namespace, value) = (cursor.blob(), cursor.blob());
            let place = WELL_KNOWN.iter().position(|known| known.as_bytes() == namespace);
            (number(namespace, value), place)
        })
    }

    /// Whether the record can be copied to an index as it is: not withdrawn and without duplicates.
    pub fn needs_no_merge(&self) -> bool {
        let withdrawn = self.flags & Work::WITHDRAWN != 0;
        let mut categories = self.categories.texts().enumerate();
        !withdrawn
            && categories.all(|(place, one)| self.categories.texts().take(place).all(|before| before != one))
    }

    /// The provenance of a work with a single record.
    pub fn provenance(&self, source: PaperSource) -> Provenance {
        let said = |is_said: bool| is_said.then_some(source);
        Provenance {
            title: said(!self.title.is_empty()),
            abstract_text: said(!self.abstract_text.is_empty()),
            authors: said(self.authors.count > 0),
            dates: said(self.created != 0),
            references: said(Cursor::new(&self.bytes[self.references_at..]).varint() > 0),
        }
    }

    /// Appends the work without references, passages and contexts.
    pub fn encode_head(&self, out: &mut Vec<u8>) {
        out.extend(self.bytes.first().map(|flags| flags & !Work::HAS_CONTEXTS));
        out.extend_from_slice(self.bytes.get(1..self.references_at).unwrap_or_default());
        out.extend_from_slice(&[0, 0]);
    }

    /// Whether it has sentences that cite several works.
    pub fn has_contexts(&self) -> bool {
        self.flags & Work::HAS_CONTEXTS != 0
    }

    /// Calls `each` with every reference, and returns the number of passages and their bytes.
    pub fn references(&self, mut each: impl FnMut(StoredReference<'a>)) -> (u64, &'a [u8]) {
        let mut cursor = Cursor::new(self.bytes);
        cursor.bytes(self.references_at);
        StoredList::skip_over(&mut cursor, self.bytes, |cursor| {
            let ids = StoredList::skip_over(cursor, self.bytes, skip_id);
            each(StoredReference { ids, title: cursor.text() });
        });
        let start = cursor.position();
        let passages = StoredList::skip_over(&mut cursor, self.bytes, skip_text);
        (passages.count, &self.bytes[start..cursor.position()])
    }
}

/// A cited work.
#[derive(Debug, Clone, Copy)]
pub struct StoredReference<'a> {
    ids: StoredList<'a>,
    pub title: &'a str,
}

impl StoredReference<'_> {
    /// The numbers of its identifiers.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        let mut cursor = Cursor::new(self.ids.bytes);
        (0..self.ids.count).map(move |_| number(cursor.blob(), cursor.blob()))
    }

    pub fn to_reference(self) -> Reference {
        let mut cursor = Cursor::new(self.ids.bytes);
        let ids =
            (0..self.ids.count).map(|_| Identifier::from_stored(cursor.text(), cursor.text())).collect();
        Reference { ids, title: self.title.to_owned() }
    }
}

/// As [`Identifier::number`].
fn number(namespace: &[u8], value: &[u8]) -> u64 {
    stable_hash(&[namespace, b":", value])
}

fn skip_text(cursor: &mut Cursor<'_>) {
    cursor.blob();
}

fn skip_id(cursor: &mut Cursor<'_>) {
    cursor.blob();
    cursor.blob();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citation_context::CitationContext;
    use crate::work::Date;
    use proptest::prelude::*;

    fn work() -> Work {
        Work {
            ids: vec![Identifier::new("doi", "10.1/x").unwrap(), Identifier::new("shelf", "A 1").unwrap()],
            title: "A title".into(),
            authors: vec!["A. One".into()],
            categories: vec!["one".into(), "two".into()],
            created: Date::parse("2024-02"),
            references: vec![
                Reference { ids: vec![Identifier::new("pmid", "5").unwrap()], title: String::new() },
                Reference { ids: Vec::new(), title: "Cited by name".into() },
            ],
            passages: vec!["first".into()],
            contexts: vec![CitationContext { text: "Both were seen".into(), references: vec![0, 1] }],
            ..Work::default()
        }
    }

    fn encoded(work: &Work) -> Vec<u8> {
        let mut bytes = Vec::new();
        work.encode(&mut bytes);
        bytes
    }

    #[test]
    fn reads_what_was_encoded() {
        let work = work();
        let bytes = encoded(&work);
        let stored = StoredWork::parse(&bytes);
        let numbers: Vec<_> = stored.numbers().collect();
        assert_eq!(numbers, [(work.ids[0].number(), Some(0)), (work.ids[1].number(), None)]);
        let mut references = Vec::new();
        let (passages, tail) = stored.references(|one| references.push(one.to_reference()));
        assert_eq!((references, passages), (work.references.clone(), 1));
        assert_eq!(tail, b"\x01\x05first");
        let mut head = Vec::new();
        stored.encode_head(&mut head);
        assert!(stored.has_contexts() && !StoredWork::parse(&head).has_contexts());
        let shown = Work { references: Vec::new(), passages: Vec::new(), contexts: Vec::new(), ..work };
        assert_eq!(Work::decode(&head), shown);
        assert_eq!(stored.provenance(PaperSource::Ris).abstract_text, None);
        assert_eq!(stored.provenance(PaperSource::Ris).references, Some(PaperSource::Ris));
    }

    #[test]
    fn records_that_need_merging_are_recognized() {
        assert!(StoredWork::parse(&encoded(&work())).needs_no_merge());
        let repeats = Work { categories: vec!["one".into(), "two".into(), "one".into()], ..work() };
        assert!(!StoredWork::parse(&encoded(&repeats)).needs_no_merge());
        let gone = Work { withdrawn: true, ..work() };
        assert!(!StoredWork::parse(&encoded(&gone)).needs_no_merge());
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let stored = StoredWork::parse(&bytes);
            stored.references(|one| { one.to_reference(); });
            stored.encode_head(&mut Vec::new());
            prop_assert_eq!(stored.numbers().count() as u64, stored.ids.count);
            let _ = (stored.needs_no_merge(), stored.provenance(PaperSource::Ris));
        }
    }
}
