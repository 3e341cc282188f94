//! A page, read once: the front door of this crate.
//!
//! Owns the order of things: bytes are told apart, decoded, parsed, and then asked for whatever the caller wants. Each
//! answer is a pure function of the page; nothing is kept between pages.

use crate::address::Base;
use crate::css::{self, AttributeValues, SelectorError};
use crate::decode::{self, EncodingSource};
use crate::dom::{Dom, Limits, NodeId, Tag};
use crate::link::Link;
use crate::markdown::MarkdownOptions;
use crate::metadata::Metadata;
use crate::node_set::NodeSet;
use crate::select::{self, SelectOptions, Selection};
use crate::sniff::{self, Kind};
use crate::table::Table;
use crate::verdict::{self, Verdict};
use crate::visible;
use url::Url;

/// A page of at most this many nodes and bytes of visible text has no chrome worth leaving out.
const FEW_NODES: usize = 100;
const LITTLE_TEXT: usize = 200;

/// Judging takes a few hundred bytes a node; past this many a page is kept by its tags alone.
const MOST_JUDGED_NODES: usize = 300_000;

/// What came back for an address.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source<'a> {
    /// The body as received.
    pub bytes: &'a [u8],
    /// The `Content-Type` header.
    pub content_type: Option<&'a str>,
    /// The final address, after redirects.
    pub url: Option<&'a Url>,
    /// The status, where there was one.
    pub status: Option<u16>,
}

/// Which part of a page is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The main content rather than the whole page.
    pub only_main_content: bool,
    /// Selectors of what to keep; nothing else is kept when there are any.
    pub include_tags: &'a [String],
    /// Selectors of what to leave out.
    pub exclude_tags: &'a [String],
}

impl Default for Wanted<'_> {
    fn default() -> Self {
        Self { only_main_content: true, include_tags: &[], exclude_tags: &[] }
    }
}

/// A page, parsed.
#[derive(Debug)]
pub struct Page {
    dom: Dom,
    base: Base,
    kind: Kind,
    status: Option<u16>,
    encoding: &'static str,
    encoding_source: EncodingSource,
    /// The text itself where the page is no HTML.
    text: Option<String>,
    cut: bool,
}

impl Page {
    /// Reads a page. Never fails: what cannot be read is said by [`Page::verdict`] and [`Page::truncated`].
    pub fn read(source: &Source, limits: &Limits) -> Self {
        let kind = sniff::kind(source.bytes, source.content_type);
        let bytes = &source.bytes[..source.bytes.len().min(limits.bytes.saturating_mul(2))];
        let decoded = if matches!(kind, Kind::Binary(_)) {
            decode::decode(&[], None)
        } else {
            decode::decode(bytes, source.content_type)
        };
        let html = if kind == Kind::Html { &*decoded.text } else { "" };
        let dom = Dom::parse(html, limits);
        let base = Base::of(&dom, source.url);
        let (encoding, encoding_source) = (decoded.encoding, decoded.source);
        let mut cut = bytes.len() < source.bytes.len();
        let text = (kind != Kind::Html).then(|| {
            let mut text = decoded.text.into_owned();
            if text.len() > limits.bytes {
                text.truncate(text.floor_char_boundary(limits.bytes));
                cut = true;
            }
            text
        });
        Self { dom, base, kind, status: source.status, encoding, encoding_source, text, cut }
    }

    /// The tree.
    pub fn dom(&self) -> &Dom {
        &self.dom
    }

    /// What relative addresses are relative to.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// What the bytes turned out to be.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The encoding it was decoded with and who named it.
    pub fn encoding(&self) -> (&'static str, EncodingSource) {
        (self.encoding, self.encoding_source)
    }

    /// Whether a limit cut something off.
    pub fn truncated(&self) -> bool {
        self.cut || self.dom.truncated()
    }

    /// Chooses the nodes to write.
    pub fn select(&self, wanted: &Wanted) -> Result<Selection, SelectorError> {
        let dom = &self.dom;
        // The model judges hidden text too: on some pages it is the article. Everyone else gets what a reader sees.
        let judged =
            wanted.only_main_content && wanted.include_tags.iter().all(|selector| selector.trim().is_empty());
        let mut allowed = if judged { NodeSet::all(dom) } else { visible::visible(dom) };
        for selector in wanted.exclude_tags.iter().filter(|selector| !selector.trim().is_empty()) {
            for id in outermost(dom, &css::find(dom, selector)?) {
                allowed.remove_subtree(dom, id);
            }
        }
        let mut included: Option<NodeSet> = None;
        for selector in wanted.include_tags.iter().filter(|selector| !selector.trim().is_empty()) {
            let set = included.get_or_insert_with(|| NodeSet::new(dom));
            for id in outermost(dom, &css::find(dom, selector)?) {
                set.insert_subtree(dom, id);
            }
        }
        // Who names the parts to keep has decided; the model has no say then.
        if let Some(mut keep) = included {
            keep.intersect(&allowed);
            return Ok(Selection::unjudged(keep));
        }
        if judged {
            if let Some(keep) = self.all_there_is(&allowed) {
                return Ok(Selection::unjudged(keep));
            }
            if dom.len() > MOST_JUDGED_NODES {
                let keep = self.without_frame(&allowed);
                return Ok(Selection { widened: true, ..Selection::unjudged(keep) });
            }
            return Ok(select::main_content(dom, &SelectOptions { allowed: Some(&allowed) }));
        }
        Ok(Selection::unjudged(allowed))
    }

    /// What a reader sees, when it is so little that there is nothing to choose from.
    fn all_there_is(&self, allowed: &NodeSet) -> Option<NodeSet> {
        if self.dom.len() > FEW_NODES {
            return None;
        }
        let mut keep = visible::visible(&self.dom);
        keep.intersect(allowed);
        let text: usize = keep.iter().map(|id| self.dom.text(id).trim().len()).sum();
        (text <= LITTLE_TEXT).then_some(keep)
    }

    /// What a reader sees of a page too large to judge block by block, less what its own tags call the frame.
    fn without_frame(&self, allowed: &NodeSet) -> NodeSet {
        let dom = &self.dom;
        let mut keep = visible::visible(dom);
        keep.intersect(allowed);
        for id in
            dom.subtree(dom.root()).filter(|&id| matches!(dom.tag(id), Tag::Nav | Tag::Footer | Tag::Aside))
        {
            keep.remove_subtree(dom, id);
        }
        keep
    }

    /// The chosen nodes as markdown. What is no HTML comes as it is: plain text as it stands, data in a fence.
    pub fn markdown(&self, selection: &Selection, remove_base64_images: bool) -> String {
        let Some(text) = &self.text else {
            let words = selection.words.as_ref();
            let options = MarkdownOptions { base: &self.base, remove_base64_images, words };
            return crate::markdown::write(&self.dom, &selection.keep, &options);
        };
        match self.kind {
            Kind::Json => fenced("json", text),
            Kind::Xml => fenced("xml", text),
            Kind::Html | Kind::Text | Kind::Binary(_) => text.clone(),
        }
    }

    /// The chosen nodes as clean HTML.
    pub fn html(&self, selection: &Selection) -> String {
        match &self.text {
            Some(text) => text.clone(),
            None => crate::html::write(&self.dom, &selection.keep, &self.base),
        }
    }

    /// What the page says about itself.
    pub fn metadata(&self) -> Metadata {
        Metadata::of(&self.dom, &self.base)
    }

    /// Links in order, once each.
    pub fn links(&self) -> Vec<Link> {
        crate::link::links(&self.dom, &self.base)
    }

    /// Addresses of images in order, once each.
    pub fn images(&self) -> Vec<String> {
        crate::link::images(&self.dom, &self.base)
    }

    /// Data tables among the chosen nodes.
    pub fn tables(&self, selection: &Selection) -> Vec<Table> {
        crate::table::tables(&self.dom, &selection.keep)
    }

    /// Attribute values by selector and attribute name.
    pub fn attributes(&self, asked: &[(String, String)]) -> Result<Vec<AttributeValues>, SelectorError> {
        crate::css::attributes(&self.dom, asked)
    }

    /// Whether this is content at all, and if not, what it is.
    pub fn verdict(&self) -> Verdict {
        verdict::judge(&self.dom, self.kind, self.text.as_deref(), self.status)
    }
}

/// The nodes of a set that lie in no other node of it.
fn outermost(dom: &Dom, set: &NodeSet) -> impl Iterator<Item = NodeId> {
    let end = dom.subtree_end(dom.root());
    std::iter::successors(set.first_in(dom.root(), end), move |&id| set.first_in(dom.subtree_end(id), end))
}

/// Text between fences longer than any it holds.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], content_type: Option<&str>) -> Page {
        Page::read(&Source { bytes, content_type, ..Source::default() }, &Limits::default())
    }

    fn markdown(html: &str, wanted: &Wanted) -> String {
        let page = read(html.as_bytes(), None);
        page.markdown(&page.select(wanted).unwrap(), true)
    }

    #[test]
    fn selectors_come_first() {
        let html = "<div class=a>one<p class=ad>ad</p></div><nav>two</nav><div id=b>three</div>";
        let whole = Wanted { only_main_content: false, ..Wanted::default() };
        assert_eq!(markdown(html, &whole), "one\n\nad\n\ntwo\n\nthree\n");
        let exclude = ["nav".to_owned(), ".ad".to_owned(), " ".to_owned()];
        assert_eq!(markdown(html, &Wanted { exclude_tags: &exclude, ..whole }), "one\n\nthree\n");
        let include = [".a".to_owned(), "#b:not(.x)".to_owned()];
        let both = Wanted { include_tags: &include, exclude_tags: &exclude, ..Wanted::default() };
        assert_eq!(markdown(html, &both), "one\n\nthree\n");
        let bad = ["p[".to_owned()];
        assert!(read(b"<p>", None).select(&Wanted { include_tags: &bad, ..whole }).is_err());
    }

    #[test]
    fn a_tiny_page_is_kept_whole() {
        assert_eq!(
            markdown("<p><img src=https://ex.org/i.png alt=A></p>", &Wanted::default()),
            "![A](https://ex.org/i.png)\n"
        );
        let table = "<table><tr><th colspan=2>H</th></tr><tr><td>1</td><td>2</td></tr></table>";
        assert_eq!(markdown(table, &Wanted::default()), "| H |  |\n| --- | --- |\n| 1 | 2 |\n");
    }

    #[test]
    fn a_huge_page_is_kept_by_its_tags() {
        let html = format!("<nav>menu</nav>{}<footer>end</footer>", "<p>x</p>".repeat(MOST_JUDGED_NODES / 2));
        let page = read(html.as_bytes(), None);
        let selection = page.select(&Wanted::default()).unwrap();
        let written = page.markdown(&selection, true);
        assert!(selection.widened && written.starts_with("x\n\nx\n") && written.ends_with("x\n"));
    }

    #[test]
    fn what_is_no_html_comes_as_it_is() {
        let all = Wanted::default();
        let page = read(br#"{"a": "```"}"#, Some("application/json"));
        assert_eq!(page.markdown(&page.select(&all).unwrap(), true), "````json\n{\"a\": \"```\"}\n````\n");
        let page = read(b"# not * escaped", Some("text/plain"));
        assert_eq!(page.markdown(&page.select(&all).unwrap(), true), "# not * escaped");
        let page = read(b"%PDF-1.7 \x00\x01", Some("text/html"));
        assert_eq!(page.kind(), Kind::Binary("pdf"));
        assert_eq!(page.markdown(&page.select(&all).unwrap(), true), "");
    }
}
