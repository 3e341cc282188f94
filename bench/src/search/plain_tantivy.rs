//! The baseline: tantivy with its defaults. Title and body as `TEXT`, the default tokenizer, the default
//! query parser over both fields.

use anyhow::Result;
use index::Document;
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{FAST, Field, STORED, Schema, TEXT, Value};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{IndexReader, IndexSettings, IndexWriter, TantivyDocument};
use text::stop_words;

pub struct PlainTantivy {
    index: tantivy::Index,
    writer: IndexWriter,
    reader: IndexReader,
    number: Field,
    title: Field,
    body: Field,
}

impl PlainTantivy {
    /// In an existing, empty folder.
    pub fn open(folder: &std::path::Path, memory: usize, threads: usize) -> Result<Self> {
        let mut builder = Schema::builder();
        let number = builder.add_u64_field("number", FAST | STORED);
        let title = builder.add_text_field("title", TEXT | STORED);
        let body = builder.add_text_field("body", TEXT | STORED);
        // Stored as in our index, so that sizes can be compared.
        let compression = Compressor::Zstd(ZstdCompressor { compression_level: Some(1) });
        let settings = IndexSettings { docstore_compression: compression, ..IndexSettings::default() };
        let index =
            tantivy::Index::builder().schema(builder.build()).settings(settings).create_in_dir(folder)?;
        let writer = index.writer_with_num_threads(threads, memory)?;
        let reader = index.reader_builder().reload_policy(tantivy::ReloadPolicy::Manual).try_into()?;
        Ok(Self { index, writer, reader, number, title, body })
    }

    /// An index of these documents, by their place.
    pub fn build(folder: &std::path::Path, documents: &[Document]) -> Result<Self> {
        let mut plain = Self::open(folder, 64 << 20, 1)?;
        for (number, document) in documents.iter().enumerate() {
            plain.add(number, document)?;
        }
        plain.commit()?;
        Ok(plain)
    }

    /// The description belongs to the body here: both indexes get the same texts.
    pub fn add(&mut self, number: usize, document: &Document) -> Result<()> {
        let mut fields = TantivyDocument::new();
        fields.add_u64(self.number, number as u64);
        fields.add_text(self.title, &document.title);
        fields.add_text(self.body, format!("{}\n{}", document.description, document.body));
        self.writer.add_document(fields)?;
        Ok(())
    }

    pub fn commit(&mut self) -> Result<()> {
        self.writer.commit()?;
        self.reader.reload()?;
        Ok(())
    }

    /// Like [`Self::search`], without stop words.
    pub fn search_topic(&self, query: &str, limit: usize) -> Result<Vec<usize>> {
        let words =
            query.split_whitespace().filter(|word| !stop_words::QUESTIONS.contains(&word.to_lowercase()));
        let words = words.collect::<Vec<_>>().join(" ");
        self.search(if words.is_empty() { query } else { &words }, limit)
    }

    /// Numbers of the best documents. What the query language would take for operators is left out of the
    /// query.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<usize>> {
        let words: String = query.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
        // In lower case: `OR` and `NOT` in a title are words.
        let parser = QueryParser::for_index(&self.index, vec![self.title, self.body]);
        let (query, _) = parser.parse_query_lenient(&words.to_lowercase());
        let searcher = self.reader.searcher();
        let hits = searcher.search(&query, &TopDocs::with_limit(limit).order_by_score())?;
        let mut numbers = Vec::new();
        for (_, address) in hits {
            let document: TantivyDocument = searcher.doc(address)?;
            let number = document.get_first(self.number).and_then(|value| value.as_u64());
            numbers.extend(number.map(|number| number as usize));
        }
        Ok(numbers)
    }
}
