//! XML records as small trees: one record of a file at a time, without recursion, with limits on depth, nodes
//! and text. Only the five entities of XML and character references are decoded: nothing is ever expanded or
//! fetched.

use std::cell::Cell;
use std::io::{BufRead, Read};
use std::path::Path;
use std::rc::Rc;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::input_error;
use crate::error::Result;

const MAX_DEPTH: usize = 200;
const MAX_NODES: usize = 2_000_000;
const MAX_TEXT_BYTES: usize = crate::work::limits::MAX_RECORD_BYTES;

/// An element or a text in a [`Tree`].
#[derive(Debug)]
struct Node {
    /// Local name; empty for text.
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    /// One past the last descendant; nodes are in document order.
    end: usize,
}

/// A record. Node 0 is its root.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    pub fn name(&self, node: usize) -> &str {
        &self.nodes[node].name
    }

    pub fn attribute(&self, node: usize, name: &str) -> Option<&str> {
        self.nodes[node].attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// One past the last descendant.
    pub fn after(&self, node: usize) -> usize {
        self.nodes[node].end
    }

    /// Child elements.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[node].end;
        let mut next = node + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next = self.nodes[child].end;
                child
            })
        })
        .filter(|child| !self.nodes[*child].name.is_empty())
    }

    /// All descendants with this name, in order.
    pub fn descendants<'a>(&'a self, node: usize, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        (node + 1..self.nodes[node].end).filter(move |below| self.nodes[*below].name == name)
    }

    pub fn child(&self, node: usize, name: &str) -> Option<usize> {
        self.children(node).find(|child| self.nodes[*child].name == name)
    }

    /// Follows a path of child names.
    pub fn path(&self, node: usize, names: &[&str]) -> Option<usize> {
        names.iter().try_fold(node, |at, name| self.child(at, name))
    }

    /// All text of the descendants, without elements named in `skip`, with white space collapsed.
    pub fn text_without(&self, node: usize, skip: &[&str]) -> String {
        self.text_with_marks(node, skip, |_| None)
    }

    /// [`Tree::text_without`], where `mark` gives the text that replaces an element.
    pub fn text_with_marks(
        &self,
        node: usize,
        skip: &[&str],
        mark: impl Fn(usize) -> Option<String>,
    ) -> String {
        let mut out = String::new();
        let mut at = node + 1;
        while at < self.nodes[node].end {
            let below = &self.nodes[at];
            if skip.contains(&below.name.as_str()) {
                at = below.end;
                continue;
            }
            if let Some(mark) = mark(at) {
                out.push_str(&mark);
                at = below.end;
                continue;
            }
            if matches!(below.name.as_str(), "p" | "title" | "sec" | "list-item" | "td" | "tr") {
                out.push(' ');
            }
            out.push_str(&below.text);
            at += 1;
        }
        super::collapse_whitespace(&out)
    }

    pub fn text(&self, node: usize) -> String {
        self.text_without(node, &[])
    }
}

/// Counts lines as they are read.
struct Counting<R> {
    inner: R,
    lines: Rc<Cell<u64>>,
}

impl<R: BufRead> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.lines.set(self.lines.get() + super::newlines(&buffer[..read]));
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counting<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        if let Ok(bytes) = self.inner.fill_buf() {
            self.lines.set(self.lines.get() + super::newlines(&bytes[..amount.min(bytes.len())]));
        }
        self.inner.consume(amount);
    }
}

/// Calls `each` with every element named in `roots` as a tree, and the number of bytes read so far. Returns
/// whether there was any.
pub fn for_each_record(
    path: &Path,
    input: Box<dyn BufRead + Send>,
    roots: &[&str],
    mut each: impl FnMut(&Tree, u64) -> Result<()>,
) -> Result<bool> {
    let lines = Rc::new(Cell::new(1));
    let mut reader = Reader::from_reader(Counting { inner: input, lines: Rc::clone(&lines) });
    reader.config_mut().check_end_names = true;
    let mut buffer = Vec::new();
    let mut tree = Tree::default();
    let mut open: Vec<usize> = Vec::new();
    let (mut depth, mut text_bytes, mut found) = (0_usize, 0_usize, false);
    loop {
        buffer.clear();
        let event = reader
            .read_event_into(&mut buffer)
            .map_err(|error| input_error(path, lines.get(), error.to_string()))?;
        let mut closed = false;
        match &event {
            Event::Start(start) | Event::Empty(start) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(input_error(
                        path,
                        lines.get(),
                        format!("elements nested deeper than {MAX_DEPTH}"),
                    ));
                }
                let name = start.local_name();
                if !open.is_empty() || roots.contains(&name.as_ref()) {
                    open.push(tree.nodes.len());
                    tree.nodes.push(element(start));
                }
                closed = matches!(event, Event::Empty(_));
            }
            Event::End(_) => closed = true,
            Event::Text(text) if !open.is_empty() => {
                text_bytes += push_text(&mut tree, text);
            }
            Event::CData(data) if !open.is_empty() => {
                text_bytes += push_text(&mut tree, data);
            }
            Event::GeneralRef(reference) if !open.is_empty() => {
                let character = reference.resolve_char_ref().ok().flatten();
                let known = quick_xml::escape::resolve_predefined_entity(reference);
                text_bytes += match (character, known) {
                    (Some(character), _) => push_text(&mut tree, character.encode_utf8(&mut [0; 4])),
                    (None, Some(text)) => push_text(&mut tree, text),
                    (None, None) => 0,
                };
            }
            Event::Eof => break,
            _ => {}
        }
        if tree.nodes.len() > MAX_NODES || text_bytes > MAX_TEXT_BYTES {
            return Err(input_error(path, lines.get(), "record is too large"));
        }
        if closed {
            depth = depth.saturating_sub(1);
            if let Some(node) = open.pop() {
                tree.nodes[node].end = tree.nodes.len();
                if open.is_empty() {
                    found = true;
                    each(&tree, reader.buffer_position())?;
                    tree.nodes.clear();
                    text_bytes = 0;
                }
            }
        }
    }
    if depth > 0 || !open.is_empty() {
        return Err(input_error(path, lines.get(), "the file ends within a record"));
    }
    Ok(found)
}

fn element(start: &BytesStart<'_>) -> Node {
    let attributes = start
        .attributes()
        .with_checks(false)
        .flatten()
        .take(32)
        .map(|attribute| {
            (
                attribute.key.local_name().as_ref().to_owned(),
                attribute.value.replace("&amp;", "&").replace("&lt;", "<"),
            )
        })
        .collect();
    Node { name: start.local_name().as_ref().to_owned(), attributes, text: String::new(), end: 0 }
}

fn push_text(tree: &mut Tree, text: &str) -> usize {
    let end = tree.nodes.len() + 1;
    tree.nodes.push(Node { name: String::new(), attributes: Vec::new(), text: text.to_owned(), end });
    text.len()
}
