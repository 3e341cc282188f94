//! Structured data out of pages without a model: JSON Schemas, read within bounds and held to; and their fields filled from what
//! pages state (JSON-LD, microdata, tables, label and value pairs, repeated rows), each value with the place it was found.
//!
//! Pure functions over [`content`]: no I/O, no clock, no recursion over input.

mod conform;
mod facts;
mod fill;
mod free;
pub mod rank;
mod reading;
mod schema;
mod words;

pub use conform::{Conformed, conform};
pub use facts::How;
pub use fill::{Evidence, Filled, fill};
pub use free::fill_free;
pub use schema::{Field, Kind, Schema, SchemaError, Shape, Violation};

/// A page that is looked at, under the address that evidence names.
#[derive(Debug, Clone, Copy)]
pub struct PageView<'a> {
    pub url: &'a str,
    pub page: &'a content::Page,
    /// Its main content.
    pub markdown: &'a str,
}
