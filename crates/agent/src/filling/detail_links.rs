//! Finds the detail page of a list row: a URL among its own values, a link with the row's name as text, or
//! the nearest link.

use crate::addresses::{parse_address, same_site};
use crate::evidence::normalize;
use crate::run::ParsedPage;
use html::dom::{Attr, NodeId, Tag};
use serde_json::Value;
use std::collections::HashMap;
use url::Url;

/// How many ancestors of a row's text are searched for its link.
const MAX_STEPS_UP: usize = 6;
/// Lengths of a text that can name a row.
const MIN_NAME_BYTES: usize = 3;
const MAX_NAME_BYTES: usize = 300;

/// The links of a list page, indexed for lookup by row.
#[derive(Debug)]
pub(super) struct DetailLinks<'r> {
    parsed: &'r ParsedPage,
    here: Option<Url>,
    by_text: HashMap<String, &'r str>,
    /// The first node with each short text of the page.
    first_node: HashMap<String, NodeId>,
}

impl<'r> DetailLinks<'r> {
    pub fn new(parsed: &'r ParsedPage) -> Self {
        let here = Url::parse(&parsed.url).ok();
        let mut details = Self { parsed, here, by_text: HashMap::new(), first_node: HashMap::new() };
        for link in &parsed.links {
            let text = normalize(&link.text);
            if text.len() >= MIN_NAME_BYTES && details.is_another_page(&link.url) {
                details.by_text.entry(text).or_insert(&link.url);
            }
        }
        let dom = parsed.page.dom();
        let short = |id: &NodeId| (MIN_NAME_BYTES..MAX_NAME_BYTES).contains(&dom.text(*id).trim().len());
        for id in dom.subtree(dom.root()).filter(|&id| dom.is_text(id)).filter(short) {
            details.first_node.entry(normalize(dom.text(id))).or_insert(id);
        }
        details
    }

    /// The detail page of a row, where the list links to one.
    pub fn page_of(&self, row: &Value) -> Option<String> {
        let Value::Object(fields) = row else { return None };
        let texts: Vec<&str> =
            fields.values().filter_map(Value::as_str).filter(|text| text.len() >= MIN_NAME_BYTES).collect();
        let address = texts.iter().find(|text| text.starts_with("http") && self.is_another_page(text));
        if let Some(found) = address {
            return Some((*found).to_owned());
        }
        let called = texts.iter().find_map(|text| self.by_text.get(&normalize(text)));
        if let Some(found) = called {
            return Some((*found).to_owned());
        }
        texts.iter().find_map(|text| self.link_near(&normalize(text)))
    }

    /// The link nearest to a text: the first one in the smallest enclosing element that has any.
    fn link_near(&self, name: &str) -> Option<String> {
        let dom = self.parsed.page.dom();
        let at = *self.first_node.get(name)?;
        for part in dom.ancestors(at).take(MAX_STEPS_UP) {
            let links: Vec<NodeId> = dom.subtree(part).filter(|&id| dom.tag(id) == Tag::A).take(12).collect();
            if links.is_empty() {
                continue;
            }
            // The first links found belong to the row; further up they belong to its neighbours.
            return links.iter().find_map(|&id| {
                let url = self.parsed.page.base().resolve(dom.attr(id, Attr::Href)?)?;
                self.is_another_page(&url).then(|| url.to_string())
            });
        }
        None
    }

    /// Whether a URL is on the same site but not this page.
    fn is_another_page(&self, url: &str) -> bool {
        let (Some(here), Some(there)) = (&self.here, parse_address(url)) else { return false };
        let again = parse_address(&self.parsed.url).is_some_and(|read| read.key() == there.key());
        !again && same_site(here, there.url())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentPage, PageLink};
    use serde_json::json;

    fn parsed(html: &str) -> ParsedPage {
        let url = Url::parse("https://a.example/list").unwrap();
        let source =
            content::PageSource { bytes: html.as_bytes(), url: Some(&url), ..content::PageSource::default() };
        let page = content::Page::parse(&source, &content::Limits::default());
        let links =
            page.links().into_iter().map(|link| PageLink { url: link.url, text: link.text }).collect();
        let seen = AgentPage {
            url: url.into(),
            title: None,
            markdown: "".into(),
            links,
            page: page.into(),
            credits: 1,
        };
        ParsedPage::from_agent_page(0, "", seen)
    }

    #[test]
    fn a_row_leads_to_its_own_page() {
        let list = parsed(
            "<ul><li><b>Alpha Ltd</b> <span>Leeds</span><div><a href=/list>top</a><a href=/c/1>Details</a></div></li>\
             <li><b>Beta Ltd</b><div><a href=/c/2>Details</a></div></li></ul><a href=/c/3>Gamma Ltd</a>\
             <a href=https://other.example/d>Delta Ltd</a>",
        );
        let details = DetailLinks::new(&list);
        let page = |row: Value| details.page_of(&row);
        assert_eq!(page(json!({ "name": "Alpha Ltd" })).as_deref(), Some("https://a.example/c/1"));
        assert_eq!(page(json!({ "name": "Beta Ltd" })).as_deref(), Some("https://a.example/c/2"));
        assert_eq!(page(json!({ "name": "Gamma ltd" })).as_deref(), Some("https://a.example/c/3"));
        assert_eq!(page(json!({ "name": "Delta Ltd" })), None, "another site is not ours to walk");
        assert_eq!(page(json!({ "url": "https://a.example/x" })).as_deref(), Some("https://a.example/x"));
        assert_eq!(page(json!({ "name": "nobody" })), None);
    }
}
