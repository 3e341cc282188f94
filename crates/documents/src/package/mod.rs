//! Containers: zip packages, their XML parts and the relations between them.

mod archive;
mod relations;
mod xml;

pub(crate) use archive::Archive;
pub(crate) use relations::{Relations, resolve_part};
pub(crate) use xml::{Node, Step, XmlTree, decode_xml};
