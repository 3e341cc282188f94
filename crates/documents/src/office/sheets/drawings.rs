//! What is drawn over the cells of a sheet: the data of charts, and text boxes.

use std::collections::HashMap;

use super::parts::sheet_parts;
use crate::block::{Block, BlockKind, Content, Span};
use crate::error::DocumentError;
use crate::office::charts::chart_blocks;
use crate::package::{Archive, Relations, XmlTree};

/// By the name of the sheet.
pub(super) fn sheet_drawings(
    archive: &mut Archive<'_>,
) -> Result<HashMap<String, Vec<Block>>, DocumentError> {
    let mut found = HashMap::new();
    // Most workbooks have none.
    if !archive.names().any(|name| name.starts_with("xl/drawings/")) {
        return Ok(found);
    }
    for (name, part) in sheet_parts(archive)?.sheets {
        let relations = Relations::load(archive, &part)?;
        let mut blocks = Vec::new();
        for drawing in relations.parts_of_kind("drawing") {
            blocks.extend(read_drawing(archive, drawing)?);
        }
        found.insert(name, blocks);
    }
    Ok(found)
}

fn read_drawing(archive: &mut Archive<'_>, part: &str) -> Result<Vec<Block>, DocumentError> {
    let mut blocks = Vec::new();
    let Some(tree) = archive.part(part)?.and_then(|bytes| XmlTree::parse(&bytes).ok()) else {
        return Ok(blocks);
    };
    let relations = Relations::load(archive, part)?;
    for node in tree.descendants(tree.root()) {
        match tree.name(node) {
            "chart" => {
                let chart = tree.attribute(node, "id").and_then(|id| relations.part(id)).map(str::to_owned);
                let Some(chart) = chart else { continue };
                if let Some(chart) = archive.part(&chart)?.and_then(|bytes| XmlTree::parse(&bytes).ok()) {
                    blocks.extend(chart_blocks(&chart));
                }
            }
            "txBody" => {
                for paragraph in tree.children(node).filter(|node| tree.is(*node, "p")) {
                    let text = tree.text(paragraph);
                    if !text.trim().is_empty() {
                        let content = Content::Paragraph(vec![Span::plain(text.trim())]);
                        blocks.push(Block::native(BlockKind::Text, content));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(blocks)
}
