//! One XML part as a tree, read with limits. Names are without their prefix: within one part of an office file the
//! few names that two vocabularies share are told apart by their place. Entities that a file defines are never
//! expanded, and nothing outside of the file is ever looked at.

use std::borrow::Cow;
use std::collections::HashMap;

use encoding_rs::{Encoding, UTF_8};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::error::DocumentError;

/// Elements below this depth are left out, their text is kept by the last one above.
const MAX_DEPTH: usize = 256;
const MAX_NODES: usize = 1_500_000;
const MAX_ATTRIBUTES: usize = 64;
const NONE: u32 = u32::MAX;

/// A node of an [`XmlTree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Node(u32);

#[derive(Debug)]
struct NodeData {
    /// An index into the names, or `NONE` for text.
    name: u32,
    parent: u32,
    first_child: u32,
    last_child: u32,
    next: u32,
    text: Box<str>,
    attributes: Vec<(u32, Box<str>)>,
}

#[derive(Debug)]
pub(crate) struct XmlTree {
    nodes: Vec<NodeData>,
    names: Vec<String>,
    /// Whether the part ended before its root did, or was too large.
    pub(crate) truncated: bool,
}

impl XmlTree {
    /// Reads a part as far as it goes: a syntax error ends the reading, not the file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let text = decode_xml(bytes);
        let mut builder = Builder::default();
        let mut reader = Reader::from_str(&text);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        loop {
            let full = builder.tree.nodes.len() >= MAX_NODES;
            match reader.read_event() {
                Ok(Event::Start(start)) if !full => builder.start(&start),
                Ok(Event::Empty(start)) if !full => {
                    builder.start(&start);
                    builder.end();
                }
                Ok(Event::End(_)) => builder.end(),
                Ok(Event::Text(text)) => builder.text(&text.xml10_content()),
                Ok(Event::CData(text)) => builder.text(&text.xml10_content()),
                Ok(Event::GeneralRef(reference)) => match reference.resolve_char_ref() {
                    Ok(Some(c)) => builder.text(c.encode_utf8(&mut [0; 4])),
                    _ => builder.text(predefined(&reference.xml10_content())),
                },
                Ok(Event::Eof) => break,
                Ok(Event::Start(_) | Event::Empty(_)) | Err(_) => {
                    builder.tree.truncated = true;
                    break;
                }
                Ok(_) => {}
            }
        }
        let Builder { mut tree, open, .. } = builder;
        tree.truncated |= !open.is_empty();
        if tree.nodes.is_empty() { Err(DocumentError::damaged("a part of it is not XML")) } else { Ok(tree) }
    }

    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    #[expect(clippy::unused_self, reason = "a node belongs to its tree")]
    pub(crate) fn root(&self) -> Node {
        Node(0)
    }

    fn data(&self, node: Node) -> &NodeData {
        &self.nodes[node.0 as usize]
    }

    /// The name without its prefix; empty for text.
    pub(crate) fn name(&self, node: Node) -> &str {
        self.names.get(self.data(node).name as usize).map_or("", String::as_str)
    }

    pub(crate) fn is(&self, node: Node, name: &str) -> bool {
        self.name(node) == name
    }

    /// The text of a text node; empty for an element.
    pub(crate) fn own_text(&self, node: Node) -> &str {
        &self.data(node).text
    }

    pub(crate) fn attribute(&self, node: Node, name: &str) -> Option<&str> {
        let attributes = &self.data(node).attributes;
        let found = attributes.iter().find(|(at, _)| self.names.get(*at as usize).is_some_and(|n| n == name));
        found.map(|(_, value)| &**value)
    }

    /// The last of several attributes that differ only in their prefix.
    pub(crate) fn last_attribute(&self, node: Node, name: &str) -> Option<&str> {
        let mut attributes = self.data(node).attributes.iter().rev();
        let found = attributes.find(|(at, _)| self.names.get(*at as usize).is_some_and(|n| n == name));
        found.map(|(_, value)| &**value)
    }

    pub(super) fn first_child(&self, node: Node) -> Option<Node> {
        let child = self.data(node).first_child;
        (child != NONE).then_some(Node(child))
    }

    pub(super) fn next_sibling(&self, node: Node) -> Option<Node> {
        let next = self.data(node).next;
        (next != NONE).then_some(Node(next))
    }

    pub(crate) fn parent(&self, node: Node) -> Option<Node> {
        let parent = self.data(node).parent;
        (parent != NONE).then_some(Node(parent))
    }

    pub(crate) fn children(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let mut next = self.data(node).first_child;
        std::iter::from_fn(move || {
            let current = next;
            (current != NONE).then(|| {
                next = self.nodes[current as usize].next;
                Node(current)
            })
        })
    }

    pub(crate) fn child(&self, node: Node, name: &str) -> Option<Node> {
        self.children(node).find(|child| self.is(*child, name))
    }

    /// The child at the end of a path of names.
    pub(crate) fn path(&self, node: Node, names: &[&str]) -> Option<Node> {
        names.iter().try_fold(node, |node, name| self.child(node, name))
    }
}

#[derive(Debug)]
struct Builder {
    tree: XmlTree,
    indexes: HashMap<String, u32>,
    open: Vec<u32>,
    /// Elements that are open below the greatest depth.
    too_deep: usize,
}

impl Default for Builder {
    fn default() -> Self {
        let tree = XmlTree { nodes: Vec::new(), names: Vec::new(), truncated: false };
        Self { tree, indexes: HashMap::new(), open: Vec::new(), too_deep: 0 }
    }
}

impl Builder {
    fn name_index(&mut self, name: &str) -> u32 {
        if let Some(index) = self.indexes.get(name) {
            return *index;
        }
        let index = u32::try_from(self.tree.names.len()).unwrap_or(NONE);
        self.tree.names.push(name.to_owned());
        self.indexes.insert(name.to_owned(), index);
        index
    }

    fn start(&mut self, start: &BytesStart<'_>) {
        if self.open.len() >= MAX_DEPTH {
            self.too_deep += 1;
            self.tree.truncated = true;
            return;
        }
        // A second root would be unreachable.
        if self.open.is_empty() && !self.tree.nodes.is_empty() {
            self.too_deep += 1;
            return;
        }
        let name = self.name_index(local(start.name().0));
        let mut attributes = Vec::new();
        for attribute in start.html_attributes().with_checks(false).take(MAX_ATTRIBUTES).flatten() {
            // Namespaces are not needed, and there are many.
            if attribute.key.0.starts_with("xmlns") {
                continue;
            }
            let value = unescape(&attribute.value);
            let key = self.name_index(local(attribute.key.0));
            attributes.push((key, value.into()));
        }
        let index = self.append(NodeData {
            name,
            parent: NONE,
            first_child: NONE,
            last_child: NONE,
            next: NONE,
            text: "".into(),
            attributes,
        });
        self.open.push(index);
    }

    fn end(&mut self) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
        } else {
            self.open.pop();
        }
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() || self.open.is_empty() {
            return;
        }
        self.append(NodeData {
            name: NONE,
            parent: NONE,
            first_child: NONE,
            last_child: NONE,
            next: NONE,
            text: text.into(),
            attributes: Vec::new(),
        });
    }

    fn append(&mut self, mut data: NodeData) -> u32 {
        let index = u32::try_from(self.tree.nodes.len()).unwrap_or(NONE);
        if let Some(&parent) = self.open.last() {
            data.parent = parent;
            let last = self.tree.nodes[parent as usize].last_child;
            if last == NONE {
                self.tree.nodes[parent as usize].first_child = index;
            } else {
                self.tree.nodes[last as usize].next = index;
            }
            self.tree.nodes[parent as usize].last_child = index;
        }
        self.tree.nodes.push(data);
        index
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn unescape(value: &str) -> String {
    quick_xml::escape::unescape(value).map_or_else(|_| value.to_owned(), Cow::into_owned)
}

/// The five entities that XML has by itself; any other is left out.
fn predefined(name: &str) -> &'static str {
    match name {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        "nbsp" => "\u{a0}",
        _ => "",
    }
}

/// Text of an XML part by its byte order mark, then by its declaration, else UTF-8.
pub(crate) fn decode_xml(bytes: &[u8]) -> Cow<'_, str> {
    let encoding =
        Encoding::for_bom(bytes).map_or_else(|| declared_encoding(bytes), |(encoding, _)| encoding);
    encoding.decode(bytes).0
}

fn declared_encoding(bytes: &[u8]) -> &'static Encoding {
    const MAX_DECLARATION_BYTES: usize = 200;
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_DECLARATION_BYTES)]).into_owned();
    let declaration = head.split("?>").next().unwrap_or_default();
    let label = declaration.split("encoding").nth(1).and_then(|rest| rest.split(['"', '\'']).nth(1));
    label.and_then(|label| Encoding::for_label(label.as_bytes())).unwrap_or(UTF_8)
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, XmlTree};

    fn parse(xml: &str) -> XmlTree {
        XmlTree::parse(xml.as_bytes()).expect("a tree")
    }

    #[test]
    fn text_attributes_and_references_are_read() {
        let tree = parse("<?xml version='1.0'?><w:a x='1 &amp; 2'>a&lt;b<w:c/>&#233;<![CDATA[<d>]]></w:a>");
        assert_eq!(tree.text(tree.root()), "a<bé<d>");
        assert_eq!(tree.attribute(tree.root(), "x"), Some("1 & 2"));
        assert!(tree.child(tree.root(), "c").is_some());
        assert!(!tree.truncated);
    }

    #[test]
    fn entities_of_the_file_are_never_expanded() {
        let tree =
            parse("<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'><!ENTITY c 'xx'>]><a>1&b;2&c;3</a>");
        assert_eq!(tree.text(tree.root()), "123");
    }

    #[test]
    fn depth_is_bounded_and_text_below_is_kept() {
        let depth = 100_000;
        let tree = parse(&format!("{}deep{}", "<a>".repeat(depth), "</a>".repeat(depth)));
        assert!(tree.truncated);
        assert_eq!(tree.text(tree.root()), "deep");
        assert_eq!(tree.descendants(tree.root()).count(), MAX_DEPTH + 1);
    }

    #[test]
    fn a_part_that_is_cut_short_is_read_as_far_as_it_goes() {
        let tree = parse("<a><b>one</b><b>two</b><b attr='");
        assert!(tree.truncated);
        assert_eq!(tree.text(tree.root()), "onetwo");
        assert!(XmlTree::parse(b"no markup at all").is_err());
    }

    #[test]
    fn utf16_parts_are_read() {
        let mut bytes = vec![0xff, 0xfe];
        bytes.extend("<a>é</a>".encode_utf16().flat_map(u16::to_le_bytes));
        let tree = XmlTree::parse(&bytes).expect("a tree");
        assert_eq!(tree.text(tree.root()), "é");
    }
}
