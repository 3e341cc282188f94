//! Pages as the service reads them: main content as plain text, headings, title, description, links.

use anyhow::Result;
use content::{ContentScope, Limits, Page, PageSource};
use gannet_bench::pages::PageRow;
use index::Document;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use url::Url;

/// A page, and the texts of its links with their targets.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadPage {
    pub document: Document,
    pub links: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Row {
    /// As `read` wrote it.
    Read(Box<ReadPage>),
    Fetched(PageRow),
}

pub fn read_pages(path: &Path) -> Result<Vec<ReadPage>> {
    let rows = gannet_bench::pages::rows(path)?.map(|row| match row? {
        Row::Read(page) => Ok(*page),
        Row::Fetched(PageRow { url, html }) => page(url, &html),
    });
    rows.collect()
}

/// Stores pages that were read: reading takes longer than all queries.
pub fn write(pages: &[ReadPage], path: &Path) -> Result<()> {
    let mut out = zstd::Encoder::new(File::create(path)?, 3)?;
    for page in pages {
        serde_json::to_writer(&mut out, page)?;
        out.write_all(b"\n")?;
    }
    out.finish()?;
    Ok(())
}

fn page(address: String, html: &str) -> Result<ReadPage> {
    let url = Url::parse(&address).ok();
    let source = PageSource { bytes: html.as_bytes(), url: url.as_ref(), ..PageSource::default() };
    let page = Page::parse(&source, &Limits::default());
    let selection = page.select(&ContentScope::default())?;
    let metadata = page.metadata();
    let (body, headings) = plain(&page.markdown(&selection, true));
    let document = Document {
        url: address,
        title: metadata.title.clone().unwrap_or_default(),
        description: metadata.description.clone().unwrap_or_default(),
        headings,
        body,
        language: metadata.language.map(|language| language.value),
        ..Document::default()
    };
    let links = page.links().into_iter().map(|link| (link.text, link.url)).collect();
    Ok(ReadPage { document: document.bounded(), links })
}

/// Markdown as plain text, and its headings.
fn plain(markdown: &str) -> (String, Vec<String>) {
    let (mut body, mut headings) = (String::new(), Vec::new());
    let mut heading: Option<usize> = None;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(body.len()),
            Event::End(TagEnd::Heading(_)) => {
                headings.extend(heading.take().map(|from| body[from..].trim().to_owned()));
                body.push('\n');
            }
            Event::Text(text) | Event::Code(text) => body.push_str(&text),
            Event::SoftBreak | Event::End(TagEnd::TableCell) => body.push(' '),
            Event::HardBreak
            | Event::End(
                TagEnd::Paragraph | TagEnd::Item | TagEnd::TableRow | TagEnd::TableHead | TagEnd::CodeBlock,
            ) => {
                body.push('\n');
            }
            _ => {}
        }
    }
    headings.retain(|heading| !heading.is_empty());
    (body, headings)
}
