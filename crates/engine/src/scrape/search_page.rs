//! What is stored of a scraped page for search: made in the CPU pool, from the text that was written for the
//! caller anyway.

use super::cache::shared_key;
use super::fetched_page::{FetchedPage, PageResponse};
use super::plan::ScrapePlan;
use content::metadata::Metadata;
use content::page::ContentScope;
use content::sniff::ContentKind as Sniffed;
use content::verdict::VerdictKind;
use imports::search_page::plain_text::{PlainText, plain};
use imports::search_page::{WEB, key_of, moment, primary_language, to_new_search_page};
use index::{Document, Image};
use serde_json::Value;
use std::borrow::Cow;
use store::search::{NewSearchPage, SearchKey};

/// Blocks of a page's own description that are looked at for what kind of page it is.
const MAX_BLOCKS: usize = 20;

/// The place of a page in the index, where its request lets others of the team see it.
pub fn key_in_index(plan: &ScrapePlan, response: &PageResponse) -> Option<SearchKey> {
    shared_key(plan, response)?;
    key_of(&response.url)
}

/// A page for the index; none when there is nothing to find on it. That it may be kept at all the caller has
/// checked.
/// `said` is what the page says of itself, `markdown` what was written for the caller.
pub fn from_scrape(
    plan: &ScrapePlan,
    fetched: &FetchedPage,
    said: &Metadata,
    markdown: Option<&str>,
) -> Option<NewSearchPage> {
    let is_page = matches!(fetched.page.kind(), Sniffed::Html | Sniffed::Markdown | Sniffed::Text);
    if !is_page || fetched.verdict.kind != VerdictKind::Content {
        return None;
    }
    let PlainText { text, headings, links, images } = plain(&words_of(plan, fetched, markdown)?);
    let title = said.wire_title().or(headings.first().map(String::as_str)).unwrap_or_default().to_owned();
    let preview = said.tag("og:image").map(|url| Image {
        url: url.to_owned(),
        text: title.clone(),
        width: None,
        height: None,
    });
    let shown = images.into_iter().map(|(url, text)| Image { url, text, width: None, height: None });
    let document = Document {
        url: fetched.response.url.to_string(),
        description: said.description.clone().unwrap_or_default(),
        headings,
        body: text,
        language: language(said).map(primary_language),
        published: last_change(said),
        links: links.iter().filter_map(|link| index::address_number(link)).collect(),
        images: preview.into_iter().chain(shown).collect(),
        kind: kind(said).map(str::to_owned),
        title,
        ..Document::default()
    };
    to_new_search_page(WEB, &key_of(&fetched.response.url)?, document)
}

/// The markdown that was written for the caller, when it is of the whole content; else one of our own.
fn words_of<'a>(plan: &ScrapePlan, fetched: &FetchedPage, markdown: Option<&'a str>) -> Option<Cow<'a, str>> {
    let whole = plan.parts.include_tags.is_empty() && plan.parts.exclude_tags.is_empty();
    if let Some(markdown) = markdown.filter(|_| whole) {
        return Some(markdown.into());
    }
    let selection = fetched.page.select(&ContentScope::default()).ok()?;
    let markdown = fetched.page.markdown(&selection, true);
    Some(match &plan.redact {
        Some(options) => text::redact::redact(&markdown, options).text.into(),
        None => markdown.into(),
    })
}

/// The language of a page as a tag, or as the page has it where that is no tag.
fn language(said: &Metadata) -> Option<&str> {
    said.language.as_ref().map(|language| language.value.as_str()).or_else(|| said.only_value("language"))
}

/// When a page was changed or, where that is not known, published.
fn last_change(said: &Metadata) -> Option<i64> {
    let modified = said.modified.as_ref().map(|date| date.value.as_str());
    let published = said.published.as_ref().map(|date| date.value.as_str());
    // A tag whose date `content` could not read may still be one that we can.
    let modified = modified.or_else(|| said.tag("article:modified_time"));
    let published = published.or_else(|| said.tag("article:published_time"));
    modified.and_then(moment).or_else(|| published.and_then(moment))
}

/// What kind of page it says it is.
fn kind(said: &Metadata) -> Option<&'static str> {
    let blocks = &said.json_ld;
    let of_graph = blocks.iter().filter_map(|block| block.get("@graph")?.as_array()).flatten();
    let types = blocks.iter().chain(of_graph).take(MAX_BLOCKS).filter_map(|block| block.get("@type"));
    let mut is_article = said.only_value("og:type") == Some("article");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrape::document::page_metadata;
    use imports::search_page::unpacked;
    use serde_json::json;
    use wire::scrape::ScrapeRequest;

    #[test]
    fn a_page_says_what_it_is() {
        let of = |block: Value| kind(&Metadata { json_ld: vec![block], ..Metadata::default() });
        assert_eq!(of(json!({"@graph": [{"@type": ["WebPage", "NewsArticle"]}]})), Some("news"));
        assert_eq!(of(json!({"@type": 7})), None);
        let tagged = |values: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            kind(&Metadata { tags: vec![("og:type".to_owned(), values)], ..Metadata::default() })
        };
        assert_eq!(tagged(&["article"]), Some("article"));
        assert_eq!(tagged(&["article", "website"]), None, "it cannot decide");
    }

    fn indexed(html: &str) -> Document {
        let asked = ScrapeRequest { url: Some("https://a.test/p".to_owned()), ..ScrapeRequest::default() };
        let plan = ScrapePlan::resolve(&asked, false, &|_| true).unwrap();
        let fetched = FetchedPage::for_test("https://a.test/p", "text/html", html);
        let said = page_metadata(&fetched);
        let page = from_scrape(&plan, &fetched, &said, Some("# Gannets\n\nThey dive.")).unwrap();
        unpacked(&page.document).unwrap()
    }

    #[test]
    fn a_page_is_found_by_what_it_says_of_itself() {
        let page = indexed(
            "<html lang=en-GB><title>Birds</title><meta name=description content='Of the sea'>\
             <meta property=og:image content=/b.png><meta property=og:type content=article>\
             <meta property=article:published_time content=2001-01-02>\
             <meta property=article:modified_time content=2001-01-03><p>Gannets dive.",
        );
        assert_eq!(
            (&*page.title, &*page.description, &*page.body),
            ("Birds", "Of the sea", "Gannets\n\nThey dive.")
        );
        assert_eq!((page.language.as_deref(), page.kind.as_deref()), (Some("en"), Some("article")));
        assert_eq!(page.published, Some(978_480_000_000));
        let image = &page.images[0];
        assert_eq!((&*image.url, &*image.text), ("https://a.test/b.png", "Birds"));
        let bare = indexed("<meta property=article:published_time content=2001-01-02><p>Gannets dive.");
        assert_eq!(
            (&*bare.title, &*bare.description, bare.published),
            ("Gannets", "", Some(978_393_600_000))
        );
        assert!(bare.kind.is_none() && bare.images.is_empty());
        let tagged =
            indexed("<meta name=title content=Tag><meta name=language content='English (GB)'><p>Dive.");
        assert_eq!((&*tagged.title, tagged.language.as_deref()), ("Tag", Some("english (gb)")));
    }
}
