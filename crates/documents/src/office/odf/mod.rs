//! OpenDocument: texts (ODT) and slides (ODP). Sheets (ODS) have a reader of their own, because they are written
//! like those of the other formats.

mod body;
mod copies;
mod objects;
mod styles;

pub(super) use copies::Copies;

use body::BodyReader;
use styles::Styles;

use super::comments::{Comments, annotations};
use super::properties::read_metadata;
use crate::block::{Block, BlockKind, Content, Document, Page, Span};
use crate::error::DocumentError;
use crate::flow::without_weight;
use crate::package::{Archive, XmlTree};

/// Reads the main part, and refuses a file whose parts are encrypted: their bytes are not XML.
pub(super) fn load_content(archive: &mut Archive<'_>) -> Result<XmlTree, DocumentError> {
    if is_encrypted(archive)? {
        return Err(DocumentError::Encrypted);
    }
    XmlTree::parse(&archive.required_part("content.xml")?)
}

fn is_encrypted(archive: &mut Archive<'_>) -> Result<bool, DocumentError> {
    let Some(manifest) = archive.part("META-INF/manifest.xml")? else { return Ok(false) };
    let Ok(tree) = XmlTree::parse(&manifest) else { return Ok(false) };
    Ok(tree.descendant(tree.root(), "encryption-data").is_some())
}

fn load_styles(archive: &mut Archive<'_>, content: &XmlTree) -> Result<Styles, DocumentError> {
    let mut styles = Styles::default();
    if let Some(tree) = archive.part("styles.xml")?.and_then(|bytes| XmlTree::parse(&bytes).ok()) {
        styles.add(&tree);
    }
    styles.add(content);
    Ok(styles)
}

pub(crate) fn parse_odt(archive: &mut Archive<'_>) -> Result<Document, DocumentError> {
    let tree = load_content(archive)?;
    let styles = load_styles(archive, &tree)?;
    let mut copies = Copies::new(&tree);
    let mut reader = BodyReader::new(&styles, archive, &mut copies);
    let body = tree.descendant(tree.root(), "body").unwrap_or(tree.root());
    let mut blocks = reader.read_blocks(&tree, body)?;
    blocks.extend(reader.take_notes());
    shift_headings_below_title(&mut blocks);
    let metadata = read_metadata(archive, "meta.xml")?;
    let mut comments = Comments::default();
    blocks.extend(comments.block(&annotations(&tree, body)));
    let mut warnings = warnings_of(&tree);
    warnings.extend(copies.warning());
    warnings.extend(comments.warning());
    Ok(Document {
        metadata,
        pages: vec![Page::whole(blocks)],
        total_pages: 1,
        warnings,
        ..Document::default()
    })
}

pub(crate) fn parse_odp(archive: &mut Archive<'_>) -> Result<Document, DocumentError> {
    let tree = load_content(archive)?;
    let styles = load_styles(archive, &tree)?;
    let mut copies = Copies::new(&tree);
    let mut pages = Vec::new();
    let mut comments = Comments::default();
    let slides: Vec<_> = tree.descendants(tree.root()).filter(|node| tree.is(*node, "page")).collect();
    for (number, slide) in (1..).zip(slides) {
        let mut reader = BodyReader::new(&styles, archive, &mut copies);
        let mut blocks = reader.read_blocks(&tree, slide)?;
        blocks.extend(reader.take_notes());
        mark_unmarked_title(&mut blocks);
        // A title may be drawn last and is still read first.
        blocks.sort_by_key(|block| block.kind != BlockKind::Title);
        blocks.extend(comments.block(&annotations(&tree, slide)));
        pages.push(Page { number, blocks, ..Page::default() });
    }
    let metadata = read_metadata(archive, "meta.xml")?;
    let total_pages = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    let mut warnings = warnings_of(&tree);
    warnings.extend(copies.warning());
    warnings.extend(comments.warning());
    Ok(Document { metadata, pages, total_pages, warnings, ..Document::default() })
}

/// Some programs write titles of slides as any other shape: a short first line above something longer is one.
fn mark_unmarked_title(blocks: &mut [Block]) {
    const MAX_TITLE_CHARS: usize = 60;
    let length = |text: &[Span]| text.iter().map(|span| span.text.chars().count()).sum::<usize>();
    if blocks.iter().any(|block| block.kind == BlockKind::Title) {
        return;
    }
    let [first, second, ..] = blocks else { return };
    let Content::Paragraph(text) = &first.content else { return };
    let chars = length(text);
    let is_short = chars <= MAX_TITLE_CHARS && !text.iter().any(|span| span.text.contains('\n'));
    let longer_below = match &second.content {
        Content::Paragraph(below) => length(below) > chars * 3,
        _ => true,
    };
    if is_short && longer_below {
        first.content = Content::Heading { level: 1, text: without_weight(text.clone()) };
        first.kind = BlockKind::Title;
    }
}

pub(super) fn warnings_of(tree: &XmlTree) -> Vec<String> {
    let text = "The file is damaged or too large: it was read only up to that place.";
    if tree.truncated { vec![text.to_owned()] } else { Vec::new() }
}

/// A title is the one heading of the first level; the headings of the text stand below it.
fn shift_headings_below_title(blocks: &mut [Block]) {
    if !blocks.iter().any(|block| block.kind == BlockKind::Title) {
        return;
    }
    for block in blocks {
        if let (BlockKind::SectionHeader, Content::Heading { level, .. }) = (block.kind, &mut block.content) {
            *level = (*level + 1).min(6);
        }
    }
}

#[cfg(test)]
mod tests;
