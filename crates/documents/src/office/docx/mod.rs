//! Texts of Word: DOCX and DOCM. Macros are parts that nobody asks for.

mod body;
mod fields;
mod numbering;
mod paragraph;
mod styles;

use body::BodyReader;
use numbering::Numbering;
use styles::Styles;

use super::comments::{Comment, Comments, text_of};
use super::properties::read_metadata;
use crate::block::{Block, BlockKind, Content, Document, ListItem, Page, Span};
use crate::error::DocumentError;
use crate::package::{Archive, Relations, XmlTree};

const USUAL_MAIN_PART: &str = "word/document.xml";

pub(crate) fn parse_docx(archive: &mut Archive<'_>) -> Result<Document, DocumentError> {
    let package = Relations::load(archive, "")?;
    let main = package.part_of_kind("officeDocument").unwrap_or(USUAL_MAIN_PART).to_owned();
    let main = if archive.contains(&main) { main } else { USUAL_MAIN_PART.to_owned() };
    let tree = XmlTree::parse(&archive.required_part(&main)?)?;
    let relations = Relations::load(archive, &main)?;
    let styles = match load_related(archive, &relations, "styles")? {
        Some(tree) => Styles::from_xml(&tree),
        None => Styles::default(),
    };
    let numbering = match load_related(archive, &relations, "numbering")? {
        Some(tree) => Numbering::from_xml(&tree),
        None => Numbering::default(),
    };
    let mut warnings = Vec::new();
    if tree.truncated {
        warnings.push("The text is damaged or too large: it was read only up to that place.".to_owned());
    }
    let mut reader = BodyReader::new(&styles, numbering, &relations, archive);
    let mut blocks = reader.read_blocks(&tree, tree.root())?;
    let notes = reader.take_notes();
    let numbering = reader.into_numbering();
    let notes = read_notes(archive, &relations, &styles, numbering, &notes)?;
    if !notes.is_empty() {
        blocks.push(Block::native(BlockKind::Text, Content::List(notes)));
    }
    shift_headings_below_title(&mut blocks);
    add_running_text(archive, &relations, &mut blocks)?;
    let mut comments = Comments::default();
    blocks.extend(comments.block(&read_comments(archive, &relations)?));
    warnings.extend(comments.warning());
    let metadata =
        read_metadata(archive, package.part_of_kind("core-properties").unwrap_or("docProps/core.xml"))?;
    Ok(Document {
        metadata,
        pages: vec![Page::whole(blocks)],
        total_pages: 1,
        warnings,
        ..Document::default()
    })
}

fn load_related(
    archive: &mut Archive<'_>,
    relations: &Relations,
    kind: &str,
) -> Result<Option<XmlTree>, DocumentError> {
    let Some(part) = relations.part_of_kind(kind) else { return Ok(None) };
    Ok(archive.part(part)?.and_then(|bytes| XmlTree::parse(&bytes).ok()))
}

/// The notes that the text refers to, in its order, as one list at the end.
fn read_notes(
    archive: &mut Archive<'_>,
    relations: &Relations,
    styles: &Styles,
    mut numbering: Numbering,
    references: &[(&'static str, String)],
) -> Result<Vec<ListItem>, DocumentError> {
    let mut items = Vec::new();
    for kind in ["footnotes", "endnotes"] {
        if !references.iter().any(|(of, _)| *of == kind) {
            continue;
        }
        let Some(tree) = load_related(archive, relations, kind)? else { continue };
        for (number, (_, id)) in (1..).zip(references).filter(|(_, (of, _))| *of == kind) {
            let mut notes = tree.children(tree.root());
            let Some(note) = notes.find(|note| tree.attribute(*note, "id") == Some(id)) else { continue };
            let mut reader = BodyReader::new(styles, numbering, relations, archive);
            let text = crate::flatten::blocks_to_spans(reader.read_blocks(&tree, note)?);
            numbering = reader.into_numbering();
            items.push(ListItem { depth: 0, number: Some(number), text });
        }
    }
    items.sort_by_key(|item| item.number);
    Ok(items)
}

fn read_comments(archive: &mut Archive<'_>, relations: &Relations) -> Result<Vec<Comment>, DocumentError> {
    let Some(tree) = load_related(archive, relations, "comments")? else { return Ok(Vec::new()) };
    let found = tree.children(tree.root()).filter(|node| tree.is(*node, "comment"));
    let comments = found.map(|node| {
        let attribute = |name: &str| tree.attribute(node, name).unwrap_or_default().to_owned();
        let (author, time, text) = (attribute("author"), attribute("date"), text_of(&tree, node));
        Comment { place: String::new(), author, time, text }
    });
    Ok(comments.collect())
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

/// Running heads and feet: kept as blocks, left out of the markdown.
fn add_running_text(
    archive: &mut Archive<'_>,
    relations: &Relations,
    blocks: &mut Vec<Block>,
) -> Result<(), DocumentError> {
    for (kind, block_kind) in [("header", BlockKind::PageHeader), ("footer", BlockKind::PageFooter)] {
        let mut seen: Vec<String> = Vec::new();
        for part in relations.parts_of_kind(kind) {
            let Some(tree) = archive.part(part)?.and_then(|bytes| XmlTree::parse(&bytes).ok()) else {
                continue;
            };
            let texts = tree.descendants(tree.root()).filter(|node| tree.is(*node, "t"));
            let text: String = texts.map(|node| tree.text(node)).collect();
            let text = text.trim().to_owned();
            if !text.is_empty() && !seen.contains(&text) {
                blocks.push(Block::native(block_kind, Content::Paragraph(vec![Span::plain(text.clone())])));
                seen.push(text);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
