//! Facts from the appearance of text: amounts of money, dates, links, pictures, headings; and how much each
//! position on a page counts.

use super::{EvidenceKind, Fact, FactCollector, text};
use crate::values::{contact, date, number};
use crate::words::NameWords;
use content::metadata::Metadata;
use html::dom::{Attr, Dom, NodeId, Tag};
use std::rc::Rc;

/// Longer texts are not examined for amounts and dates.
const MAX_SHORT_TEXT_BYTES: usize = 60;
/// From this length on a text may be a description.
const MIN_DESCRIPTION_BYTES: usize = 40;
/// Blocks examined of a link around a card.
const MAX_CARD_BLOCKS: usize = 12;

/// Parts of class names and ids of elements that are not main content.
const NOT_CONTENT_CLASSES: &str = "cookie consent ad ads advert advertisement promo sponsor sponsored related similar recommended \
    recommendations also newsletter sidebar breadcrumb breadcrumbs crumbs menu nav navigation share \
    social popup modal carousel widget banner signup subscribe calc calculator finance trending popular \
    suggested upsell more";

/// The weight of each node's position, in hundredths.
pub(crate) fn position_weights(dom: &Dom) -> Vec<u8> {
    let mut position_weights = vec![100_u8; dom.len()];
    for id in dom.subtree(dom.root()) {
        let above = dom.parent(id).map_or(100, |parent| position_weights[parent.index()]);
        let own = match dom.tag(id) {
            Tag::Nav => 40,
            Tag::Aside | Tag::Footer => 70,
            // Elements that contain the whole page are never outside its content.
            Tag::Text | Tag::Body | Tag::Html | Tag::Main => 100,
            _ if [Attr::Class, Attr::Id]
                .iter()
                .any(|&name| dom.attr(id, name).is_some_and(is_not_content)) =>
            {
                50
            }
            _ => 100,
        };
        position_weights[id.index()] = above.min(own);
    }
    position_weights
}

fn is_not_content(names: &str) -> bool {
    names
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|part| NOT_CONTENT_CLASSES.split_ascii_whitespace().any(|word| part.eq_ignore_ascii_case(word)))
}

pub(super) fn collect(collector: &mut FactCollector) {
    for at in 0..collector.headings.len() {
        let heading = &collector.headings[at];
        let (id, level, text) = (NodeId(heading.at), heading.level, Rc::clone(&heading.text));
        let fact = collector.fact(
            EvidenceKind::Heading,
            NameWords::from_name("name"),
            id.0..collector.dom.subtree_end(id).0,
            text,
        );
        let position_weight = if level == 1 { fact.position_weight } else { fact.position_weight * 0.8 };
        collector.add(Fact { position_weight, ..fact });
    }
    let dom = collector.dom;
    for id in dom.subtree(dom.body().unwrap_or(dom.root())) {
        if !dom.is_element(id) || !collector.visible.contains(id) {
            continue;
        }
        match dom.tag(id) {
            Tag::A => link(collector, id),
            Tag::Img => {
                if dom.attr(id, Attr::Src).is_some() {
                    let alt: Rc<str> = dom.attr(id, Attr::Alt).unwrap_or("").into();
                    collector.add_node(EvidenceKind::Look, "image", id, &alt);
                }
            }
            Tag::Time => {
                let text = collector.text(id);
                collector.add_node(EvidenceKind::Look, "date", id, &text);
            }
            Tag::Ul | Tag::Ol => list(collector, id),
            tag if text::is_struck(tag) => {
                let text = collector.text(id);
                for label in ["old price", "original price", "list price", "regular price", "price before"] {
                    // Better than the class of the price that is asked now, which has part of the name.
                    collector.add_node(EvidenceKind::Class, label, id, &text);
                }
            }
            Tag::Figcaption => {
                let text = collector.text(id);
                collector.add_node(EvidenceKind::Class, "caption", id, &text);
            }
            Tag::Address => {
                let text = collector.text(id);
                collector.add_node(EvidenceKind::Class, "address", id, &text);
            }
            _ => leaf(collector, id),
        }
    }
}

fn link(collector: &mut FactCollector, id: NodeId) {
    let Some(href) = collector.dom.attr(id, Attr::Href).filter(|href| !href.starts_with('#')) else { return };
    let text = collector.text(id);
    if href.starts_with("mailto:") {
        collector.add_node(EvidenceKind::Look, "email", id, &text);
    } else if href.starts_with("tel:") {
        collector.add_node(EvidenceKind::Look, "phone", id, &text);
    } else {
        collector.add_node(EvidenceKind::Look, "url", id, &text);
        if let Some((name, text)) = name_in_card(collector, id) {
            collector.add_words(EvidenceKind::Position, NameWords::from_name("name"), name, &text);
        } else if !text.is_empty() {
            collector.add_words(EvidenceKind::Position, NameWords::from_name("name"), id, &text);
        }
        if collector.dom.attr(id, Attr::Rel).is_some_and(|rel| rel.contains("author")) {
            collector.add_node(EvidenceKind::Class, "author", id, &text);
        }
    }
}

/// The name in a link around a whole card of blocks: its heading, else the first block that is no date and no
/// amount. None where the link is around words.
fn name_in_card(collector: &FactCollector, link: NodeId) -> Option<(NodeId, Rc<str>)> {
    let dom = collector.dom;
    let shown = |&child: &NodeId| collector.visible.contains(child);
    let mut parts: Vec<(NodeId, Rc<str>)> = Vec::new();
    for child in dom.children(link).filter(shown).take(MAX_CARD_BLOCKS) {
        let text = collector.text(child);
        if text.is_empty() {
            continue;
        }
        if !dom.tag(child).is_block() {
            return None;
        }
        parts.push((child, text));
    }
    if parts.len() < 2 {
        return None;
    }
    if let Some(heading) = parts.iter().position(|(id, _)| dom.tag(*id).heading_level().is_some()) {
        return Some(parts.swap_remove(heading));
    }
    let is_name = |text: &str| {
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        let digits = text.chars().filter(|c| c.is_numeric()).count();
        // Dates of languages whose months are not known are numbers for the most part, too.
        digits * 2 <= letters && !date::is_date_alone(text)
    };
    parts.into_iter().find(|(_, text)| is_name(text))
}

/// Adds a list with at least one item.
fn list(collector: &mut FactCollector, id: NodeId) {
    let dom = collector.dom;
    if dom.children(id).filter(|&child| dom.tag(child) == Tag::Li).count() >= 1
        && dom.subtree_end(id).0 - id.0 < 4_000
    {
        let text = collector.text(id);
        collector.add_words(EvidenceKind::Look, NameWords(vec![LIST.to_owned()]), id, &text);
    }
}

/// The label of a list that nothing else names.
pub(crate) const LIST: &str = "list";

/// Adds an element with text of its own.
fn leaf(collector: &mut FactCollector, id: NodeId) {
    let dom = collector.dom;
    let own: usize = dom.children(id).map(|child| dom.text(child).trim().len()).sum();
    if own == 0 {
        return;
    }
    let text = collector.text(id);
    let struck = dom.ancestors(id).take(3).any(|above| text::is_struck(dom.tag(above)));
    if text.len() <= MAX_SHORT_TEXT_BYTES && !struck {
        let money = number::find_numbers(&text, false, 2)
            .first()
            .is_some_and(|first| first.money && text.len() <= first.len + 16);
        if money {
            collector.add_node(EvidenceKind::Look, "price", id, &text);
            collector.add_node(EvidenceKind::Look, "currency", id, &text);
        }
        if date::find_iso_date(&text, false, false).is_some() {
            collector.add_node(EvidenceKind::Look, "date", id, &text);
        }
        if contact::find_phone(&text).is_some_and(|phone| phone.len() + 8 > text.len()) && !money {
            collector.add_node(EvidenceKind::Look, "phone", id, &text);
        }
        if let Some(name) = by(&text) {
            let name: Rc<str> = name.into();
            collector.add_node(EvidenceKind::Look, "author", id, &name);
        }
    }
    if text.contains('@') && contact::find_email(&text).is_some() {
        collector.add_node(EvidenceKind::Look, "email", id, &text);
    }
    if text.len() >= MIN_DESCRIPTION_BYTES && dom.tag(id).is_block() {
        collector.add_node(EvidenceKind::Look, "description text", id, &text);
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
pub(super) fn meta(metadata: &Metadata, collector: &mut FactCollector) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut add = |label: &str, value: &str, position_weight: f32| {
        let words = NameWords::from_name(label);
        if words.is_empty() || value.trim().is_empty() {
            return;
        }
        let label = collector.labels.intern(words, NameWords::default());
        let text: Rc<str> = text::collapse_whitespace(value).into();
        let machine = Some(Rc::clone(&text));
        facts.push(Fact {
            at: 0,
            end: 0,
            label,
            how: EvidenceKind::Meta,
            link: machine.clone(),
            text,
            machine,
            position_weight,
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
        // The account of the site, not the person who wrote the page.
        let account = matches!(name.as_str(), "twitter:creator" | "twitter:site");
        if let Some(value) = values.first().filter(|_| !account && !skip.contains(&label)) {
            let position_weight = if name == "og:site_name" { 0.5 } else { 1.0 };
            let label = if name == "og:site_name" { "site name publisher" } else { label };
            add(label, value, position_weight);
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
        // The part after the last bar or dash is the site's name.
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
