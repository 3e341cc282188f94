//! Extracts structured data from pages without a model: parses and validates JSON Schemas within limits, and
//! fills their fields from pages (JSON-LD, microdata, tables, label and value pairs, repeated rows), each
//! value with its source.
//!
//! Pure functions over [`content`]: no I/O, no clock, no recursion over input.

mod conform;
mod facts;
mod fill;
mod fill_free;
pub mod rank;
pub mod ranking;
mod schema;
mod values;
mod words;

pub use conform::{Conformed, conform};
pub use facts::EvidenceKind;
pub use facts::site::SitePages;
pub use fill::{Evidence, Filled, candidate_rows, fill, fill_each, fill_each_with};
pub use fill_free::fill_free;
pub use schema::{FieldKind, Schema, SchemaError, SchemaField, Shape, Violation};

/// A page to extract from, with the URL that evidence names.
#[derive(Debug, Clone, Copy)]
pub struct PageView<'a> {
    pub url: &'a str,
    pub page: &'a content::Page,
    /// Its main content.
    pub markdown: &'a str,
}
