//! One page as one arena of nodes in document order.
//!
//! Owns the tree and the walks over it. Node ids count in document order, so the subtree of a node is the
//! contiguous range of ids from it to [`Dom::subtree_end`]; walking a page is a loop over a range and nothing
//! here recurses. Built once by [`Dom::parse`] within [`Limits`]; never changed afterwards, never does I/O.

mod build;
mod names;
mod raw_text;
mod token_filter;

pub use names::{Attr, Tag};

use html5ever::{LocalName, QualName};
use std::ops::Range;

/// Limits of parsing one page. The rest is dropped, and [`Dom::truncated`] says so.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of decoded markup that are parsed.
    pub bytes: usize,
    /// Nodes kept.
    pub nodes: usize,
    /// Depth at which further elements stop nesting and become siblings.
    pub depth: u16,
    /// Attributes kept on one element.
    pub attributes: u16,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 64 << 20, nodes: 2_000_000, depth: 512, attributes: 256 }
    }
}

/// A node of one [`Dom`]; ids count from 0 (the document) in document order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The id as an index into a side table with one entry per node.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

const NONE: u32 = u32::MAX;

/// `first`/`len` of an element are the start of its attributes and, for unknown tags, its index in `names`;
/// of a text node they are the byte range of its text.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    end: u32,
    previous: u32,
    first: u32,
    len: u32,
    depth: u16,
    attributes: u16,
    tag: Tag,
}

#[derive(Clone, Copy, Debug)]
struct AttrSlot {
    /// A known [`Attr`] as its number, or `KNOWN_ATTRS` plus an index into `attr_names`.
    name: u32,
    start: u32,
    len: u32,
}

const KNOWN_ATTRS: u32 = 256;

/// A parsed page.
#[derive(Debug)]
pub struct Dom {
    nodes: Vec<Node>,
    text: String,
    attributes: Vec<AttrSlot>,
    attribute_text: String,
    attribute_names: Vec<LocalName>,
    names: Vec<QualName>,
    html: Option<NodeId>,
    head: Option<NodeId>,
    body: Option<NodeId>,
    truncated: bool,
}

impl Dom {
    /// Parses decoded markup. Always returns a tree, without what exceeds the limits.
    pub fn parse(html: &str, limits: &Limits) -> Self {
        build::parse(html, limits)
    }

    /// Whether a limit cut something off.
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// Number of nodes; every id is below it.
    #[inline]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A tree always has its document node.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The document node, id 0.
    #[inline]
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// The `html` element.
    #[inline]
    pub fn html(&self) -> Option<NodeId> {
        self.html
    }

    /// The `head` element.
    #[inline]
    pub fn head(&self) -> Option<NodeId> {
        self.head
    }

    /// The `body` element (or `frameset`).
    #[inline]
    pub fn body(&self) -> Option<NodeId> {
        self.body
    }

    #[inline]
    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// An address that identifies this node as long as the tree lives.
    pub(crate) fn identity(&self, id: NodeId) -> &impl Sized {
        self.node(id)
    }

    /// The name of an element, or [`Tag::Text`] / [`Tag::Document`].
    #[inline]
    pub fn tag(&self, id: NodeId) -> Tag {
        self.node(id).tag
    }

    /// Whether the node is an element.
    #[inline]
    pub fn is_element(&self, id: NodeId) -> bool {
        !matches!(self.tag(id), Tag::Text | Tag::Document)
    }

    /// Whether the node is a run of text.
    #[inline]
    pub fn is_text(&self, id: NodeId) -> bool {
        self.tag(id) == Tag::Text
    }

    /// Distance from the document node.
    #[inline]
    pub fn depth(&self, id: NodeId) -> usize {
        usize::from(self.node(id).depth)
    }

    /// The element's name as written by the parser (lower case in HTML); empty for other nodes.
    pub fn local_name(&self, id: NodeId) -> &str {
        match self.qualified_name(id) {
            Some(name) => &name.local,
            None => self.tag(id).as_str(),
        }
    }

    /// The full name, kept only for elements that are not known HTML tags.
    pub(crate) fn qualified_name(&self, id: NodeId) -> Option<&QualName> {
        let node = self.node(id);
        if matches!(node.tag, Tag::Other | Tag::Svg | Tag::Math) {
            self.names.get(node.len as usize)
        } else {
            None
        }
    }

    #[inline]
    fn some(id: u32) -> Option<NodeId> {
        (id != NONE).then_some(NodeId(id))
    }

    /// The parent; none for the document.
    #[inline]
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        Self::some(self.node(id).parent)
    }

    /// The first child.
    #[inline]
    pub fn first_child(&self, id: NodeId) -> Option<NodeId> {
        (self.node(id).end > id.0 + 1).then_some(NodeId(id.0 + 1))
    }

    /// The sibling after this node.
    #[inline]
    pub fn next_sibling(&self, id: NodeId) -> Option<NodeId> {
        let node = self.node(id);
        let parent = Self::some(node.parent)?;
        (node.end < self.node(parent).end).then_some(NodeId(node.end))
    }

    /// The sibling before this node.
    #[inline]
    pub fn prev_sibling(&self, id: NodeId) -> Option<NodeId> {
        Self::some(self.node(id).previous)
    }

    /// One past the last id of the subtree: `id.0..subtree_end(id).0` is the node and all its descendants in
    /// document order.
    #[inline]
    pub fn subtree_end(&self, id: NodeId) -> NodeId {
        NodeId(self.node(id).end)
    }

    /// Whether `id` lies in the subtree of `ancestor` (or is it).
    #[inline]
    pub fn contains(&self, ancestor: NodeId, id: NodeId) -> bool {
        ancestor <= id && id < self.subtree_end(ancestor)
    }

    /// The node and all its descendants, in document order.
    #[inline]
    pub fn subtree(&self, id: NodeId) -> NodeWalk {
        NodeWalk { ids: id.0..self.node(id).end, paid: 0 }
    }

    /// All nodes below this one, in document order.
    #[inline]
    pub fn descendants(&self, id: NodeId) -> NodeWalk {
        NodeWalk { ids: id.0 + 1..self.node(id).end, paid: 0 }
    }

    /// The children, in order.
    #[inline]
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(id), |&child| self.next_sibling(child))
    }

    /// The ancestors, nearest first; the node itself is not among them.
    #[inline]
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(id), |&node| self.parent(node))
    }

    /// The nearest ancestor (not the node itself) with this tag.
    #[inline]
    pub fn closest(&self, id: NodeId, tag: Tag) -> Option<NodeId> {
        self.ancestors(id).find(|&node| self.tag(node) == tag)
    }

    /// The text of a text node; empty for every other node.
    #[inline]
    pub fn text(&self, id: NodeId) -> &str {
        let node = self.node(id);
        if node.tag == Tag::Text {
            &self.text[node.first as usize..(node.first + node.len) as usize]
        } else {
            ""
        }
    }

    /// Bytes of text in a text node, without touching the text.
    #[inline]
    pub fn text_len(&self, id: NodeId) -> usize {
        let node = self.node(id);
        if node.tag == Tag::Text { node.len as usize } else { 0 }
    }

    /// All text below a node, joined unchanged (scripts included: callers skip what they do not want).
    pub fn text_content(&self, id: NodeId) -> String {
        let mut text = String::new();
        for node in self.subtree(id) {
            text.push_str(self.text(node));
        }
        text
    }

    #[inline]
    fn slots(&self, id: NodeId) -> &[AttrSlot] {
        let node = self.node(id);
        let start = node.first as usize;
        if node.tag == Tag::Text {
            &[]
        } else {
            &self.attributes[start..start + usize::from(node.attributes)]
        }
    }

    #[inline]
    fn value(&self, slot: &AttrSlot) -> &str {
        let range: Range<usize> = slot.start as usize..(slot.start + slot.len) as usize;
        &self.attribute_text[range]
    }

    /// The value of a known attribute.
    #[inline]
    pub fn attr(&self, id: NodeId, name: Attr) -> Option<&str> {
        self.slots(id).iter().find(|slot| slot.name == name as u32).map(|slot| self.value(slot))
    }

    /// Whether the element has the attribute, whatever its value.
    #[inline]
    pub fn has_attr(&self, id: NodeId, name: Attr) -> bool {
        self.slots(id).iter().any(|slot| slot.name == name as u32)
    }

    /// Whether any element of the page has the attribute.
    pub fn uses(&self, name: Attr) -> bool {
        self.attributes.iter().any(|slot| slot.name == name as u32)
    }

    /// Whether the value of any attribute contains this text; one search over all of them.
    pub fn is_in_attributes(&self, part: &str) -> bool {
        memchr::memmem::find(self.attribute_text.as_bytes(), part.as_bytes()).is_some()
    }

    /// The value of any attribute by its name in lower case; slower than [`Dom::attr`].
    pub fn attr_named(&self, id: NodeId, name: &str) -> Option<&str> {
        self.attrs(id).find(|&(known, _)| known == name).map(|(_, value)| value)
    }

    /// All attributes in the order they were written: name in lower case, value.
    #[inline]
    pub fn attrs(&self, id: NodeId) -> impl Iterator<Item = (&str, &str)> + '_ {
        self.slots(id).iter().map(|slot| {
            let name = match slot.name.checked_sub(KNOWN_ATTRS) {
                Some(unknown) => &*self.attribute_names[unknown as usize],
                None => names::spelling(slot.name),
            };
            (name, self.value(slot))
        })
    }
}

/// A walk over nodes in document order that counts budget steps.
#[derive(Clone, Debug)]
pub struct NodeWalk {
    ids: Range<u32>,
    /// Nodes that were counted ahead.
    paid: u32,
}

impl NodeWalk {
    /// Nodes that are counted at once.
    const NODES_AHEAD: u32 = 32;

    #[inline]
    fn count(&mut self) {
        if self.paid == 0 {
            let left = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
            self.paid = left.min(Self::NODES_AHEAD);
            budget::spend(u64::from(self.paid));
        }
        self.paid = self.paid.saturating_sub(1);
    }
}

impl Iterator for NodeWalk {
    type Item = NodeId;

    #[inline]
    fn next(&mut self) -> Option<NodeId> {
        self.count();
        self.ids.next().map(NodeId)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ids.size_hint()
    }
}

impl DoubleEndedIterator for NodeWalk {
    #[inline]
    fn next_back(&mut self) -> Option<NodeId> {
        self.count();
        self.ids.next_back().map(NodeId)
    }
}

#[cfg(test)]
mod tests;
