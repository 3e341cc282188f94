//! A scraped page as it is stored for search: made in the CPU pool, from the text that was written for the
//! caller anyway.

use super::plain::{PlainText, plain};
use crate::crawl::order::entry_key;
use crate::scrape::cache;
use crate::scrape::fetched_page::FetchedPage;
use crate::scrape::plan::ScrapePlan;
use content::page::ContentScope;
use content::sniff::ContentKind as Sniffed;
use content::verdict::VerdictKind;
use index::{Document, Image};
use serde_json::Value;
use sites::{PageUrl, UrlEquivalence};
use std::borrow::Cow;
use store::search::{NewSearchPage, SearchKey};
use url::Url;
use wire::scrape::{Document as Written, Metadata};

/// The collection that scraped and crawled pages go into.
pub const WEB: &str = "web";
/// Blocks of a page's own description that are looked at for what kind of page it is.
const MAX_BLOCKS: usize = 20;

/// A page for the index; none when there is nothing to find on it. That it may be kept at all the caller has
/// checked.
pub fn from_scrape(plan: &ScrapePlan, fetched: &FetchedPage, written: &Written) -> Option<NewSearchPage> {
    let is_page = matches!(fetched.page.kind(), Sniffed::Html | Sniffed::Text);
    if !is_page || fetched.verdict.kind != VerdictKind::Content {
        return None;
    }
    let metadata = &written.metadata;
    let said = |name: &str| metadata.get(name).and_then(Value::as_str);
    let PlainText { text, headings, links, images } = plain(&words_of(plan, fetched, written)?);
    let title = said("title").or(headings.first().map(String::as_str)).unwrap_or_default().to_owned();
    let preview = said("ogImage").map(|url| Image {
        url: url.to_owned(),
        text: title.clone(),
        width: None,
        height: None,
    });
    let shown = images.into_iter().map(|(url, text)| Image { url, text, width: None, height: None });
    let document = Document {
        url: fetched.response.url.to_string(),
        description: said("description").unwrap_or_default().to_owned(),
        headings,
        body: text,
        language: said("language").map(primary_language),
        published: ["modifiedTime", "publishedTime"].into_iter().find_map(|name| moment(said(name)?)),
        links: links.iter().filter_map(|link| index::address_number(link)).collect(),
        images: preview.into_iter().chain(shown).collect(),
        kind: kind(metadata).map(str::to_owned),
        title,
        ..Document::default()
    };
    to_new_search_page(WEB, &key_of(&fetched.response.url)?, document)
}

/// A document in the form that the store keeps; none when there is nothing to find in it.
pub fn to_new_search_page(collection: &str, key: &SearchKey, document: Document) -> Option<NewSearchPage> {
    let document = document.bounded();
    if document.body.trim().is_empty() && document.title.trim().is_empty() {
        return None;
    }
    let mut words = cache::KeyHasher::new("searchable");
    for part in [&document.url, &document.title, &document.description, &document.body] {
        words.add(part);
    }
    for (name, value) in &document.attributes {
        words.add(name);
        words.add(value);
    }
    let mut hash = [0; 16];
    hash.copy_from_slice(&words.finish()[..16]);
    // Our own plain data always serialises.
    let packed = cache::pack(&serde_json::to_vec(&document).ok()?).ok()?;
    Some(NewSearchPage {
        collection: collection.to_owned(),
        key: *key,
        url: document.url,
        hash,
        document: packed,
    })
}

/// What the store kept, as the index takes it.
pub fn unpacked(packed: &[u8]) -> Option<Document> {
    serde_json::from_slice(&cache::unpack(packed).ok()?).ok()
}

/// One page has one key, however its address is written.
pub fn key_of(url: &Url) -> Option<SearchKey> {
    PageUrl::from_url(url.clone(), UrlEquivalence { ignore_query: false, similar: true })
        .ok()
        .map(|one| entry_key(&one))
}

/// The markdown that was written for the caller, when it is of the whole content; else one of our own.
fn words_of<'a>(plan: &ScrapePlan, fetched: &FetchedPage, written: &'a Written) -> Option<Cow<'a, str>> {
    let whole = plan.parts.include_tags.is_empty() && plan.parts.exclude_tags.is_empty();
    if let Some(markdown) = written.markdown.as_deref().filter(|_| whole) {
        return Some(markdown.into());
    }
    let selection = fetched.page.select(&ContentScope::default()).ok()?;
    let markdown = fetched.page.markdown(&selection, true);
    Some(match &plan.redact {
        Some(options) => content::redact::redact(&markdown, options).text.into(),
        None => markdown.into(),
    })
}

/// `en` of `en-GB`.
pub fn primary_language(tag: &str) -> String {
    tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase()
}

/// What kind of page it says it is.
fn kind(metadata: &Metadata) -> Option<&'static str> {
    let blocks = metadata.get("jsonLd").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let of_graph = blocks.iter().filter_map(|block| block.get("@graph")?.as_array()).flatten();
    let types = blocks.iter().chain(of_graph).take(MAX_BLOCKS).filter_map(|block| block.get("@type"));
    let mut is_article = metadata.get("og:type").and_then(Value::as_str) == Some("article");
    for named in types {
        let names = named.as_array().map_or(std::slice::from_ref(named), Vec::as_slice);
        for name in names.iter().filter_map(Value::as_str) {
            match name {
                "NewsArticle" | "ReportageNewsArticle" | "LiveBlogPosting" => return Some("news"),
                "Article" | "BlogPosting" | "TechArticle" => is_article = true,
                _ => {}
            }
        }
    }
    is_article.then_some("article")
}

/// A date as pages and exports write it, in milliseconds since the Unix epoch. Without a zone it is UTC.
pub fn moment(written: &str) -> Option<i64> {
    let written = written.trim();
    if let Ok(stamp) = written.parse::<jiff::Timestamp>() {
        return Some(stamp.as_millisecond());
    }
    let civil = written.parse::<jiff::civil::DateTime>().or_else(|_| {
        written.parse::<jiff::civil::Date>().map(|date| date.to_datetime(jiff::civil::Time::midnight()))
    });
    let zoned = civil.ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn dates_are_read_as_pages_write_them() {
        assert_eq!(moment("1970-01-02"), Some(86_400_000));
        assert_eq!(moment("1970-01-01T00:00:01Z"), Some(1_000));
        assert_eq!(moment("1970-01-01T01:00:01+01:00"), Some(1_000));
        assert_eq!(moment(" 1970-01-01T00:00:01 "), Some(1_000));
        assert_eq!(moment("yesterday"), None);
    }

    #[test]
    fn a_page_says_what_it_is() {
        let of = |value: Value| kind(value.as_object().unwrap());
        assert_eq!(
            of(json!({"jsonLd": [{"@graph": [{"@type": ["WebPage", "NewsArticle"]}]}]})),
            Some("news")
        );
        assert_eq!(of(json!({"og:type": "article"})), Some("article"));
        assert_eq!(of(json!({"jsonLd": [{"@type": 7}]})), None);
    }

    #[test]
    fn what_is_kept_comes_out_again_and_the_same_has_the_same_hash() {
        let document = Document { title: "Gannets".into(), body: "They dive.".into(), ..Document::default() };
        let page = to_new_search_page(WEB, &[1; 16], document.clone()).unwrap();
        assert_eq!(unpacked(&page.document), Some(document.clone()));
        assert_eq!(page, to_new_search_page(WEB, &[1; 16], document.clone()).unwrap());
        let other = Document { body: "They swim.".into(), ..document };
        assert_ne!(to_new_search_page(WEB, &[1; 16], other).unwrap().hash, page.hash);
        assert_eq!(to_new_search_page(WEB, &[1; 16], Document::default()), None);
        let key = |url: &str| key_of(&Url::parse(url).unwrap());
        assert_eq!(key("http://www.a.test/x/"), key("https://a.test/x"));
        assert_ne!(key("https://a.test/x"), key("https://a.test/x?p=2"));
    }
}
