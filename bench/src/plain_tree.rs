//! The floor for parsing: html5ever's parser alone, into a plain tree of reference-counted nodes, as the project's own
//! `RcDom` makes it. Nothing of our own reading of pages is used here, and nothing but building is offered.

use html5ever::interface::{ElementFlags, ExpandedName, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, ParseOpts, QualName};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

pub type Handle = Rc<Node>;

/// A node; it owns its children.
#[derive(Debug)]
pub struct Node {
    parent: RefCell<Weak<Node>>,
    pub children: RefCell<Vec<Handle>>,
    pub data: NodeData,
}

#[derive(Debug)]
pub enum NodeData {
    Document,
    /// Name, public id, system id.
    Doctype([StrTendril; 3]),
    Text(RefCell<StrTendril>),
    Comment(StrTendril),
    Element(Element),
    /// Target and data.
    ProcessingInstruction([StrTendril; 2]),
}

#[derive(Debug)]
pub struct Element {
    pub name: QualName,
    pub attributes: RefCell<Vec<Attribute>>,
    /// The contents of a `template`.
    pub template: RefCell<Option<Handle>>,
    is_html_in_mathml: bool,
}

/// Parses a page; returns its document.
pub fn parse(html: &[u8]) -> Handle {
    html5ever::parse_document(PlainTree::default(), ParseOpts::default()).from_utf8().one(html)
}

/// The tree while it is built.
struct PlainTree {
    document: Handle,
    errors: RefCell<Vec<Cow<'static, str>>>,
    quirks_mode: Cell<QuirksMode>,
}

impl Default for PlainTree {
    fn default() -> Self {
        let quirks_mode = Cell::new(QuirksMode::NoQuirks);
        Self { document: Node::new(NodeData::Document), errors: RefCell::default(), quirks_mode }
    }
}

impl Node {
    fn new(data: NodeData) -> Handle {
        Rc::new(Self { parent: RefCell::default(), children: RefCell::default(), data })
    }

    /// Only elements have names, attributes and contents of templates.
    fn element(&self) -> &Element {
        let NodeData::Element(element) = &self.data else { unreachable!("not an element") };
        element
    }

    /// Adds to a text node; anything else is left as it is.
    fn append_text(&self, text: &StrTendril) -> bool {
        let NodeData::Text(contents) = &self.data else { return false };
        contents.borrow_mut().push_tendril(text);
        true
    }

    /// The parent of a node, and its place among the children.
    fn position(node: &Handle) -> Option<(Handle, usize)> {
        let parent = node.parent.borrow().upgrade()?;
        let index = parent.children.borrow().iter().position(|child| Rc::ptr_eq(child, node))?;
        Some((parent, index))
    }

    /// Text is added to a text node before it.
    fn insert(parent: &Handle, index: usize, child: NodeOrText<Handle>) {
        let mut children = parent.children.borrow_mut();
        let child = match child {
            NodeOrText::AppendNode(node) => node,
            NodeOrText::AppendText(text) => {
                if index > 0 && children[index - 1].append_text(&text) {
                    return;
                }
                Self::new(NodeData::Text(RefCell::new(text)))
            }
        };
        *child.parent.borrow_mut() = Rc::downgrade(parent);
        children.insert(index, child);
    }

    fn detach(node: &Handle) {
        if let Some((parent, index)) = Self::position(node) {
            parent.children.borrow_mut().remove(index);
            *node.parent.borrow_mut() = Weak::new();
        }
    }
}

/// One node after another: a page may be nested deeper than the stack.
impl Drop for Node {
    fn drop(&mut self) {
        let mut nodes = std::mem::take(self.children.get_mut());
        while let Some(node) = nodes.pop() {
            nodes.append(&mut node.children.borrow_mut());
            if let NodeData::Element(element) = &node.data {
                nodes.extend(element.template.take());
            }
        }
    }
}

impl TreeSink for PlainTree {
    type Handle = Handle;
    type Output = Handle;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Handle {
        self.document
    }

    fn parse_error(&self, message: Cow<'static, str>) {
        self.errors.borrow_mut().push(message);
    }

    fn get_document(&self) -> Handle {
        Rc::clone(&self.document)
    }

    fn elem_name<'a>(&'a self, node: &'a Handle) -> ExpandedName<'a> {
        node.element().name.expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> Handle {
        Node::new(NodeData::Element(Element {
            name,
            attributes: RefCell::new(attributes),
            template: RefCell::new(flags.template.then(|| Node::new(NodeData::Document))),
            is_html_in_mathml: flags.mathml_annotation_xml_integration_point,
        }))
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        Node::new(NodeData::Comment(text))
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Handle {
        Node::new(NodeData::ProcessingInstruction([target, data]))
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let end = parent.children.borrow().len();
        Node::insert(parent, end, child);
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let Some((parent, index)) = Node::position(sibling) else { return };
        if let NodeOrText::AppendNode(node) = &child {
            Node::detach(node);
        }
        Node::insert(&parent, index, child);
    }

    fn append_based_on_parent_node(&self, element: &Handle, previous: &Handle, child: NodeOrText<Handle>) {
        if element.parent.borrow().strong_count() > 0 {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, name: StrTendril, public_id: StrTendril, system_id: StrTendril) {
        let doctype = Node::new(NodeData::Doctype([name, public_id, system_id]));
        self.append(&self.document, NodeOrText::AppendNode(doctype));
    }

    fn get_template_contents(&self, node: &Handle) -> Handle {
        node.element().template.borrow().clone().expect("contents of a template")
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        Rc::ptr_eq(one, other)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.quirks_mode.set(mode);
    }

    fn add_attrs_if_missing(&self, node: &Handle, more: Vec<Attribute>) {
        let mut attributes = node.element().attributes.borrow_mut();
        for attribute in more {
            if !attributes.iter().any(|existing| existing.name == attribute.name) {
                attributes.push(attribute);
            }
        }
    }

    fn remove_from_parent(&self, node: &Handle) {
        Node::detach(node);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let mut children = node.children.borrow_mut();
        for child in children.iter() {
            *child.parent.borrow_mut() = Rc::downgrade(new_parent);
        }
        new_parent.children.borrow_mut().append(&mut children);
    }

    fn is_mathml_annotation_xml_integration_point(&self, node: &Handle) -> bool {
        node.element().is_html_in_mathml
    }
}
