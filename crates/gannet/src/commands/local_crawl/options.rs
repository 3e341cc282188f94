//! Scrape options of `gannet crawl` and `gannet batch`.

use super::OutputFormat;
use std::collections::BTreeMap;
use wire::scrape::{FormatInput, ScrapeOptions};

/// Scrape options of each page.
#[derive(Debug, clap::Args)]
pub struct PageOptions {
    /// Output format: markdown, html, rawHtml, links, images…; several are written as JSON documents
    #[arg(long = "format", value_name = "FORMAT", value_parser = format_name)]
    formats: Vec<String>,
    /// The whole page instead of its main content
    #[arg(long)]
    whole: bool,
    /// Do not use a browser
    #[arg(long)]
    fast: bool,
    /// HTTP header to send, `Name: value`; may be repeated
    #[arg(long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    /// Timeout of each page in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    timeout: i64,
}

/// The name of a format in the API, which may also be written with hyphens: `raw-html` for `rawHtml`.
#[expect(
    clippy::unnecessary_wraps,
    reason = "as the command line parser wants it; the engine knows the names"
)]
fn format_name(text: &str) -> Result<String, String> {
    let mut words = text.trim().split('-');
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    Ok(name)
}

impl PageOptions {
    pub fn options(&self) -> Result<ScrapeOptions, String> {
        let mut headers = BTreeMap::new();
        for header in &self.headers {
            let (name, value) =
                header.split_once(':').ok_or_else(|| format!("--header `{header}` must be `Name: value`"))?;
            headers.insert(name.trim().to_owned(), value.trim().to_owned());
        }
        let formats: Vec<FormatInput> = self.formats.iter().cloned().map(FormatInput::Plain).collect();
        Ok(ScrapeOptions {
            formats: (!formats.is_empty()).then_some(formats),
            only_main_content: Some(!self.whole),
            fast_mode: Some(self.fast),
            headers: (!headers.is_empty()).then(|| headers.into()),
            timeout: Some(self.timeout),
            ..ScrapeOptions::default()
        })
    }

    pub fn format(&self) -> OutputFormat {
        match self.formats.as_slice() {
            [] => OutputFormat::Text("markdown"),
            [one] if one == "markdown" => OutputFormat::Text("markdown"),
            [one] if one == "html" => OutputFormat::Text("html"),
            [one] if one == "rawHtml" => OutputFormat::Text("rawHtml"),
            _ => OutputFormat::Json,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_named_as_in_the_api_or_with_hyphens() {
        for (given, name) in [("rawHtml", "rawHtml"), ("raw-html", "rawHtml"), ("markdown", "markdown")] {
            assert_eq!(format_name(given).as_deref(), Ok(name));
        }
    }
}
