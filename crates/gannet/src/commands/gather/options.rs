//! What crawls and batches have in common on the command line: how each page is scraped.

use super::Form;
use std::collections::BTreeMap;
use wire::scrape::{FormatAsked, ScrapeOptions};

/// How each page is scraped.
#[derive(Debug, clap::Args)]
pub struct PageOptions {
    /// What to write, by the names of the API: markdown, html, rawHtml, links, images…; several make JSON documents
    #[arg(long = "format", value_name = "FORMAT")]
    formats: Vec<String>,
    /// The whole page rather than its main content
    #[arg(long)]
    whole: bool,
    /// Never start a browser
    #[arg(long)]
    fast: bool,
    /// A header to send, `Name: value`; may be repeated
    #[arg(long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    /// Milliseconds that a page may take
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    timeout: i64,
}

impl PageOptions {
    pub fn options(&self) -> Result<ScrapeOptions, String> {
        let mut headers = BTreeMap::new();
        for header in &self.headers {
            let (name, value) =
                header.split_once(':').ok_or_else(|| format!("--header `{header}` must be `Name: value`"))?;
            headers.insert(name.trim().to_owned(), value.trim().to_owned());
        }
        let formats: Vec<FormatAsked> = self.formats.iter().cloned().map(FormatAsked::Plain).collect();
        Ok(ScrapeOptions {
            formats: (!formats.is_empty()).then_some(formats),
            only_main_content: Some(!self.whole),
            fast_mode: Some(self.fast),
            headers: (!headers.is_empty()).then(|| headers.into()),
            timeout: Some(self.timeout),
            ..ScrapeOptions::default()
        })
    }

    pub fn form(&self) -> Form {
        match self.formats.as_slice() {
            [] => Form::Text("markdown"),
            [one] if one == "markdown" => Form::Text("markdown"),
            [one] if one == "html" => Form::Text("html"),
            [one] if one == "rawHtml" => Form::Text("rawHtml"),
            _ => Form::Json,
        }
    }
}
