//! The fields of the index, and the conversion of documents to them.

use crate::types::{Document, Filter, IndexEntry};
use crate::url_parts::{UrlParts, address_number, normalize_file_type};
use crate::words::{TOKENIZER, with_language_tag};
use tantivy::schema::{
    BytesOptions, Field, IndexRecordOption, JsonObjectOptions, NumericOptions, OwnedValue, STORED, STRING,
    Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{TantivyDocument, Term};
use text::Language;
use uuid::Uuid;

/// Version of fields, tokens and all other stored data: a folder of another version is filled again.
pub(crate) const VERSION: u32 = 1;

/// Number of fields whose words are ranked, in the order of [`crate::Weights::fields`].
pub(crate) const RANKED_FIELDS: usize = 6;
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
    /// The word fields, indexed by [`HOST`] to [`BODY`].
    pub(crate) ranked: [Field; RANKED_FIELDS],
    /// Team, key and collection: the identity that an upsert replaces.
    id: Field,
    /// Filter terms, each with a letter in front.
    filter_terms: Field,
    /// Hashes of the URLs that are linked to.
    pub(crate) links: Field,
    /// The document as JSON.
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
            filter_terms: builder.add_text_field("marks", STRING),
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

    /// The id term of an entry, for replacing or deleting it.
    pub(crate) fn id(&self, entry: &IndexEntry) -> Term {
        let mut id = Vec::with_capacity(32 + entry.collection.len());
        id.extend_from_slice(entry.team.as_bytes());
        id.extend_from_slice(&entry.key);
        id.extend_from_slice(entry.collection.as_bytes());
        Term::from_field_bytes(self.id, &id)
    }

    pub(crate) fn filter_term(&self, term: &FilterTerm) -> Term {
        Term::from_field_text(self.filter_terms, &term.text())
    }

    /// Converts a document, which is already within its size limits, to its indexed form.
    pub(crate) fn document(&self, entry: &IndexEntry, mut document: Document) -> TantivyDocument {
        let url = UrlParts::parse(&document.url);
        let language = match &document.language {
            Some(tag) => Language::from_tag(tag),
            None => Language::detect(&document.body),
        };
        let mut fields = TantivyDocument::new();
        fields.add_bytes(self.id, self.id(entry).value().as_bytes().unwrap_or_default());
        let mut text = |field: usize, text: &str| {
            if !text.is_empty() {
                fields.add_text(self.ranked[field], with_language_tag(language, text));
            }
        };
        text(HOST, &url.host_text());
        text(PATH, url.path_text());
        text(TITLE, &document.title);
        for heading in &document.headings {
            text(HEADINGS, heading);
        }
        text(DESCRIPTION, &document.description);
        text(BODY, &document.body);
        for term in filter_terms(entry, &document, &url, language) {
            fields.add_text(self.filter_terms, term.text());
        }
        // A page's links to itself do not count.
        let address = address_number(&document.url);
        let mut links = std::mem::take(&mut document.links);
        links.sort_unstable();
        links.dedup();
        for link in links.into_iter().filter(|link| Some(*link) != address) {
            fields.add_u64(self.links, link);
        }
        fields.add_i64(self.seen, entry.seen_at);
        fields.add_i64(self.date, document.published.unwrap_or(entry.seen_at));
        fields.add_u64(self.host_number, url.host_hash());
        fields.add_u64(self.address, address.unwrap_or_else(|| sites::stable_hash(&document.url)));
        let numbers = document.attributes.iter().filter_map(|(name, value)| {
            let number = value.trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
            Some((column_name(name), OwnedValue::F64(number)))
        });
        fields.add_object(self.numbers, numbers.collect());
        fields.add_text(self.stored, serde_json::to_string(&document).unwrap_or_default());
        fields
    }
}

/// A property that filters look up, as one term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilterTerm {
    Scope(Uuid, String),
    Collection(String),
    Host(String),
    Path(String),
    FileType(String),
    Language(String),
    Kind(String),
    Attribute(String, String),
}

impl FilterTerm {
    fn text(&self) -> String {
        match self {
            Self::Scope(team, collection) => format!("s{}{collection}", team.simple()),
            Self::Collection(collection) => format!("c{collection}"),
            Self::Host(host) => format!("h{host}"),
            Self::Path(path) => format!("p{path}"),
            Self::FileType(end) => format!("f{}", normalize_file_type(end)),
            Self::Language(tag) => format!("l{tag}"),
            Self::Kind(kind) => format!("k{}", kind.trim().to_lowercase()),
            Self::Attribute(name, value) => format!("a{name}={}", value.trim().to_lowercase()),
        }
    }
}

fn filter_terms(
    entry: &IndexEntry,
    document: &Document,
    url: &UrlParts,
    language: Option<Language>,
) -> Vec<FilterTerm> {
    let mut terms = vec![
        FilterTerm::Scope(entry.team, entry.collection.clone()),
        FilterTerm::Collection(entry.collection.clone()),
    ];
    terms.extend(url.hosts().into_iter().map(FilterTerm::Host));
    terms.extend(url.paths().into_iter().map(FilterTerm::Path));
    terms.push(FilterTerm::FileType(url.file_type()));
    terms.extend(language.map(|language| FilterTerm::Language(language.code().to_owned())));
    terms.extend(document.kind.clone().map(FilterTerm::Kind));
    for (name, value) in &document.attributes {
        terms.extend(value.lines().map(|value| FilterTerm::Attribute(name.clone(), value.to_owned())));
    }
    terms
}

/// The column name of an attribute: without dots, which would mean a JSON path.
pub(crate) fn column_name(attribute: &str) -> String {
    attribute.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect()
}

/// The terms of which a document must have one, for a filter on values.
pub(crate) fn attribute_terms(filter: &Filter) -> Option<Vec<FilterTerm>> {
    match filter {
        Filter::Is(name, values) => {
            Some(values.iter().map(|value| FilterTerm::Attribute(name.clone(), value.clone())).collect())
        }
        Filter::AtLeast(..) | Filter::AtMost(..) => None,
    }
}
