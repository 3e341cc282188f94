//! A file that was read, as a page: so its links, its metadata and its text are used as those of any page.

use content::Limits;
use content::page::{Page, PageSource};
use document_process::ParsedFile;
use documents::{Block, BlockKind, Content, Document, FileKind};
use std::fmt::Write as _;
use url::Url;

/// A file as a page; `url` is what its links are relative to.
pub fn to_page(file: &ParsedFile, url: Option<&Url>, status: u16) -> Page {
    let html = to_html(&file.document);
    let source = PageSource {
        bytes: html.as_bytes(),
        content_type: Some("text/html; charset=utf-8"),
        url,
        status: Some(status),
    };
    Page::parse(&source, &Limits::default())
}

/// A file as a whole HTML page, with what it says of itself in its head.
pub fn to_html(document: &Document) -> String {
    let said = &document.metadata;
    let mut head = String::new();
    if let Some(title) = title(document) {
        let _ = write!(head, "<title>{}</title>", escape(&title));
    }
    let tags = [
        ("name", "author", &said.author),
        ("name", "description", &said.subject),
        ("name", "keywords", &said.keywords),
        ("property", "article:published_time", &said.created),
        ("property", "article:modified_time", &said.modified),
    ];
    for (attribute, name, value) in tags {
        if let Some(value) = value.as_deref().map(str::trim).filter(|value| !value.is_empty()) {
            let _ = write!(head, "<meta {attribute}=\"{name}\" content=\"{}\">", escape(value));
        }
    }
    let language = said.language.as_deref().map(str::trim).filter(|language| !language.is_empty());
    let language = language.map(|language| format!(" lang=\"{}\"", escape(language))).unwrap_or_default();
    let body = documents::to_html(document);
    format!(
        "<!DOCTYPE html>\n<html{language}><head><meta charset=\"utf-8\">{head}</head><body>\n{body}</body></html>\n"
    )
}

/// What the file says its title is, or what stands where one does.
fn title(document: &Document) -> Option<String> {
    let said = document.metadata.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let shown = || {
        let blocks = document.pages.iter().flat_map(|page| &page.blocks);
        let title = |block: &Block| match (&block.content, block.kind) {
            (Content::Heading { text, .. }, BlockKind::Title) => {
                Some(text.iter().map(|span| span.text.as_str()).collect::<String>().trim().to_owned())
            }
            _ => None,
        };
        blocks.filter_map(title).find(|title| !title.is_empty())
    };
    said.map(str::to_owned).or_else(shown)
}

fn escape(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Credits of a file beyond those of a page: one for each page of a PDF after the first.
pub fn extra_credits(file: &ParsedFile) -> i64 {
    match file.kind {
        FileKind::Pdf => i64::from(file.pages_read()).saturating_sub(1).max(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use documents::{Metadata, Page as FilePage, Span};

    #[test]
    fn a_page_of_a_file_has_its_metadata_and_links() {
        let link = Span { link: Some("/next".into()), ..Span::plain("next") };
        let heading = Content::Heading { level: 1, text: vec![Span::plain("Sea <birds>")] };
        let blocks = vec![
            Block::native(BlockKind::Title, heading),
            Block::native(BlockKind::Text, Content::Paragraph(vec![link])),
        ];
        let metadata = Metadata {
            author: Some("Ann \"A\" Ray".into()),
            language: Some("de".into()),
            created: Some("2001-02-03T00:00:00Z".into()),
            ..Metadata::default()
        };
        let document = Document { metadata, pages: vec![FilePage::whole(blocks)], ..Document::default() };
        let file = ParsedFile {
            kind: FileKind::Docx,
            document,
            pages_needing_ocr: Vec::new(),
            pages_read_by_ocr: Vec::new(),
        };
        let url = Url::parse("https://a.test/b/c.docx").unwrap();
        let page = to_page(&file, Some(&url), 200);
        let said = page.metadata().to_wire();
        assert_eq!((said["title"].as_str(), said["language"].as_str()), (Some("Sea <birds>"), Some("de")));
        assert_eq!(said["author"], "Ann \"A\" Ray");
        assert_eq!(said["publishedTime"], "2001-02-03T00:00:00Z");
        let links: Vec<String> = page.links().into_iter().map(|link| link.url).collect();
        assert_eq!(links, ["https://a.test/next"]);
    }
}
