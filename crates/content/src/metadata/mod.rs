//! The metadata of a page: meta tags, Open Graph, Dublin Core, JSON-LD, microdata, feeds, translations.
//!
//! Where several sources disagree, [`byline`] and [`language`] define which one wins; each value keeps its
//! source. Never fetches what the page links to.

mod byline;
mod json_ld;
pub mod language;
mod microdata;
#[cfg(test)]
mod tests;
mod title;

pub use json_ld::is_type;

use html::address::Base;
use html::dom::{Attr, Dom, NodeId, Tag};
use serde::Serialize;
use serde_json::{Map, Value};

/// Longer values are cut: they are payload, not description.
const MAX_VALUE_BYTES: usize = 4 << 10;
/// Meta tags kept.
const MAX_TAGS: usize = 400;
const MAX_LINKS: usize = 200;
/// Elements that state the page's title.
const MAX_TITLES: usize = 4;

/// A value and where on the page it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sourced {
    /// The value.
    pub value: String,
    /// Its source, such as `json-ld`, `meta:author` or `time`.
    pub source: &'static str,
}

/// A feed the page offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Feed {
    /// Absolute URL.
    pub url: String,
    /// `rss`, `atom` or `json`.
    pub kind: &'static str,
    /// Its title on the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// The same page in another language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alternate {
    /// Language tag as written, or `x-default`.
    pub language: String,
    /// Absolute URL.
    pub url: String,
}

/// The metadata of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// The title, from `title`, else Open Graph, else the first heading. Open Graph comes first where `title` is
    /// no more than the site's name at the end of it.
    pub title: Option<String>,
    /// The description, from `meta`, else Open Graph.
    pub description: Option<String>,
    /// The language and its source; `detected` when the page does not declare one.
    pub language: Option<Sourced>,
    /// Who wrote it.
    pub author: Option<Sourced>,
    /// When it was published.
    pub published: Option<Sourced>,
    /// When it was last changed.
    pub modified: Option<Sourced>,
    /// Absolute URL of the icon.
    pub favicon: Option<String>,
    /// The canonical URL.
    pub canonical: Option<String>,
    /// Feeds.
    pub feeds: Vec<Feed>,
    /// Translations.
    pub alternates: Vec<Alternate>,
    /// Absolute URLs of the same page as markdown.
    pub markdown_alternates: Vec<String>,
    /// Every meta tag by its name in lower case, values in order.
    pub tags: Vec<(String, Vec<String>)>,
    /// JSON-LD blocks that could be read.
    pub json_ld: Vec<Value>,
    /// Microdata items.
    pub microdata: Vec<Value>,
}

impl Metadata {
    /// Collects the metadata of a page.
    pub fn from_dom(dom: &Dom, base: &Base) -> Self {
        let mut metadata = Self::default();
        let mut titles = Vec::new();
        let mut heading = None;
        let head_end = dom.body().unwrap_or(NodeId(u32::MAX));
        for id in dom.subtree(dom.root()) {
            match dom.tag(id) {
                Tag::Meta => metadata.add_tag(dom, id, base),
                Tag::Link => metadata.add_link(dom, id, base),
                Tag::Title if titles.is_empty() || (id < head_end && titles.len() < MAX_TITLES) => {
                    titles.extend(words(&dom.text_content(id)));
                }
                Tag::H1 if heading.is_none() => heading = Some(id),
                Tag::Script => metadata.json_ld.extend(json_ld::parse_block(dom, id, metadata.json_ld.len())),
                _ => {}
            }
        }
        titles.extend(metadata.tag("og:title").map(str::to_owned));
        metadata.title =
            title::choose(dom, &titles).or_else(|| heading.and_then(|id| words(&dom.text_content(id))));
        metadata.description = ["description", "og:description", "twitter:description", "dc.description"]
            .iter()
            .find_map(|name| metadata.tag(name).map(str::to_owned));
        if dom.uses(Attr::Itemscope) {
            metadata.microdata = microdata::find_items(dom, base);
        }
        metadata.language = language::find_language(dom, &metadata);
        metadata.author = byline::author(dom, &metadata);
        metadata.published = byline::published(dom, &metadata, base);
        metadata.modified = byline::modified(dom, &metadata);
        metadata
    }

    /// The first value of a meta tag by its name in lower case.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let (_, values) = self.tags.iter().find(|(known, _)| known == name)?;
        values.iter().map(String::as_str).find(|value| !value.is_empty())
    }

    /// The value of a meta tag that the page has once, by its name in lower case.
    pub fn only_value(&self, name: &str) -> Option<&str> {
        match self.tags.iter().find(|(known, _)| known == name)?.1.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The title that [`Metadata::to_wire`] gives: a page without any other may name one in a meta tag.
    pub fn wire_title(&self) -> Option<&str> {
        self.title.as_deref().or_else(|| self.only_value("title"))
    }

    fn add_tag(&mut self, dom: &Dom, id: NodeId, base: &Base) {
        let Some(content) = dom.attr(id, Attr::Content) else { return };
        let name = [Attr::Name, Attr::Property, Attr::Itemprop, Attr::HttpEquiv]
            .into_iter()
            .find_map(|attribute| dom.attr(id, attribute).map(str::trim).filter(|name| !name.is_empty()));
        let Some(name) = name.filter(|name| name.len() <= 100) else { return };
        let name = name.to_ascii_lowercase();
        let content = content.trim();
        let mut content = content[..content.floor_char_boundary(MAX_VALUE_BYTES)].to_owned();
        if URL_TAGS.contains(&name.as_str())
            && let Some(absolute) = base.resolve(&content)
        {
            content = absolute.into_owned();
        }
        match self.tags.iter().position(|(known, _)| *known == name) {
            Some(at) if self.tags[at].1.len() < 50 => self.tags[at].1.push(content),
            None if self.tags.len() < MAX_TAGS => self.tags.push((name, vec![content])),
            _ => {}
        }
    }

    fn add_link(&mut self, dom: &Dom, id: NodeId, base: &Base) {
        let (Some(rel), Some(href)) = (dom.attr(id, Attr::Rel), dom.attr(id, Attr::Href)) else { return };
        let rel = rel.to_ascii_lowercase();
        let is = |wanted: &str| rel.split_ascii_whitespace().any(|word| word == wanted);
        if !(is("icon") || is("canonical") || is("alternate") || is("apple-touch-icon")) {
            return;
        }
        let Some(url) = base.resolve(href).map(std::borrow::Cow::into_owned) else { return };
        if is("canonical") && self.canonical.is_none() {
            self.canonical = Some(url);
        } else if is("icon") || (is("apple-touch-icon") && self.favicon.is_none()) {
            if self.favicon.is_none() {
                self.favicon = Some(url);
            }
        } else if is("alternate") && self.feeds.len() + self.alternates.len() < MAX_LINKS {
            let kind = dom.attr(id, Attr::Type).unwrap_or_default().to_ascii_lowercase();
            if let Some(language) = dom.attr(id, Attr::Hreflang) {
                self.alternates.push(Alternate { language: language.trim().to_owned(), url });
            } else if kind == "text/markdown" {
                if self.markdown_alternates.len() < MAX_LINKS {
                    self.markdown_alternates.push(url);
                }
            } else if let Some(kind) = feed_kind(&kind) {
                let title = dom.attr(id, Attr::Title).and_then(words);
                self.feeds.push(Feed { url, kind, title });
            }
        }
    }

    /// The metadata under the names of the wire contract, followed by meta tags under their own names.
    pub fn to_wire(&self) -> Map<String, Value> {
        let mut map = Map::new();
        let mut put = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                map.entry(name).or_insert_with(|| value.into());
            }
        };
        put("title", self.title.as_deref());
        put("description", self.description.as_deref());
        put("language", self.language.as_ref().map(|language| language.value.as_str()));
        put("favicon", self.favicon.as_deref());
        put("canonical", self.canonical.as_deref());
        put("author", self.author.as_ref().map(|author| author.value.as_str()));
        put("publishedTime", self.published.as_ref().map(|date| date.value.as_str()));
        put("modifiedTime", self.modified.as_ref().map(|date| date.value.as_str()));
        for (tag, name) in WIRE_NAMES {
            put(name, self.tag(tag));
        }
        if let Some((_, values)) = self.tags.iter().find(|(name, _)| name == "og:locale:alternate") {
            map.insert("ogLocaleAlternate".into(), values.clone().into());
        }
        let serialized = [
            ("feeds", serde_json::to_value(&self.feeds)),
            ("alternates", serde_json::to_value(&self.alternates)),
            ("jsonLd", serde_json::to_value(&self.json_ld)),
            ("microdata", serde_json::to_value(&self.microdata)),
        ];
        for (name, value) in serialized {
            if let Ok(Value::Array(list)) = value
                && !list.is_empty()
            {
                map.insert(name.into(), Value::Array(list));
            }
        }
        for (name, found) in [
            ("languageSource", &self.language),
            ("authorSource", &self.author),
            ("publishedTimeSource", &self.published),
            ("modifiedTimeSource", &self.modified),
        ] {
            if let Some(found) = found {
                map.insert(name.into(), found.source.into());
            }
        }
        for (name, values) in &self.tags {
            let value = match values.as_slice() {
                [one] => Value::from(one.as_str()),
                many => Value::from(many.to_vec()),
            };
            map.entry(name.as_str()).or_insert(value);
        }
        map
    }
}

/// Meta tags whose value is a URL, which is made absolute.
const URL_TAGS: &[&str] = &[
    "og:url",
    "og:image",
    "og:image:url",
    "og:image:secure_url",
    "og:audio",
    "og:video",
    "twitter:image",
    "twitter:image:src",
];

/// Meta tags with their own name in the wire contract.
const WIRE_NAMES: &[(&str, &str)] = &[
    ("keywords", "keywords"),
    ("robots", "robots"),
    ("og:title", "ogTitle"),
    ("og:description", "ogDescription"),
    ("og:url", "ogUrl"),
    ("og:image", "ogImage"),
    ("og:audio", "ogAudio"),
    ("og:determiner", "ogDeterminer"),
    ("og:locale", "ogLocale"),
    ("og:site_name", "ogSiteName"),
    ("og:video", "ogVideo"),
    ("article:section", "articleSection"),
    ("article:tag", "articleTag"),
    ("article:published_time", "publishedTime"),
    ("article:modified_time", "modifiedTime"),
    ("dcterms.keywords", "dcTermsKeywords"),
    ("dc.description", "dcDescription"),
    ("dc.subject", "dcSubject"),
    ("dcterms.subject", "dcTermsSubject"),
    ("dcterms.audience", "dcTermsAudience"),
    ("dc.type", "dcType"),
    ("dcterms.type", "dcTermsType"),
    ("dc.date", "dcDate"),
    ("dc.date.created", "dcDateCreated"),
    ("dcterms.created", "dcTermsCreated"),
];

fn feed_kind(kind: &str) -> Option<&'static str> {
    match kind {
        "application/rss+xml" => Some("rss"),
        "application/atom+xml" => Some("atom"),
        "application/feed+json" => Some("json"),
        _ => None,
    }
}

/// Text with its white space collapsed; none when nothing is left.
fn words(text: &str) -> Option<String> {
    let mut joined = String::new();
    for word in text.split_whitespace() {
        if joined.len() + word.len() > MAX_VALUE_BYTES {
            break;
        }
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    (!joined.is_empty()).then_some(joined)
}
