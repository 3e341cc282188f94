//! Slides of PowerPoint: PPTX and PPTM, one page for each slide.

mod comments;
mod layout;
mod slide;

use comments::{Authors, slide_comments};
use layout::SlideLayout;
use slide::SlideReader;

use super::comments::Comments;
use super::properties::read_metadata;
use crate::block::{Block, BlockKind, Content, Document, Page, Span};
use crate::error::DocumentError;
use crate::package::{Archive, Relations, XmlTree};

const USUAL_MAIN_PART: &str = "ppt/presentation.xml";
const MAX_SLIDES: usize = 10_000;
/// English Metric Units in a point.
const EMU_PER_POINT: f32 = 12_700.0;

pub(crate) fn parse_pptx(archive: &mut Archive<'_>) -> Result<Document, DocumentError> {
    let package = Relations::load(archive, "")?;
    let main = package.part_of_kind("officeDocument").unwrap_or(USUAL_MAIN_PART).to_owned();
    let tree = XmlTree::parse(&archive.required_part(&main)?)?;
    let relations = Relations::load(archive, &main)?;
    let (width, height) = slide_size(&tree);
    let ids = tree.descendants(tree.root()).filter(|node| tree.is(*node, "sldId"));
    // An id of the list itself and an id of the relation differ only in their prefix.
    let slides: Vec<String> =
        ids.filter_map(|node| relations.part(tree.last_attribute(node, "id")?)).map(str::to_owned).collect();
    let mut document =
        Document { total_pages: u32::try_from(slides.len()).unwrap_or(u32::MAX), ..Document::default() };
    let authors = Authors::load(archive, &relations)?;
    let mut comments = Comments::default();
    for (number, part) in (1..).zip(slides.iter().take(MAX_SLIDES)) {
        let blocks = match read_slide(archive, part, &authors, &mut comments) {
            Ok(blocks) => blocks,
            Err(error @ DocumentError::TooLarge(_)) => return Err(error),
            Err(error) => {
                document.warnings.push(format!("Slide {number} could not be read: {error}"));
                Vec::new()
            }
        };
        document.pages.push(Page { number, width, height, blocks, ..Page::default() });
    }
    document.warnings.extend(comments.warning());
    let properties = package.part_of_kind("core-properties").unwrap_or("docProps/core.xml");
    document.metadata = read_metadata(archive, properties)?;
    Ok(document)
}

fn slide_size(tree: &XmlTree) -> (f32, f32) {
    let Some(size) = tree.descendant(tree.root(), "sldSz") else { return (0.0, 0.0) };
    let points = |name: &str| {
        let emu = tree.attribute(size, name).and_then(|emu| emu.parse::<f32>().ok()).unwrap_or(0.0);
        (emu / EMU_PER_POINT).clamp(0.0, 100_000.0)
    };
    (points("cx"), points("cy"))
}

fn read_slide(
    archive: &mut Archive<'_>,
    part: &str,
    authors: &Authors,
    comments: &mut Comments,
) -> Result<Vec<Block>, DocumentError> {
    let tree = XmlTree::parse(&archive.required_part(part)?)?;
    let relations = Relations::load(archive, part)?;
    let mut inherited = SlideLayout::default();
    if let Some(layout) = relations.part_of_kind("slideLayout") {
        let layout_relations = Relations::load(archive, layout)?;
        if let Some(tree) = archive.part(layout)?.and_then(|bytes| XmlTree::parse(&bytes).ok()) {
            inherited.add_layout(&tree);
        }
        if let Some(master) = layout_relations.part_of_kind("slideMaster")
            && let Some(tree) = archive.part(master)?.and_then(|bytes| XmlTree::parse(&bytes).ok())
        {
            inherited.add_master(&tree);
        }
    }
    let mut blocks = SlideReader::new(&inherited, &relations, archive).read_blocks(&tree)?;
    if let Some(notes) = relations.part_of_kind("notesSlide")
        && let Some(tree) = archive.part(notes)?.and_then(|bytes| XmlTree::parse(&bytes).ok())
    {
        blocks.extend(speaker_notes(&tree));
    }
    blocks.extend(comments.block(&slide_comments(archive, &relations, authors)?));
    Ok(blocks)
}

/// What the speaker wrote below the slide is not on it: kept as a block, left out of the markdown.
fn speaker_notes(tree: &XmlTree) -> Option<Block> {
    let is_body = |shape: &crate::package::Node| {
        let kind = tree.path(*shape, &["nvSpPr", "nvPr", "ph"]).and_then(|ph| tree.attribute(ph, "type"));
        tree.is(*shape, "sp") && kind == Some("body")
    };
    let body = tree.descendants(tree.root()).find(is_body)?;
    let paragraphs = tree.descendants(body).filter(|node| tree.is(*node, "p"));
    let text: Vec<String> = paragraphs.map(|node| tree.text(node).trim().to_owned()).collect();
    let text = text.join("\n").trim().to_owned();
    let content = Content::Paragraph(vec![Span::plain(text.clone())]);
    (!text.is_empty()).then(|| Block::native(BlockKind::PageFooter, content))
}

#[cfg(test)]
mod tests;
