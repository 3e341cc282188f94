//! The fields of the index, and how a document becomes them.

use crate::parts::{Document, Entry, Filter};
use crate::place::{Place, address_number, file_type_named};
use crate::words::{Language, TOKENIZER, tagged};
use tantivy::schema::{
    BytesOptions, Field, IndexRecordOption, JsonObjectOptions, NumericOptions, OwnedValue, STORED, STRING,
    Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{TantivyDocument, Term};
use uuid::Uuid;

/// Of fields, of words and of everything else that is written: a folder of another version is filled again.
pub(crate) const VERSION: u32 = 1;

/// Fields whose words are ranked, in the order of [`crate::Weights::fields`].
pub(crate) const RANKED: usize = 6;
pub(crate) const HOST: usize = 0;
pub(crate) const PATH: usize = 1;
pub(crate) const TITLE: usize = 2;
pub(crate) const HEADINGS: usize = 3;
pub(crate) const DESCRIPTION: usize = 4;
pub(crate) const BODY: usize = 5;

/// Names of columns.
pub(crate) const SEEN: &str = "seen";
pub(crate) const DATE: &str = "date";
pub(crate) const HOST_NUMBER: &str = "host_number";
pub(crate) const ADDRESS: &str = "address";
pub(crate) const NUMBERS: &str = "numbers";

#[derive(Clone, Debug)]
pub(crate) struct Fields {
    pub(crate) schema: Schema,
    /// Words, by [`HOST`] to [`BODY`].
    pub(crate) ranked: [Field; RANKED],
    /// Team, collection and key together: what an upsert replaces.
    id: Field,
    /// What filters ask for, each with a letter in front.
    marks: Field,
    /// Numbers of addresses that are linked to.
    pub(crate) links: Field,
    /// The document itself.
    pub(crate) stored: Field,
    pub(crate) seen: Field,
    date: Field,
    host_number: Field,
    address: Field,
    numbers: Field,
}

impl Fields {
    pub(crate) fn new() -> Self {
        let mut builder = Schema::builder();
        let words = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(TOKENIZER)
                .set_index_option(IndexRecordOption::WithFreqsAndPositions)
                .set_fieldnorms(true),
        );
        let names = ["host", "path", "title", "headings", "description", "body"];
        let ranked = names.map(|name| builder.add_text_field(name, words.clone()));
        let column = NumericOptions::default().set_fast();
        Self {
            ranked,
            id: builder.add_bytes_field("id", BytesOptions::default().set_indexed()),
            marks: builder.add_text_field("marks", STRING),
            links: builder.add_u64_field("links", NumericOptions::default().set_indexed()),
            stored: builder.add_text_field("stored", STORED),
            seen: builder.add_i64_field(SEEN, column.clone()),
            date: builder.add_i64_field(DATE, column.clone()),
            host_number: builder.add_u64_field(HOST_NUMBER, column.clone()),
            address: builder.add_u64_field(ADDRESS, column),
            numbers: builder.add_json_field(NUMBERS, JsonObjectOptions::default().set_fast("raw")),
            schema: builder.build(),
        }
    }

    /// What is replaced by an entry, or deleted.
    pub(crate) fn id(&self, entry: &Entry) -> Term {
        let mut id = Vec::with_capacity(32 + entry.collection.len());
        id.extend_from_slice(entry.team.as_bytes());
        id.extend_from_slice(&entry.key);
        id.extend_from_slice(entry.collection.as_bytes());
        Term::from_field_bytes(self.id, &id)
    }

    pub(crate) fn mark(&self, mark: &Mark) -> Term {
        Term::from_field_text(self.marks, &mark.text())
    }

    /// A document in the form that is indexed. It is within its bounds already.
    pub(crate) fn document(&self, entry: &Entry, mut document: Document) -> TantivyDocument {
        let place = Place::of(&document.url);
        let language = match &document.language {
            Some(tag) => Language::tagged(tag),
            None => Language::of_text(&document.body),
        };
        let mut fields = TantivyDocument::new();
        fields.add_bytes(self.id, self.id(entry).value().as_bytes().unwrap_or_default());
        let mut text = |field: usize, text: &str| {
            if !text.is_empty() {
                fields.add_text(self.ranked[field], tagged(language, text));
            }
        };
        text(HOST, &place.host_text());
        text(PATH, place.path_text());
        text(TITLE, &document.title);
        for heading in &document.headings {
            text(HEADINGS, heading);
        }
        text(DESCRIPTION, &document.description);
        text(BODY, &document.body);
        for mark in marks(entry, &document, &place, language) {
            fields.add_text(self.marks, mark.text());
        }
        // What a page says of itself by linking to itself counts for nothing.
        let address = address_number(&document.url);
        let mut links = std::mem::take(&mut document.links);
        links.sort_unstable();
        links.dedup();
        for link in links.into_iter().filter(|link| Some(*link) != address) {
            fields.add_u64(self.links, link);
        }
        fields.add_i64(self.seen, entry.seen_at);
        fields.add_i64(self.date, document.published.unwrap_or(entry.seen_at));
        fields.add_u64(self.host_number, place.host_hash());
        fields.add_u64(self.address, address.unwrap_or_else(|| sites::hash_of(&document.url)));
        let numbers = document.attributes.iter().filter_map(|(name, value)| {
            let number = value.trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
            Some((column_name(name), OwnedValue::F64(number)))
        });
        fields.add_object(self.numbers, numbers.collect());
        fields.add_text(self.stored, serde_json::to_string(&document).unwrap_or_default());
        fields
    }
}

/// What a filter can ask for, as one term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    Scope(Uuid, String),
    Collection(String),
    Host(String),
    Path(String),
    FileType(String),
    Language(String),
    Kind(String),
    Attribute(String, String),
}

impl Mark {
    fn text(&self) -> String {
        match self {
            Self::Scope(team, collection) => format!("s{}{collection}", team.simple()),
            Self::Collection(collection) => format!("c{collection}"),
            Self::Host(host) => format!("h{host}"),
            Self::Path(path) => format!("p{path}"),
            Self::FileType(end) => format!("f{}", file_type_named(end)),
            Self::Language(tag) => format!("l{tag}"),
            Self::Kind(kind) => format!("k{}", kind.trim().to_lowercase()),
            Self::Attribute(name, value) => format!("a{name}={}", value.trim().to_lowercase()),
        }
    }
}

fn marks(entry: &Entry, document: &Document, place: &Place, language: Option<Language>) -> Vec<Mark> {
    let mut marks =
        vec![Mark::Scope(entry.team, entry.collection.clone()), Mark::Collection(entry.collection.clone())];
    marks.extend(place.hosts().into_iter().map(Mark::Host));
    marks.extend(place.paths().into_iter().map(Mark::Path));
    marks.push(Mark::FileType(place.file_type()));
    marks.extend(language.map(|language| Mark::Language(language.code().to_owned())));
    marks.extend(document.kind.clone().map(Mark::Kind));
    for (name, value) in &document.attributes {
        marks.extend(value.lines().map(|value| Mark::Attribute(name.clone(), value.to_owned())));
    }
    marks
}

/// The name of an attribute as the name of a column: no dots, which would mean a path.
pub(crate) fn column_name(attribute: &str) -> String {
    attribute.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect()
}

/// The terms of which a document must have one, for a condition on values.
pub(crate) fn values(filter: &Filter) -> Option<Vec<Mark>> {
    match filter {
        Filter::Is(name, values) => {
            Some(values.iter().map(|value| Mark::Attribute(name.clone(), value.clone())).collect())
        }
        Filter::AtLeast(..) | Filter::AtMost(..) => None,
    }
}
