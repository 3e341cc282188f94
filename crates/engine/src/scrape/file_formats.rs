//! What is written of a file beside what is written of every page: its markdown from its blocks, the markdown of
//! each page, the blocks with their places. Pure computation, for the [`crate::cpu_pool`].

use super::plan::ScrapePlan;
use document_process::ParsedFile;
use documents::{
    BlockMarkdown, Content, Markdown, MarkdownOptions, Page, PageMarkdown, PageStatus, Rect, Source,
};
use std::collections::HashSet;
use text::redact::{RedactOptions, redact};
use wire::scrape::{BlockConfidence, Document, FileBlock, FilePage, FilePageBlocks};

/// A file of many pages may have something missing on each of them.
const MAX_WARNINGS: usize = 20;

/// The markdown of a file.
pub fn to_markdown(plan: &ScrapePlan, file: &ParsedFile) -> Markdown {
    let page_markers = plan.parsers.output().page_markers;
    documents::to_markdown(&file.document, MarkdownOptions { page_markers })
}

/// Adds `pages` and `blocks` where they were asked for.
pub fn write_pages(plan: &ScrapePlan, file: &ParsedFile, document: &mut Document) {
    let asked = plan.parsers.output();
    if !asked.pages && !asked.blocks {
        return;
    }
    let written = to_markdown(plan, file);
    let redacted = |text: &str| redacted(text, plan.redact.as_ref());
    if asked.pages {
        let page = |page: &PageMarkdown| {
            budget::spend_long();
            FilePage { page_number: page.number, markdown: redacted(&page.text) }
        };
        document.pages = Some(written.pages.iter().map(page).collect());
    }
    if asked.blocks {
        document.blocks = Some(to_wire_blocks(file, &written, &redacted));
        if plan.redact.is_some() || plan.parts.names_elements() {
            forget_spans(document);
        }
    }
}

/// The blocks of a file in the words of the API. `change` is applied to the text of each.
pub fn to_wire_blocks(
    file: &ParsedFile,
    written: &Markdown,
    change: &dyn Fn(&str) -> String,
) -> Vec<FilePageBlocks> {
    let pages = file.document.pages.iter().zip(&written.pages);
    pages.map(|(page, written)| to_wire(page, written, change)).collect()
}

/// Where the markdown is not the one that was written from the blocks, they have no place in it.
pub fn forget_spans(document: &mut Document) {
    for block in document.blocks.iter_mut().flatten().flat_map(|page| &mut page.items) {
        block.markdown_span = None;
    }
}

/// Says what is missing from a file, each thing once.
pub fn add_warnings(file: &ParsedFile, mut add: impl FnMut(&str)) {
    let mut seen = HashSet::new();
    let warnings = &file.document.warnings;
    let different: Vec<&str> = warnings
        .iter()
        .map(|warning| warning.trim_end_matches('.'))
        .filter(|text| seen.insert(*text))
        .collect();
    for warning in different.iter().take(MAX_WARNINGS) {
        add(warning);
    }
    if different.len() > MAX_WARNINGS {
        add(&format!("and {} more of the kind", different.len() - MAX_WARNINGS));
    }
}

fn redacted(text: &str, options: Option<&RedactOptions>) -> String {
    options.map_or_else(|| text.to_owned(), |options| redact(text, options).text)
}

fn to_wire(page: &Page, written: &PageMarkdown, redacted: &dyn Fn(&str) -> String) -> FilePageBlocks {
    let has_size = page.width > 0.0 && page.height > 0.0;
    let blocks = page.blocks.iter().zip(&written.blocks).enumerate();
    let item = |(order, (block, BlockMarkdown { content, span })): (usize, (&documents::Block, &_))| {
        budget::spend_long();
        FileBlock {
            id: format!("p{}.b{order}", page.number),
            kind: block.kind.name(),
            label: Some(label(&block.content)),
            bbox: block.bbox.map(corners),
            content: redacted(content),
            markdown_span: span.map(|(start, end)| [start, end]),
            reading_order: order,
            source: Some(source_name(block.source)),
            confidence: BlockConfidence { layout: Some(block.confidence.layout), ocr: block.confidence.ocr },
        }
    };
    FilePageBlocks {
        page_number: page.number,
        width: has_size.then_some(page.width),
        height: has_size.then_some(page.height),
        status: match page.status {
            PageStatus::Ok => "ok",
            PageStatus::Partial => "partial",
            PageStatus::Failed => "failed",
        },
        items: blocks.map(item).collect(),
    }
}

fn corners(place: Rect) -> [f32; 4] {
    [place.left, place.top, place.right, place.bottom]
}

fn label(content: &Content) -> &'static str {
    match content {
        Content::Heading { .. } => "heading",
        Content::Paragraph(_) => "paragraph",
        Content::List(_) => "list",
        Content::Table(_) => "table",
        Content::Code { .. } => "code",
        Content::Formula(_) => "formula",
        Content::Figure { .. } => "figure",
        Content::Quote(_) => "quote",
        Content::Markdown(_) => "markdown",
    }
}

fn source_name(source: Source) -> &'static str {
    match source {
        Source::NativeText => "native_text",
        Source::LayoutOcr => "layout_ocr",
        Source::Tsr => "tsr",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrape::document::{page_metadata, write_formats};
    use crate::scrape::fetched_page::FetchedPage;
    use serde_json::{Value, json};
    use wire::scrape::ScrapeRequest;

    const CSV: &str = "name,mail\nAnn Ray,ann@ray.example\n";

    fn written(options: &Value) -> Document {
        let mut body = json!({ "url": "https://a.test/t.csv" });
        body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let asked: ScrapeRequest = wire::read::body(body.to_string().as_bytes()).unwrap();
        let plan = ScrapePlan::resolve(&asked, false, &|_| true).unwrap();
        let fetched = FetchedPage::file_for_test("https://a.test/t.csv", "text/csv", CSV.as_bytes());
        write_formats(&plan, &fetched, &page_metadata(&fetched)).unwrap()
    }

    #[test]
    fn spans_are_of_the_markdown_that_is_returned() {
        let options = json!({ "parsers": [{ "type": "pdf", "blocks": true, "pages": true }] });
        let document = written(&options);
        let markdown = document.markdown.unwrap();
        let block = &document.blocks.as_ref().unwrap()[0].items[0];
        assert_eq!((block.kind, block.label, block.id.as_str()), ("table", Some("table"), "p1.b0"));
        assert_eq!(block.markdown_span, Some([0, markdown.chars().count()]));
        assert_eq!(block.content, markdown);
        assert_eq!(document.blocks.unwrap()[0].width, None, "a table has no pages");
        assert_eq!(document.pages.unwrap()[0].markdown, markdown);
        assert_eq!(document.metadata["contentType"], "text/csv");
    }

    #[test]
    fn what_is_redacted_is_redacted_everywhere_and_has_no_span() {
        let parser = json!([{ "type": "pdf", "blocks": true, "pages": true }]);
        let document = written(&json!({ "parsers": parser, "redactPII": true }));
        let text = serde_json::to_string(&document).unwrap();
        assert!(!text.contains("ann@ray.example"), "{text}");
        assert_eq!(document.blocks.unwrap()[0].items[0].markdown_span, None);
    }

    #[test]
    fn elements_can_be_left_out_of_a_file() {
        let document = written(&json!({ "excludeTags": ["th"], "formats": ["markdown", "rawHtml"] }));
        let markdown = document.markdown.unwrap();
        assert!(markdown.contains("Ann Ray") && !markdown.contains("mail |"), "{markdown}");
        assert!(document.raw_html.unwrap().contains("<table>"));
    }

    #[test]
    fn a_file_with_much_missing_says_so_briefly() {
        let mut fetched = FetchedPage::file_for_test("https://a.test/t.csv", "text/csv", CSV.as_bytes());
        let file = std::sync::Arc::get_mut(fetched.file.as_mut().unwrap()).unwrap();
        file.document.warnings = (0..500).map(|page| format!("Page {page} is missing.")).collect();
        let mut told = Vec::new();
        add_warnings(file, |warning| told.push(warning.to_owned()));
        assert_eq!((told.len(), told[0].as_str()), (MAX_WARNINGS + 1, "Page 0 is missing"));
        assert!(told[MAX_WARNINGS].contains("480"), "{told:?}");
    }
}
