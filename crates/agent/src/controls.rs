//! What a page hides content behind: buttons such as "Load more", a next page without an address, and tabs. Links are
//! none of them: they are read like every other page.

use content::Page;
use html::dom::{Dom, NodeId};

/// Controls of one page.
const MAX_CONTROLS: usize = 40;
/// A longer label is a text, not a label.
const MAX_LABEL_CHARACTERS: usize = 60;
const MAX_LABEL_WORDS: usize = 6;
/// How far up a pager is looked for.
const MAX_PAGER_DEPTH: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControlKind {
    /// Adds to a list, or shows the next part of it.
    More,
    /// Shows another part of the page.
    Tab,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Control {
    pub kind: ControlKind,
    /// As a reader of the page knows it, with single blanks.
    pub label: String,
}

const MORE: &[&str] = &[
    "more", "mehr", "weitere", "plus", "más", "mas", "meer", "altro", "altri", "mais", "fler", "flere",
    "więcej",
];
const ALL: &[&str] =
    &["all", "alle", "alles", "tout", "tous", "toutes", "todo", "todos", "todas", "tutti", "tutto"];
const VERBS: &[&str] = &[
    "load", "show", "view", "see", "display", "get", "laden", "anzeigen", "zeigen", "afficher", "voir",
    "charger", "mostrar", "ver", "cargar", "mostra", "carica", "vedi", "carregar", "toon", "toont", "laad",
    "visa", "vis", "pokaż",
];
/// Such buttons show something else than content.
const NOT_CONTENT: &[&str] = &[
    "less", "fewer", "weniger", "moins", "menos", "filter", "filters", "options", "cookies", "menu",
    "settings",
];
const NEXT: &[&str] = &["next", "weiter", "nächste", "suivant", "siguiente", "volgende", "avanti", "próximo"];
const NEXT_SIGNS: &[&str] = &["›", "»", "→", ">"];
/// What closes a banner in front of a page, the most careful answer first.
const CONSENT: &[&str] = &[
    "reject all",
    "decline",
    "decline all",
    "only necessary",
    "necessary cookies only",
    "alle ablehnen",
    "ablehnen",
    "tout refuser",
    "rechazar todo",
    "accept all",
    "accept all cookies",
    "accept cookies",
    "accept",
    "agree",
    "i agree",
    "allow all",
    "alle akzeptieren",
    "akzeptieren",
    "tout accepter",
    "aceptar todo",
    "got it",
    "ok",
    "close",
];

/// The controls of a page, in its order.
pub(crate) fn find_controls(page: &Page) -> Vec<Control> {
    let dom = page.dom();
    let nodes = dom.subtree(dom.root()).filter(|id| dom.is_element(*id));
    let mut found: Vec<Control> = Vec::new();
    for control in nodes.filter_map(|id| control(dom, id)) {
        if found.len() == MAX_CONTROLS {
            break;
        }
        if !found.contains(&control) {
            found.push(control);
        }
    }
    found
}

/// The place of a label among answers to a banner; the smallest is the most careful one.
pub(crate) fn consent_rank(label: &str) -> Option<usize> {
    let lower = label.to_lowercase();
    CONSENT.iter().position(|known| *known == lower.trim())
}

fn control(dom: &Dom, id: NodeId) -> Option<Control> {
    let role = dom.attr_named(id, "role").unwrap_or_default();
    let is_button = match dom.local_name(id) {
        "button" => true,
        "input" => dom.attr_named(id, "type") == Some("button"),
        "a" => dom.attr_named(id, "href").is_none_or(is_no_address),
        _ => role == "button" || role == "tab",
    };
    let is_off =
        dom.attr_named(id, "disabled").is_some() || dom.attr_named(id, "aria-disabled") == Some("true");
    if !is_button || is_off {
        return None;
    }
    let label = label(dom, id)?;
    let kind = if role == "tab" {
        (dom.attr_named(id, "aria-selected") != Some("true")).then_some(ControlKind::Tab)
    } else {
        (is_more(&label) || is_next(dom, id, &label)).then_some(ControlKind::More)
    };
    Some(Control { kind: kind?, label })
}

fn is_no_address(href: &str) -> bool {
    let href = href.trim();
    href.is_empty() || href.starts_with('#') || href.to_ascii_lowercase().starts_with("javascript:")
}

fn label(dom: &Dom, id: NodeId) -> Option<String> {
    let named = dom.attr_named(id, "aria-label").or_else(|| dom.attr_named(id, "value"));
    let text = match named.filter(|name| !name.trim().is_empty()) {
        Some(name) => name.to_owned(),
        None if dom.text_len(id) > MAX_LABEL_CHARACTERS * 4 => return None,
        None => dom.text_content(id),
    };
    let label = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!label.is_empty() && label.chars().count() <= MAX_LABEL_CHARACTERS).then_some(label)
}

fn is_more(label: &str) -> bool {
    let lower = label.to_lowercase();
    let words: Vec<&str> =
        lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    if words.len() > MAX_LABEL_WORDS || has(NOT_CONTENT) {
        return false;
    }
    let is_plain = words.len() <= 2 && words.first().is_some_and(|word| MORE.contains(word));
    is_plain || (has(VERBS) && (has(MORE) || has(ALL)))
}

/// Whether it leads to the next part of a list. A slide show has such buttons too, so a pager must be around it.
fn is_next(dom: &Dom, id: NodeId, label: &str) -> bool {
    let lower = label.to_lowercase();
    if lower == "next page" || lower == "nächste seite" || lower == "page suivante" {
        return true;
    }
    let first = lower.split_whitespace().next().unwrap_or_default();
    let is_named = NEXT_SIGNS.contains(&lower.as_str()) || NEXT.contains(&first);
    let is_pager = |id: NodeId| {
        ["class", "id", "aria-label"].iter().any(|name| {
            dom.attr_named(id, name).is_some_and(|value| {
                let value = value.to_ascii_lowercase();
                value.contains("pagin") || value.contains("pager")
            })
        })
    };
    is_named && dom.ancestors(id).take(MAX_PAGER_DEPTH).any(is_pager)
}

#[cfg(test)]
mod tests {
    use super::*;
    use content::{Limits, PageSource};

    fn labels(html: &str) -> Vec<(ControlKind, String)> {
        let source = PageSource { bytes: html.as_bytes(), ..PageSource::default() };
        let page = Page::parse(&source, &Limits::default());
        find_controls(&page).into_iter().map(|control| (control.kind, control.label)).collect()
    }

    #[test]
    fn buttons_that_add_to_a_list_are_found() {
        for html in [
            "<button>Load more</button>",
            "<button><span>Show</span> 20 more products</button>",
            "<a href=#>View all</a>",
            "<a role=button>Mehr anzeigen</a>",
            "<div role=button aria-label='Load more reviews'>+</div>",
            "<input type=button value='Show all'>",
            "<nav class=pagination><button>Next</button></nav>",
            "<button>Next page</button>",
            "<button>More</button>",
        ] {
            assert_eq!(labels(html).len(), 1, "{html}");
        }
    }

    #[test]
    fn links_and_other_buttons_are_not() {
        for html in [
            "<a href=/all>View all</a>",
            "<button>Show less</button>",
            "<button>Show more filters</button>",
            "<button disabled>Load more</button>",
            "<div class=slides><button>Next</button></div>",
            "<button>Buy now</button>",
            "<button>See why more than a thousand gardens feed birds with us</button>",
            "<p>Load more</p>",
        ] {
            assert_eq!(labels(html), [], "{html}");
        }
    }

    #[test]
    fn tabs_that_are_not_shown_are_found() {
        let html =
            "<ul role=tablist><li role=tab aria-selected=true>Overview</li><li role=tab>Data</li></ul>";
        assert_eq!(labels(html), [(ControlKind::Tab, "Data".to_owned())]);
    }

    #[test]
    fn the_most_careful_answer_to_a_banner_comes_first() {
        assert!(consent_rank("Reject all") < consent_rank("Accept all"));
        assert_eq!(consent_rank("Buy now"), None);
    }
}
