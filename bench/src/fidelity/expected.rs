//! What a page holds that its markdown must hold too, read from the tree alone: none of the code that selects
//! or writes is used.

use html::dom::{Attr, Dom, NodeId, Tag};
use html::visible::is_hidden;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Code,
    Title,
    Cell,
    List,
}

/// One thing to find.
pub struct Item {
    pub kind: Kind,
    /// Code as it stands; letters and digits of anything else.
    pub text: String,
    /// The parts of a list.
    pub parts: Vec<String>,
    /// Where it stands in the page, for people.
    pub place: String,
}

#[derive(Default)]
pub struct Expected {
    pub items: Vec<Item>,
}

/// Words in a class or id that say an element is not content.
const AROUND: &str = "nav navigation navbar navheader navfooter sidebar sphinxsidebar related breadcrumb breadcrumbs \
    footer menu search toolbar skip clearer nvgtn hidden toctitle tools subnav topnav bottomnav langs toplang";

impl Expected {
    pub fn from_dom(dom: &Dom) -> Self {
        let mut expected = Self::default();
        let Some(body) = dom.body() else { return expected };
        let end = dom.subtree_end(body);
        let mut at = NodeId(body.0 + 1);
        let mut list_end = NodeId(0);
        let mut headings: Vec<(Tag, NodeId)> = Vec::new();
        while at < end {
            let past = dom.subtree_end(at);
            if !dom.is_element(at) {
                at.0 += 1;
                continue;
            }
            if is_around(dom, at) {
                at = past;
                continue;
            }
            match dom.tag(at) {
                Tag::Pre => {
                    expected.code(dom, at);
                    at = past;
                    continue;
                }
                tag if tag.heading_level().is_some() => headings.push((tag, at)),
                Tag::Table => expected.cells(dom, at),
                Tag::Ul | Tag::Ol | Tag::Dl if at >= list_end => {
                    expected.list(dom, at);
                    list_end = past;
                }
                _ => {}
            }
            at.0 += 1;
        }
        expected.title(dom, &headings);
        expected
    }

    fn add(&mut self, dom: &Dom, id: NodeId, kind: Kind, text: String, parts: Vec<String>) {
        let mut place: Vec<String> = dom
            .ancestors(id)
            .take(3)
            .map(|node| {
                let class = dom.attr(node, Attr::Class).unwrap_or_default();
                format!("{}.{}", dom.local_name(node), class.split(' ').next().unwrap_or_default())
            })
            .collect();
        place.reverse();
        self.items.push(Item { kind, text, parts, place: place.join(">") });
    }

    fn code(&mut self, dom: &Dom, id: NodeId) {
        let mut code = String::new();
        for node in dom.descendants(id) {
            match dom.tag(node) {
                Tag::Text => code.push_str(dom.text(node)),
                Tag::Br => code.push('\n'),
                _ => {}
            }
        }
        let numbers = code.chars().all(|c| c.is_ascii_digit() || c.is_whitespace());
        if !numbers {
            self.add(dom, id, Kind::Code, code.trim_matches('\n').to_owned(), Vec::new());
        }
    }

    /// The heading that the page's `title` names; else its first main heading. Site names are often main
    /// headings too.
    fn title(&mut self, dom: &Dom, headings: &[(Tag, NodeId)]) {
        let mut name = String::new();
        let head = dom.head().into_iter().flat_map(|head| dom.descendants(head));
        for id in head.filter(|&id| dom.tag(id) == Tag::Title) {
            letters_in(&dom.text_content(id), &mut name);
        }
        let named = headings.iter().map(|&(tag, id)| (tag, id, letters(dom, id)));
        let mut named: Vec<_> = named.filter(|(_, _, text)| !text.is_empty()).collect();
        // The name of a site is a link to its first page; where it is not, it is shorter than a page's name.
        let is_link = |id: NodeId, text: &str| {
            dom.descendants(id).any(|node| dom.tag(node) == Tag::A && letters(dom, node) == text)
        };
        named.sort_by_key(|(tag, id, text)| {
            let length = text.len().min(name.len());
            (is_link(*id, text), !name.contains(text.as_str()), std::cmp::Reverse(length), *tag, *id)
        });
        let chosen = named.into_iter().find(|(tag, _, text)| name.contains(text.as_str()) || *tag == Tag::H1);
        if let Some((_, id, text)) = chosen {
            self.add(dom, id, Kind::Title, text, Vec::new());
        }
    }

    /// The cells of a table of data: no table and no code in it, two rows and two columns at least.
    fn cells(&mut self, dom: &Dom, id: NodeId) {
        let other = |node| matches!(dom.tag(node), Tag::Table | Tag::Pre | Tag::Form | Tag::H1 | Tag::H2);
        if dom.descendants(id).any(other) || matches!(dom.attr(id, Attr::Role), Some("presentation" | "none"))
        {
            return;
        }
        let rows: Vec<NodeId> = dom.descendants(id).filter(|&node| dom.tag(node) == Tag::Tr).collect();
        let cells_of =
            |row: NodeId| dom.children(row).filter(|&node| matches!(dom.tag(node), Tag::Td | Tag::Th));
        if rows.len() < 2 || rows.iter().all(|&row| cells_of(row).count() < 2) {
            return;
        }
        for cell in rows.into_iter().flat_map(cells_of) {
            let text = letters(dom, cell);
            if !text.is_empty() {
                self.add(dom, cell, Kind::Cell, text, Vec::new());
            }
        }
    }

    /// A list with three entries or more.
    fn list(&mut self, dom: &Dom, id: NodeId) {
        let entries = dom.descendants(id).filter(|&node| matches!(dom.tag(node), Tag::Li | Tag::Dt));
        let parts: Vec<String> = entries
            .map(|node| letters(dom, node).chars().take(60).collect::<String>())
            .filter(|text| !text.is_empty())
            .collect();
        if parts.len() >= 3 {
            self.add(dom, id, Kind::List, parts.join(" "), parts);
        }
    }
}

fn is_around(dom: &Dom, id: NodeId) -> bool {
    if matches!(dom.tag(id), Tag::Nav | Tag::Footer | Tag::Aside | Tag::Noscript) || is_hidden(dom, id) {
        return true;
    }
    if matches!(dom.attr(id, Attr::Role), Some("navigation" | "search" | "contentinfo" | "complementary")) {
        return true;
    }
    let names = [Attr::Class, Attr::Id].into_iter().filter_map(|name| dom.attr(id, name));
    names
        .flat_map(|value| value.split([' ', '-', '_']))
        .any(|word| AROUND.split(' ').any(|around| around == word))
}

/// The letters and digits of a text, which neither escaping nor white space changes.
pub fn letters_in(text: &str, out: &mut String) {
    out.extend(text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase));
}

fn letters(dom: &Dom, id: NodeId) -> String {
    let mut text = String::new();
    let mut at = NodeId(id.0 + 1);
    let end = dom.subtree_end(id);
    while at < end {
        let link_to_source = || {
            dom.tag(at) == Tag::A
                && matches!(dom.text_content(at).trim(), "source" | "[source]" | "src" | "[src]")
        };
        if dom.is_element(at) && (is_hidden(dom, at) || dom.tag(at) == Tag::Button || link_to_source()) {
            at = dom.subtree_end(at);
            continue;
        }
        letters_in(dom.text(at), &mut text);
        at.0 += 1;
    }
    text
}
