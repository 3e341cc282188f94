//! Containers: zip packages, their XML parts and the relations between them.

mod archive;
mod relations;
mod walk;
mod xml;

pub(crate) use archive::Archive;
pub(crate) use relations::{Relations, resolve_part};
pub(crate) use walk::{Step, TreeVisitor, walk_tree};
pub(crate) use xml::{Node, XmlTree, decode_xml};
