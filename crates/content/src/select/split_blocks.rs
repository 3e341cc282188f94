//! The walk that makes an [`Outline`] of a page: one pass over the arena, no recursion.

use super::marks::Marks;
use super::outline::{Attachment, Block, Counts, Element, Outline};
use super::tokens;
use super::words::Scanner;
use html::dom::{Dom, NodeId, Tag};

/// A page is cut after this many blocks; the rest is left to the guard.
const MAX_BLOCKS: usize = 60_000;
/// Word hashes kept in all.
const MAX_HASHES: usize = 1_500_000;
/// A table row with more nodes or more text than this is never one block.
const MAX_ROW_NODES: u32 = 120;
const MAX_ROW_TEXT_BYTES: usize = 600;

struct OpenElement {
    element: u32,
    end: u32,
    breaks: bool,
}

struct OutlineWalk<'a> {
    dom: &'a Dom,
    outline: Outline,
    open: Vec<OpenElement>,
    links: u32,
    scanner: Scanner,
    block: PendingBlock,
    /// Inline elements that closed within the current block: they contain it too, once it exists.
    around: Vec<u32>,
    /// End of the current plain table row.
    row_end: u32,
    left_out: &'a [NodeId],
}

/// The current block; it exists once a text with at least one word or mark was read.
#[derive(Default)]
struct PendingBlock {
    started: bool,
    owner: u32,
    lead: u32,
    first_text: u32,
    first_hash: u32,
    marks: u32,
}

/// Walks the body once, past the elements `left_out`, which are in document order.
pub fn outline(dom: &Dom, left_out: &[NodeId]) -> Outline {
    let Some(body) = dom.body() else { return Outline::default() };
    let mut walk = OutlineWalk {
        dom,
        outline: Outline::for_nodes(dom.subtree_end(body).index() - body.index()),
        open: Vec::new(),
        links: 0,
        scanner: Scanner::default(),
        block: PendingBlock::default(),
        around: Vec::new(),
        row_end: 0,
        left_out,
    };
    walk.run(body);
    walk.outline
}

impl OutlineWalk<'_> {
    fn run(&mut self, body: NodeId) {
        let end = self.dom.subtree_end(body).0;
        let mut at = body.0;
        let mut counts = Counts::default();
        self.outline.counts.push(counts);
        while at < end {
            budget::spend(1);
            let node = NodeId(at);
            self.close(at);
            let tag = self.dom.tag(node);
            if tag == Tag::Text {
                self.text(node);
                at += 1;
                continue;
            }
            if is_attached(tag) {
                self.attach(node);
            }
            if is_skipped(tag) || self.left_out.binary_search(&node).is_ok() {
                at = self.dom.subtree_end(node).0;
                continue;
            }
            if self.outline.blocks.len() >= MAX_BLOCKS || self.outline.hashes.len() >= MAX_HASHES {
                break;
            }
            self.element(node, tag);
            if let Some(kind) = counted(tag) {
                counts[kind] += 1;
            }
            self.outline.counts.push(counts);
            at += 1;
        }
        self.close(u32::MAX);
    }

    /// Closes the elements that end at or before the node `at`.
    fn close(&mut self, at: u32) {
        while let Some(top) = self.open.last() {
            if top.end > at {
                break;
            }
            let (index, breaks) = (top.element as usize, top.breaks);
            if breaks {
                self.flush();
            }
            self.open.pop();
            let end = to_u32(self.outline.elements.len());
            let end_block = to_u32(self.outline.blocks.len());
            let element = &mut self.outline.elements[index];
            element.end = end;
            element.end_block = end_block;
            if self.block.started {
                self.around.push(to_u32(index));
            }
            match element.tag {
                Tag::A => {
                    self.scanner.end_word(true, &mut self.outline.hashes);
                    self.links = self.links.saturating_sub(1);
                }
                Tag::Td | Tag::Th if !breaks => {
                    self.scanner.end_word(self.links > 0, &mut self.outline.hashes);
                }
                _ => {}
            }
        }
    }

    fn element(&mut self, node: NodeId, tag: Tag) {
        let cell = node.0 < self.row_end && matches!(tag, Tag::Td | Tag::Th);
        let breaks = !cell && is_breaking(tag);
        if breaks {
            self.flush();
        } else if self.block.started && (cell || matches!(tag, Tag::A | Tag::Br)) {
            self.scanner.end_word(self.links > 0, &mut self.outline.hashes);
        }
        if tag == Tag::Tr && node.0 >= self.row_end && is_plain_row(self.dom, node) {
            self.row_end = self.dom.subtree_end(node).0;
        }
        let index = to_u32(self.outline.elements.len());
        let (parent, inherited, depth, path) = match self.open.last() {
            Some(open) => {
                let parent = &self.outline.elements[open.element as usize];
                (open.element, parent.marks.0, parent.depth + 1, parent.path)
            }
            None => (index, 0, 0, 0),
        };
        let first_token = to_u32(self.outline.tokens.len());
        let class = tokens::of_element(self.dom, node, &mut self.outline.tokens);
        let signature = class.wrapping_mul(31).wrapping_add(tag as u32 + 1).wrapping_mul(0x9e37_79b1);
        let first_block = to_u32(self.outline.blocks.len());
        self.outline.elements.push(Element {
            node,
            parent,
            tag,
            depth,
            first_block,
            end_block: first_block,
            end: index + 1,
            first_token,
            end_token: to_u32(self.outline.tokens.len()),
            signature,
            // Eight bits of each level: four levels up the oldest has been shifted out.
            path: (path << 8) ^ (signature >> 12),
            marks: Marks(inherited | Marks::from_element(self.dom, node)),
        });
        if tag == Tag::A {
            self.links += 1;
        }
        self.open.push(OpenElement { element: index, end: self.dom.subtree_end(node).0, breaks });
    }

    fn text(&mut self, node: NodeId) {
        let text = self.dom.text(node);
        let Some(open) = self.open.last() else { return };
        let lead = open.element;
        if !self.block.started {
            if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
                return;
            }
            let owner = self.open.iter().rev().find(|open| open.breaks).map_or(lead, |open| open.element);
            self.block = PendingBlock {
                started: true,
                owner,
                lead,
                first_text: to_u32(self.outline.texts.len()),
                first_hash: to_u32(self.outline.hashes.len()),
                marks: self.outline.elements[lead as usize].marks.0,
            };
        }
        self.outline.texts.push(node);
        budget::spend_on_text(text.len());
        self.scanner.scan(text, self.links > 0, &mut self.outline.hashes);
    }

    fn attach(&mut self, node: NodeId) {
        let Some(open) = self.open.last() else { return };
        self.outline.attachments.push(Attachment {
            node,
            holder: open.element,
            block: to_u32(self.outline.blocks.len()),
            inside: self.block.started,
        });
    }

    fn flush(&mut self) {
        if !self.block.started {
            return;
        }
        let pending = std::mem::take(&mut self.block);
        let tally = self.scanner.finish(self.links > 0, &mut self.outline.hashes);
        if tally.words == 0 {
            // Bullets, ticks and dashes alone belong to the neighbouring text; they are not a block.
            let block = to_u32(self.outline.blocks.len());
            let marks = self.outline.texts.drain(pending.first_text as usize..);
            let attach = |node| Attachment { node, holder: pending.owner, block, inside: false };
            self.outline.attachments.extend(marks.map(attach));
            self.around.clear();
            return;
        }
        self.outline.blocks.push(Block {
            owner: pending.owner,
            lead: pending.lead,
            first_text: pending.first_text,
            end_text: to_u32(self.outline.texts.len()),
            first_hash: pending.first_hash,
            end_hash: to_u32(self.outline.hashes.len()),
            tally,
            marks: Marks(pending.marks),
        });
        let end_block = to_u32(self.outline.blocks.len());
        for index in self.around.drain(..) {
            self.outline.elements[index as usize].end_block = end_block;
        }
    }
}

fn to_u32(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Elements that never contain text of the page.
fn is_skipped(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Script
            | Tag::Style
            | Tag::Template
            | Tag::Head
            | Tag::Svg
            | Tag::Iframe
            | Tag::Object
            | Tag::Embed
            | Tag::Canvas
            | Tag::Audio
            | Tag::Video
            | Tag::Datalist
            | Tag::Textarea
            | Tag::Title
            | Tag::Noframes
    )
}

/// Elements that a writer may show although they contain no text.
fn is_attached(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Img
            | Tag::Hr
            | Tag::Input
            | Tag::Iframe
            | Tag::Video
            | Tag::Audio
            | Tag::Embed
            | Tag::Object
            | Tag::Br
    )
}

/// Elements whose edges end a run of text: blocks, and separate parts of forms and pages.
fn is_breaking(tag: Tag) -> bool {
    tag.is_block() || matches!(tag, Tag::Noscript | Tag::Optgroup | Tag::Option | Tag::Select)
}

/// Whether a table row has little more than inline text: its cells are then one block, because a row is kept
/// or dropped as a whole. Rows of layout tables contain blocks of their own.
fn is_plain_row(dom: &Dom, row: NodeId) -> bool {
    let mut text = 0;
    dom.subtree_end(row).0 - row.0 <= MAX_ROW_NODES
        && dom.descendants(row).all(|node| {
            let tag = dom.tag(node);
            text += dom.text_len(node);
            text <= MAX_ROW_TEXT_BYTES && (matches!(tag, Tag::Td | Tag::Th) || !is_breaking(tag))
        })
}

fn counted(tag: Tag) -> Option<usize> {
    Some(match tag {
        Tag::P => 0,
        Tag::Li => 1,
        Tag::A => 2,
        Tag::Img => 3,
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => 4,
        Tag::Input | Tag::Button | Tag::Select => 5,
        Tag::Tr => 6,
        Tag::Time => 7,
        _ => return None,
    })
}
