//! Things described in JSON-LD and microdata: each as facts, and lists of them as groups.

use super::groups::{Group, Record};
use super::{Fact, How, Reader, text};
use crate::words::Words;
use content::metadata::Metadata;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Things read on one page, facts of one thing, levels followed into it.
const MOST_THINGS: usize = 2_000;
const MOST_FACTS: usize = 600;
const DEEPEST: usize = 6;
/// Types that describe the site rather than what the page is about.
const ABOUT_SITE: &[&str] = &[
    "WebSite",
    "WebPage",
    "Organization",
    "BreadcrumbList",
    "ListItem",
    "SearchAction",
    "ImageObject",
    "SiteNavigationElement",
    "Corporation",
    "CollectionPage",
    "WPHeader",
    "WPFooter",
    "ContactPoint",
    "EntryPoint",
    "ReadAction",
];

/// A described thing.
#[derive(Debug)]
pub(crate) struct Thing {
    pub facts: Vec<Fact>,
    /// How likely the page is about it.
    pub weight: f32,
}

/// All blocks with where they come from.
fn blocks(metadata: &Metadata) -> impl Iterator<Item = (How, &Value)> {
    let of = |how| move |value| (how, value);
    metadata.json_ld.iter().map(of(How::JsonLd)).chain(metadata.microdata.iter().map(of(How::Microdata)))
}

type Standing<'m> = (How, &'m Map<String, Value>);

/// Things that stand on their own: top-level ones and those of a graph.
fn standing(metadata: &Metadata) -> Vec<Standing<'_>> {
    let mut found = Vec::new();
    for (how, block) in blocks(metadata) {
        let mut waiting = vec![block];
        while let Some(value) = waiting.pop() {
            match value {
                Value::Array(list) => waiting.extend(list.iter().rev()),
                Value::Object(object) if found.len() < MOST_THINGS => {
                    if let Some(graph) = object.get("@graph") {
                        waiting.push(graph);
                    }
                    if object.len() > 1 && !object.contains_key("@graph") {
                        found.push((how, object));
                    }
                    // What a page is about is often one step away.
                    waiting.extend(
                        ["mainEntity", "about", "mainEntityOfPage"]
                            .iter()
                            .filter_map(|name| object.get(*name))
                            .filter(|value| value.is_object()),
                    );
                }
                _ => {}
            }
        }
    }
    found
}

fn kind_of(object: &Map<String, Value>) -> &str {
    let name = match object.get("@type") {
        Some(Value::Array(list)) => list.first().and_then(Value::as_str),
        Some(value) => value.as_str(),
        None => None,
    };
    name.and_then(|name| name.rsplit(['/', '#', ':']).next()).unwrap_or("")
}

type Known<'m> = HashMap<&'m str, &'m Map<String, Value>>;

/// Things by the name that references use.
fn known(metadata: &Metadata) -> Known<'_> {
    standing(metadata)
        .into_iter()
        .filter_map(|(_, object)| Some((object.get("@id")?.as_str()?, object)))
        .filter(|(_, object)| object.len() > 2)
        .collect()
}

pub(super) fn things(metadata: &Metadata, reader: &mut Reader, headline: &Words) -> Vec<Thing> {
    let known = known(metadata);
    let mut things: Vec<Thing> = standing(metadata)
        .into_iter()
        .map(|(how, object)| {
            let kind = kind_of(object);
            let name = ["name", "headline", "title"]
                .iter()
                .find_map(|name| object.get(*name)?.as_str())
                .map(Words::of)
                .unwrap_or_default();
            let other = is_other(&name, headline);
            let weight = if ABOUT_SITE.contains(&kind) {
                0.45
            } else if other {
                0.6
            } else {
                1.0
            };
            Thing { facts: facts(object, how, reader, &known), weight }
        })
        .collect();
    things.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    things
}

/// Whether a thing is called what the page does not call itself: a gift card, the shop.
pub(super) fn is_other(name: &Words, headline: &Words) -> bool {
    let shared = name.0.iter().filter(|word| headline.has(word)).count();
    !name.is_empty() && !headline.is_empty() && shared * 3 < name.0.len()
}

/// Lists of things: properties that hold several, and several standing things of one type.
pub(super) fn groups(metadata: &Metadata, reader: &mut Reader) -> Vec<Group> {
    let known = known(metadata);
    let mut groups = Vec::new();
    let mut by_kind: BTreeMap<&str, Vec<Standing>> = BTreeMap::new();
    for (how, object) in standing(metadata) {
        by_kind.entry(kind_of(object)).or_default().push((how, object));
        let mut waiting: Vec<(&Map<String, Value>, usize)> = vec![(object, 0)];
        while let Some((object, depth)) = waiting.pop() {
            for (name, value) in object.iter().filter(|(name, _)| !name.starts_with('@')) {
                match value {
                    Value::Array(list) if list.iter().filter(|value| value.is_object()).count() > 1 => {
                        let members = list.iter().filter_map(Value::as_object);
                        let kind = members.clone().next().map_or("", kind_of);
                        let label = Words::of(name).join(&Words::of(kind)).join(&Words::of(kind_of(object)));
                        let records = members
                            .take(MOST_THINGS)
                            .map(|member| Record::Facts(facts(member, how, reader, &known)))
                            .collect();
                        groups.push(Group { label, records, signature: format!("@{name}"), stated: true });
                    }
                    Value::Object(inner) if depth < DEEPEST => waiting.push((inner, depth + 1)),
                    _ => {}
                }
            }
        }
    }
    for (kind, members) in by_kind {
        if members.len() > 1 && !kind.is_empty() && !ABOUT_SITE.contains(&kind) {
            let records = members
                .into_iter()
                .map(|(how, object)| Record::Facts(facts(object, how, reader, &known)))
                .collect();
            groups.push(Group {
                label: Words::of(kind),
                records,
                signature: format!("@{kind}"),
                stated: true,
            });
        }
    }
    groups.truncate(200);
    groups
}

/// The properties of a thing and of what it holds, each labelled by its name under the name of what holds it.
fn facts(object: &Map<String, Value>, how: How, reader: &mut Reader, known: &Known) -> Vec<Fact> {
    let mut found = Vec::new();
    let mut waiting: std::collections::VecDeque<(Words, &Map<String, Value>, usize)> =
        [(Words::default(), object, 0)].into();
    while let Some((around, object, depth)) = waiting.pop_front() {
        for (name, value) in object.iter().filter(|(name, _)| !name.starts_with('@')) {
            let words = Words::of(name);
            let values = match value {
                Value::Array(list) => list.as_slice(),
                value => std::slice::from_ref(value),
            };
            for value in values.iter().take(MOST_FACTS) {
                if found.len() >= MOST_FACTS {
                    return found;
                }
                let text = match value {
                    Value::String(text) => text::one_line(&plain(text)),
                    Value::Number(number) => number.to_string(),
                    Value::Bool(truth) => truth.to_string(),
                    Value::Object(inner) => {
                        let inner = inner
                            .get("@id")
                            .and_then(Value::as_str)
                            .and_then(|id| known.get(id))
                            .filter(|_| inner.len() <= 2)
                            .copied()
                            .unwrap_or(inner);
                        if depth < DEEPEST {
                            waiting.push_back((words.clone(), inner, depth + 1));
                        }
                        let called = ["name", "text", "@value", "value", "url", "contentUrl"]
                            .iter()
                            .find_map(|name| inner.get(*name)?.as_str());
                        called.map(|text| text::one_line(&plain(text))).unwrap_or_default()
                    }
                    _ => String::new(),
                };
                if text.is_empty() {
                    continue;
                }
                // The name of a brand is not the name of the product.
                let deep = depth > 0
                    && ["name", "url", "description", "image"].iter().any(|word| words.0 == [*word]);
                let place = if deep { 0.45 } else { 1.0 };
                let text: Rc<str> = text.into();
                let label = reader.labels.enter(words.clone(), around.clone());
                let link =
                    Some(Rc::clone(&text)).filter(|text| text.starts_with("http") || text.starts_with('/'));
                found.push(Fact { at: 0, end: 0, label, how, machine: None, link, text, place });
            }
        }
    }
    found
}

/// Values carry entities of their own.
fn plain(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(text::LONGEST * 2)];
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&amp;", "&").replace("&quot;", "\"").replace("&#39;", "'").replace("&nbsp;", " ")
}
