//! The page as selection sees it: blocks of text in order, and the elements that hold them.
//!
//! A block is a run of text that no block-level edge interrupts. One walk over the arena yields every block
//! with its [`TextTally`] and every element with the range of blocks below it, so any sum over a container is
//! a difference of two prefix sums. Nothing is classified here; hidden and repeated text is marked, not
//! dropped.

use super::marks::Marks;
use super::words::TextTally;
use html::dom::{Dom, NodeId, Tag};

/// An element of the page body.
#[derive(Debug, Clone, Copy)]
pub struct Element {
    pub node: NodeId,
    /// Index of the parent in [`Outline::elements`]; the body is its own parent.
    pub parent: u32,
    pub tag: Tag,
    pub depth: u16,
    /// Range of blocks in the subtree.
    pub first_block: u32,
    pub end_block: u32,
    /// One past the last element of the subtree.
    pub end: u32,
    /// Range in [`Outline::tokens`].
    pub first_token: u32,
    pub end_token: u32,
    /// Hash of tag and class: elements stamped out by one template share it.
    pub signature: u32,
    /// Hash of the signatures up to four levels up.
    pub path: u32,
    pub marks: Marks,
}

/// A run of text.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// The nearest block-level element, as an index in [`Outline::elements`].
    pub owner: u32,
    /// The element directly around the first text.
    pub lead: u32,
    /// Range in [`Outline::texts`].
    pub first_text: u32,
    pub end_text: u32,
    /// Range in [`Outline::hashes`].
    pub first_hash: u32,
    pub end_hash: u32,
    pub tally: TextTally,
    pub marks: Marks,
}

/// Element kinds counted for containers, in the order of [`Counts`].
pub const COUNTED: usize = 8;
/// Paragraphs, list items, links, images, headings, form fields, table rows, times.
pub type Counts = [u32; COUNTED];

/// Something without words that belongs to the text around it: an image, a rule, a bare mark.
#[derive(Debug, Clone, Copy)]
pub struct Attachment {
    pub node: NodeId,
    /// The element around it.
    pub holder: u32,
    /// The block it is in, when it interrupts one, or the block that follows.
    pub block: u32,
    pub inside: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Outline {
    pub elements: Vec<Element>,
    pub blocks: Vec<Block>,
    pub texts: Vec<NodeId>,
    pub attachments: Vec<Attachment>,
    pub hashes: Vec<u32>,
    pub tokens: Vec<u32>,
    /// `counts[i]`: how many of each counted kind are among the elements before `i`.
    pub counts: Vec<Counts>,
}

impl Outline {
    /// An empty outline with room for a body of so many nodes, as they usually are.
    pub(super) fn for_nodes(nodes: usize) -> Self {
        Self {
            elements: Vec::with_capacity(nodes / 2),
            blocks: Vec::with_capacity(nodes / 8),
            texts: Vec::with_capacity(nodes / 4),
            attachments: Vec::new(),
            hashes: Vec::with_capacity(2 * nodes),
            tokens: Vec::with_capacity(nodes / 4),
            counts: Vec::with_capacity(nodes / 2 + 1),
        }
    }

    /// Walks the body once.
    pub fn from_dom(dom: &Dom) -> Self {
        super::split_blocks::outline(dom, &[])
    }

    /// The same as if these elements, in document order, were not on the page.
    pub fn without(dom: &Dom, left_out: &[NodeId]) -> Self {
        super::split_blocks::outline(dom, left_out)
    }

    /// Whether an element has one of these words in its class or id.
    pub fn has_token(&self, element: &Element, words: &[u32]) -> bool {
        let tokens = &self.tokens[element.first_token as usize..element.end_token as usize];
        tokens.iter().any(|token| words.contains(token))
    }

    /// The blocks below an element.
    pub fn blocks_of(&self, element: &Element) -> std::ops::Range<usize> {
        element.first_block as usize..element.end_block as usize
    }

    /// The owner's chain of ancestors, nearest first, the body last.
    pub fn chain(&self, element: u32) -> impl Iterator<Item = &Element> + '_ {
        let mut next = Some(element);
        std::iter::from_fn(move || {
            let at = next?;
            let element = &self.elements[at as usize];
            next = (element.parent != at).then_some(element.parent);
            Some(element)
        })
    }

    /// Counted elements below (not including) an element.
    pub fn counts_below(&self, element: &Element, index: usize) -> Counts {
        let (from, to) = (&self.counts[index + 1], &self.counts[element.end as usize]);
        std::array::from_fn(|kind| to[kind] - from[kind])
    }
}
