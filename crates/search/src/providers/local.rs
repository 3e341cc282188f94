//! This server's own index as a provider: pages it has scraped or crawled, and imported documents.

use crate::category::Category;
use crate::hit::Hit;
use crate::provider::{Abilities, Provider, ProviderError, ProviderResponse, RequestBudget};
use crate::question::{Question, SourceKind, intersect_sites};
use std::sync::Arc;

const MAX_RESULTS: usize = 200;
/// How many hits at least are looked through for news and images.
const MIN_FILTERED_RESULTS: usize = 60;
/// The most images of one page in the results.
const MAX_IMAGES_PER_PAGE: usize = 3;
const PASSAGES_PER_HIT: usize = 2;

/// The local search index; implemented by the engine.
#[async_trait::async_trait]
pub trait LocalSearch: Send + Sync + std::fmt::Debug {
    /// Runs a query. The error is a sentence for users.
    async fn search(&self, query: index::Query) -> Result<index::IndexResults, String>;
}

/// The local index as a provider.
#[derive(Debug)]
pub struct LocalProvider(Arc<dyn LocalSearch>);

impl LocalProvider {
    pub fn new(local: Arc<dyn LocalSearch>) -> Self {
        Self(local)
    }

    async fn search_index(
        &self,
        query: index::Query,
        response: &mut ProviderResponse,
    ) -> Result<Vec<index::IndexHit>, ProviderError> {
        let found = self
            .0
            .search(query)
            .await
            .map_err(|why| ProviderError::Message(format!("cannot answer: {why}")))?;
        response.searched = Some(found.searched);
        Ok(found.hits)
    }
}

/// The index queries for one question. Categories are alternatives, and the index does not know them.
fn queries(question: &Question) -> Vec<index::Query> {
    let asked: Vec<String> = question.sites.iter().chain(&question.terms.sites).cloned().collect();
    if question.categories.is_empty() {
        return vec![query(question, asked, None)];
    }
    let category_query = |category: &Category| match category.file_type() {
        Some(kind) => Some(query(question, asked.clone(), Some(kind))),
        None if asked.is_empty() => {
            let sites = category.sites().iter().map(|site| (*site).to_owned()).collect();
            Some(query(question, sites, None))
        }
        None => {
            let sites = intersect_sites(&asked, category.sites());
            (!sites.is_empty()).then(|| query(question, sites, None))
        }
    };
    question.categories.iter().filter_map(category_query).collect()
}

fn query(question: &Question, sites: Vec<String>, file_type: Option<&str>) -> index::Query {
    let terms = &question.terms;
    let without = question.without_sites.iter().chain(&terms.without_sites);
    // Dates and images are filtered afterwards, so more hits are requested: few pages say when they were published.
    let limit = match question.kind {
        SourceKind::Web => question.limit,
        SourceKind::News | SourceKind::Images => question.limit.saturating_mul(3).max(MIN_FILTERED_RESULTS),
    };
    index::Query {
        team: question.team,
        collection: question.collection.to_owned(),
        text: terms.words.join(" "),
        phrases: terms.phrases.clone(),
        without: terms.without.clone(),
        in_title: terms.in_title.clone(),
        in_url: terms.in_url.clone(),
        file_types: terms.file_types.iter().cloned().chain(file_type.map(str::to_owned)).collect(),
        sites,
        without_sites: without.cloned().collect(),
        since: question.time_range.since(question.now),
        until: question.time_range.until(),
        newest_first: question.time_range.newest_first,
        language: question.language.clone(),
        valued: question.valued.clone(),
        limit: limit.clamp(1, MAX_RESULTS),
        passages: if question.highlights { PASSAGES_PER_HIT } else { 0 },
        now: question.now,
        ..index::Query::default()
    }
}

#[async_trait::async_trait]
impl Provider for LocalProvider {
    fn name(&self) -> &'static str {
        "local"
    }

    fn is_local(&self) -> bool {
        true
    }

    fn supports(&self, _: SourceKind) -> bool {
        true
    }

    fn abilities(&self) -> Abilities {
        Abilities { words: true, file_type: true, time_range: true }
    }

    fn unsupported(&self, question: &Question) -> Vec<&'static str> {
        let asked = [
            (question.safe == Some(true), "safe"),
            (question.location.is_some(), "location"),
            (question.country.is_some(), "country"),
        ];
        asked.into_iter().filter_map(|(asked, name)| asked.then_some(name)).collect()
    }

    fn max_requests(&self, _: &Question) -> u32 {
        0
    }

    async fn search(
        &self,
        question: &Question,
        _: &RequestBudget,
    ) -> Result<ProviderResponse, ProviderError> {
        let mut response = ProviderResponse { searched: Some(0), ..ProviderResponse::default() };
        let mut found = Vec::new();
        for query in queries(question) {
            found.push(self.search_index(query, &mut response).await?);
        }
        // The best of each list, then the second best of each, and so on.
        let max_chars = found.iter().map(Vec::len).max().unwrap_or(0);
        for rank in 0..max_chars {
            for hit in found.iter().filter_map(|hits| hits.get(rank)) {
                match question.kind {
                    SourceKind::Web => response.hits.extend(page_hit(question, hit)),
                    SourceKind::News if hit.document.published.is_some() => {
                        response.hits.extend(page_hit(question, hit));
                    }
                    SourceKind::News => {}
                    SourceKind::Images => response.hits.extend(image_hits(question, hit)),
                }
            }
        }
        Ok(response)
    }
}

fn page_hit(question: &Question, found: &index::IndexHit) -> Option<Hit> {
    let document = &found.document;
    let passages = found.passages.join(" … ");
    let highlighted = question.highlights && !passages.is_empty();
    let opening: String = document.body.chars().take(300).collect();
    let text = match (highlighted, document.description.is_empty()) {
        (true, _) => &passages,
        (false, false) => &document.description,
        (false, true) => &opening,
    };
    let mut hit = Hit::from_index(&document.url, &document.title, text)?;
    hit.highlighted = highlighted;
    hit.has_file_type = document.kind.as_deref() == Some("pdf");
    hit.published = document.published;
    hit.date = document.published.and_then(format_day);
    Some(hit.with_first_image(document))
}

impl Hit {
    fn with_first_image(self, document: &index::Document) -> Self {
        match document.images.first() {
            Some(image) => self.with_image(Some(&image.url), image.width, image.height),
            None => self,
        }
    }
}

/// Images of a matching page: first those whose own text contains the words.
fn image_hits(question: &Question, found: &index::IndexHit) -> Vec<Hit> {
    let document = &found.document;
    let words: Vec<String> =
        question.terms.words.iter().chain(&question.terms.phrases).map(|word| word.to_lowercase()).collect();
    let passages = |image: &index::Image| {
        let text = image.text.to_lowercase();
        words.iter().filter(|word| text.contains(word.as_str())).count()
    };
    let mut images: Vec<&index::Image> = document.images.iter().collect();
    images.sort_by_key(|image| std::cmp::Reverse(passages(image)));
    let hit = |image: &index::Image| {
        let title = if image.text.is_empty() { &document.title } else { &image.text };
        let hit = Hit::from_index(&document.url, title, &document.title)?.with_image(
            Some(&image.url),
            image.width,
            image.height,
        );
        hit.image.is_some().then_some(hit)
    };
    images.into_iter().filter_map(hit).take(MAX_IMAGES_PER_PAGE).collect()
}

fn format_day(millis: i64) -> Option<String> {
    let stamp = jiff::Timestamp::from_millisecond(millis).ok()?;
    Some(stamp.to_zoned(jiff::tz::TimeZone::UTC).date().to_string())
}
