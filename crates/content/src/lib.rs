//! Turns the bytes of a web page into main content, markdown, metadata, links and a verdict.
//!
//! Start at [`page::Page`]: parse a page once, then ask it for what you need. Everything here is a pure
//! function of its input: no I/O, no clock (except for the deadline of a [`budget::WorkBudget`]), no state
//! between pages, no recursion over input. The tree itself is the crate `html`.

mod formula;
pub mod link;
pub mod markdown;
mod markdown_source;
pub mod metadata;
pub mod page;
mod refresh;
pub mod select;
pub mod sniff;
pub mod table;
pub mod verdict;
pub mod word_set;

pub use html::dom::Limits;
pub use page::{ContentScope, Page, PageSource};
