//! Objects inside of a file: charts with their data, and formulas.

use crate::block::{Block, BlockKind, Content, Span};
use crate::error::DocumentError;
use crate::office::charts::{kind_name, push_caption};
use crate::package::{Archive, Node, XmlTree, resolve_part};
use crate::table::TableBuilder;

/// What an object says, by the address that a frame gives of it.
pub(super) fn object_blocks(archive: &mut Archive<'_>, address: &str) -> Result<Vec<Block>, DocumentError> {
    let part = format!("{}/content.xml", resolve_part("", address));
    let Some(tree) = archive.part(&part)?.and_then(|bytes| XmlTree::parse(&bytes).ok()) else {
        return Ok(Vec::new());
    };
    if tree.is(tree.root(), "math") {
        let note = tree.descendant(tree.root(), "annotation").unwrap_or(tree.root());
        let text = tree.text(note).split_whitespace().collect::<Vec<_>>().join(" ");
        return Ok(vec![Block::native(BlockKind::Formula, Content::Formula(text))]);
    }
    Ok(chart(&tree))
}

fn chart(tree: &XmlTree) -> Vec<Block> {
    let mut blocks = Vec::new();
    let Some(body) = tree.path(tree.root(), &["body", "chart", "chart"]) else { return blocks };
    if let Some(title) = tree.child(body, "title") {
        push_caption(&mut blocks, &tree.text(title));
    }
    if let Some(kind) = tree.attribute(body, "class").and_then(kind_name) {
        push_caption(&mut blocks, kind);
    }
    if let Some(table) = tree.child(body, "table") {
        let mut builder = TableBuilder::with_header_rows(1);
        for row in tree.descendants(table).filter(|node| tree.is(*node, "table-row")) {
            builder.start_row();
            for cell in tree.children(row).filter(|node| tree.is(*node, "table-cell")) {
                builder.push(cell_text(tree, cell), 1, 1);
            }
        }
        let content = builder.finish();
        if !content.is_blank() {
            blocks.push(Block::native(BlockKind::Table, Content::Table(content)));
        }
    }
    blocks
}

fn cell_text(tree: &XmlTree, cell: Node) -> Vec<Block> {
    let paragraphs: Vec<String> =
        tree.children(cell).filter(|node| tree.is(*node, "p")).map(|node| tree.text(node)).collect();
    let text = paragraphs.join(" ");
    // Not a number: a place without data.
    let text = if text.trim() == "NaN" { "" } else { text.trim() };
    vec![Block::native(BlockKind::Text, Content::Paragraph(vec![Span::plain(text)]))]
}
