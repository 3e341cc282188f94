//! Which of a page's titles is its own. Pages that scripts draw may state the name of the site first and their
//! own title after it, in another `title` or for Open Graph.

use super::words;
use html::dom::{Attr, Dom, NodeId, Tag};

/// Titles of one page that are compared.
const MAX_TITLES: usize = 6;
/// What stands between the parts of a title.
const SEPARATORS: [&str; 6] = [" - ", " – ", " — ", " | ", " · ", " » "];
/// Nodes of an element that has no more than a title.
const MAX_TITLE_NODES: usize = 60;
/// Elements that are searched for the page's own title.
const MAX_NAMED: usize = 400;

/// The title among `titles`, in the order of their authority: the first, unless it is no more than the end of
/// another whose beginning the page repeats.
pub fn choose(dom: &Dom, titles: &[String]) -> Option<String> {
    let first = titles.first()?;
    let longer = titles
        .iter()
        .skip(1)
        .take(MAX_TITLES)
        .find(|title| own_part(title, first).is_some_and(|own| repeats(dom, own)));
    Some(longer.unwrap_or(first).clone())
}

/// The beginning of a title that another one is the rest of, or a part of the rest.
fn own_part<'a>(title: &'a str, site: &str) -> Option<&'a str> {
    let (at, found) = title.match_indices(site).find(|(at, _)| *at > 0)?;
    let after = &title[at + found.len()..];
    let ends = after.is_empty() || SEPARATORS.iter().any(|separator| after.starts_with(separator));
    let own = SEPARATORS.iter().find_map(|separator| title[..at].strip_suffix(separator))?;
    ends.then_some(own)
}

/// Whether the page has this text as a heading, or in an element whose class says that it is a title.
fn repeats(dom: &Dom, own: &str) -> bool {
    let Some(body) = dom.body() else { return false };
    let is_named = |node: NodeId| {
        matches!(dom.tag(node), Tag::H1 | Tag::H2 | Tag::H3)
            || dom.attr(node, Attr::Class).is_some_and(|class| class.to_ascii_lowercase().contains("title"))
    };
    let mut named = dom.descendants(body).filter(|&node| is_named(node)).take(MAX_NAMED);
    named.any(|node| short_text(dom, node, 2 * own.len() + 40).is_some_and(|text| text == own))
}

/// The text of an element that has no more than a title; texts of longer ones may lie within each other.
fn short_text(dom: &Dom, node: NodeId, most: usize) -> Option<String> {
    let mut text = String::new();
    for (count, node) in dom.subtree(node).enumerate() {
        text.push_str(dom.text(node));
        if text.len() > most || count > MAX_TITLE_NODES {
            return None;
        }
    }
    words(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use html::dom::Limits;

    fn title(html: &str, titles: &[&str]) -> Option<String> {
        let titles: Vec<String> = titles.iter().map(|title| (*title).to_owned()).collect();
        choose(&Dom::parse(html, &Limits::default()), &titles)
    }

    #[test]
    fn the_name_of_the_site_gives_way_to_a_title_that_the_page_repeats() {
        let long = "Bird Tracker - SeaConf 2020 | For all";
        let session = "<div id=popup><div class=session-title>Bird  Tracker</div></div>";
        assert_eq!(title(session, &["SeaConf 2020", long]).as_deref(), Some(long));
        assert_eq!(title("<h2>Bird Tracker</h2>", &["SeaConf 2020 | For all", long]).as_deref(), Some(long));
        for (html, titles) in [
            ("<h1>Programme</h1>", ["SeaConf 2020", long]),
            ("<h1>Bird Tracker</h1>", ["SeaConf", long]),
            ("<h1>Bird Tracker</h1>", ["Bird Tracker", long]),
            ("<h1>Bird Tracker</h1>", ["Another", long]),
        ] {
            assert_eq!(title(html, &titles).as_deref(), Some(titles[0]), "{html} {titles:?}");
        }
        assert_eq!(title("", &[]), None);
    }
}
