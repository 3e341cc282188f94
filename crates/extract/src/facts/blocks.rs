//! Labels beside values: definition lists, two elements side by side, "Price: 3", and elements whose class says what they hold.

use super::{Fact, How, Reader, text};
use crate::words::Words;
use content::dom::{Attr, NodeId, Tag};
use std::rc::Rc;

/// Nodes of an element that is looked at as one value.
const MOST_NODES: u32 = 80;
/// Lines of one paragraph looked at.
const MOST_LINES: usize = 40;
/// Names taken from one class attribute.
const MOST_CLASSES: usize = 4;
/// Parts of class names that mark a label.
const LABEL_CLASSES: &[&str] = &["label", "lbl", "key", "term", "dt", "heading", "prop", "attr"];

pub(super) fn read(reader: &mut Reader) {
    let dom = reader.dom;
    for id in dom.subtree(dom.body().unwrap_or(dom.root())) {
        if !dom.is_element(id) || !reader.visible.contains(id) {
            continue;
        }
        if dom.tag(id) == Tag::Dl {
            definitions(reader, id);
            continue;
        }
        let nodes = dom.subtree_end(id).0 - id.0;
        if nodes > MOST_NODES
            || matches!(
                dom.tag(id),
                Tag::Tr | Tag::Table | Tag::Tbody | Tag::Thead | Tag::Script | Tag::Style
            )
        {
            continue;
        }
        named(reader, id);
        pair(reader, id);
        if !is_inline(dom.tag(id)) && has_only_inline(reader, id) {
            lines(reader, id);
        }
    }
}

fn is_inline(tag: Tag) -> bool {
    !tag.is_block() && !matches!(tag, Tag::Li | Tag::Td | Tag::Th | Tag::P | Tag::Summary)
}

fn has_only_inline(reader: &Reader, id: NodeId) -> bool {
    let dom = reader.dom;
    dom.descendants(id).all(|node| dom.is_text(node) || is_inline(dom.tag(node)))
}

/// Terms and their definitions; wrappers around pairs are allowed.
fn definitions(reader: &mut Reader, list: NodeId) {
    let dom = reader.dom;
    let mut term: Option<Rc<str>> = None;
    for id in dom.descendants(list) {
        match dom.tag(id) {
            Tag::Dt => {
                let text = reader.text(id);
                reader.add_node(How::Look, "name question term key", id, &text);
                term = Some(text);
            }
            Tag::Dd => {
                let text = reader.text(id);
                if let Some(term) = term.as_ref().filter(|term| !term.is_empty()) {
                    reader.add_node(How::Definition, term, id, &text);
                }
                reader.add_node(How::Look, "answer description definition value", id, &text);
            }
            _ => {}
        }
    }
}

/// What an element's own attributes call it.
fn named(reader: &mut Reader, id: NodeId) {
    let dom = reader.dom;
    let mut names: Vec<(How, String)> = Vec::new();
    if let Some(property) = dom.attr(id, Attr::Property).or_else(|| dom.attr(id, Attr::Itemprop)) {
        let name = property.rsplit([':', '/']).next().unwrap_or(property);
        names.push((How::Microdata, name.to_owned()));
    }
    let classes = dom.attr(id, Attr::Class).unwrap_or("");
    names.extend(
        classes.split_ascii_whitespace().take(MOST_CLASSES).map(|class| (How::Class, class.to_owned())),
    );
    for attribute in ["id", "data-testid", "data-field", "data-label", "data-th", "data-title", "aria-label"]
    {
        if let Some(name) = dom.attr_named(id, attribute).filter(|name| text::is_label(name)) {
            let how = if matches!(attribute, "data-label" | "data-th" | "data-title") {
                How::Label
            } else {
                How::Class
            };
            names.push((how, name.to_owned()));
        }
    }
    if names.is_empty() {
        return;
    }
    let text = reader.text(id);
    let bare = text.is_empty() && dom.attr(id, Attr::Content).is_none() && dom.attr(id, Attr::Src).is_none();
    // What holds its own name and a value is no value.
    if bare {
        return;
    }
    let mut seen: Vec<Words> = Vec::new();
    for (how, name) in names {
        let words = Words::of(&name);
        if !words.is_empty() && words.0.len() <= 5 && !seen.contains(&words) {
            reader.add_words(how, words.clone(), id, &text);
            seen.push(words);
        }
    }
}

/// Two parts side by side, of which the first is a label; or a part whose class calls it one, and the next.
fn pair(reader: &mut Reader, id: NodeId) {
    let dom = reader.dom;
    if matches!(dom.tag(id), Tag::Ul | Tag::Ol | Tag::Select) {
        return;
    }
    let loose = dom.children(id).any(|child| dom.text(child).chars().any(char::is_alphanumeric));
    let parts: Vec<(NodeId, Rc<str>)> = dom
        .children(id)
        .filter(|&child| dom.is_element(child) && reader.visible.contains(child))
        .take(24)
        .map(|child| (child, reader.text(child)))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    for (at, two) in parts.windows(2).enumerate() {
        let [(label, name), (value, text)] = two else { continue };
        let called = dom.attr(*label, Attr::Class).is_some_and(|class| {
            LABEL_CLASSES.iter().any(|word| {
                class.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part.eq_ignore_ascii_case(word))
            })
        }) || matches!(dom.tag(*label), Tag::Label | Tag::Dt)
            || name.ends_with(':');
        let alone = parts.len() == 2 && !loose;
        if (called || (alone && at == 0)) && text::is_label(name) && dom.tag(*label).heading_level().is_none()
        {
            reader.add_node(How::Label, name, *value, text);
            reader.add_place(0, *label, name);
            reader.add_place(1, *value, text);
        }
    }
    if dom.tag(id) == Tag::Details
        && let [(summary, question), (answer, text)] = parts.as_slice()
    {
        reader.add_node(How::Label, "question", *summary, question);
        reader.add_node(How::Label, "answer", *answer, text);
    }
}

/// A line of a paragraph: its text, where its label ends, and what it links to.
struct Line {
    text: String,
    /// Bytes of a bold beginning.
    bold: usize,
    at: u32,
    link: Option<Rc<str>>,
}

/// "Label: value" and "<b>Label</b> value", line by line.
fn lines(reader: &mut Reader, id: NodeId) {
    for line in cut(reader, id) {
        let text = text::one_line(&line.text);
        let bold = text::one_line(&line.text[..line.bold]);
        let (label, value) = match split(&text) {
            Some(found) => found,
            None if !bold.is_empty() && text::is_label(&bold) => match text.strip_prefix(bold.as_str()) {
                Some(rest) => (bold.as_str(), rest.trim_start_matches([':', '-', '–', ' '])),
                None => continue,
            },
            None => continue,
        };
        let words = Words::of(label);
        if value.is_empty() || words.is_empty() {
            continue;
        }
        let end = reader.dom.subtree_end(id).0;
        reader.add_place(0, id, &label.trim().into());
        reader.add_place(1, id, &value.into());
        let fact = reader.fact(How::Label, words, line.at..end, value.into());
        reader.add(Fact { link: line.link, ..fact });
    }
}

fn cut(reader: &Reader, id: NodeId) -> Vec<Line> {
    let dom = reader.dom;
    let new = |at| Line { text: String::new(), bold: 0, at, link: None };
    let mut lines = vec![new(id.0)];
    let mut bold_until = 0;
    for node in dom.descendants(id) {
        let Some(line) = lines.last_mut() else { break };
        match dom.tag(node) {
            Tag::Br => {
                if lines.len() == MOST_LINES {
                    break;
                }
                lines.push(new(node.0));
            }
            Tag::B | Tag::Strong | Tag::Em | Tag::Label if line.text.trim().is_empty() => {
                bold_until = dom.subtree_end(node).0;
            }
            Tag::A => line.link = line.link.take().or_else(|| dom.attr(node, Attr::Href).map(Rc::from)),
            Tag::Text if reader.visible.contains(node) && line.text.len() < text::LONGEST => {
                line.text.push_str(dom.text(node));
                if node.0 < bold_until {
                    line.bold = line.text.len();
                }
            }
            _ => {}
        }
    }
    lines
}

/// A label before a colon. Times, addresses and sentences have colons too.
fn split(text: &str) -> Option<(&str, &str)> {
    let (label, value) = text.split_once([':', '：'])?;
    let (label, value) = (label.trim(), value.trim());
    let clean =
        text::is_label(label) && !label.ends_with(|c: char| c.is_ascii_digit()) && !value.starts_with("//");
    (clean && !value.is_empty()).then_some((label, value))
}
