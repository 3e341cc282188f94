//! A run of blocks while it is read: items that follow each other become one list.

use crate::block::{Block, BlockKind, Content, ListItem, Span};

#[derive(Debug, Default)]
pub(crate) struct Flow {
    blocks: Vec<Block>,
    /// Which list of the file the last block is.
    list: Option<ListId>,
}

/// Which list of the file an item belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListId(pub(crate) u64);

impl Flow {
    pub(crate) fn push(&mut self, kind: BlockKind, content: Content) {
        self.list = None;
        self.blocks.push(Block::native(kind, content));
    }

    /// Adds a paragraph unless it is empty.
    pub(crate) fn push_text(&mut self, kind: BlockKind, text: Vec<Span>) {
        if !is_blank(&text) {
            self.push(kind, Content::Paragraph(text));
        }
    }

    /// Adds a line of code; lines that follow each other are one block.
    pub(crate) fn push_code(&mut self, line: &[Span]) {
        let line: String = line.iter().map(|span| span.text.as_str()).collect();
        if let Some(Block { content: Content::Code { text, .. }, .. }) = self.blocks.last_mut() {
            text.push('\n');
            text.push_str(&line);
        } else {
            self.push(BlockKind::Text, Content::Code { language: None, text: line });
        }
    }

    pub(crate) fn push_item(&mut self, id: ListId, item: ListItem) {
        if is_blank(&item.text) {
            return;
        }
        // A deeper item goes on with the list above it, whatever the file calls it.
        let continues = self.list == Some(id) || (self.list.is_some() && item.depth > 0);
        if continues && let Some(Block { content: Content::List(items), .. }) = self.blocks.last_mut() {
            items.push(item);
            return;
        }
        self.push(BlockKind::Text, Content::List(vec![item]));
        self.list = Some(id);
    }

    pub(crate) fn extend(&mut self, blocks: Vec<Block>) {
        if !blocks.is_empty() {
            self.list = None;
            self.blocks.extend(blocks);
        }
    }

    pub(crate) fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }
}

pub(crate) fn is_blank(text: &[Span]) -> bool {
    text.iter().all(|span| span.text.trim().is_empty())
}

/// Headings and titles are bold by nature, so the style says nothing there.
pub(crate) fn without_weight(text: Vec<Span>) -> Vec<Span> {
    text.into_iter().map(|span| Span { bold: false, italic: false, ..span }).collect()
}
