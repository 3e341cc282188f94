//! Files that are text: tables with separators, notes, code, data, notebooks.

mod decode;
mod delimited;
mod notebook;
mod plain;
mod source;

pub(crate) use decode::{decode_text, looks_binary};
pub(crate) use delimited::{is_regular_table, parse_delimited};
pub(crate) use notebook::parse_notebook;
pub(crate) use plain::{parse_markdown, parse_plain, text_blocks};
pub(crate) use source::{parse_json, parse_xml};
