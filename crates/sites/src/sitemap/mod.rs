//! Sitemaps: XML sitemaps and their indexes, RSS, Atom, RDF, and plain lists of URLs.
//!
//! A [`Sitemap`] is fed bytes as they arrive and returns entries as they are complete, so a file of any size
//! needs little memory. It reads what it can from broken files and never expands entities. Decompression,
//! fetching, and how deep and how often indexes are followed are the caller's job.

mod detect_format;
mod url_list;
mod xml_reader;
mod xml_tokens;

use crate::page_url::MAX_URL_BYTES;
use detect_format::FileStart;
use encoding_rs::{Decoder, UTF_8};
use std::fmt;
use url::Url;
use url_list::UrlListReader;
use xml_reader::XmlReader;
use xml_tokens::Tokenizer;

/// The maximum number of entries in one file by the standard; many sites have more.
pub const STANDARD_ENTRIES: usize = 50_000;
/// Bytes that are decoded at a time.
const CHUNK_BYTES: usize = 32 << 10;

/// What an entry links to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A page of the site.
    Page,
    /// Another sitemap.
    Sitemap,
    /// The next page of this feed.
    Feed,
}

/// One entry of a sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SitemapEntry {
    /// Absolute, http or https.
    pub url: Url,
    /// When it changed, as the site writes it.
    pub lastmod: Option<String>,
    /// What it links to.
    pub kind: EntryKind,
}

/// The detected format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `<urlset>`
    Pages,
    /// `<sitemapindex>`
    Index,
    /// RSS, RDF or Atom.
    Feed,
    /// XML with another root; it may contain entries all the same.
    OtherXml,
    /// One URL per line.
    Lines,
    /// An HTML page, usually an error page.
    Html,
}

/// Summary of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SitemapSummary {
    /// Its format; `None` if it was empty.
    pub format: Option<Format>,
    /// Number of returned entries.
    pub entries: usize,
    /// Entries skipped because their URL is invalid or too long.
    pub refused: usize,
    /// There were more entries than requested.
    pub truncated: bool,
}

/// Reads a sitemap.
pub struct Sitemap {
    decoder: Decoder,
    text: String,
    parser: FileParser,
    out: EntryCollector,
}

enum FileParser {
    Undecided(FileStart),
    Xml(Box<(Tokenizer, XmlReader)>),
    Lines(UrlListReader),
}

/// Collects entries.
#[derive(Debug)]
struct EntryCollector {
    base: Url,
    max_entries: usize,
    ready: Vec<SitemapEntry>,
    returned: usize,
    refused: usize,
    truncated: bool,
    format: Option<Format>,
}

impl Sitemap {
    /// Reads the file at `base`, which relative URLs are resolved against. Returns at most `max_entries`
    /// entries.
    pub fn new(base: Url, max_entries: usize) -> Self {
        Self {
            decoder: UTF_8.new_decoder(),
            text: String::new(),
            parser: FileParser::Undecided(FileStart::default()),
            out: EntryCollector {
                base,
                max_entries,
                ready: Vec::new(),
                returned: 0,
                refused: 0,
                truncated: false,
                format: None,
            },
        }
    }

    /// Reads the next bytes; returns the entries that they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<SitemapEntry> {
        for piece in bytes.chunks(CHUNK_BYTES) {
            self.decode(piece, false);
        }
        std::mem::take(&mut self.out.ready)
    }

    /// No more entries will follow: the maximum is reached, or this is not a sitemap. The rest need not be
    /// fetched.
    pub fn is_done(&self) -> bool {
        self.out.is_done()
    }

    /// The file has ended; returns the remaining entries.
    pub fn finish(mut self) -> (Vec<SitemapEntry>, SitemapSummary) {
        self.decode(&[], true);
        if let FileParser::Undecided(start) = &mut self.parser {
            let start = std::mem::take(start);
            self.begin(start);
        }
        match &mut self.parser {
            FileParser::Xml(xml) => xml.1.finish(&mut self.out),
            FileParser::Lines(lines) => lines.finish(&mut self.out),
            FileParser::Undecided(_) => {}
        }
        let EntryCollector { ready, returned: entries, refused, truncated, format, .. } = self.out;
        (ready, SitemapSummary { format, entries, refused, truncated })
    }

    fn decode(&mut self, bytes: &[u8], last: bool) {
        if self.out.is_done() {
            return;
        }
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.reserve(self.decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(CHUNK_BYTES * 3));
        // The buffer fits the worst case, so one call consumes all bytes.
        let _ = self.decoder.decode_to_string(bytes, &mut text, last);
        self.process(&text);
        self.text = text;
    }

    fn process(&mut self, text: &str) {
        match &mut self.parser {
            FileParser::Undecided(start) => {
                if start.add(text) {
                    let start = std::mem::take(start);
                    self.begin(start);
                }
            }
            FileParser::Xml(xml) => {
                let (tokens, reader) = &mut **xml;
                tokens.feed(text, |token| reader.handle(token, &mut self.out));
            }
            FileParser::Lines(lines) => lines.feed(text, &mut self.out),
        }
    }

    /// Starts to parse once the format is known.
    fn begin(&mut self, start: FileStart) {
        let Some((is_xml, text)) = start.detect() else { return };
        self.parser = if is_xml {
            FileParser::Xml(Box::default())
        } else {
            self.out.format = Some(Format::Lines);
            FileParser::Lines(UrlListReader::default())
        };
        self.process(&text);
    }
}

impl EntryCollector {
    fn is_done(&self) -> bool {
        self.truncated || self.format == Some(Format::Html)
    }

    fn add(&mut self, written: &str, lastmod: Option<String>, kind: EntryKind) {
        let joined = if written.len() > MAX_URL_BYTES { None } else { self.base.join(written).ok() };
        match joined
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.as_str().len() <= MAX_URL_BYTES)
        {
            Some(_) if self.returned == self.max_entries => self.truncated = true,
            Some(url) => {
                self.returned += 1;
                let kind = if is_sitemap_url(&url) { EntryKind::Sitemap } else { kind };
                self.ready.push(SitemapEntry { url, lastmod, kind });
            }
            None => self.refused += 1,
        }
    }
}

/// Some sites list their sitemaps as if they were pages.
fn is_sitemap_url(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let mut endings = name.rsplit('.');
    name.contains("sitemap")
        && matches!((endings.next(), endings.next()), (Some("xml"), _) | (Some("gz"), Some("xml")))
}

impl fmt::Debug for Sitemap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sitemap").field("out", &self.out).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
