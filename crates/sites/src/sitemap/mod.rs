//! Lists of a site's pages: XML sitemaps and their indexes, RSS, Atom, RDF, and plain lists of addresses.
//!
//! A [`Sitemap`] is fed bytes as they come and gives entries as they are complete, so a file of any size costs little
//! memory. It takes what it can from broken files and never expands entities. Undoing gzip, fetching, and how deep and how
//! often indexes are followed are the caller's.

mod decide;
mod lines;
mod reader;
mod tokens;

use crate::address::LONGEST;
use decide::Head;
use encoding_rs::{Decoder, UTF_8};
use lines::Lines;
use reader::Reader;
use std::fmt;
use tokens::Tokens;
use url::Url;

/// Entries in one file by the standard; many sites have more.
pub const STANDARD_ENTRIES: usize = 50_000;
/// Bytes that are decoded at a time.
const PIECE: usize = 32 << 10;

/// What an entry leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A page of the site.
    Page,
    /// A further sitemap.
    Sitemap,
    /// The next part of this feed.
    Feed,
}

/// One line of a sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Absolute, http or https.
    pub url: Url,
    /// When it changed, as the site writes it.
    pub lastmod: Option<String>,
    /// What it leads to.
    pub kind: Kind,
}

/// What a file turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `<urlset>`
    Pages,
    /// `<sitemapindex>`
    Index,
    /// RSS, RDF or Atom.
    Feed,
    /// XML with some other root; entries may have been found all the same.
    OtherXml,
    /// One address in each line.
    Lines,
    /// A page, most often one that says that there is no sitemap.
    Html,
}

/// What is known when a file has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What it was; none when it was empty.
    pub format: Option<Format>,
    /// Entries given.
    pub entries: usize,
    /// Entries left out because their address is none, or too long.
    pub refused: usize,
    /// There was more than was asked for.
    pub truncated: bool,
}

/// A sitemap that is being read.
pub struct Sitemap {
    decoder: Decoder,
    text: String,
    source: Source,
    out: Out,
}

enum Source {
    Undecided(Head),
    Xml(Box<(Tokens, Reader)>),
    Lines(Lines),
}

/// Where entries go.
#[derive(Debug)]
struct Out {
    base: Url,
    most: usize,
    ready: Vec<Entry>,
    given: usize,
    refused: usize,
    truncated: bool,
    format: Option<Format>,
}

impl Sitemap {
    /// A reader for the file at `base`, which relative addresses are resolved against. It gives at most `most` entries.
    pub fn new(base: Url, most: usize) -> Self {
        Self {
            decoder: UTF_8.new_decoder(),
            text: String::new(),
            source: Source::Undecided(Head::default()),
            out: Out { base, most, ready: Vec::new(), given: 0, refused: 0, truncated: false, format: None },
        }
    }

    /// Takes the next bytes; gives the entries that they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Entry> {
        for piece in bytes.chunks(PIECE) {
            self.decode(piece, false);
        }
        std::mem::take(&mut self.out.ready)
    }

    /// Nothing more will be found: enough was given, or this is no sitemap. The rest need not be fetched.
    pub fn is_done(&self) -> bool {
        self.out.is_done()
    }

    /// The file has ended; gives what was still open.
    pub fn finish(mut self) -> (Vec<Entry>, Summary) {
        self.decode(&[], true);
        if let Source::Undecided(head) = &mut self.source {
            let head = std::mem::take(head);
            self.begin(head);
        }
        match &mut self.source {
            Source::Xml(xml) => xml.1.finish(&mut self.out),
            Source::Lines(lines) => lines.finish(&mut self.out),
            Source::Undecided(_) => {}
        }
        let Out { ready, given: entries, refused, truncated, format, .. } = self.out;
        (ready, Summary { format, entries, refused, truncated })
    }

    fn decode(&mut self, bytes: &[u8], last: bool) {
        if self.out.is_done() {
            return;
        }
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.reserve(self.decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(PIECE * 3));
        // The buffer holds the worst case, so one call takes all bytes.
        let _ = self.decoder.decode_to_string(bytes, &mut text, last);
        self.take(&text);
        self.text = text;
    }

    fn take(&mut self, text: &str) {
        match &mut self.source {
            Source::Undecided(head) => {
                if head.add(text) {
                    let head = std::mem::take(head);
                    self.begin(head);
                }
            }
            Source::Xml(xml) => {
                let (tokens, reader) = &mut **xml;
                tokens.feed(text, |token| reader.take(token, &mut self.out));
            }
            Source::Lines(lines) => lines.feed(text, &mut self.out),
        }
    }

    /// Enough of the file was seen to know what it is.
    fn begin(&mut self, head: Head) {
        let Some((is_xml, text)) = head.decide() else { return };
        self.source = if is_xml {
            Source::Xml(Box::default())
        } else {
            self.out.format = Some(Format::Lines);
            Source::Lines(Lines::default())
        };
        self.take(&text);
    }
}

impl Out {
    fn is_done(&self) -> bool {
        self.truncated || self.format == Some(Format::Html)
    }

    fn add(&mut self, written: &str, lastmod: Option<String>, kind: Kind) {
        let joined = if written.len() > LONGEST { None } else { self.base.join(written).ok() };
        match joined.filter(|url| matches!(url.scheme(), "http" | "https") && url.as_str().len() <= LONGEST) {
            Some(_) if self.given == self.most => self.truncated = true,
            Some(url) => {
                self.given += 1;
                let kind = if names_a_sitemap(&url) { Kind::Sitemap } else { kind };
                self.ready.push(Entry { url, lastmod, kind });
            }
            None => self.refused += 1,
        }
    }
}

/// Some list their sitemaps as if they were pages.
fn names_a_sitemap(url: &Url) -> bool {
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
