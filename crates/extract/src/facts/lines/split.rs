//! Cuts a page into the lines that a reader sees: text between the edges of blocks and line breaks, in pieces
//! of one text node each.

use super::super::text;
use html::NodeSet;
use html::dom::{Attr, Dom, NodeId, Tag};

/// Bytes kept of one line, and pieces of one line.
const MAX_LINE_BYTES: usize = 1_200;
const MAX_PIECES: usize = 40;
/// Elements around a piece that are examined for emphasis and links.
const MAX_INLINE_DEPTH: usize = 6;

/// The text of one text node.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub node: NodeId,
    /// As on the page, white space included.
    pub raw: String,
    /// `b`, `strong`, `em`, `label`, `th`: marks labels and names.
    pub strong: bool,
    /// The link around it.
    pub link: Option<NodeId>,
}

#[derive(Debug)]
pub(super) struct RawLine {
    pub pieces: Vec<Piece>,
    /// The innermost block around the line.
    pub block: NodeId,
}

/// The lines of the visible part of a page, in order.
pub(super) fn raw_lines(dom: &Dom, visible: &NodeSet, max_lines: usize) -> Vec<RawLine> {
    let Some(body) = dom.body() else { return Vec::new() };
    let mut lines: Vec<RawLine> = Vec::new();
    let mut open: Vec<NodeId> = vec![body];
    let mut pieces: Vec<Piece> = Vec::new();
    let mut bytes = 0;
    let end = dom.subtree_end(body).0;
    let mut at = body.0 + 1;
    while at < end && lines.len() < max_lines {
        budget::spend(1);
        let id = NodeId(at);
        while open.len() > 1 && open.last().is_some_and(|&block| dom.subtree_end(block).0 <= at) {
            flush(&mut pieces, &mut lines, &open);
            bytes = 0;
            open.pop();
        }
        at += 1;
        if dom.is_text(id) {
            let raw = dom.text(id);
            let kept = visible.contains(id) && pieces.len() < MAX_PIECES && bytes < MAX_LINE_BYTES;
            if kept && !raw.is_empty() {
                let raw = raw[..raw.floor_char_boundary(MAX_LINE_BYTES)].to_owned();
                bytes += raw.len();
                let (strong, link) = marks(dom, id);
                if !(link.is_some() && !raw.trim().is_empty() && text::is_permalink_sign(&raw)) {
                    pieces.push(Piece { node: id, raw, strong, link });
                }
            }
            continue;
        }
        let tag = dom.tag(id);
        if !visible.contains(id) || text::is_struck(tag) {
            at = dom.subtree_end(id).0;
        } else if tag == Tag::Br {
            flush(&mut pieces, &mut lines, &open);
            bytes = 0;
        } else if tag.is_block() || tag == Tag::Button {
            flush(&mut pieces, &mut lines, &open);
            bytes = 0;
            open.push(id);
        }
    }
    flush(&mut pieces, &mut lines, &open);
    lines
}

fn flush(pieces: &mut Vec<Piece>, lines: &mut Vec<RawLine>, open: &[NodeId]) {
    let some = pieces.iter().any(|piece| piece.raw.chars().any(char::is_alphanumeric));
    match open.last() {
        Some(&block) if some => lines.push(RawLine { pieces: std::mem::take(pieces), block }),
        _ => pieces.clear(),
    }
}

/// Whether a text node is emphasized, and the link around it.
fn marks(dom: &Dom, id: NodeId) -> (bool, Option<NodeId>) {
    let (mut strong, mut link) = (false, None);
    for above in dom.ancestors(id).take(MAX_INLINE_DEPTH) {
        match dom.tag(above) {
            Tag::B | Tag::Strong | Tag::Em | Tag::Label | Tag::Th | Tag::Dt => strong = true,
            Tag::A if dom.has_attr(above, Attr::Href) => link = link.or(Some(above)),
            _ => {}
        }
        if dom.tag(above).is_block() {
            break;
        }
    }
    (strong, link)
}
