//! HTML inside of files: bodies of letters and chapters of books. The crate `content` makes
//! markdown of it, and blocks are made of the markdown.

use content::{ContentScope, Limits, Page as WebPage, PageSource};

use crate::block::{Block, Content, Span};
use crate::markdown_blocks::markdown_blocks;

/// HTML of one body or chapter that is read at most; the rest is left out with a warning.
const MAX_HTML_BYTES: usize = 16 << 20;

/// The blocks of a body or chapter.
#[derive(Debug, Default)]
pub(crate) struct HtmlBody {
    pub(crate) blocks: Vec<Block>,
    /// Whether some of it was left out because of its size.
    pub(crate) truncated: bool,
}

/// All that is visible, navigation and footers too: in a letter or a chapter there is nothing to choose from.
pub(crate) fn parse_html_body(bytes: &[u8], content_type: &str) -> HtmlBody {
    let source = PageSource { bytes, content_type: Some(content_type), ..PageSource::default() };
    let page = WebPage::parse(&source, &Limits { bytes: MAX_HTML_BYTES, ..Limits::default() });
    let whole = ContentScope { only_main_content: false, ..ContentScope::default() };
    let Ok(selection) = page.select(&whole) else { return HtmlBody::default() };
    HtmlBody { blocks: markdown_blocks(&page.markdown(&selection, true)), truncated: page.truncated() }
}

/// Drops addresses that mean something only inside of a letter or a book: parts of it, and places in it.
pub(crate) fn drop_inner_addresses(blocks: &mut [Block]) {
    let drop_links = |spans: &mut [Span]| {
        for span in spans {
            span.link = span.link.take().filter(|target| leads_outside(target));
        }
    };
    for block in blocks {
        match &mut block.content {
            Content::Heading { text, .. } | Content::Paragraph(text) | Content::Quote(text) => {
                drop_links(text);
            }
            Content::List(items) => items.iter_mut().for_each(|item| drop_links(&mut item.text)),
            Content::Table(table) => {
                table.rows.iter_mut().flatten().for_each(|cell| drop_links(&mut cell.text));
            }
            Content::Figure { target, .. } => *target = target.take().filter(|target| leads_outside(target)),
            Content::Code { .. } | Content::Formula(_) | Content::Markdown(_) => {}
        }
    }
}

fn leads_outside(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    target.starts_with("//") || scheme.is_some_and(|scheme| !scheme.contains(['/', '?', '#']))
}
