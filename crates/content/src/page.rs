//! A parsed page: the entry point of this crate.
//!
//! Detects the kind of the bytes, decodes and parses them; methods then return what the caller needs. Every
//! result is a pure function of the page; nothing is kept between pages.

use crate::formula;
use crate::link::Link;
use crate::markdown::MarkdownOptions;
use crate::markdown_source;
use crate::metadata::Metadata;
use crate::refresh;
use crate::select::{self, SelectOptions, Selection};
use crate::sniff::{self, ContentKind};
use crate::table::Table;
use crate::verdict::{self, PageVerdict};
use html::NodeSet;
use html::address::Base;
use html::css::{self, AttributeValues, SelectorError};
use html::decode::{self, EncodingSource};
use html::dom::{Dom, Limits, NodeId, Tag};
use html::visible;
use std::borrow::Cow;
use url::Url;

/// A page with no more nodes and visible text than this is kept whole.
const MAX_TINY_PAGE_NODES: usize = 100;
const MAX_TINY_PAGE_TEXT_BYTES: usize = 200;

/// Classification takes a few hundred bytes per node; larger pages are selected by their tags alone.
const MAX_CLASSIFIED_NODES: usize = 300_000;

/// A response body with what is needed to parse it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageSource<'a> {
    /// The body as received.
    pub bytes: &'a [u8],
    /// The `Content-Type` header.
    pub content_type: Option<&'a str>,
    /// The final URL, after redirects.
    pub url: Option<&'a Url>,
    /// The HTTP status, if any.
    pub status: Option<u16>,
}

/// Which part of a page to select.
#[derive(Clone, Copy, Debug)]
pub struct ContentScope<'a> {
    /// The main content rather than the whole page.
    pub only_main_content: bool,
    /// CSS selectors of elements to keep; when there are any, nothing else is kept.
    pub include_tags: &'a [String],
    /// CSS selectors of elements to drop.
    pub exclude_tags: &'a [String],
}

impl Default for ContentScope<'_> {
    fn default() -> Self {
        Self { only_main_content: true, include_tags: &[], exclude_tags: &[] }
    }
}

/// A parsed page.
#[derive(Debug)]
pub struct Page {
    dom: Dom,
    base: Base,
    kind: ContentKind,
    status: Option<u16>,
    encoding: &'static str,
    encoding_source: EncodingSource,
    /// The text itself where the page is not HTML.
    text: Option<String>,
    /// Bytes of the decoded source.
    decoded_bytes: usize,
    cut: bool,
}

impl Page {
    /// Parses a page. Never fails: [`Page::verdict`] and [`Page::truncated`] say what could not be read.
    pub fn parse(source: &PageSource, limits: &Limits) -> Self {
        let kind = sniff::detect_kind(source.bytes, source.content_type);
        let bytes = &source.bytes[..source.bytes.len().min(limits.bytes.saturating_mul(2))];
        let decoded = if matches!(kind, ContentKind::Binary(_)) {
            decode::decode(&[], None)
        } else {
            decode::decode(bytes, source.content_type)
        };
        let html: Cow<'_, str> = match kind {
            ContentKind::Html => Cow::Borrowed(&decoded.text),
            ContentKind::Markdown => {
                let read = &decoded.text[..decoded.text.floor_char_boundary(limits.bytes)];
                Cow::Owned(markdown_source::to_html(read))
            }
            _ => Cow::Borrowed(""),
        };
        let dom = Dom::parse(&html, limits);
        let base = Base::from_dom(&dom, source.url);
        let (encoding, encoding_source) = (decoded.encoding, decoded.source);
        let decoded_bytes = decoded.text.len();
        let mut cut = bytes.len() < source.bytes.len();
        let text = (kind != ContentKind::Html).then(|| {
            let mut text = decoded.text.into_owned();
            if text.len() > limits.bytes {
                text.truncate(text.floor_char_boundary(limits.bytes));
                cut = true;
            }
            text
        });
        let status = source.status;
        Self { dom, base, kind, status, encoding, encoding_source, text, decoded_bytes, cut }
    }

    /// The tree.
    pub fn dom(&self) -> &Dom {
        &self.dom
    }

    /// The base of relative URLs.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// The detected kind of the bytes.
    pub fn kind(&self) -> ContentKind {
        self.kind
    }

    /// The encoding used for decoding, and where it came from.
    pub fn encoding(&self) -> (&'static str, EncodingSource) {
        (self.encoding, self.encoding_source)
    }

    /// Whether a limit cut something off.
    pub fn truncated(&self) -> bool {
        self.cut || self.dom.truncated()
    }

    /// Whether a parse within `limits` would have kept all of the source and all nodes.
    pub fn is_within(&self, limits: &Limits) -> bool {
        self.decoded_bytes <= limits.bytes && self.dom.len() <= limits.nodes
    }

    /// Selects the nodes to write.
    pub fn select(&self, wanted: &ContentScope) -> Result<Selection, SelectorError> {
        let dom = &self.dom;
        // The model also classifies hidden text: on some pages it is the article. All other modes use visible
        // nodes only.
        let use_model =
            wanted.only_main_content && wanted.include_tags.iter().all(|selector| selector.trim().is_empty());
        let mut allowed = if use_model { NodeSet::all(dom) } else { visible::visible_nodes(dom) };
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
        // The caller has named the elements to keep, so the model is not used.
        if let Some(mut keep) = included {
            keep.intersect(&allowed);
            return Ok(Selection::without_model(keep));
        }
        if use_model {
            if let Some(keep) = self.whole_tiny_page(&allowed) {
                return Ok(Selection::without_model(keep));
            }
            if dom.len() > MAX_CLASSIFIED_NODES {
                let keep = self.without_navigation(&allowed);
                return Ok(Selection { widened: true, ..Selection::without_model(keep) });
            }
            let mut selection = select::main_content(dom, &SelectOptions { allowed: Some(&allowed) });
            formula::keep_scripts(dom, &allowed, &mut selection.keep);
            return Ok(selection);
        }
        Ok(Selection::without_model(allowed))
    }

    /// All visible nodes, when the page is so small that there is nothing to choose from.
    fn whole_tiny_page(&self, allowed: &NodeSet) -> Option<NodeSet> {
        if self.dom.len() > MAX_TINY_PAGE_NODES {
            return None;
        }
        let mut keep = visible::visible_nodes(&self.dom);
        keep.intersect(allowed);
        let text: usize = keep.iter().map(|id| self.dom.text(id).trim().len()).sum();
        (text <= MAX_TINY_PAGE_TEXT_BYTES).then_some(keep)
    }

    /// The visible nodes of a page too large to classify, without its navigation, footers and asides.
    fn without_navigation(&self, allowed: &NodeSet) -> NodeSet {
        let dom = &self.dom;
        let mut keep = visible::visible_nodes(dom);
        keep.intersect(allowed);
        for id in
            dom.subtree(dom.root()).filter(|&id| matches!(dom.tag(id), Tag::Nav | Tag::Footer | Tag::Aside))
        {
            keep.remove_subtree(dom, id);
        }
        keep
    }

    /// The selected nodes as markdown. Other kinds than HTML are not converted: markdown and plain text stay
    /// as they are, but for relative addresses in markdown; data is fenced.
    pub fn markdown(&self, selection: &Selection, remove_base64_images: bool) -> String {
        let Some(text) = &self.text else {
            let options = MarkdownOptions { base: &self.base, remove_base64_images };
            return crate::markdown::write_markdown(&self.dom, &selection.keep, &options);
        };
        match self.kind {
            ContentKind::Json => fence_text("json", text),
            ContentKind::Xml => fence_text("xml", text),
            ContentKind::Markdown => {
                markdown_source::with_absolute_links(text, &self.base, remove_base64_images)
            }
            ContentKind::Html | ContentKind::Text | ContentKind::Binary(_) => text.clone(),
        }
    }

    /// The selected nodes as clean HTML.
    pub fn html(&self, selection: &Selection) -> String {
        match &self.text {
            Some(text) if self.kind != ContentKind::Markdown => text.clone(),
            _ => html::write::write_html(&self.dom, &selection.keep, &self.base),
        }
    }

    /// The metadata of the page.
    pub fn metadata(&self) -> Metadata {
        Metadata::from_dom(&self.dom, &self.base)
    }

    /// Links in order, once each.
    pub fn links(&self) -> Vec<Link> {
        crate::link::find_links(&self.dom, &self.base)
    }

    /// URLs of images in order, once each.
    pub fn images(&self) -> Vec<String> {
        crate::link::find_images(&self.dom, &self.base)
    }

    /// Data tables among the selected nodes.
    pub fn tables(&self, selection: &Selection) -> Vec<Table> {
        crate::table::find_tables(&self.dom, &selection.keep)
    }

    /// Attribute values by selector and attribute name.
    pub fn attributes(&self, asked: &[(String, String)]) -> Result<Vec<AttributeValues>, SelectorError> {
        html::css::attributes(&self.dom, asked)
    }

    /// Where the page sends its reader at once, if that is all it does; `here` is its own address.
    pub fn redirect(&self, here: &Url) -> Option<Url> {
        refresh::find_redirect(&self.dom, &self.base, here)
    }

    /// Whether the page is content, and if not, what it is.
    pub fn verdict(&self) -> PageVerdict {
        verdict::classify_page(&self.dom, self.kind, self.text.as_deref(), self.status)
    }
}

/// The nodes of a set that are not inside another node of it.
fn outermost(dom: &Dom, set: &NodeSet) -> impl Iterator<Item = NodeId> {
    let end = dom.subtree_end(dom.root());
    std::iter::successors(set.first_in(dom.root(), end), move |&id| set.first_in(dom.subtree_end(id), end))
}

/// Text between fences that are longer than any in it.
fn fence_text(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_page(bytes: &[u8], content_type: Option<&str>) -> Page {
        Page::parse(&PageSource { bytes, content_type, ..PageSource::default() }, &Limits::default())
    }

    fn markdown(html: &str, wanted: &ContentScope) -> String {
        let page = parse_page(html.as_bytes(), None);
        page.markdown(&page.select(wanted).unwrap(), true)
    }

    #[test]
    fn selectors_come_first() {
        let html = "<div class=a>one<p class=ad>ad</p></div><nav>two</nav><div id=b>three</div>";
        let whole = ContentScope { only_main_content: false, ..ContentScope::default() };
        assert_eq!(markdown(html, &whole), "one\n\nad\n\ntwo\n\nthree\n");
        let exclude = ["nav".to_owned(), ".ad".to_owned(), " ".to_owned()];
        assert_eq!(markdown(html, &ContentScope { exclude_tags: &exclude, ..whole }), "one\n\nthree\n");
        let include = [".a".to_owned(), "#b:not(.x)".to_owned()];
        let both = ContentScope { include_tags: &include, exclude_tags: &exclude, ..ContentScope::default() };
        assert_eq!(markdown(html, &both), "one\n\nthree\n");
        let bad = ["p[".to_owned()];
        assert!(parse_page(b"<p>", None).select(&ContentScope { include_tags: &bad, ..whole }).is_err());
    }

    #[test]
    fn a_tiny_page_is_kept_whole() {
        assert_eq!(
            markdown("<p><img src=https://ex.org/i.png alt=A></p>", &ContentScope::default()),
            "![A](https://ex.org/i.png)\n"
        );
        let table = "<table><tr><th colspan=2>H</th></tr><tr><td>1</td><td>2</td></tr></table>";
        assert_eq!(markdown(table, &ContentScope::default()), "| H |  |\n| --- | --- |\n| 1 | 2 |\n");
    }

    #[test]
    fn a_huge_page_is_kept_by_its_tags() {
        let html =
            format!("<nav>menu</nav>{}<footer>end</footer>", "<p>x</p>".repeat(MAX_CLASSIFIED_NODES / 2));
        let page = parse_page(html.as_bytes(), None);
        let selection = page.select(&ContentScope::default()).unwrap();
        let written = page.markdown(&selection, true);
        assert!(selection.widened && written.starts_with("x\n\nx\n") && written.ends_with("x\n"));
    }

    #[test]
    fn a_page_knows_which_limits_it_is_within() {
        // Six nodes: the document, html, head, body, p and its text. Two bytes of Latin-1 are three of UTF-8.
        let page = parse_page(b"<p>a\xe9", Some("text/html; charset=iso-8859-1"));
        let limits = |bytes, nodes| Limits { bytes, nodes, ..Limits::default() };
        assert!(page.is_within(&limits(6, 6)) && !page.is_within(&limits(5, 6)));
        assert!(!page.is_within(&limits(6, 5)));
    }

    #[test]
    fn other_kinds_than_html_are_not_converted() {
        let all = ContentScope::default();
        let page = parse_page(br#"{"a": "```"}"#, Some("application/json"));
        assert_eq!(page.markdown(&page.select(&all).unwrap(), true), "````json\n{\"a\": \"```\"}\n````\n");
        let page = parse_page(b"# not * escaped", Some("text/plain"));
        assert_eq!(page.markdown(&page.select(&all).unwrap(), true), "# not * escaped");
        let page = parse_page(b"%PDF-1.7 \x00\x01", Some("text/html"));
        assert_eq!(page.kind(), ContentKind::Binary("pdf"));
        assert_eq!(page.markdown(&page.select(&all).unwrap(), true), "");
    }
}
