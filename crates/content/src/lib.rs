//! Bytes of a web page in; main content, markdown, metadata, links and a verdict out.

pub mod dom;
mod node_set;
pub mod select;

pub use node_set::NodeSet;
