//! What things look like: amounts of money, dates, links, pictures, headings; and how much each place on a page counts.

use super::{Fact, How, Reader, text};
use crate::reading::{contact, date, number};
use crate::words::Words;
use content::dom::{Attr, Dom, NodeId, Tag};
use content::metadata::Metadata;
use std::rc::Rc;

/// Longest text that is looked at as an amount or a date.
const SHORT: usize = 60;
/// Where a text is long enough to be what something is about.
const LONG: usize = 40;

/// Parts of class names and ids of what stands beside the content.
const BESIDE: &str = "cookie consent ad ads advert advertisement promo sponsor sponsored related similar recommended \
    recommendations also newsletter sidebar breadcrumb breadcrumbs crumbs menu nav navigation share \
    social popup modal carousel widget banner signup subscribe calc calculator finance trending popular \
    suggested upsell more";

/// How much each node's place counts, in hundredths.
pub(crate) fn places(dom: &Dom) -> Vec<u8> {
    let mut places = vec![100_u8; dom.len()];
    for id in dom.subtree(dom.root()) {
        let above = dom.parent(id).map_or(100, |parent| places[parent.index()]);
        let own = match dom.tag(id) {
            Tag::Nav => 40,
            Tag::Aside | Tag::Footer => 70,
            // The page as a whole stands beside nothing.
            Tag::Text | Tag::Body | Tag::Html | Tag::Main => 100,
            _ if [Attr::Class, Attr::Id].iter().any(|&name| dom.attr(id, name).is_some_and(is_beside)) => 50,
            _ => 100,
        };
        places[id.index()] = above.min(own);
    }
    places
}

fn is_beside(names: &str) -> bool {
    names
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|part| BESIDE.split_ascii_whitespace().any(|word| part.eq_ignore_ascii_case(word)))
}

pub(super) fn read(reader: &mut Reader) {
    for at in 0..reader.headings.len() {
        let heading = &reader.headings[at];
        let (id, level, text) = (NodeId(heading.at), heading.level, Rc::clone(&heading.text));
        let fact = reader.fact(How::Heading, Words::of("name"), id.0..reader.dom.subtree_end(id).0, text);
        let place = if level == 1 { fact.place } else { fact.place * 0.8 };
        reader.add(Fact { place, ..fact });
    }
    let dom = reader.dom;
    for id in dom.subtree(dom.body().unwrap_or(dom.root())) {
        if !dom.is_element(id) || !reader.visible.contains(id) {
            continue;
        }
        match dom.tag(id) {
            Tag::A => link(reader, id),
            Tag::Img => {
                if dom.attr(id, Attr::Src).is_some() {
                    let alt: Rc<str> = dom.attr(id, Attr::Alt).unwrap_or("").into();
                    reader.add_node(How::Look, "image", id, &alt);
                }
            }
            Tag::Time => {
                let text = reader.text(id);
                reader.add_node(How::Look, "date", id, &text);
            }
            Tag::Ul | Tag::Ol => list(reader, id),
            tag if text::is_struck(tag) => {
                let text = reader.text(id);
                for label in ["old price", "original price", "list price", "regular price", "price before"] {
                    reader.add_node(How::Look, label, id, &text);
                }
            }
            Tag::Figcaption => {
                let text = reader.text(id);
                reader.add_node(How::Class, "caption", id, &text);
            }
            Tag::Address => {
                let text = reader.text(id);
                reader.add_node(How::Class, "address", id, &text);
            }
            _ => leaf(reader, id),
        }
    }
}

fn link(reader: &mut Reader, id: NodeId) {
    let Some(href) = reader.dom.attr(id, Attr::Href).filter(|href| !href.starts_with('#')) else { return };
    let text = reader.text(id);
    if href.starts_with("mailto:") {
        reader.add_node(How::Look, "email", id, &text);
    } else if href.starts_with("tel:") {
        reader.add_node(How::Look, "phone", id, &text);
    } else {
        reader.add_node(How::Look, "url", id, &text);
        if !text.is_empty() {
            reader.add_words(How::Position, Words::of("name"), id, &text);
        }
        if reader.dom.attr(id, Attr::Rel).is_some_and(|rel| rel.contains("author")) {
            reader.add_node(How::Class, "author", id, &text);
        }
    }
}

/// A list is known by the items it has.
fn list(reader: &mut Reader, id: NodeId) {
    let dom = reader.dom;
    if dom.children(id).filter(|&child| dom.tag(child) == Tag::Li).count() >= 1
        && dom.subtree_end(id).0 - id.0 < 4_000
    {
        let text = reader.text(id);
        reader.add_words(How::Look, Words(vec![LIST.to_owned()]), id, &text);
    }
}

/// The label of a list that nothing else names.
pub(crate) const LIST: &str = "list";

/// An element with text of its own.
fn leaf(reader: &mut Reader, id: NodeId) {
    let dom = reader.dom;
    let own: usize = dom.children(id).map(|child| dom.text(child).trim().len()).sum();
    if own == 0 {
        return;
    }
    let text = reader.text(id);
    let struck = dom.ancestors(id).take(3).any(|above| text::is_struck(dom.tag(above)));
    if text.len() <= SHORT && !struck {
        let money = number::numbers(&text, false, 2)
            .first()
            .is_some_and(|first| first.money && text.len() <= first.len + 16);
        if money {
            reader.add_node(How::Look, "price", id, &text);
            reader.add_node(How::Look, "currency", id, &text);
        }
        if date::iso(&text, false, false).is_some() {
            reader.add_node(How::Look, "date", id, &text);
        }
        if contact::phone(&text).is_some_and(|phone| phone.len() + 8 > text.len()) && !money {
            reader.add_node(How::Look, "phone", id, &text);
        }
        if let Some(name) = by(&text) {
            let name: Rc<str> = name.into();
            reader.add_node(How::Look, "author", id, &name);
        }
    }
    if text.contains('@') && contact::email(&text).is_some() {
        reader.add_node(How::Look, "email", id, &text);
    }
    if text.len() >= LONG && dom.tag(id).is_block() {
        reader.add_node(How::Look, "description text", id, &text);
    }
}

/// A byline.
fn by(text: &str) -> Option<&str> {
    let name = ["By ", "by ", "Von ", "von ", "Par ", "par ", "Por ", "por "]
        .iter()
        .find_map(|word| text.strip_prefix(word))?;
    let words = name.split_whitespace().count();
    ((1..=5).contains(&words) && name.starts_with(char::is_uppercase)).then_some(name)
}

/// Facts of meta tags and of the page's title.
pub(super) fn meta(metadata: &Metadata, reader: &mut Reader) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut add = |label: &str, value: &str, place: f32| {
        let words = Words::of(label);
        if words.is_empty() || value.trim().is_empty() {
            return;
        }
        let label = reader.labels.enter(words, Words::default());
        let text: Rc<str> = text::one_line(value).into();
        let machine = Some(Rc::clone(&text));
        facts.push(Fact {
            at: 0,
            end: 0,
            label,
            how: How::Meta,
            link: machine.clone(),
            text,
            machine,
            place,
        });
    };
    for (name, values) in metadata.tags.iter().take(200) {
        let label = name.rsplit(':').next().unwrap_or(name);
        let skip = [
            "viewport",
            "generator",
            "robots",
            "theme-color",
            "referrer",
            "card",
            "type",
            "locale",
            "charset",
            "app_id",
            "width",
            "height",
        ];
        if let Some(value) = values.first().filter(|_| !skip.contains(&label)) {
            let place = if name == "og:site_name" { 0.5 } else { 1.0 };
            let label = if name == "og:site_name" { "site name publisher" } else { label };
            add(label, value, place);
        }
    }
    let sourced = [
        ("author", &metadata.author),
        ("published date", &metadata.published),
        ("modified date", &metadata.modified),
    ];
    for (label, found) in sourced {
        if let Some(found) = found {
            add(label, &found.value, 1.0);
        }
    }
    if let Some(title) = &metadata.title {
        // What follows the last bar or dash is the site.
        let own = [" | ", " - ", " – ", " · "]
            .iter()
            .find_map(|mark| title.rsplit_once(mark))
            .map_or(title.as_str(), |(own, _)| own);
        add("name", own, 0.8);
    }
    if let Some(language) = &metadata.language {
        add("page language", &language.value, 0.5);
    }
    facts
}
