//! The bytes of a web page as a tree, and what can be asked of a tree without knowing what a page is about.
//!
//! [`decode`] makes text of bytes, [`dom`] a tree of text. [`css`] finds nodes by selectors, [`visible`] those
//! that a reader sees, [`NodeSet`] is how nodes are passed on; [`address`] and [`image`] tell where links and
//! images lead, [`write`] makes HTML again. No I/O, no recursion over input, time bounded by [`budget`].

pub mod address;
pub mod css;
pub mod decode;
pub mod dom;
pub mod image;
mod node_set;
pub mod visible;
pub mod write;

pub use node_set::NodeSet;
