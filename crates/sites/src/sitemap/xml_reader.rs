//! Interprets XML tokens: sitemaps, sitemap indexes and feeds, distinguished by element names. Namespaces are
//! ignored: too many sites get them wrong.

use super::xml_tokens::{XmlToken, attribute};
use super::{EntryCollector, EntryKind, Format};

/// Translations of one page that are kept.
const MAX_ALTERNATES: usize = 200;
/// The longest date that is kept.
const MAX_DATE_BYTES: usize = 40;
/// Elements that only HTML pages have at their root.
const HTML_ROOTS: [&str; 9] = ["html", "head", "body", "title", "script", "div", "p", "h1", "center"];

/// The state of reading an XML file.
#[derive(Debug, Default)]
pub struct XmlReader {
    open: Option<OpenEntry>,
    /// What the next text means.
    field: Option<EntryField>,
    /// Inside a `source` element, whose links belong to another feed.
    in_source: bool,
}

/// An incomplete entry.
#[derive(Debug)]
struct OpenEntry {
    kind: EntryKind,
    /// The namespace prefix of its element: `image:loc` is not the `loc` of a `url`.
    prefix: String,
    url: Option<String>,
    /// An id that is a URL, for items without a link.
    id: Option<String>,
    lastmod: Option<String>,
    alternates: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryField {
    Url,
    Id,
    Date,
}

impl XmlReader {
    pub fn handle(&mut self, token: XmlToken<'_>, out: &mut EntryCollector) {
        if out.is_done() {
            return;
        }
        match token {
            XmlToken::Start { name, attributes, empty } => {
                self.start(name, attributes, out);
                if empty {
                    self.end(name, out);
                }
            }
            XmlToken::Text(text) => self.text(text, out),
            XmlToken::End { name } => self.end(name, out),
        }
    }

    /// Returns the entry that the end of the file truncated.
    pub fn finish(&mut self, out: &mut EntryCollector) {
        let Some(open) = self.open.take() else { return };
        if let Some(url) = open.url.or(open.id) {
            out.add(&url, open.lastmod, open.kind);
        }
        for alternate in open.alternates {
            out.add(&alternate, None, EntryKind::Page);
        }
    }

    fn start(&mut self, name: &str, attributes: &str, out: &mut EntryCollector) {
        let (prefix, local) = name.rsplit_once(':').unwrap_or(("", name));
        let local = local.to_ascii_lowercase();
        let format = *out.format.get_or_insert_with(|| detect_format(&local));
        self.field = None;
        if let Some(kind) = entry_kind(&local, format) {
            self.finish(out);
            self.in_source = false;
            self.open = Some(OpenEntry {
                kind,
                prefix: prefix.to_owned(),
                url: None,
                id: None,
                lastmod: None,
                alternates: Vec::new(),
            });
            return;
        }
        let own = self.open.as_ref().is_none_or(|open| open.prefix == prefix);
        match local.as_str() {
            "source" => self.in_source = true,
            "loc" if own => self.field = Some(EntryField::Url),
            "link" if !self.in_source => self.link(attributes, format, out),
            "guid" | "id"
                if attribute(attributes, "isPermaLink").is_none_or(|permanent| permanent != "false") =>
            {
                self.field = Some(EntryField::Id);
            }
            "lastmod" if own => self.field = Some(EntryField::Date),
            "pubdate" | "date" | "updated" | "published" | "modified" => self.field = Some(EntryField::Date),
            _ => {}
        }
    }

    /// A link with `href` is from Atom, or a translation; one without is from RSS, and its text follows.
    fn link(&mut self, attributes: &str, format: Format, out: &mut EntryCollector) {
        let Some(href) = attribute(attributes, "href") else {
            self.field = Some(EntryField::Url).filter(|_| self.open.is_some());
            return;
        };
        let rel = attribute(attributes, "rel").unwrap_or("alternate".into());
        match &mut self.open {
            None if rel == "next" && format == Format::Feed => out.add(&href, None, EntryKind::Feed),
            Some(open) if rel == "alternate" && format == Format::Feed => {
                open.url.get_or_insert_with(|| href.into_owned());
            }
            Some(open) if rel == "alternate" && open.alternates.len() < MAX_ALTERNATES => {
                open.alternates.push(href.into_owned());
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, out: &mut EntryCollector) {
        let text = text.trim();
        let Some(field) = self.field.filter(|_| !text.is_empty() && !self.in_source) else { return };
        // Some files break long URLs over lines.
        let url = || text.split_whitespace().collect::<String>();
        match (&mut self.open, field) {
            (Some(open), EntryField::Url) => {
                open.url.get_or_insert_with(url);
            }
            (Some(open), EntryField::Id) if text.starts_with("http") => {
                open.id.get_or_insert_with(url);
            }
            (Some(open), EntryField::Date) if text.len() <= MAX_DATE_BYTES => {
                open.lastmod.get_or_insert_with(|| text.to_owned());
            }
            // A URL without an enclosing element.
            (None, EntryField::Url) => {
                let kind =
                    if out.format == Some(Format::Index) { EntryKind::Sitemap } else { EntryKind::Page };
                out.add(&url(), None, kind);
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str, out: &mut EntryCollector) {
        self.field = None;
        let local = name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase();
        if local == "source" {
            self.in_source = false;
        } else if out.format.and_then(|format| entry_kind(&local, format)).is_some() {
            self.finish(out);
        }
    }
}

fn detect_format(root: &str) -> Format {
    match root {
        "urlset" | "url" => Format::Pages,
        "sitemapindex" | "sitemap" => Format::Index,
        "rss" | "rdf" | "feed" | "channel" => Format::Feed,
        root if HTML_ROOTS.contains(&root) => Format::Html,
        _ => Format::OtherXml,
    }
}

/// What an element describes: a page, another list or nothing. In feeds `url` is the URL of a logo; in
/// indexes some sites write it instead of `sitemap`.
fn entry_kind(local: &str, format: Format) -> Option<EntryKind> {
    match (local, format) {
        ("url" | "sitemap", Format::Feed | Format::Html | Format::Lines) => None,
        ("sitemap", _) | ("url", Format::Index) => Some(EntryKind::Sitemap),
        ("url" | "item" | "entry", _) => Some(EntryKind::Page),
        _ => None,
    }
}
