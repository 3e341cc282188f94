//! Tavily; needs a key. It takes plain text and lists of domains; operators are applied to its results.

use super::url_below;
use crate::hit::{Hit, list_field, string_field};
use crate::http::{ApiKey, ProviderClient};
use crate::provider::{Abilities, Provider, ProviderError, ProviderResponse, RequestBudget};
use crate::question::{Question, SourceKind};
use serde_json::{Value, json};
use url::Url;

const MAX_RESULTS: usize = 20;
/// The most domains that it accepts.
const MAX_INCLUDED_DOMAINS: usize = 300;
const MAX_EXCLUDED_DOMAINS: usize = 150;

#[derive(Debug)]
pub struct Tavily {
    base: Url,
    key: ApiKey,
    client: ProviderClient,
}

impl Tavily {
    pub const DEFAULT_BASE_URL: &str = "https://api.tavily.com";

    pub fn new(base: Url, key: ApiKey, client: ProviderClient) -> Self {
        Self { base, key, client }
    }
}

fn body(question: &Question) -> Value {
    let terms = &question.terms;
    // The words of operators are worth searching for even though the operators are not supported.
    let mut query = terms.text();
    for word in terms.in_title.iter().chain(&terms.in_url).chain(&terms.file_types) {
        query.push(' ');
        query.push_str(word);
    }
    let filtered = !terms.without.is_empty() || !terms.phrases.is_empty() || !question.categories.is_empty();
    let images = question.kind == SourceKind::Images;
    let mut body = json!({
        "query": query.trim(),
        "topic": if question.kind == SourceKind::News { "news" } else { "general" },
        "search_depth": "basic",
        "max_results": question.wanted(filtered, MAX_RESULTS),
        "include_images": images,
        "include_image_descriptions": images,
    });
    let hosts = |sites: &[String], most: usize| -> Vec<String> {
        // It supports domains but not paths; paths are filtered afterwards.
        let mut hosts: Vec<String> =
            sites.iter().map(|site| site.split('/').next().unwrap_or(site).to_owned()).collect();
        hosts.dedup();
        hosts.truncate(most);
        hosts
    };
    let include = hosts(&question.site_list(), MAX_INCLUDED_DOMAINS);
    let without: Vec<String> = question.without_sites.iter().chain(&terms.without_sites).cloned().collect();
    let exclude = hosts(
        &without.into_iter().filter(|site| !site.contains('/')).collect::<Vec<_>>(),
        MAX_EXCLUDED_DOMAINS,
    );
    if !include.is_empty() {
        body["include_domains"] = include.into();
    }
    if !exclude.is_empty() {
        body["exclude_domains"] = exclude.into();
    }
    if question.time_range.last.is_some() {
        body["time_range"] = question.time_range.shortest_range(question.now).into();
    } else if let Some((from, to)) = question.time_range.day_range(question.now) {
        body["start_date"] = from.to_string().into();
        body["end_date"] = to.to_string().into();
    }
    body
}

#[async_trait::async_trait]
impl Provider for Tavily {
    fn name(&self) -> &'static str {
        "tavily"
    }

    fn supports(&self, _: SourceKind) -> bool {
        true
    }

    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    fn unsupported(&self, question: &Question) -> Vec<&'static str> {
        let asked = [
            (question.safe == Some(true), "safe"),
            (question.location.is_some(), "location"),
            (question.country.is_some(), "country"),
            (question.language.is_some(), "lang"),
        ];
        asked.into_iter().filter_map(|(asked, name)| asked.then_some(name)).collect()
    }

    fn max_requests(&self, _: &Question) -> u32 {
        1
    }

    async fn search(
        &self,
        question: &Question,
        budget: &RequestBudget,
    ) -> Result<ProviderResponse, ProviderError> {
        let authorization = format!("Bearer {}", self.key.reveal());
        let headers = [("authorization", authorization.as_str())];
        let found =
            self.client.post(&url_below(&self.base, "search"), &body(question), &headers, budget).await?;
        if found.get("results").is_none_or(|results| !results.is_array()) {
            return Err(ProviderError::InvalidResponse("no list of results"));
        }
        let results = list_field(&found, &["results"]);
        let hits = if question.kind == SourceKind::Images {
            list_field(&found, &["images"]).iter().filter_map(picture).collect()
        } else {
            results.iter().filter_map(|result| hit(result, question)).collect()
        };
        Ok(ProviderResponse { hits, ..ProviderResponse::default() })
    }
}

fn hit(result: &Value, question: &Question) -> Option<Hit> {
    let title = string_field(result, &["title"]).unwrap_or_default();
    let hit = Hit::new(
        string_field(result, &["url"])?,
        title,
        string_field(result, &["content"]).unwrap_or_default(),
    )?;
    Some(hit.with_date(string_field(result, &["published_date"]), question.now))
}

/// An image is given as a URL, or with a description; the page that contains it is not given.
fn picture(image: &Value) -> Option<Hit> {
    let address = image.as_str().or_else(|| string_field(image, &["url"]))?;
    let title = string_field(image, &["description"]).unwrap_or_default();
    let hit = Hit::new(address, title, "")?.with_image(Some(address), None, None);
    hit.image.is_some().then_some(hit)
}
