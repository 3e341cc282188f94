//! Microdata: `itemscope` elements as JSON, in the shape of JSON-LD.

use html::address::Base;
use html::dom::{Attr, Dom, NodeId, Tag};
use serde_json::{Map, Value};

const MAX_ITEMS: usize = 500;
const MAX_PROPERTIES: usize = 5_000;
const MAX_VALUE_BYTES: usize = 2_000;
/// Items nested deeper than this join the last one that fits, so that the result can be walked and dropped
/// safely.
const MAX_DEPTH: usize = 32;

struct OpenItem {
    end: NodeId,
    properties: Vec<String>,
    item: Map<String, Value>,
}

/// The top-level items of a page.
pub(super) fn find_items(dom: &Dom, base: &Base) -> Vec<Value> {
    let mut items = Vec::new();
    let mut open: Vec<OpenItem> = Vec::new();
    let (mut begun, mut properties) = (0, 0);
    for id in dom.subtree(dom.root()).filter(|&id| dom.is_element(id)) {
        while open.last().is_some_and(|last| last.end <= id) {
            close(&mut open, &mut items);
        }
        let names = dom.attr(id, Attr::Itemprop);
        if dom.has_attr(id, Attr::Itemscope) && open.len() < MAX_DEPTH && begun < MAX_ITEMS {
            begun += 1;
            let mut item = Map::new();
            if let Some(kind) = dom.attr(id, Attr::Itemtype) {
                item.insert("@type".into(), kind.trim().rsplit('/').next().unwrap_or_default().into());
            }
            if let Some(name) = dom.attr(id, Attr::Itemid) {
                item.insert("@id".into(), name.into());
            }
            let properties = names.unwrap_or_default().split_ascii_whitespace().map(str::to_owned).collect();
            open.push(OpenItem { end: dom.subtree_end(id), properties, item });
        } else if let (Some(names), Some(last)) = (names, open.last_mut()) {
            if properties >= MAX_PROPERTIES {
                break;
            }
            properties += 1;
            let value = value(dom, id, base);
            for name in names.split_ascii_whitespace() {
                add(&mut last.item, name, Value::from(value.as_str()));
            }
        }
    }
    while !open.is_empty() {
        close(&mut open, &mut items);
    }
    items
}

fn close(open: &mut Vec<OpenItem>, items: &mut Vec<Value>) {
    let Some(done) = open.pop() else { return };
    let value = Value::Object(done.item);
    match open.last_mut() {
        Some(parent) if !done.properties.is_empty() => {
            for name in &done.properties {
                add(&mut parent.item, name, value.clone());
            }
        }
        _ => items.push(value),
    }
}

/// A second value under a name makes it a list.
fn add(item: &mut Map<String, Value>, name: &str, value: Value) {
    match item.get_mut(name) {
        None => {
            item.insert(name.to_owned(), value);
        }
        Some(Value::Array(list)) => list.push(value),
        Some(one) => *one = Value::Array(vec![one.take(), value]),
    }
}

fn value(dom: &Dom, id: NodeId, base: &Base) -> String {
    let address =
        |name| dom.attr(id, name).and_then(|written| base.resolve(written)).map(std::borrow::Cow::into_owned);
    let attribute = |name| dom.attr(id, name).map(str::to_owned);
    let given = match dom.tag(id) {
        Tag::A | Tag::Area | Tag::Link => address(Attr::Href),
        Tag::Img => html::image::best_source(dom, id)
            .and_then(|source| base.resolve(source))
            .map(std::borrow::Cow::into_owned),
        Tag::Audio | Tag::Embed | Tag::Iframe | Tag::Source | Tag::Track | Tag::Video => address(Attr::Src),
        Tag::Data | Tag::Meter => attribute(Attr::Value),
        Tag::Time => attribute(Attr::Datetime),
        _ => attribute(Attr::Content),
    };
    given.unwrap_or_else(|| {
        let mut text = String::new();
        for node in dom.descendants(id) {
            for word in dom.text(node).split_whitespace() {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(word);
            }
            if text.len() > MAX_VALUE_BYTES {
                text.truncate(text.floor_char_boundary(MAX_VALUE_BYTES));
                break;
            }
        }
        text
    })
}
