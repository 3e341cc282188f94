//! Web pages: parsing, selecting the main content, writing markdown and the other formats.

use budget::WorkBudget;
use content::{ContentScope, Limits, Page, PageSource};
use html::css::Selector;
use html::dom::{Dom, NodeId};
use url::Url;

/// Any bytes become a consistent tree: parents, children and siblings agree with each other, and the limits
/// hold.
pub fn parse_page(bytes: &[u8]) {
    let limits = Limits { bytes: 1 << 20, nodes: 20_000, depth: 64, attributes: 16 };
    let page = Page::parse(&PageSource { bytes, ..PageSource::default() }, &limits);
    check_tree(page.dom());
    // Text that is already decoded has an entry point of its own.
    if let Ok(html) = std::str::from_utf8(bytes) {
        check_tree(&Dom::parse(html, &limits));
    }
}

fn check_tree(dom: &Dom) {
    for id in (0..u32::try_from(dom.len()).expect("fewer nodes than the limit")).map(NodeId) {
        let end = dom.subtree_end(id);
        assert!(end > id && end.index() <= dom.len());
        let mut previous = None;
        for child in dom.children(id) {
            assert_eq!(dom.parent(child), Some(id));
            assert_eq!(dom.prev_sibling(child), previous);
            assert!(dom.contains(id, child));
            previous = Some(child);
        }
        assert!(dom.attrs(id).count() <= 16);
    }
}

/// Selecting the main content and judging a page ends, and selects only nodes of the page.
pub fn select_content(bytes: &[u8]) {
    let source = PageSource { bytes, content_type: Some("text/html"), ..PageSource::default() };
    let page = Page::parse(&source, &Limits::default());
    let selection = page.select(&ContentScope::default()).expect("no selectors were given");
    assert!(selection.keep.iter().all(|id| id.index() < page.dom().len()));
    page.verdict();
    // The first line is also tried as a CSS selector.
    if let Some(line) = std::str::from_utf8(bytes).ok().and_then(|text| text.lines().next())
        && let Ok(selector) = Selector::parse(line)
    {
        let found = WorkBudget::new(1_000_000, None).run(|| selector.find(page.dom()));
        assert!(found.is_ok(), "a selector stops within its budget");
    }
}

/// Every page can be written: markdown, HTML, metadata, links, images, tables, and a diff of two versions.
pub fn write_page(bytes: &[u8]) {
    let url = Url::parse("https://ex.org/a/b?c#d").expect("a valid URL");
    let source = PageSource {
        bytes,
        content_type: Some("text/html; charset=utf-8"),
        url: Some(&url),
        status: Some(200),
    };
    let page = Page::parse(&source, &Limits::default());
    let everything = page
        .select(&ContentScope { only_main_content: false, ..ContentScope::default() })
        .expect("no selectors");
    let main = page.select(&ContentScope::default()).expect("no selectors");
    let markdown = page.markdown(&everything, true);
    check_markdown(&markdown);
    let main_markdown = page.markdown(&main, false);
    assert_eq!(page.markdown(&main, false), main_markdown, "writing twice gives the same text");
    text::diff::diff(&markdown, &main_markdown);
    page.html(&main);
    page.metadata().to_wire();
    page.links();
    page.images();
    page.tables(&everything);
}

fn check_markdown(markdown: &str) {
    let lines: Vec<&str> = markdown.lines().collect();
    assert!(markdown.is_empty() || markdown.ends_with('\n'));
    // There are never two blank lines in a row outside fenced code.
    let mut open_fence: Option<usize> = None;
    for pair in lines.windows(2) {
        let unindented = pair[0].trim_start_matches(['>', ' ', '-', '*', ':']);
        let ticks = unindented.bytes().take_while(|&byte| byte == b'`').count();
        match open_fence {
            Some(open) if ticks >= open => open_fence = None,
            None if ticks >= 3 => open_fence = Some(ticks),
            _ => {}
        }
        assert!(open_fence.is_some() || !(pair[0].is_empty() && pair[1].is_empty()), "{markdown:?}");
    }
}
