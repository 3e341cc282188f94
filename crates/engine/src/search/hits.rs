//! Hits as callers get them: their search fields alone, or with the page they lead to. Pages are scraped all
//! at once; one that fails or is not there in time keeps its search fields and says why.

use super::Searcher;
use super::plan::SearchPlan;
use crate::Error;
use crate::scrape::ScrapedDocument;
use crate::scrape::plan::NamedPage;
use access::Caller;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use net::Deadline;
use search::{Hit, Question, SourceKind};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use wire::scrape::Metadata;
use wire::search::{HitPlace, HitRanking, ImageHit, NewsHit, WebHit};

/// The name of this work in metrics.
const CAPABILITY: &str = "search";
/// Pages of one search that are scraped at once, whatever the plan allows.
const MAX_CONCURRENT_PAGES: u32 = 32;
/// Time that writing the record of a scrape may take after its deadline.
const RECORD_TIME: Duration = Duration::from_millis(100);
/// A scrape with less time than this would only time out.
const MIN_SCRAPE_TIME: Duration = Duration::from_millis(50);
/// Bytes of all pages in one response; later ones are left out, with the id to get them by.
const MAX_RESPONSE_BYTES: usize = 64 << 20;
/// Characters of a description made of a page.
const MAX_DESCRIPTION_CHARS: usize = 500;

/// The hits of all sources.
#[derive(Debug, Default)]
pub struct WrittenHits {
    pub groups: Vec<(SourceKind, Vec<Value>)>,
    /// What scraping them cost.
    pub credits: i64,
    /// Hits without the page that was asked for.
    pub unfinished: usize,
}

impl Searcher {
    /// Whether a hit leads where a scrape could go.
    pub(super) fn can_be_scraped(&self, hit: &Hit) -> bool {
        self.named(hit).is_ok()
    }

    fn named(&self, hit: &Hit) -> Result<NamedPage, Error> {
        NamedPage::parse(hit.url.as_str(), &|host| self.services.names_host(host))
    }

    pub(super) async fn write_hits(
        &self,
        caller: &Arc<Caller>,
        plan: &SearchPlan,
        lists: Vec<(&Question, Vec<Hit>)>,
        base_url: &str,
        deadline: Deadline,
    ) -> WrittenHits {
        let mut written = WrittenHits::default();
        let at_once = caller.plan.concurrency.unwrap_or(MAX_CONCURRENT_PAGES).clamp(1, MAX_CONCURRENT_PAGES);
        for (question, hits) in &lists {
            let kind = question.kind;
            let values = match &plan.scrape {
                Some(_) => Vec::new(),
                None => {
                    (1..).zip(hits).map(|(position, hit)| fields(plan, kind, hit, position).into()).collect()
                }
            };
            written.groups.push((kind, values));
        }
        if plan.scrape.is_none() {
            return written;
        }
        let mut scraping: Vec<BoxFuture<'_, (SourceKind, usize, WrittenHit)>> = Vec::new();
        for (question, hits) in &lists {
            for (position, hit) in (1..).zip(hits) {
                let page = HitToScrape { question, hit, position };
                scraping.push(Box::pin(async move {
                    (question.kind, position, self.with_page(caller, plan, &page, base_url, deadline).await)
                }));
            }
        }
        // Whichever page comes first, so that a slow one holds up nobody.
        let mut done = stream::iter(scraping).buffer_unordered(usize::try_from(at_once).unwrap_or(1));
        let (mut pages, mut bytes) = (Vec::new(), 0);
        while let Some((kind, position, mut merged)) = done.next().await {
            bytes += merged.bytes;
            if bytes > MAX_RESPONSE_BYTES {
                merged.leave_page_out();
            }
            written.credits += merged.credits.unwrap_or(0);
            written.unfinished += usize::from(!merged.whole);
            pages.push((kind, position, merged.into_fields()));
        }
        pages.sort_by_key(|(_, position, _)| *position);
        for (kind, _, fields) in pages {
            if let Some((_, values)) = written.groups.iter_mut().find(|(known, _)| *known == kind) {
                values.push(fields.into());
            }
        }
        written
    }

    /// A hit with its page, or with why there is none.
    async fn with_page(
        &self,
        caller: &Arc<Caller>,
        plan: &SearchPlan,
        page: &HitToScrape<'_>,
        base_url: &str,
        deadline: Deadline,
    ) -> WrittenHit {
        let HitToScrape { question, hit, position } = page;
        let fields = fields(plan, question.kind, hit, *position);
        let scraped = self.page(caller, plan, hit, base_url, deadline).await;
        // The place of the description, when the page is to be quoted there.
        let quoted = (question.highlights && !hit.highlighted).then(|| question.terms.text());
        let place = if question.kind == SourceKind::News { "snippet" } else { "description" };
        let whole = match scraped {
            Ok(scraped) => {
                let own = fields.clone();
                let work = move || merge(own, scraped, quoted.as_deref(), place);
                let end = Deadline::at(deadline.instant() + RECORD_TIME);
                let job = self.services.cpu_pool.job(caller.team, CAPABILITY, end);
                job.run(work).await.and_then(|merged| merged)
            }
            Err(error) => Err(error),
        };
        whole.unwrap_or_else(|error| without_page(fields, hit, &error))
    }

    /// The page of a hit as a document, charged and recorded like any scrape.
    async fn page(
        &self,
        caller: &Arc<Caller>,
        plan: &SearchPlan,
        hit: &Hit,
        base_url: &str,
        deadline: Deadline,
    ) -> Result<ScrapedDocument, Error> {
        let Some(template) = &plan.scrape else {
            return Err(Error::internal("a search that scrapes without a plan"));
        };
        let mut page = template.for_page(self.named(hit)?.url, hit.url.as_str());
        let left = deadline.remaining().saturating_sub(RECORD_TIME);
        if left < MIN_SCRAPE_TIME {
            return Err(Error::timeout("waiting for its turn"));
        }
        page.timeout = page.timeout.min(left);
        page.access.allowed.hosts.extend(plan.rules.clone());
        let scraping = deadline.run(Box::pin(self.scraper.scrape_document(caller, page, base_url))).await;
        scraping.map_err(|_| Error::timeout("waiting for the page"))?
    }
}

/// One hit and its position in its list.
struct HitToScrape<'a> {
    question: &'a Question,
    hit: &'a Hit,
    position: usize,
}

/// A hit as it is returned.
struct WrittenHit {
    /// What the search said.
    fields: Map<String, Value>,
    /// The formats of its page.
    formats: Map<String, Value>,
    warning: Option<String>,
    metadata: Metadata,
    /// The credits of its page; none without a page.
    credits: Option<i64>,
    /// Size of its page.
    bytes: usize,
    /// Nothing is missing.
    whole: bool,
}

impl WrittenHit {
    /// Leaves the page out, and keeps what the search said and the id to get the page by.
    fn leave_page_out(&mut self) {
        if !self.whole {
            return;
        }
        self.whole = false;
        self.formats.clear();
        let text = "the pages of this answer are too large together; get this one by its scrapeId";
        self.metadata.insert("error".to_owned(), text.into());
    }

    fn into_fields(self) -> Map<String, Value> {
        let mut fields = self.fields;
        fields.extend(self.formats);
        fields.extend(self.warning.map(|warning| ("warning".to_owned(), warning.into())));
        fields.insert("metadata".to_owned(), self.metadata.into());
        fields
    }
}

/// The search fields of a hit.
fn fields(plan: &SearchPlan, kind: SourceKind, hit: &Hit, position: usize) -> Map<String, Value> {
    let (url, title, text) = (hit.url.to_string(), hit.title.clone(), hit.text.clone());
    let category = hit.category;
    let image = hit.image.clone();
    let ranking = plan.explain.then(|| ranking(hit));
    let value = match kind {
        SourceKind::Web => {
            serde_json::to_value(WebHit { url, title, description: text, position, category, ranking })
        }
        SourceKind::News => {
            let (date, image_url) = (hit.date.clone(), image.map(|image| image.url));
            serde_json::to_value(NewsHit {
                title,
                url,
                snippet: text,
                date,
                image_url,
                position,
                category,
                ranking,
            })
        }
        SourceKind::Images => {
            let size = image.as_ref().map(|image| (image.width, image.height)).unwrap_or_default();
            let image_url = image.map(|image| image.url).unwrap_or_default();
            serde_json::to_value(ImageHit {
                title,
                image_url,
                image_width: size.0,
                image_height: size.1,
                url,
                position,
            })
        }
    };
    match value {
        Ok(Value::Object(fields)) => fields,
        // These are our own plain structs; they always become objects.
        _ => Map::new(),
    }
}

fn ranking(hit: &Hit) -> HitRanking {
    let places =
        hit.places.iter().map(|(provider, place)| HitPlace { provider: provider.clone(), place: *place });
    HitRanking { places: places.collect(), rating: hit.rating }
}

/// A hit merged with its page.
fn merge(
    mut fields: Map<String, Value>,
    scraped: ScrapedDocument,
    query: Option<&str>,
    place: &str,
) -> Result<WrittenHit, Error> {
    let ScrapedDocument { mut document, json_bytes: bytes, credits } = scraped;
    let markdown = document.markdown.as_deref();
    if let Some(said) = markdown.zip(query).and_then(|(markdown, query)| passage_for(markdown, query)) {
        fields.insert(place.to_owned(), said.into());
    }
    let (warning, metadata) = (document.warning.take(), std::mem::take(&mut document.metadata));
    let formats = match serde_json::to_value(document).map_err(Error::internal)? {
        Value::Object(formats) => formats,
        _ => Map::new(),
    };
    Ok(WrittenHit { fields, formats, warning, metadata, credits: Some(credits), bytes, whole: true })
}

/// A hit without its page, with the error.
fn without_page(fields: Map<String, Value>, hit: &Hit, error: &Error) -> WrittenHit {
    let url = hit.url.as_str();
    let mut metadata = Metadata::new();
    let mut put = |name: &str, value: &str| metadata.insert(name.to_owned(), value.into());
    put("sourceURL", url);
    put("url", url);
    put("error", &error.text());
    put("errorCode", error.kind().entry().code);
    let (formats, warning) = (Map::new(), None);
    WrittenHit { fields, formats, warning, metadata, credits: None, bytes: 0, whole: false }
}

/// The passage of a page that fits the query, on one line.
fn passage_for(markdown: &str, query: &str) -> Option<String> {
    let said = text::highlights::highlights(markdown, query);
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = match line.char_indices().nth(MAX_DESCRIPTION_CHARS) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    };
    (!cut.is_empty()).then_some(cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use wire::scrape::Document;

    fn merged(document: Document) -> WrittenHit {
        let fields = Map::from_iter([("url".to_owned(), json!("u")), ("snippet".to_owned(), json!("s"))]);
        let scraped = ScrapedDocument { document, json_bytes: 123, credits: 5 };
        merge(fields, scraped, Some("gannets"), "snippet").unwrap()
    }

    fn page() -> Document {
        Document {
            markdown: Some("# Birds\n\nGannets dive from thirty metres.\n\nCows eat grass.".to_owned()),
            warning: Some("old".to_owned()),
            metadata: Map::from_iter([
                ("creditsUsed".to_owned(), json!(9)),
                ("title".to_owned(), json!("B")),
            ]),
            ..Document::default()
        }
    }

    #[test]
    fn a_hit_has_its_page_and_the_price_of_it() {
        let hit = merged(page());
        assert_eq!((hit.credits, hit.bytes, hit.whole), (Some(5), 123, true));
        let mut fields = hit.into_fields();
        let said = fields.remove("snippet").unwrap();
        assert!(said.as_str().unwrap().contains("thirty metres"), "{said}");
        let Document { markdown, warning, metadata, .. } = page();
        let whole = json!({ "url": "u", "markdown": markdown, "warning": warning, "metadata": metadata });
        assert_eq!(Value::Object(fields), whole, "and nothing that the page has not");
        let textless = merged(Document { markdown: None, ..page() });
        assert_eq!(textless.fields["snippet"], "s", "there is nothing to quote");
    }

    #[test]
    fn a_page_that_is_left_out_can_still_be_asked_for() {
        let mut hit = merged(page());
        hit.leave_page_out();
        assert!(!hit.whole && hit.credits == Some(5));
        let fields = hit.into_fields();
        let names: Vec<&str> = fields.keys().map(String::as_str).collect();
        assert_eq!(names, ["metadata", "snippet", "url", "warning"]);
        assert!(fields["metadata"]["error"].as_str().unwrap().contains("scrapeId"));
        assert_eq!(fields["metadata"]["title"], "B");
    }
}
