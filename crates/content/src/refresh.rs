//! Pages that only send their reader on: `<meta http-equiv="refresh" content="0; url=…">`, as site generators
//! write them for addresses that have moved.

use html::address::Base;
use html::dom::{Attr, Dom, NodeId, Tag};
use html::visible;
use url::Url;

/// A page that waits longer than this has something to say first.
const MAX_SECONDS: u32 = 10;
/// Text that says no more than where the page has gone.
const MAX_WORDS: usize = 40;

/// Where a page sends its reader, if that is all it does. A page may reload itself; that is no redirect.
pub fn find_redirect(dom: &Dom, base: &Base, here: &Url) -> Option<Url> {
    let written = find_refresh(dom)?;
    let target = Url::parse(&base.resolve(written)?).ok()?;
    let without_anchor = |url: &Url| url[..url::Position::AfterQuery].to_owned();
    let is_other = without_anchor(here) != without_anchor(&target);
    (matches!(target.scheme(), "http" | "https") && is_other && has_few_words(dom)).then_some(target)
}

/// The address that the first refresh of a page names. One for readers without scripts says nothing about the page.
fn find_refresh(dom: &Dom) -> Option<&str> {
    let mut noscript_end = NodeId(0);
    for id in dom.descendants(dom.head()?) {
        match dom.tag(id) {
            Tag::Noscript => noscript_end = noscript_end.max(dom.subtree_end(id)),
            Tag::Meta if id >= noscript_end => {
                let name = dom.attr(id, Attr::HttpEquiv).unwrap_or_default();
                if name.trim().eq_ignore_ascii_case("refresh") {
                    return parse_refresh(dom.attr(id, Attr::Content)?);
                }
            }
            _ => {}
        }
    }
    None
}

/// `0; url=https://…`, with or without quotes, as browsers read it.
fn parse_refresh(content: &str) -> Option<&str> {
    let content = content.trim_start();
    let rest = content.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let seconds: u32 = content[..content.len() - rest.len()].parse().ok()?;
    let rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.').trim_start();
    let rest = rest.strip_prefix([';', ','])?.trim_start();
    let (name, address) = rest.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("url") || seconds > MAX_SECONDS {
        return None;
    }
    let address = address.trim();
    let quoted = address.strip_prefix(['"', '\'']);
    let address = quoted.map_or(address, |inner| inner.split(['"', '\'']).next().unwrap_or_default()).trim();
    (!address.is_empty()).then_some(address)
}

fn has_few_words(dom: &Dom) -> bool {
    let Some(body) = dom.body() else { return true };
    let (mut words, mut hidden_end) = (0, NodeId(0));
    for id in dom.descendants(body) {
        if !dom.is_text(id) {
            if id >= hidden_end && visible::is_hidden(dom, id) {
                hidden_end = dom.subtree_end(id);
            }
            continue;
        }
        if id >= hidden_end {
            words += dom.text(id).split_whitespace().take(MAX_WORDS + 1).count();
            if words > MAX_WORDS {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::{Limits, Page, PageSource};
    use url::Url;

    fn redirect(html: &str) -> Option<String> {
        let url = Url::parse("https://ex.org/old/").unwrap();
        let source =
            PageSource { bytes: html.as_bytes(), content_type: None, url: Some(&url), status: Some(200) };
        Page::parse(&source, &Limits::default()).redirect(&url).map(String::from)
    }

    #[test]
    fn a_page_that_only_sends_on_names_its_target() {
        for (content, target) in [
            ("0; url=https://ex.org/new/", "https://ex.org/new/"),
            ("0;URL='/new/'", "https://ex.org/new/"),
            ("3.5 ; url = ../new/?a=1#b", "https://ex.org/new/?a=1#b"),
            ("0, url=//other.example/", "https://other.example/"),
        ] {
            let page =
                format!("<!doctype html><title>Moved</title><meta http-equiv=Refresh content=\"{content}\">");
            assert_eq!(redirect(&page).as_deref(), Some(target), "{content}");
            let said = format!("{page}<body><p>This page has <a href=/new/>moved</a>.<script>go()</script>");
            assert_eq!(redirect(&said).as_deref(), Some(target), "{content}");
        }
    }

    #[test]
    fn other_pages_stay_where_they_are() {
        for content in [
            "5",
            "",
            "x; url=/new/",
            "0; /new/",
            "0; url=",
            "60; url=/new/",
            "0; url=/old/#top",
            "0; url=javascript:go()",
            "0; url=data:text/html,x",
            "99999999999999; url=/new/",
        ] {
            let page = format!("<meta http-equiv=refresh content=\"{content}\">");
            assert_eq!(redirect(&page), None, "{content}");
        }
        let meta = "<meta http-equiv=refresh content='0; url=/new/'>";
        assert_eq!(redirect(&format!("<head><noscript>{meta}</noscript></head><div id=app></div>")), None);
        assert_eq!(
            redirect(&format!("{meta}<p>{}", "This page has much to say for itself. ".repeat(9))),
            None
        );
    }
}
