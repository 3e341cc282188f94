//! Which page a row of a list leads to: an address among its own values, a link that is called as the row is, or the one link that
//! stands with it.

use crate::addresses::{address, one_site};
use crate::evidence::plain;
use crate::run::Reading;
use content::dom::{Attr, NodeId, Tag};
use serde_json::Value;
use std::collections::HashMap;
use url::Url;

/// How far up from its words a row's own link is looked for.
const MOST_STEPS_UP: usize = 6;
/// Shortest text that names a row.
const SHORTEST_NAME: usize = 3;
const LONGEST_NAME: usize = 300;

/// The links of a list page, ready to be asked for those of its rows.
#[derive(Debug)]
pub(super) struct Details<'r> {
    reading: &'r Reading,
    here: Option<Url>,
    by_text: HashMap<String, &'r str>,
    /// Where each short text of the page stands first.
    stands: HashMap<String, NodeId>,
}

impl<'r> Details<'r> {
    pub fn of(reading: &'r Reading) -> Self {
        let here = Url::parse(&reading.url).ok();
        let mut details = Self { reading, here, by_text: HashMap::new(), stands: HashMap::new() };
        for link in &reading.links {
            let text = plain(&link.text);
            if text.len() >= SHORTEST_NAME && details.is_another_page(&link.url) {
                details.by_text.entry(text).or_insert(&link.url);
            }
        }
        let dom = reading.page.dom();
        let short = |id: &NodeId| (SHORTEST_NAME..LONGEST_NAME).contains(&dom.text(*id).trim().len());
        for id in dom.subtree(dom.root()).filter(|&id| dom.is_text(id)).filter(short) {
            details.stands.entry(plain(dom.text(id))).or_insert(id);
        }
        details
    }

    /// The page about a row, where the list leads to one.
    pub fn page_of(&self, row: &Value) -> Option<String> {
        let Value::Object(fields) = row else { return None };
        let texts: Vec<&str> =
            fields.values().filter_map(Value::as_str).filter(|text| text.len() >= SHORTEST_NAME).collect();
        let address = texts.iter().find(|text| text.starts_with("http") && self.is_another_page(text));
        if let Some(found) = address {
            return Some((*found).to_owned());
        }
        let called = texts.iter().find_map(|text| self.by_text.get(&plain(text)));
        if let Some(found) = called {
            return Some((*found).to_owned());
        }
        texts.iter().find_map(|text| self.beside(&plain(text)))
    }

    /// The link that stands with a text: the first one in the smallest part of the page around it that has any.
    fn beside(&self, name: &str) -> Option<String> {
        let dom = self.reading.page.dom();
        let at = *self.stands.get(name)?;
        for part in dom.ancestors(at).take(MOST_STEPS_UP) {
            let links: Vec<NodeId> = dom.subtree(part).filter(|&id| dom.tag(id) == Tag::A).take(12).collect();
            if links.is_empty() {
                continue;
            }
            // The first links there are belong to the row; further up they belong to its neighbours.
            return links.iter().find_map(|&id| {
                let url = self.reading.page.base().resolve(dom.attr(id, Attr::Href)?)?;
                self.is_another_page(&url).then(|| url.to_string())
            });
        }
        None
    }

    /// On the same site, and not this page again.
    fn is_another_page(&self, url: &str) -> bool {
        let (Some(here), Some(there)) = (&self.here, address(url)) else { return false };
        let again = address(&self.reading.url).is_some_and(|read| read.key() == there.key());
        !again && one_site(here, there.url())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, Seen};
    use serde_json::json;

    fn reading(html: &str) -> Reading {
        let url = Url::parse("https://a.example/list").unwrap();
        let source =
            content::Source { bytes: html.as_bytes(), url: Some(&url), ..content::Source::default() };
        let links = content::Page::read(&source, &content::Limits::default()).links();
        let links = links.into_iter().map(|link| Link { url: link.url, text: link.text }).collect();
        let seen =
            Seen { url: url.into(), title: None, markdown: "".into(), links, html: html.into(), credits: 1 };
        Reading::of(0, "", seen)
    }

    #[test]
    fn a_row_leads_to_its_own_page() {
        let list = reading(
            "<ul><li><b>Alpha Ltd</b> <span>Leeds</span><div><a href=/list>top</a><a href=/c/1>Details</a></div></li>\
             <li><b>Beta Ltd</b><div><a href=/c/2>Details</a></div></li></ul><a href=/c/3>Gamma Ltd</a>\
             <a href=https://other.example/d>Delta Ltd</a>",
        );
        let details = Details::of(&list);
        let page = |row: Value| details.page_of(&row);
        assert_eq!(page(json!({ "name": "Alpha Ltd" })).as_deref(), Some("https://a.example/c/1"));
        assert_eq!(page(json!({ "name": "Beta Ltd" })).as_deref(), Some("https://a.example/c/2"));
        assert_eq!(page(json!({ "name": "Gamma ltd" })).as_deref(), Some("https://a.example/c/3"));
        assert_eq!(page(json!({ "name": "Delta Ltd" })), None, "another site is not ours to walk");
        assert_eq!(page(json!({ "url": "https://a.example/x" })).as_deref(), Some("https://a.example/x"));
        assert_eq!(page(json!({ "name": "nobody" })), None);
    }
}
