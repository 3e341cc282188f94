//! Markup → arena: html5ever's tree builder driven into flat vectors, then laid out in document order.
//!
//! Owns the tree while it grows: nodes linked both ways, text and attributes in flat buffers, each bounded.
//! What may enter is decided in [`super::token_filter`].

use super::token_filter::{TokenFilter, feed};
use super::{Attr, AttrSlot, Dom, KNOWN_ATTRS, Limits, NONE, Node, NodeId, Tag};
use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, Namespace, QualName, local_name, ns};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::OnceLock;

pub(super) fn parse(html: &str, limits: &Limits) -> Dom {
    let mut cut = false;
    let limit = limits.bytes.min(u32::MAX as usize / 4);
    let html = if html.len() > limit {
        cut = true;
        &html[..html.floor_char_boundary(limit)]
    } else {
        html
    };
    let html = without_torn_tag(html);
    let sink = Sink::new(html.len(), *limits);
    let options = TreeBuilderOpts { scripting_enabled: false, drop_doctype: true, ..Default::default() };
    let filter = TokenFilter::new(TreeBuilder::new(sink, options), *limits);
    let tokenizer = Tokenizer::new(filter, TokenizerOpts::default());
    feed(&tokenizer, html);
    tokenizer.end();
    let mut dom = tokenizer.sink.builder.sink.finish();
    dom.truncated |= cut;
    dom
}

/// The markup without the start of a tag that never came, which would be read as text: some pages end in `</`.
fn without_torn_tag(html: &str) -> &str {
    let text = html.trim_end();
    text.strip_suffix("</").unwrap_or(html)
}

/// A node as the tree builder refers to it. It is copied for every token, so it is small and contains the
/// name of most elements.
#[derive(Clone, Copy)]
pub(super) struct Handle {
    id: u32,
    tag: Tag,
}

/// The full name of an element.
#[derive(Debug)]
pub(super) enum ElementName {
    Known(&'static QualName),
    Other(Rc<QualName>),
}

impl ElemName for ElementName {
    #[inline]
    fn ns(&self) -> &Namespace {
        match self {
            Self::Known(name) => &name.ns,
            Self::Other(name) => &name.ns,
        }
    }

    #[inline]
    fn local_name(&self) -> &LocalName {
        match self {
            Self::Known(name) => &name.local,
            Self::Other(name) => &name.local,
        }
    }
}

/// A node while the tree is being built: linked both ways, since the tree builder moves nodes about.
#[derive(Clone, Copy)]
struct DraftNode {
    parent: u32,
    previous: u32,
    next: u32,
    first_child: u32,
    last_child: u32,
    first: u32,
    len: u32,
    attributes: u16,
    depth: u16,
    tag: Tag,
    html_in_math: bool,
}

#[derive(Default)]
struct Arena {
    nodes: Vec<DraftNode>,
    text: String,
    attributes: Vec<AttrSlot>,
    attribute_text: String,
    attribute_names: Vec<LocalName>,
    names: Vec<Rc<QualName>>,
}

pub(super) struct Sink {
    arena: RefCell<Arena>,
    limits: Limits,
    /// Formatting elements are rebuilt with copies of their attributes, so attribute text is bounded by
    /// itself.
    attribute_text_limit: usize,
    /// Depth of the last inserted node, minus the end tags since.
    pub(super) depth: Cell<u16>,
    pub(super) full: Cell<bool>,
    pub(super) truncated: Cell<bool>,
}

const DOCUMENT: u32 = 0;
/// Comments and processing instructions all share this node, which is never part of the tree.
const IGNORED: u32 = 1;

impl Sink {
    fn new(bytes: usize, limits: Limits) -> Self {
        let mut arena = Arena::default();
        arena.nodes.reserve((bytes / 32).min(limits.nodes) + 16);
        arena.attributes.reserve((bytes / 64).min(limits.nodes));
        arena.text.reserve(bytes / 4);
        arena.attribute_text.reserve(bytes / 4);
        arena.push(Tag::Document);
        arena.push(Tag::Other);
        Self {
            arena: RefCell::new(arena),
            limits,
            attribute_text_limit: bytes * 2 + (64 << 10),
            depth: Cell::new(0),
            full: Cell::new(false),
            truncated: Cell::new(false),
        }
    }

    fn check_full(&self, arena: &Arena) {
        if arena.nodes.len() >= self.limits.nodes {
            self.full.set(true);
            self.truncated.set(true);
        }
    }

    fn add_attributes(&self, arena: &mut Arena, attributes: Vec<Attribute>) -> u16 {
        let mut kept = 0;
        for attribute in attributes {
            if arena.attribute_text.len() + attribute.value.len() > self.attribute_text_limit {
                self.truncated.set(true);
                continue;
            }
            let known = Attr::from_name(&attribute.name.local);
            let name = if known == Attr::Other {
                arena.attribute_names.push(attribute.name.local);
                KNOWN_ATTRS + index(arena.attribute_names.len() - 1)
            } else {
                known as u32
            };
            let start = index(arena.attribute_text.len());
            arena.attribute_text.push_str(&attribute.value);
            arena.attributes.push(AttrSlot { name, start, len: index(attribute.value.len()) });
            kept += 1;
        }
        kept
    }

    /// Records the depth of an insertion, and refuses insertions into the shared ignored node.
    fn insert(&self, parent: u32, before: u32, child: NodeOrText<Handle>) {
        let mut arena = self.arena.borrow_mut();
        let depth = arena.nodes[parent as usize].depth.saturating_add(1);
        match child {
            NodeOrText::AppendNode(handle) if handle.id == IGNORED => {}
            NodeOrText::AppendNode(handle) => {
                arena.detach(handle.id);
                arena.attach(handle.id, parent, before);
                arena.nodes[handle.id as usize].depth = depth;
                self.depth.set(depth);
            }
            NodeOrText::AppendText(text) => {
                arena.attach_text(&text, parent, before);
                self.depth.set(depth - 1);
                self.check_full(&arena);
            }
        }
    }
}

/// Sizes are bounded to a quarter of `u32` by [`parse`] before anything is stored.
pub(super) fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(NONE)
}

impl Arena {
    fn push(&mut self, tag: Tag) -> u32 {
        let id = index(self.nodes.len());
        self.nodes.push(DraftNode {
            parent: NONE,
            previous: NONE,
            next: NONE,
            first_child: NONE,
            last_child: NONE,
            first: 0,
            len: 0,
            attributes: 0,
            depth: 0,
            tag,
            html_in_math: false,
        });
        id
    }

    /// Keeps a name, sharing it with the last few: unknown elements come in runs.
    fn share_name(&mut self, name: QualName) -> u32 {
        let recent = self.names.len().saturating_sub(4);
        let found = self.names[recent..].iter().position(|known| **known == name);
        let at = found.map_or(self.names.len(), |at| recent + at);
        if found.is_none() {
            self.names.push(Rc::new(name));
        }
        index(at)
    }

    /// The name of a node that [`has_own_name`]; none for the shared ignored node.
    fn name(&self, id: u32) -> Option<&Rc<QualName>> {
        if id == IGNORED { None } else { self.names.get(self.nodes[id as usize].len as usize) }
    }

    fn at(&mut self, id: u32) -> &mut DraftNode {
        &mut self.nodes[id as usize]
    }

    fn detach(&mut self, id: u32) {
        let DraftNode { parent, previous, next, .. } = *self.at(id);
        if parent == NONE {
            return;
        }
        if previous == NONE {
            self.at(parent).first_child = next;
        } else {
            self.at(previous).next = next;
        }
        if next == NONE {
            self.at(parent).last_child = previous;
        } else {
            self.at(next).previous = previous;
        }
        let node = self.at(id);
        (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
    }

    /// Links a loose node under `parent`, before `before` or last.
    fn attach(&mut self, id: u32, parent: u32, before: u32) {
        let previous = if before == NONE { self.at(parent).last_child } else { self.at(before).previous };
        let node = self.at(id);
        (node.parent, node.previous, node.next) = (parent, previous, before);
        if previous == NONE {
            self.at(parent).first_child = id;
        } else {
            self.at(previous).next = id;
        }
        if before == NONE {
            self.at(parent).last_child = id;
        } else {
            self.at(before).previous = id;
        }
    }

    /// Text joins the node before it only when it also follows it in the buffer; anything else would copy
    /// without bound.
    fn attach_text(&mut self, text: &str, parent: u32, before: u32) {
        let previous = if before == NONE { self.at(parent).last_child } else { self.at(before).previous };
        let (start, len) = (index(self.text.len()), index(text.len()));
        self.text.push_str(text);
        if previous != NONE {
            let node = self.at(previous);
            if node.tag == Tag::Text && node.first + node.len == start {
                node.len += len;
                return;
            }
        }
        let id = self.push(Tag::Text);
        let node = self.at(id);
        (node.first, node.len) = (start, len);
        self.attach(id, parent, before);
    }
}

/// Whether the tag alone does not determine the full name.
fn has_own_name(tag: Tag) -> bool {
    matches!(tag, Tag::Other | Tag::Svg | Tag::Math)
}

/// Full names of the known HTML tags, by tag number, for the tree builder's questions.
fn html_name(tag: Tag) -> &'static QualName {
    static NAMES: OnceLock<Vec<QualName>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let mut names = vec![QualName::new(None, ns!(html), LocalName::from("")); 256];
        for tag in super::names::all_tags() {
            names[tag as usize] = QualName::new(None, ns!(html), LocalName::from(tag.as_str()));
        }
        names
    });
    &names[tag as usize]
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Dom;
    type ElemName<'a> = ElementName;

    fn finish(self) -> Dom {
        lay_out(self.arena.into_inner(), self.truncated.get())
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { id: DOCUMENT, tag: Tag::Document }
    }

    #[inline]
    fn elem_name<'a>(&'a self, target: &'a Handle) -> ElementName {
        if has_own_name(target.tag)
            && let Some(name) = self.arena.borrow().name(target.id)
        {
            return ElementName::Other(Rc::clone(name));
        }
        ElementName::Known(html_name(target.tag))
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> Handle {
        let mut guard = self.arena.borrow_mut();
        let arena = &mut *guard;
        let tag = match name.ns {
            ns!(html) => match Tag::from_name(&name.local) {
                Tag::Svg | Tag::Math => Tag::Other,
                tag => tag,
            },
            ns!(svg) if name.local == local_name!("svg") => Tag::Svg,
            ns!(mathml) if name.local == local_name!("math") => Tag::Math,
            _ => Tag::Other,
        };
        let id = arena.push(tag);
        let start = index(arena.attributes.len());
        let kept = self.add_attributes(arena, attributes);
        let position = if has_own_name(tag) { arena.share_name(name) } else { 0 };
        let node = arena.at(id);
        (node.first, node.len, node.attributes) = (start, position, kept);
        node.html_in_math = flags.mathml_annotation_xml_integration_point;
        self.check_full(arena);
        Handle { id, tag }
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        Handle { id: IGNORED, tag: Tag::Other }
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        Handle { id: IGNORED, tag: Tag::Other }
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.insert(parent.id, NONE, child);
    }

    fn append_based_on_parent_node(&self, element: &Handle, prev: &Handle, child: NodeOrText<Handle>) {
        if self.arena.borrow().nodes[element.id as usize].parent == NONE {
            self.append(prev, child);
        } else {
            self.append_before_sibling(element, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Handle) -> Handle {
        *target
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        x.id == y.id
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let parent = self.arena.borrow().nodes[sibling.id as usize].parent;
        if parent != NONE {
            self.insert(parent, sibling.id, child);
        }
    }

    /// Only `html` and `body` can gain attributes later, and only by a second such tag: the slots move to the
    /// end.
    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        let mut guard = self.arena.borrow_mut();
        let arena = &mut *guard;
        let DraftNode { first, attributes: had, .. } = *arena.at(target.id);
        let old = arena.attributes[first as usize..first as usize + usize::from(had)].to_vec();
        let room = usize::from(self.limits.attributes).saturating_sub(old.len());
        let missing: Vec<Attribute> = attributes
            .into_iter()
            .filter(|attribute| {
                let known = Attr::from_name(&attribute.name.local);
                !old.iter().any(|slot| match slot.name.checked_sub(KNOWN_ATTRS) {
                    Some(at) => arena.attribute_names[at as usize] == attribute.name.local,
                    None => known as u32 == slot.name,
                })
            })
            .take(room)
            .collect();
        if missing.is_empty() {
            return;
        }
        let start = index(arena.attributes.len());
        arena.attributes.extend_from_slice(&old);
        let added = self.add_attributes(arena, missing);
        let node = arena.at(target.id);
        (node.first, node.attributes) = (start, had + added);
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.arena.borrow_mut().detach(target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let mut arena = self.arena.borrow_mut();
        let mut child = arena.at(node.id).first_child;
        while child != NONE {
            budget::spend(1);
            let next = arena.at(child).next;
            arena.detach(child);
            arena.attach(child, new_parent.id, NONE);
            child = next;
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &Handle) -> bool {
        self.arena.borrow().nodes[handle.id as usize].html_in_math
    }

    fn allow_declarative_shadow_roots(&self, _: &Handle) -> bool {
        false
    }
}

/// Copies the linked drafts into document order, leaving behind what ended up outside the tree.
fn lay_out(arena: Arena, truncated: bool) -> Dom {
    let drafts = &arena.nodes;
    let mut nodes: Vec<Node> = Vec::with_capacity(drafts.len());
    let (mut html, mut head, mut body) = (None, None, None);
    let (mut at, mut parent, mut previous) = (DOCUMENT, NONE, NONE);
    loop {
        budget::spend(1);
        let draft = &drafts[at as usize];
        let id = index(nodes.len());
        let depth = if parent == NONE { 0 } else { nodes[parent as usize].depth.saturating_add(1) };
        match (depth, draft.tag) {
            (1, Tag::Html) if html.is_none() => html = Some(NodeId(id)),
            (2, Tag::Head) if head.is_none() => head = Some(NodeId(id)),
            (2, Tag::Body | Tag::Frameset) if body.is_none() => body = Some(NodeId(id)),
            _ => {}
        }
        nodes.push(Node {
            parent,
            end: id + 1,
            previous,
            first: draft.first,
            len: draft.len,
            depth,
            attributes: draft.attributes,
            tag: draft.tag,
        });
        if draft.first_child != NONE {
            (parent, previous, at) = (id, NONE, draft.first_child);
            continue;
        }
        // Up to the nearest node that has a sibling left, closing subtrees on the way.
        let (mut draft_id, mut node_id) = (at, id);
        loop {
            if drafts[draft_id as usize].next != NONE {
                (previous, at) = (node_id, drafts[draft_id as usize].next);
                parent = nodes[node_id as usize].parent;
                break;
            }
            let up = nodes[node_id as usize].parent;
            if up == NONE {
                let names = arena.names.into_iter().map(Rc::unwrap_or_clone).collect();
                return Dom {
                    nodes,
                    text: arena.text,
                    attributes: arena.attributes,
                    attribute_text: arena.attribute_text,
                    attribute_names: arena.attribute_names,
                    names,
                    html,
                    head,
                    body,
                    truncated,
                };
            }
            nodes[up as usize].end = index(nodes.len());
            (draft_id, node_id) = (drafts[draft_id as usize].parent, up);
        }
    }
}
