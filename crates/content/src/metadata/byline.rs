//! Author and dates of a page, most trusted source first: structured data, meta tags, marked-up elements, the
//! URL.

use super::{Metadata, Sourced, json_ld, words};
use html::address::Base;
use html::dom::{Attr, Dom, NodeId, Tag};
use serde_json::{Map, Value};

/// Types of thing whose author and dates are the page's own.
const PAGE_TYPES: &[&str] = &[
    "Article",
    "Posting",
    "Page",
    "Report",
    "Recipe",
    "Review",
    "Question",
    "VideoObject",
    "Course",
    "Book",
];

pub(super) fn author(dom: &Dom, metadata: &Metadata) -> Option<Sourced> {
    let objects = json_ld::objects(&metadata.json_ld);
    let structured = objects
        .iter()
        .filter(|object| json_ld::is_type(object, PAGE_TYPES))
        .find_map(|object| names(object.get("author").or_else(|| object.get("creator"))?, &objects));
    if let Some(name) = structured {
        return Some(Sourced { value: name, source: "json-ld" });
    }
    for (tag, source) in [
        ("author", "meta:author"),
        ("article:author", "meta:article:author"),
        ("citation_author", "meta:citation_author"),
        ("dc.creator", "meta:dc.creator"),
        ("dcterms.creator", "meta:dcterms.creator"),
        ("parsely-author", "meta:parsely-author"),
        ("sailthru.author", "meta:sailthru.author"),
    ] {
        if let Some(name) = metadata.tag(tag).and_then(clean_name) {
            return Some(Sourced { value: name, source });
        }
    }
    let marked = |wanted: fn(&Dom, NodeId) -> bool| {
        dom.subtree(dom.root())
            .filter(|&id| dom.is_element(id) && wanted(dom, id))
            .take(20)
            .find_map(|id| clean_name(&short_text(dom, id)?))
    };
    let by_property = |dom: &Dom, id| {
        dom.attr(id, Attr::Itemprop).is_some_and(|names| names.split(' ').any(|n| n == "author"))
    };
    let by_link = |dom: &Dom, id| {
        dom.attr(id, Attr::Rel).is_some_and(|rel| rel.split(' ').any(|word| word == "author"))
    };
    let by_class = |dom: &Dom, id| {
        matches!(dom.tag(id), Tag::A | Tag::Span | Tag::P | Tag::Div | Tag::Address | Tag::Cite)
            && dom.attr(id, Attr::Class).is_some_and(|class| {
                class.split_ascii_whitespace().any(|name| {
                    matches!(
                        name,
                        "byline"
                            | "author"
                            | "author-name"
                            | "byline-name"
                            | "post-author"
                            | "entry-author"
                            | "p-author"
                    )
                })
            })
    };
    marked(by_property)
        .map(|value| Sourced { value, source: "microdata" })
        .or_else(|| marked(by_link).map(|value| Sourced { value, source: "rel:author" }))
        .or_else(|| marked(by_class).map(|value| Sourced { value, source: "byline" }))
}

/// A person or several, named in place or elsewhere in the same data.
fn names(value: &Value, objects: &[&Map<String, Value>]) -> Option<String> {
    let one = |value: &Value| match value {
        Value::String(name) => clean_name(name),
        Value::Object(object) => {
            let name = object.get("name").and_then(Value::as_str).or_else(|| {
                let id = object.get("@id")?.as_str()?;
                let other = objects.iter().find(|other| {
                    other.get("@id").and_then(Value::as_str) == Some(id) && other.contains_key("name")
                })?;
                other.get("name")?.as_str()
            });
            name.and_then(clean_name)
        }
        _ => None,
    };
    match value {
        Value::Array(list) => {
            let names: Vec<String> = list.iter().take(20).filter_map(one).collect();
            (!names.is_empty()).then(|| names.join(", "))
        }
        value => one(value),
    }
}

/// A name without its introduction; `None` for URLs and sentences.
fn clean_name(text: &str) -> Option<String> {
    let text = words(text)?;
    let start = [
        "By ",
        "by ",
        "BY ",
        "Von ",
        "von ",
        "Par ",
        "par ",
        "Por ",
        "por ",
        "Written by ",
        "Posted by ",
        "Author: ",
    ]
    .iter()
    .find_map(|lead| text.strip_prefix(lead))
    .unwrap_or(&text);
    let name =
        start.trim_matches(|c: char| c == ',' || c == '|' || c == '·' || c == ':' || c.is_whitespace());
    let sound = !name.is_empty()
        && name.len() <= 120
        && !name.contains("://")
        && name.chars().any(char::is_alphabetic);
    sound.then(|| name.to_owned())
}

fn short_text(dom: &Dom, id: NodeId) -> Option<String> {
    if dom.tag(id) == Tag::Meta {
        return dom.attr(id, Attr::Content).map(str::to_owned);
    }
    let mut text = String::new();
    for node in dom.descendants(id).take(40) {
        text.push_str(dom.text(node));
        if text.len() > 400 {
            return None;
        }
        text.push(' ');
    }
    Some(text)
}

pub(super) fn published(dom: &Dom, metadata: &Metadata, base: &Base) -> Option<Sourced> {
    structured_date(metadata, &["datePublished", "dateCreated", "uploadDate"])
        .or_else(|| {
            tag_date(
                metadata,
                &[
                    ("article:published_time", "meta:article:published_time"),
                    ("og:published_time", "meta:og:published_time"),
                    ("datepublished", "meta:datepublished"),
                    ("citation_publication_date", "meta:citation_publication_date"),
                    ("dc.date", "meta:dc.date"),
                    ("dc.date.issued", "meta:dc.date.issued"),
                    ("dcterms.created", "meta:dcterms.created"),
                    ("dcterms.date", "meta:dcterms.date"),
                    ("parsely-pub-date", "meta:parsely-pub-date"),
                    ("publish-date", "meta:publish-date"),
                    ("date", "meta:date"),
                ],
            )
        })
        .or_else(|| property_date(dom, "datePublished"))
        .or_else(|| time_date(dom))
        .or_else(|| address_date(base))
}

pub(super) fn modified(dom: &Dom, metadata: &Metadata) -> Option<Sourced> {
    structured_date(metadata, &["dateModified"])
        .or_else(|| {
            tag_date(
                metadata,
                &[
                    ("article:modified_time", "meta:article:modified_time"),
                    ("og:updated_time", "meta:og:updated_time"),
                    ("dcterms.modified", "meta:dcterms.modified"),
                    ("last-modified", "meta:last-modified"),
                ],
            )
        })
        .or_else(|| property_date(dom, "dateModified"))
}

fn structured_date(metadata: &Metadata, fields: &[&str]) -> Option<Sourced> {
    let objects = json_ld::objects(&metadata.json_ld);
    let of_page = objects.iter().filter(|object| json_ld::is_type(object, PAGE_TYPES));
    let value = of_page
        .filter_map(|object| fields.iter().find_map(|field| object.get(*field)?.as_str()))
        .find_map(date)?;
    Some(Sourced { value, source: "json-ld" })
}

fn tag_date(metadata: &Metadata, tags: &[(&str, &'static str)]) -> Option<Sourced> {
    tags.iter().find_map(|&(tag, source)| Some(Sourced { value: date(metadata.tag(tag)?)?, source }))
}

fn property_date(dom: &Dom, property: &str) -> Option<Sourced> {
    if !dom.uses(Attr::Itemprop) {
        return None;
    }
    dom.subtree(dom.root())
        .filter(|&id| {
            dom.attr(id, Attr::Itemprop).is_some_and(|names| names.split(' ').any(|name| name == property))
        })
        .find_map(|id| {
            let given = dom.attr(id, Attr::Datetime).or_else(|| dom.attr(id, Attr::Content));
            Some(Sourced { value: date(given?)?, source: "microdata" })
        })
}

/// A `time` element marked as publication date, else the first in document order.
fn time_date(dom: &Dom) -> Option<Sourced> {
    let mut first = None;
    for id in dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::Time).take(200) {
        let Some(value) = dom.attr(id, Attr::Datetime).and_then(date) else { continue };
        let marked = dom.attr_named(id, "pubdate").is_some()
            || dom.attr(id, Attr::Class).is_some_and(|class| {
                ["publish", "entry-date", "posted", "post-date", "dt-published"]
                    .iter()
                    .any(|part| class.contains(part))
            });
        if marked {
            return Some(Sourced { value, source: "time" });
        }
        first.get_or_insert(value);
    }
    first.map(|value| Sourced { value, source: "time" })
}

/// A date in the page's own URL, as blogs and newspapers have it.
fn address_date(base: &Base) -> Option<Sourced> {
    let path = base.url()?.path();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).take(12).collect();
    for window in parts.windows(3) {
        let numbers: Option<Vec<u32>> =
            window.iter().map(|part| if part.len() <= 4 { part.parse().ok() } else { None }).collect();
        if let Some([year @ 1990..=2100, month @ 1..=12, day @ 1..=31]) = numbers.as_deref() {
            return Some(Sourced { value: format!("{year:04}-{month:02}-{day:02}"), source: "url" });
        }
    }
    None
}

/// A date as ISO 8601 where it can be parsed; unchanged where it at least contains a year.
fn date(text: &str) -> Option<String> {
    let text = text.trim();
    if text.len() < 4 || text.len() > 40 {
        return None;
    }
    let bytes = text.as_bytes();
    let digits =
        |from: usize, to: usize| bytes.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    if digits(0, 4) && matches!(bytes.get(4), Some(b'-' | b'/' | b'.')) && digits(5, 7) {
        let mut iso = text.to_owned();
        if bytes[4] != b'-' && bytes.len() >= 10 && digits(8, 10) {
            iso = format!("{}-{}-{}{}", &text[..4], &text[5..7], &text[8..10], &text[10..]);
        }
        // A space between date and time is the most common error.
        if iso.as_bytes().get(10) == Some(&b' ') && iso.as_bytes().get(11).is_some_and(u8::is_ascii_digit) {
            iso.replace_range(10..11, "T");
        }
        return Some(iso.replace(' ', ""));
    }
    if digits(0, 8) && text.len() == 8 {
        return Some(format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]));
    }
    let year = text
        .split(|c: char| !c.is_ascii_digit())
        .any(|run| run.len() == 4 && (run.starts_with("19") || run.starts_with("20")));
    year.then(|| text.to_owned())
}
