//! Turns the bytes of a web page into main content, markdown, metadata, links and a verdict.
//!
//! Start at [`page::Page`]: parse a page once, then ask it for what you need. Everything here is a pure
//! function of its input: no I/O, no clock (except for the deadline of a [`budget`]), no state between pages,
//! no recursion over input.

pub mod address;
pub mod branding;
pub mod budget;
pub mod css;
pub mod decode;
pub mod diff;
pub mod dom;
pub mod facts;
pub mod highlights;
pub mod html;
pub mod image;
pub mod injection;
pub mod link;
pub mod markdown;
pub mod menu;
pub mod metadata;
mod node_set;
pub mod page;
pub mod product;
pub mod redact;
pub mod select;
pub mod sniff;
pub mod table;
pub mod verdict;
pub mod visible;
pub mod word_set;

pub use dom::Limits;
pub use node_set::NodeSet;
pub use page::{ContentScope, Page, PageSource};
