//! Label and value pairs: definition lists, two elements side by side, "Price: 3", and elements whose class
//! names their content.

use super::{EvidenceKind, Fact, FactCollector, text};
use crate::words::NameWords;
use html::dom::{Attr, NodeId, Tag};
use std::rc::Rc;

/// Nodes of an element that may be one value.
const MAX_NODES: u32 = 80;
/// Lines examined of one paragraph.
const MAX_LINES: usize = 40;
/// Names taken from one class attribute.
const MAX_CLASSES: usize = 4;
/// From so many words on a definition describes its term.
const MIN_DESCRIPTION_WORDS: usize = 5;
/// Parts of class names that mark a label.
const LABEL_CLASSES: &[&str] = &["label", "lbl", "key", "term", "dt", "heading", "prop", "attr"];

pub(super) fn collect(collector: &mut FactCollector) {
    let dom = collector.dom;
    for id in dom.subtree(dom.body().unwrap_or(dom.root())) {
        if !dom.is_element(id) || !collector.visible.contains(id) {
            continue;
        }
        if dom.tag(id) == Tag::Dl {
            collect_definitions(collector, id);
            continue;
        }
        let nodes = dom.subtree_end(id).0 - id.0;
        if nodes > MAX_NODES
            || matches!(
                dom.tag(id),
                Tag::Tr | Tag::Table | Tag::Tbody | Tag::Thead | Tag::Script | Tag::Style
            )
        {
            continue;
        }
        collect_named(collector, id);
        collect_pairs(collector, id);
        if !is_inline(dom.tag(id)) && has_only_inline(collector, id) {
            collect_lines(collector, id);
        }
    }
}

fn is_inline(tag: Tag) -> bool {
    !tag.is_block() && !matches!(tag, Tag::Li | Tag::Td | Tag::Th | Tag::P | Tag::Summary)
}

fn has_only_inline(collector: &FactCollector, id: NodeId) -> bool {
    let dom = collector.dom;
    dom.descendants(id).all(|node| dom.is_text(node) || is_inline(dom.tag(node)))
}

/// Terms and their definitions; wrappers around pairs are allowed. A term that is described at length is the
/// name of something; one with a short value is a label.
fn collect_definitions(collector: &mut FactCollector, list: NodeId) {
    let dom = collector.dom;
    let mut terms: Vec<(NodeId, Rc<str>)> = Vec::new();
    let mut defined = false;
    for id in dom.descendants(list) {
        match dom.tag(id) {
            Tag::Dt => {
                if std::mem::take(&mut defined) {
                    terms.clear();
                }
                let text = collector.text(id);
                collector.add_node(EvidenceKind::Look, "name question term key", id, &text);
                terms.push((id, text));
            }
            Tag::Dd => {
                let text = collector.text(id);
                if let Some((_, term)) = terms.last().filter(|(_, term)| !term.is_empty()) {
                    collector.add_node(EvidenceKind::Definition, term, id, &text);
                }
                collector.add_node(EvidenceKind::Look, "answer description definition value", id, &text);
                if text.split_whitespace().nth(MIN_DESCRIPTION_WORDS).is_some() {
                    collector.add_node(EvidenceKind::Look, "description", id, &text);
                    if let Some((term, name)) = terms.first().filter(|_| !defined) {
                        collector.add_node(EvidenceKind::Look, "name", *term, name);
                    }
                }
                defined = true;
            }
            _ => {}
        }
    }
}

/// Adds facts for elements that are named by their own attributes.
fn collect_named(collector: &mut FactCollector, id: NodeId) {
    let dom = collector.dom;
    let mut names: Vec<(EvidenceKind, String)> = Vec::new();
    if let Some(property) = dom.attr(id, Attr::Property).or_else(|| dom.attr(id, Attr::Itemprop)) {
        let name = property.rsplit([':', '/']).next().unwrap_or(property);
        names.push((EvidenceKind::Microdata, name.to_owned()));
    }
    let classes = dom.attr(id, Attr::Class).unwrap_or("");
    names.extend(
        classes
            .split_ascii_whitespace()
            .take(MAX_CLASSES)
            .map(|class| (EvidenceKind::Class, class.to_owned())),
    );
    for attribute in ["id", "data-testid", "data-field", "data-label", "data-th", "data-title", "aria-label"]
    {
        if let Some(name) = dom.attr_named(id, attribute).filter(|name| text::is_label(name)) {
            let how = if matches!(attribute, "data-label" | "data-th" | "data-title") {
                EvidenceKind::Label
            } else {
                EvidenceKind::Class
            };
            names.push((how, name.to_owned()));
        }
    }
    if names.is_empty() {
        return;
    }
    let text = collector.text(id);
    let bare = text.is_empty() && dom.attr(id, Attr::Content).is_none() && dom.attr(id, Attr::Src).is_none();
    // An element that contains both its name and a value is not a value.
    if bare {
        return;
    }
    let heading = dom.tag(id).heading_level().is_some()
        || dom.ancestors(id).take(2).any(|above| dom.tag(above).heading_level().is_some());
    let own = heading.then(|| NameWords::from_name(&text));
    let mut seen: Vec<NameWords> = Vec::new();
    for (how, name) in names {
        let words = NameWords::from_name(&name);
        // The id that a heading has for links to it (`<h2 id="ingredients">Ingredients for four`) is the name
        // of its section.
        let is_of_section = own.as_ref().is_some_and(|own| words.0.iter().all(|word| own.has(word)));
        if !words.is_empty() && words.0.len() <= 5 && !is_of_section && !seen.contains(&words) {
            collector.add_words(how, words.clone(), id, &text);
            seen.push(words);
        }
    }
}

/// Two children side by side of which the first is a label, or a child with a label class and its successor.
fn collect_pairs(collector: &mut FactCollector, id: NodeId) {
    let dom = collector.dom;
    if matches!(dom.tag(id), Tag::Ul | Tag::Ol | Tag::Select) {
        return;
    }
    let loose = dom.children(id).any(|child| dom.text(child).chars().any(char::is_alphanumeric));
    let parts: Vec<(NodeId, Rc<str>)> = dom
        .children(id)
        .filter(|&child| dom.is_element(child) && collector.visible.contains(child))
        .take(24)
        .map(|child| (child, collector.text(child)))
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
            collector.add_node(EvidenceKind::Label, name, *value, text);
            collector.add_column(0, *label, name);
            collector.add_column(1, *value, text);
        }
    }
    if dom.tag(id) == Tag::Details
        && let [(summary, question), (answer, text)] = parts.as_slice()
    {
        collector.add_node(EvidenceKind::Label, "question", *summary, question);
        collector.add_node(EvidenceKind::Label, "answer", *answer, text);
    }
}

/// A line of a paragraph: its text, where its label ends, and what it links to.
struct ParagraphLine {
    text: String,
    /// Bytes of a bold beginning.
    bold: usize,
    at: u32,
    link: Option<Rc<str>>,
}

/// "Label: value" and "<b>Label</b> value", line by line.
fn collect_lines(collector: &mut FactCollector, id: NodeId) {
    for line in split_lines(collector, id) {
        let text = text::collapse_whitespace(&line.text);
        let bold = text::collapse_whitespace(&line.text[..line.bold]);
        let (label, value) = match split_label(&text) {
            Some(found) => found,
            None if !bold.is_empty() && text::is_label(&bold) => match text.strip_prefix(bold.as_str()) {
                Some(rest) => (bold.as_str(), rest.trim_start_matches([':', '-', '–', ' '])),
                None => continue,
            },
            None => continue,
        };
        let words = NameWords::from_name(label);
        if value.is_empty() || words.is_empty() {
            continue;
        }
        let end = collector.dom.subtree_end(id).0;
        collector.add_column(0, id, &label.trim().into());
        collector.add_column(1, id, &value.into());
        let fact = collector.fact(EvidenceKind::Label, words, line.at..end, value.into());
        collector.add(Fact { link: line.link, ..fact });
    }
}

fn split_lines(collector: &FactCollector, id: NodeId) -> Vec<ParagraphLine> {
    let dom = collector.dom;
    let new = |at| ParagraphLine { text: String::new(), bold: 0, at, link: None };
    let mut lines = vec![new(id.0)];
    let mut bold_until = 0;
    for node in dom.descendants(id) {
        let Some(line) = lines.last_mut() else { break };
        match dom.tag(node) {
            Tag::Br => {
                if lines.len() == MAX_LINES {
                    break;
                }
                lines.push(new(node.0));
            }
            Tag::B | Tag::Strong | Tag::Em | Tag::Label if line.text.trim().is_empty() => {
                bold_until = dom.subtree_end(node).0;
            }
            Tag::A => line.link = line.link.take().or_else(|| dom.attr(node, Attr::Href).map(Rc::from)),
            Tag::Text if collector.visible.contains(node) && line.text.len() < text::MAX_TEXT_BYTES => {
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
pub(super) fn split_label(text: &str) -> Option<(&str, &str)> {
    let (label, value) = text.split_once([':', '：'])?;
    let (label, value) = (label.trim(), value.trim());
    let clean =
        text::is_label(label) && !label.ends_with(|c: char| c.is_ascii_digit()) && !value.starts_with("//");
    (clean && !value.is_empty()).then_some((label, value))
}
