//! Things described in JSON-LD and microdata: facts of each, and groups for lists of them.

use super::groups::{Record, RecordGroup};
use super::{EvidenceKind, Fact, FactCollector, text};
use crate::words::NameWords;
use content::metadata::Metadata;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Things per page, facts per thing, and nesting levels of a thing.
const MAX_THINGS: usize = 2_000;
const MAX_FACTS: usize = 600;
const MAX_DEPTH: usize = 6;
/// Types that describe the site rather than what the page is about.
const SITE_TYPES: &[&str] = &[
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

/// A thing described by structured data.
#[derive(Debug)]
pub(crate) struct Thing {
    pub facts: Vec<Fact>,
    /// How likely the page is about it.
    pub weight: f32,
}

/// All blocks with their kind of evidence.
fn blocks(metadata: &Metadata) -> impl Iterator<Item = (EvidenceKind, &Value)> {
    let of = |how| move |value| (how, value);
    metadata
        .json_ld
        .iter()
        .map(of(EvidenceKind::JsonLd))
        .chain(metadata.microdata.iter().map(of(EvidenceKind::Microdata)))
}

type TopLevelThing<'m> = (EvidenceKind, &'m Map<String, Value>);

/// Top-level things, those of a graph included.
fn top_level_things(metadata: &Metadata) -> Vec<TopLevelThing<'_>> {
    let mut found = Vec::new();
    for (how, block) in blocks(metadata) {
        let mut waiting = vec![block];
        while let Some(value) = waiting.pop() {
            match value {
                Value::Array(list) => waiting.extend(list.iter().rev()),
                Value::Object(object) if found.len() < MAX_THINGS => {
                    if let Some(graph) = object.get("@graph") {
                        waiting.push(graph);
                    }
                    if object.len() > 1 && !object.contains_key("@graph") {
                        found.push((how, object));
                    }
                    // The main subject of a page is often one level below.
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

type ThingsById<'m> = HashMap<&'m str, &'m Map<String, Value>>;

/// Things by their `@id`.
fn things_by_id(metadata: &Metadata) -> ThingsById<'_> {
    top_level_things(metadata)
        .into_iter()
        .filter_map(|(_, object)| Some((object.get("@id")?.as_str()?, object)))
        .filter(|(_, object)| object.len() > 2)
        .collect()
}

pub(super) fn things(metadata: &Metadata, collector: &mut FactCollector, headline: &NameWords) -> Vec<Thing> {
    let by_id = things_by_id(metadata);
    let mut things: Vec<Thing> = top_level_things(metadata)
        .into_iter()
        .map(|(how, object)| {
            let kind = kind_of(object);
            let name = ["name", "headline", "title"]
                .iter()
                .find_map(|name| object.get(*name)?.as_str())
                .map(NameWords::from_name)
                .unwrap_or_default();
            let other = has_other_name(&name, headline);
            let weight = if SITE_TYPES.contains(&kind) {
                0.45
            } else if other {
                0.6
            } else {
                1.0
            };
            Thing { facts: facts(object, how, collector, &by_id), weight }
        })
        .collect();
    things.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    things
}

/// Whether the name of a thing is not in the page's headline: a gift card, the shop.
pub(super) fn has_other_name(name: &NameWords, headline: &NameWords) -> bool {
    let shared = name.0.iter().filter(|word| headline.has(word)).count();
    !name.is_empty() && !headline.is_empty() && shared * 3 < name.0.len()
}

/// Lists of things: properties with several of them, and several top-level things of one type.
pub(super) fn groups(metadata: &Metadata, collector: &mut FactCollector) -> Vec<RecordGroup> {
    let by_id = things_by_id(metadata);
    let mut groups = Vec::new();
    let mut by_kind: BTreeMap<&str, Vec<TopLevelThing>> = BTreeMap::new();
    for (how, object) in top_level_things(metadata) {
        by_kind.entry(kind_of(object)).or_default().push((how, object));
        let mut waiting: Vec<(&Map<String, Value>, usize)> = vec![(object, 0)];
        while let Some((object, depth)) = waiting.pop() {
            for (name, value) in object.iter().filter(|(name, _)| !name.starts_with('@')) {
                match value {
                    Value::Array(list) if list.iter().filter(|value| value.is_object()).count() > 1 => {
                        let members = list.iter().filter_map(Value::as_object);
                        let kind = members.clone().next().map_or("", kind_of);
                        let label = NameWords::from_name(name)
                            .join(&NameWords::from_name(kind))
                            .join(&NameWords::from_name(kind_of(object)));
                        let records = members
                            .take(MAX_THINGS)
                            .map(|member| Record::Facts(facts(member, how, collector, &by_id)))
                            .collect();
                        groups.push(RecordGroup {
                            label,
                            records,
                            signature: format!("@{name}"),
                            stated: true,
                        });
                    }
                    Value::Object(inner) if depth < MAX_DEPTH => waiting.push((inner, depth + 1)),
                    _ => {}
                }
            }
        }
    }
    for (kind, members) in by_kind {
        if members.len() > 1 && !kind.is_empty() && !SITE_TYPES.contains(&kind) {
            let records = members
                .into_iter()
                .map(|(how, object)| Record::Facts(facts(object, how, collector, &by_id)))
                .collect();
            groups.push(RecordGroup {
                label: NameWords::from_name(kind),
                records,
                signature: format!("@{kind}"),
                stated: true,
            });
        }
    }
    groups.truncate(200);
    groups
}

/// The properties of a thing and of the objects in it, each labelled by its own name and its parent's.
fn facts(
    object: &Map<String, Value>,
    how: EvidenceKind,
    collector: &mut FactCollector,
    by_id: &ThingsById,
) -> Vec<Fact> {
    let mut found = Vec::new();
    let mut waiting: std::collections::VecDeque<(NameWords, &Map<String, Value>, usize)> =
        [(NameWords::default(), object, 0)].into();
    while let Some((around, object, depth)) = waiting.pop_front() {
        for (name, value) in object.iter().filter(|(name, _)| !name.starts_with('@')) {
            let words = NameWords::from_name(name);
            let values = match value {
                Value::Array(list) => list.as_slice(),
                value => std::slice::from_ref(value),
            };
            for value in values.iter().take(MAX_FACTS) {
                if found.len() >= MAX_FACTS {
                    return found;
                }
                let text = match value {
                    Value::String(text) => text::collapse_whitespace(&decode_entities(text)),
                    Value::Number(number) => number.to_string(),
                    Value::Bool(truth) => truth.to_string(),
                    Value::Object(inner) => {
                        let inner = inner
                            .get("@id")
                            .and_then(Value::as_str)
                            .and_then(|id| by_id.get(id))
                            .filter(|_| inner.len() <= 2)
                            .copied()
                            .unwrap_or(inner);
                        if depth < MAX_DEPTH {
                            waiting.push_back((words.clone(), inner, depth + 1));
                        }
                        let called = ["name", "text", "@value", "value", "url", "contentUrl"]
                            .iter()
                            .find_map(|name| inner.get(*name)?.as_str());
                        called
                            .map(|text| text::collapse_whitespace(&decode_entities(text)))
                            .unwrap_or_default()
                    }
                    _ => String::new(),
                };
                if text.is_empty() {
                    continue;
                }
                // The name of a brand is not the name of the product.
                let deep = depth > 0
                    && ["name", "url", "description", "image"].iter().any(|word| words.0 == [*word]);
                let position_weight = if deep { 0.45 } else { 1.0 };
                let text: Rc<str> = text.into();
                let label = collector.labels.intern(words.clone(), around.clone());
                let link =
                    Some(Rc::clone(&text)).filter(|text| text.starts_with("http") || text.starts_with('/'));
                found.push(Fact { at: 0, end: 0, label, how, machine: None, link, text, position_weight });
            }
        }
    }
    found
}

/// Values may contain HTML entities.
fn decode_entities(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(text::MAX_TEXT_BYTES * 2)];
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&amp;", "&").replace("&quot;", "\"").replace("&#39;", "'").replace("&nbsp;", " ")
}
