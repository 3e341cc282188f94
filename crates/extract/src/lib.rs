//! Structured data out of pages without a model: JSON Schemas, read within bounds and held to; and their fields filled from what
//! pages state (JSON-LD, microdata, tables, label and value pairs, repeated rows), each value with the place it was found.
//!
//! Pure functions over [`content`]: no I/O, no clock, no recursion over input.

mod schema;

pub use schema::{Field, Kind, Schema, SchemaError, Shape, Violation};
