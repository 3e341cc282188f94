//! Markdown written from the blocks.
//!
//! Each block is written once, and the place where it was put is noted at that moment: the span of a block is
//! exact because nothing is searched for afterwards. Called by whatever returns a document to a user; it reads only
//! the block model and never fails.

mod escape;
mod inline;
mod list;
mod table;

use crate::block::{Block, Content, Document, Page};
use crate::link_target::link_target;

/// Between two pages when the caller asked for page markers; the number is that of the page that follows.
fn page_marker(number: u32) -> String {
    format!("\n\n---\n\n<!-- page {number} -->\n\n")
}

/// How the markdown is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MarkdownOptions {
    /// A rule line and a comment with the page's number between two pages.
    pub page_markers: bool,
}

/// The markdown of a document, and where each block stands in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markdown {
    pub text: String,
    pub pages: Vec<PageMarkdown>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageMarkdown {
    pub number: u32,
    /// The markdown of this page alone.
    pub text: String,
    /// One for each block of the page, in the same order.
    pub blocks: Vec<BlockMarkdown>,
}

/// One block as markdown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockMarkdown {
    /// Also there for a block that is left out of the whole, such as a running head.
    pub content: String,
    /// The block's part of the whole markdown as `[start, end)` in characters (not bytes); `None` for a block that
    /// is not in the markdown.
    pub span: Option<(usize, usize)>,
}

/// Writes the whole document.
pub fn to_markdown(document: &Document, options: MarkdownOptions) -> Markdown {
    let mut whole = Writer::default();
    let mut pages = Vec::with_capacity(document.pages.len());
    for (index, page) in document.pages.iter().enumerate() {
        if options.page_markers && index > 0 {
            whole.start_page(&page_marker(page.number));
        }
        pages.push(write_page(page, &mut whole));
    }
    Markdown { text: whole.text, pages }
}

fn write_page(page: &Page, whole: &mut Writer) -> PageMarkdown {
    let mut alone = Writer::default();
    let mut blocks = Vec::with_capacity(page.blocks.len());
    for block in &page.blocks {
        let content = block_markdown(block);
        let span = if content.is_empty() || block.is_running() {
            None
        } else {
            alone.push_block(&content);
            Some(whole.push_block(&content))
        };
        blocks.push(BlockMarkdown { content, span });
    }
    PageMarkdown { number: page.number, text: alone.text, blocks }
}

/// Text that grows block by block and knows its length in characters.
#[derive(Debug, Default)]
struct Writer {
    text: String,
    chars: usize,
    /// What is already at the end of the text separates the next block from the one before.
    separated: bool,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.chars += text.chars().count();
    }

    fn start_page(&mut self, marker: &str) {
        // A marker that would open the text needs no empty lines before it.
        self.push(if self.text.is_empty() { marker.trim_start() } else { marker });
        self.separated = true;
    }

    fn push_block(&mut self, content: &str) -> (usize, usize) {
        if !self.separated && !self.text.is_empty() {
            self.push("\n\n");
        }
        self.separated = false;
        let start = self.chars;
        self.push(content);
        (start, self.chars)
    }
}

/// One block without anything around it; empty when there is nothing to say.
fn block_markdown(block: &Block) -> String {
    match &block.content {
        Content::Heading { level, text } => heading(*level, &inline::one_line(text)),
        Content::Paragraph(text) => inline::paragraph(text),
        Content::List(items) => list::list(items),
        Content::Table(table) => table::table(table),
        Content::Code { language, text } => code(language.as_deref(), text),
        Content::Formula(latex) => formula(latex),
        Content::Figure { alt, target } => figure(alt, target.as_deref()),
        Content::Quote(text) => quote(&inline::paragraph(text)),
        Content::Markdown(text) => text.trim().to_owned(),
    }
}

fn heading(level: u8, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let marks = "#".repeat(usize::from(level.clamp(1, 6)));
    // A closing row of number signs would be read as part of the syntax.
    let closes = text.ends_with('#') && text.trim_end_matches('#').ends_with([' ', '\t']);
    let text = if closes { format!("{}\\#", &text[..text.len() - 1]) } else { text.to_owned() };
    format!("{marks} {text}")
}

fn code(language: Option<&str>, text: &str) -> String {
    let text = text.trim_matches(['\n', '\r']);
    if text.trim().is_empty() {
        return String::new();
    }
    let fence = "`".repeat(escape::longest_run(text, '`').max(2) + 1);
    let language: String = language
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_alphanumeric() || "+-#._".contains(*c))
        .collect();
    format!("{fence}{language}\n{text}\n{fence}")
}

fn formula(latex: &str) -> String {
    let latex = latex.trim();
    if latex.is_empty() { String::new() } else { format!("$${}$$", inline::squeeze(latex)) }
}

fn figure(alt: &str, target: Option<&str>) -> String {
    let alt = escape::link_text(&inline::squeeze(alt));
    let target = target.and_then(link_target).unwrap_or_default();
    if alt.is_empty() && target.is_empty() { String::new() } else { format!("![{alt}]({target})") }
}

fn quote(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    text.split('\n').map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
