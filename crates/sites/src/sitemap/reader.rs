//! What tags and texts mean: sitemaps, their indexes and feeds, told apart by the names of elements. Namespaces are not asked
//! for: too many sites get them wrong.

use super::tokens::{Token, attribute};
use super::{Format, Kind, Out};

/// Translations of one page that are kept.
const MOST_ALTERNATES: usize = 200;
/// Longest date that is kept.
const LONGEST_DATE: usize = 40;
/// Elements that only pages have at their root.
const HTML: [&str; 9] = ["html", "head", "body", "title", "script", "div", "p", "h1", "center"];

/// What an XML file has said so far.
#[derive(Debug, Default)]
pub struct Reader {
    open: Option<Open>,
    /// What the next text is.
    field: Option<Field>,
    /// Within an element whose links are another feed's.
    muted: bool,
}

/// An element for one page, not complete yet.
#[derive(Debug)]
struct Open {
    kind: Kind,
    /// The prefix of its name: `image:loc` is no `loc` of a `url`.
    prefix: String,
    address: Option<String>,
    /// An id that is an address, for items without one.
    id: Option<String>,
    lastmod: Option<String>,
    alternates: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Address,
    Id,
    Date,
}

impl Reader {
    pub fn take(&mut self, token: Token<'_>, out: &mut Out) {
        if out.is_done() {
            return;
        }
        match token {
            Token::Start { name, attributes, empty } => {
                self.start(name, attributes, out);
                if empty {
                    self.end(name, out);
                }
            }
            Token::Text(text) => self.text(text, out),
            Token::End { name } => self.end(name, out),
        }
    }

    /// Gives the element that the end of the file cut.
    pub fn finish(&mut self, out: &mut Out) {
        let Some(open) = self.open.take() else { return };
        if let Some(address) = open.address.or(open.id) {
            out.add(&address, open.lastmod, open.kind);
        }
        for alternate in open.alternates {
            out.add(&alternate, None, Kind::Page);
        }
    }

    fn start(&mut self, name: &str, attributes: &str, out: &mut Out) {
        let (prefix, local) = name.rsplit_once(':').unwrap_or(("", name));
        let local = local.to_ascii_lowercase();
        let format = *out.format.get_or_insert_with(|| format_of(&local));
        self.field = None;
        if let Some(kind) = container(&local, format) {
            self.finish(out);
            self.muted = false;
            self.open = Some(Open {
                kind,
                prefix: prefix.to_owned(),
                address: None,
                id: None,
                lastmod: None,
                alternates: Vec::new(),
            });
            return;
        }
        let own = self.open.as_ref().is_none_or(|open| open.prefix == prefix);
        match local.as_str() {
            "source" => self.muted = true,
            "loc" if own => self.field = Some(Field::Address),
            "link" if !self.muted => self.link(attributes, format, out),
            "guid" | "id"
                if attribute(attributes, "isPermaLink").is_none_or(|permanent| permanent != "false") =>
            {
                self.field = Some(Field::Id);
            }
            "lastmod" if own => self.field = Some(Field::Date),
            "pubdate" | "date" | "updated" | "published" | "modified" => self.field = Some(Field::Date),
            _ => {}
        }
    }

    /// A link with its address in an attribute is of Atom, or a translation; one without is of RSS, and its text follows.
    fn link(&mut self, attributes: &str, format: Format, out: &mut Out) {
        let Some(href) = attribute(attributes, "href") else {
            self.field = Some(Field::Address).filter(|_| self.open.is_some());
            return;
        };
        let rel = attribute(attributes, "rel").unwrap_or("alternate".into());
        match &mut self.open {
            None if rel == "next" && format == Format::Feed => out.add(&href, None, Kind::Feed),
            Some(open) if rel == "alternate" && format == Format::Feed => {
                open.address.get_or_insert_with(|| href.into_owned());
            }
            Some(open) if rel == "alternate" && open.alternates.len() < MOST_ALTERNATES => {
                open.alternates.push(href.into_owned());
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, out: &mut Out) {
        let text = text.trim();
        let Some(field) = self.field.filter(|_| !text.is_empty() && !self.muted) else { return };
        // Long addresses are broken over lines by some.
        let address = || text.split_whitespace().collect::<String>();
        match (&mut self.open, field) {
            (Some(open), Field::Address) => {
                open.address.get_or_insert_with(address);
            }
            (Some(open), Field::Id) if text.starts_with("http") => {
                open.id.get_or_insert_with(address);
            }
            (Some(open), Field::Date) if text.len() <= LONGEST_DATE => {
                open.lastmod.get_or_insert_with(|| text.to_owned());
            }
            // An address without an element around it.
            (None, Field::Address) => {
                let kind = if out.format == Some(Format::Index) { Kind::Sitemap } else { Kind::Page };
                out.add(&address(), None, kind);
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str, out: &mut Out) {
        self.field = None;
        let local = name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase();
        if local == "source" {
            self.muted = false;
        } else if out.format.and_then(|format| container(&local, format)).is_some() {
            self.finish(out);
        }
    }
}

fn format_of(root: &str) -> Format {
    match root {
        "urlset" | "url" => Format::Pages,
        "sitemapindex" | "sitemap" => Format::Index,
        "rss" | "rdf" | "feed" | "channel" => Format::Feed,
        root if HTML.contains(&root) => Format::Html,
        _ => Format::OtherXml,
    }
}

/// What an element stands for, if for a page or a further list. In feeds `url` is the address of a logo; in indexes some
/// write it for `sitemap`.
fn container(local: &str, format: Format) -> Option<Kind> {
    match (local, format) {
        ("url" | "sitemap", Format::Feed | Format::Html | Format::Lines) => None,
        ("sitemap", _) | ("url", Format::Index) => Some(Kind::Sitemap),
        ("url" | "item" | "entry", _) => Some(Kind::Page),
        _ => None,
    }
}
