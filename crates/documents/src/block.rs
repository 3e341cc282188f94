//! The one model that all formats are read into.

use serde::{Deserialize, Serialize};

/// A file after reading: its pages in order, and what it says about itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    pub metadata: Metadata,
    /// Formats without pages (DOCX, mail) have one page of size zero.
    pub pages: Vec<Page>,
    /// Pages of the file, also those that were not read because of a limit.
    pub total_pages: u32,
    /// What is missing from the result and why, one sentence each.
    pub warnings: Vec<String>,
    /// Whether text was left out because there was too much of it.
    #[serde(default)]
    pub truncated: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    pub title: Option<String>,
    pub author: Option<String>,
    pub subject: Option<String>,
    pub keywords: Option<String>,
    pub language: Option<String>,
    pub created: Option<String>,
    pub modified: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// From 1.
    pub number: u32,
    /// In points (1/72 inch); zero where the format has no pages.
    pub width: f32,
    pub height: f32,
    /// Degrees by which the sheet was turned clockwise, so that its text reads from left to right: 0, 90 or 270.
    /// Width, height and all places are those of the turned page.
    #[serde(default)]
    pub turned: u16,
    pub status: PageStatus,
    /// In reading order.
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageStatus {
    #[default]
    Ok,
    /// Some of the page could not be read.
    Partial,
    /// Nothing of the page could be read.
    Failed,
}

impl Page {
    /// The only page of a format that has none.
    pub fn whole(blocks: Vec<Block>) -> Self {
        Self { number: 1, blocks, ..Self::default() }
    }
}

/// One piece of a page: a heading, a paragraph, a list, a table, a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    pub kind: BlockKind,
    /// As a share of the page, 0 to 1, origin at the top left; `None` where the format has no places.
    pub bbox: Option<Rect>,
    pub content: Content,
    pub source: Source,
    pub confidence: Confidence,
}

impl Block {
    /// A block of a format whose text is stored as text and has no place on a page.
    pub fn native(kind: BlockKind, content: Content) -> Self {
        let confidence = Confidence { layout: 1.0, ocr: None };
        Self { kind, bbox: None, content, source: Source::NativeText, confidence }
    }

    /// Running heads, running feet and page numbers are kept as blocks and left out of the written text.
    pub fn is_running(&self) -> bool {
        matches!(self.kind, BlockKind::PageNumber | BlockKind::PageHeader | BlockKind::PageFooter)
    }
}

/// What a block is; the names are those of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    Title,
    SectionHeader,
    Text,
    Table,
    Formula,
    Figure,
    Caption,
    /// The last three are kept as blocks and left out of the markdown.
    PageNumber,
    PageHeader,
    PageFooter,
}

impl BlockKind {
    /// Its name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::SectionHeader => "section_header",
            Self::Text => "text",
            Self::Table => "table",
            Self::Formula => "formula",
            Self::Figure => "figure",
            Self::Caption => "caption",
            Self::PageNumber => "page_number",
            Self::PageHeader => "page_header",
            Self::PageFooter => "page_footer",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Content {
    /// A title or section header; level 1 to 6.
    Heading {
        level: u8,
        text: Vec<Span>,
    },
    Paragraph(Vec<Span>),
    /// One list: items with their depth (0 for the outermost), ordered or not.
    List(Vec<ListItem>),
    Table(Table),
    Code {
        language: Option<String>,
        text: String,
    },
    /// A formula as LaTeX or plain text.
    Formula(String),
    /// An image: its alternative text, and its address where it has one.
    Figure {
        alt: String,
        target: Option<String>,
    },
    Quote(Vec<Span>),
    /// Text that the file itself holds as markdown.
    Markdown(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListItem {
    pub depth: u8,
    /// The number of an ordered item.
    pub number: Option<u32>,
    pub text: Vec<Span>,
}

/// A run of text with one style. Documents have many thousands of them, so what is not set is not written.
#[expect(clippy::struct_excessive_bools, reason = "each is one style, and any of them go together")]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    pub text: String,
    #[serde(default, skip_serializing_if = "is_false")]
    pub bold: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub italic: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub strike: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub code: bool,
    /// The text is LaTeX.
    #[serde(default, skip_serializing_if = "is_false")]
    pub math: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(style: &bool) -> bool {
    !style
}

/// Text that is raised or lowered: without it `10⁶` would read as 106.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Script {
    Sub,
    Super,
}

impl Span {
    /// Text without any style.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The style alone.
    pub(crate) fn without_text(&self) -> Self {
        Self { text: String::new(), link: self.link.clone(), ..*self }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Cells of each row, each at its own column: a cell that spans covers the places to its right and below, which
    /// are then not in `rows`.
    pub rows: Vec<Vec<Cell>>,
    /// Rows at the top that are headings of the columns.
    pub header_rows: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    pub text: Vec<Span>,
    pub column: usize,
    pub row_span: usize,
    pub column_span: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rect {
    pub left: f32,
    pub top: f32,
    pub right: f32,
    pub bottom: f32,
}

/// Where the words of a block come from; the names are those of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    NativeText,
    LayoutOcr,
    /// A table whose structure was recognised from a picture.
    Tsr,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    pub layout: f32,
    /// Only for words that were recognised from a picture.
    pub ocr: Option<f32>,
}
