//! The response of a scrape. Missing values are absent rather than null: clients accept both, but refuse some
//! nulls.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// The response of `POST /v2/scrape`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ScrapeAnswer)]
pub struct ScrapeResponse {
    pub success: bool,
    pub data: Document,
}

/// Metadata of a page and of its fetch. Meta tags have their own names next to the known fields.
pub type Metadata = Map<String, Value>;

/// A page in the requested formats.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_base64: Option<String>,
    /// Data that conforms to the given schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub json: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The answer to `question` or `query`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<String>>,
    /// The whole page as markdown, where `markdown` is its main content. For our own comparisons, never for
    /// callers.
    #[serde(skip)]
    pub whole_markdown: Option<String>,
    /// A URL of this server that works for 24 hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub attributes: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<ActionResults>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlights: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_tracking: Option<ChangeTracking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub branding: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub product: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub menu: Option<Value>,
    /// Each page of a file by itself, with the parser option `pages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<FilePage>>,
    /// The blocks of a file, page by page, with the parser option `blocks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<FilePageBlocks>>,
    /// Remarks about this result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    #[schema(value_type = Object)]
    pub metadata: Metadata,
}

/// One page of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilePage {
    /// From 1.
    pub page_number: u32,
    pub markdown: String,
}

/// The blocks of one page of a file. Here missing values are null, as clients declare them.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilePageBlocks {
    /// From 1.
    pub page_number: u32,
    /// In points (1/72 inch); null where the format has no pages.
    pub width: Option<f32>,
    pub height: Option<f32>,
    /// `ok`, `partial` or `failed`.
    pub status: &'static str,
    pub items: Vec<FileBlock>,
}

/// A piece of a page: a heading, a paragraph, a list, a table, a figure.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileBlock {
    /// `p<page>.b<n>`; pages count from 1, blocks from 0.
    pub id: String,
    /// `title`, `section_header`, `text`, `table`, `formula`, `figure`, `caption`, `page_number`,
    /// `page_header` or `page_footer`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What the block holds in more detail: `heading`, `paragraph`, `list`, `table`, `code`, `formula`,
    /// `figure`, `quote` or `markdown`.
    pub label: Option<&'static str>,
    /// Left, top, right and bottom as a share of the page, 0 to 1; null where the format has no places.
    pub bbox: Option<[f32; 4]>,
    /// The block as markdown.
    pub content: String,
    /// The block's part of `markdown`: start and end, in characters (code points, as Python counts;
    /// `Array.from(markdown).slice(start, end)` in JavaScript). Null where the block is not in the markdown,
    /// and where the markdown was changed afterwards.
    pub markdown_span: Option<[usize; 2]>,
    /// The place of the block on its page, from 0.
    pub reading_order: usize,
    /// `native_text`, `layout_ocr` or `tsr`.
    pub source: Option<&'static str>,
    pub confidence: BlockConfidence,
}

/// How sure the parser is of a block, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct BlockConfidence {
    pub layout: Option<f32>,
    /// Only for words that were recognised from a picture.
    pub ocr: Option<f32>,
}

/// Results of actions, each list in the order of its actions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionResults {
    pub screenshots: Vec<String>,
    pub scrapes: Vec<ScrapedFrame>,
    pub javascript_returns: Vec<JavascriptReturn>,
    pub pdfs: Vec<String>,
}

/// The page at a `scrape` action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ScrapedFrame {
    pub url: String,
    pub html: String,
}

/// The value a script returned.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct JavascriptReturn {
    /// The name of its JavaScript type.
    #[serde(rename = "type")]
    pub kind: String,
    #[schema(value_type = Object)]
    pub value: Value,
}

/// How a page compares with its last version.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeTracking {
    pub previous_scrape_at: Option<String>,
    /// `new`, `same`, `changed` or `removed`.
    pub change_status: &'static str,
    /// Always `visible`: one page does not show whether its site links to it.
    pub visibility: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub diff: Option<Value>,
    /// In json mode: the changed values by path, such as `plans[0].price`, each with `previous` and
    /// `current`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub json: Option<Value>,
}
