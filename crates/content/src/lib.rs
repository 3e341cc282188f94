//! Bytes of a web page in; main content, markdown, metadata, links and a verdict out.

pub mod address;
pub mod decode;
pub mod dom;
pub mod image;
pub mod markdown;
mod node_set;
pub mod select;
pub mod table;
pub mod visible;

pub use node_set::NodeSet;
