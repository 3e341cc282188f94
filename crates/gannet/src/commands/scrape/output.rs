//! Writes scraped pages: to standard output, one after another, into a file, or into a folder.

use super::{Format, Scrape};
use crate::commands::local_crawl::page_file_name;
use crate::output::{print, write_file};
use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::Value;
use std::fs::File;
use std::io::Write as _;
use wire::scrape::Document;

/// What is written of a page.
pub struct ScrapedPage {
    pub document: PageDocument,
    /// As PNG.
    pub screenshot: Option<Vec<u8>>,
    pub warning: Option<String>,
    /// The status that the site answered with.
    pub status: u64,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum PageDocument {
    Own(Box<Document>),
    OfServer(Value),
}

/// Where the pages go.
pub struct PageWriter<'a> {
    options: &'a Scrape,
    /// A file with one document per line.
    lines: Option<File>,
    written: u64,
}

impl<'a> PageWriter<'a> {
    /// Makes the folder or the file of several pages.
    pub fn open(options: &'a Scrape) -> Result<Self> {
        let mut writer = Self { options, lines: None, written: 0 };
        let Some(out) = options.out.as_deref().filter(|_| options.urls.len() > 1) else { return Ok(writer) };
        if out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl")) {
            let file = File::create(out).with_context(|| format!("cannot write {}", out.display()))?;
            writer.lines = Some(file);
        } else {
            std::fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
        }
        Ok(writer)
    }

    pub fn write(&mut self, url: &str, page: &ScrapedPage) -> Result<()> {
        self.written += 1;
        if let (Some(path), Some(picture)) = (&self.options.screenshot, &page.screenshot) {
            write_file(path, picture)?;
        }
        self.write_text(url, &page.document)?;
        let named = if self.options.urls.len() > 1 { format!("{url}: ") } else { String::new() };
        if let Some(warning) = &page.warning {
            note!("gannet: {named}{warning}");
        }
        if page.status >= 400 {
            note!("gannet: {named}the site answered with status {}", page.status);
        }
        Ok(())
    }

    fn write_text(&mut self, url: &str, document: &PageDocument) -> Result<()> {
        let several = self.options.urls.len() > 1;
        if let Some(file) = &mut self.lines {
            serde_json::to_writer(&mut *file, document)?;
            return Ok(file.write_all(b"\n")?);
        }
        let Some(text) = self.options.text(document)? else { return Ok(()) };
        match (&self.options.out, several) {
            (Some(path), false) => write_file(path, text.text().as_bytes()),
            (Some(folder), true) => {
                let name = page_file_name(self.written, url, text.extension());
                write_file(&folder.join(name), text.text().as_bytes())
            }
            (None, false) => {
                print(format_args!("{}", text.text()));
                Ok(())
            }
            (None, true) => {
                match &text {
                    PageText::Json(_) => println!("{}", serde_json::to_string(document)?),
                    PageText::Plain(text, _) => print(format_args!("==> {url} <==\n{text}\n")),
                }
                Ok(())
            }
        }
    }
}

/// What is printed of a document.
enum PageText {
    Json(String),
    /// With the extension of its file.
    Plain(String, &'static str),
}

impl PageText {
    fn text(&self) -> &str {
        let (Self::Json(text) | Self::Plain(text, _)) = self;
        text
    }

    fn extension(&self) -> &'static str {
        match self {
            Self::Json(_) => "json",
            Self::Plain(_, extension) => extension,
        }
    }
}

impl Scrape {
    /// `None` where only a picture was asked for.
    fn text(&self, document: &PageDocument) -> Result<Option<PageText>> {
        let fields = serde_json::to_value(document)?;
        let field = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
        let lines = |name: &str| {
            let list = fields[name].as_array().into_iter().flatten().filter_map(Value::as_str);
            list.fold(String::new(), |text, line| text + line + "\n")
        };
        let whole = || Ok::<_, anyhow::Error>(PageText::Json(serde_json::to_string_pretty(document)? + "\n"));
        let has_data = self.schema.is_some() || self.prompt.is_some();
        let text = match self.formats.as_slice() {
            [] if has_data && self.question.is_none() => {
                PageText::Json(serde_json::to_string_pretty(&fields["json"])? + "\n")
            }
            [] if self.question.is_some() && !has_data => PageText::Plain(field("answer") + "\n", "txt"),
            [Format::Summary] if !has_data && self.question.is_none() => {
                PageText::Plain(field("summary") + "\n", "txt")
            }
            _ if has_data || self.question.is_some() => whole()?,
            [] if self.screenshot.is_some() && self.out.is_none() => return Ok(None),
            [] | [Format::Markdown] => PageText::Plain(field("markdown"), "md"),
            [Format::Html] => PageText::Plain(field("html"), "html"),
            [Format::RawHtml] => PageText::Plain(field("rawHtml"), "html"),
            [Format::Links] => PageText::Plain(lines("links"), "txt"),
            [Format::Images] => PageText::Plain(lines("images"), "txt"),
            _ => whole()?,
        };
        Ok(Some(text))
    }
}
