//! Hits as callers get them: their search fields alone, or with the page they lead to. Pages are scraped all
//! at once; one that fails or is not there in time keeps its search fields and says why.

use super::Searcher;
use super::plan::SearchPlan;
use crate::Error;
use crate::callers::Caller;
use crate::scrape::plan::NamedPage;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use net::Deadline;
use search::{Hit, Question, SourceKind};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use wire::search::{ImageHit, NewsHit, WebHit};

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
        NamedPage::parse(hit.url.as_str(), &|host| self.scraper.names_host(host))
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
                None => (1..).zip(hits).map(|(position, hit)| fields(kind, hit, position).into()).collect(),
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
            pages.push((kind, position, merged.fields));
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
        let fields = fields(question.kind, hit, *position);
        let scraped = self.page(caller, plan, hit, base_url, deadline).await;
        // The place of the description, when the page is to be quoted there.
        let quoted = (question.highlights && !hit.highlighted).then(|| question.terms.text());
        let place = if question.kind == SourceKind::News { "snippet" } else { "description" };
        let whole = match scraped {
            Ok(document) => {
                let own = fields.clone();
                let work = move || merge(own, &document, quoted.as_deref(), place);
                let end = Deadline::at(deadline.instant() + RECORD_TIME);
                let job = self.scraper.ladder().cpu_pool.job(caller.team, CAPABILITY, end);
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
    ) -> Result<Vec<u8>, Error> {
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
        let scraping = deadline.run(Box::pin(self.scraper.scrape(caller, page, None, base_url))).await;
        let scraped = scraping.map_err(|_| Error::timeout("waiting for the page"))??;
        Ok(scraped.document)
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
    fields: Map<String, Value>,
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
        const SEARCH: [&str; 12] = [
            "url",
            "title",
            "description",
            "position",
            "category",
            "snippet",
            "date",
            "imageUrl",
            "imageWidth",
            "imageHeight",
            "warning",
            "metadata",
        ];
        if !self.whole {
            return;
        }
        self.whole = false;
        self.fields.retain(|name, _| SEARCH.contains(&name.as_str()));
        if let Some(Value::Object(metadata)) = self.fields.get_mut("metadata") {
            let text = "the pages of this answer are too large together; get this one by its scrapeId";
            metadata.insert("error".to_owned(), text.into());
        }
    }
}

/// The search fields of a hit.
fn fields(kind: SourceKind, hit: &Hit, position: usize) -> Map<String, Value> {
    let (url, title, text) = (hit.url.to_string(), hit.title.clone(), hit.text.clone());
    let category = hit.category;
    let image = hit.image.clone();
    let value = match kind {
        SourceKind::Web => serde_json::to_value(WebHit { url, title, description: text, position, category }),
        SourceKind::News => {
            let (date, image_url) = (hit.date.clone(), image.map(|image| image.url));
            serde_json::to_value(NewsHit { title, url, snippet: text, date, image_url, position, category })
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

/// A hit merged with its page.
fn merge(
    mut fields: Map<String, Value>,
    document: &[u8],
    query: Option<&str>,
    place: &str,
) -> Result<WrittenHit, Error> {
    let bytes = document.len();
    let document: Map<String, Value> = serde_json::from_slice(document).map_err(Error::internal)?;
    if let Some(said) = query.and_then(|query| passage_for(&document, query)) {
        fields.insert(place.to_owned(), said.into());
    }
    let credits = document.get("metadata").and_then(|metadata| metadata["creditsUsed"].as_i64());
    fields.extend(document);
    Ok(WrittenHit { fields, credits: Some(credits.unwrap_or(1)), bytes, whole: true })
}

/// A hit without its page, with the error.
fn without_page(mut fields: Map<String, Value>, hit: &Hit, error: &Error) -> WrittenHit {
    let url = hit.url.as_str();
    let mut metadata = json!({ "sourceURL": url, "url": url, "error": error.text() });
    if let Some(code) = error.kind().entry().code {
        metadata["errorCode"] = code.into();
    }
    fields.insert("metadata".to_owned(), metadata);
    WrittenHit { fields, credits: None, bytes: 0, whole: false }
}

/// The passage of a page that fits the query, on one line.
fn passage_for(document: &Map<String, Value>, query: &str) -> Option<String> {
    let markdown = document.get("markdown")?.as_str()?;
    let said = content::highlights::highlights(markdown, query);
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = match line.char_indices().nth(MAX_DESCRIPTION_CHARS) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    };
    (!cut.is_empty()).then_some(cut)
}
