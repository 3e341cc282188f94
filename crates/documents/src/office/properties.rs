//! What an office file says about itself.

use crate::block::Metadata;
use crate::error::DocumentError;
use crate::package::{Archive, XmlTree};

/// From `docProps/core.xml` (OOXML) or `meta.xml` (OpenDocument); both use the words of Dublin Core.
pub(crate) fn read_metadata(archive: &mut Archive<'_>, part: &str) -> Result<Metadata, DocumentError> {
    let mut metadata = Metadata::default();
    let Some(tree) = archive.part(part)?.and_then(|bytes| XmlTree::parse(&bytes).ok()) else {
        return Ok(metadata);
    };
    for node in tree.descendants(tree.root()) {
        let field = match tree.name(node) {
            "title" => &mut metadata.title,
            "creator" | "initial-creator" => &mut metadata.author,
            "subject" => &mut metadata.subject,
            "keywords" | "keyword" => &mut metadata.keywords,
            "language" => &mut metadata.language,
            "created" | "creation-date" => &mut metadata.created,
            "modified" | "date" => &mut metadata.modified,
            _ => continue,
        };
        let text = tree.text(node);
        let text = text.trim();
        if !text.is_empty() && field.is_none() {
            *field = Some(text.to_owned());
        }
    }
    Ok(metadata)
}
