//! Brave Search; needs a subscription key.

use super::{omitted_domains_note, url_below};
use crate::hit::{Hit, list_field, number_field, string_field};
use crate::http::{ApiKey, ProviderClient};
use crate::provider::{Abilities, Provider, ProviderError, ProviderResponse, RequestBudget};
use crate::question::{Question, SourceKind};
use serde_json::Value;
use url::Url;

const MAX_QUERY_CHARS: usize = 400;
/// Pages are numbered 0 to 9.
const MAX_PAGES: u32 = 5;

#[derive(Debug)]
pub struct Brave {
    base: Url,
    key: ApiKey,
    client: ProviderClient,
}

impl Brave {
    pub const DEFAULT_BASE_URL: &str = "https://api.search.brave.com";

    pub fn new(base: Url, key: ApiKey, client: ProviderClient) -> Self {
        Self { base, key, client }
    }

    fn request_url(&self, question: &Question, query: &str, page: u32) -> Url {
        let (path, per_page) = (path(question.kind), per_page(question.kind));
        let mut url = url_below(&self.base, path);
        let mut pairs = url.query_pairs_mut();
        let count = question.limit.clamp(1, per_page);
        pairs.append_pair("q", query).append_pair("count", &count.to_string());
        if let Some(country) = &question.country {
            pairs.append_pair("country", country);
        }
        if let Some(language) = &question.language {
            pairs.append_pair("search_lang", language);
        }
        if let Some(safe) = question.safe {
            pairs.append_pair("safesearch", if safe { "strict" } else { "off" });
        }
        if question.kind != SourceKind::Images {
            pairs.append_pair("offset", &page.to_string());
            if let Some((from, to)) = question.time_range.day_range(question.now) {
                pairs.append_pair("freshness", &format!("{from}to{to}"));
            }
        }
        if question.kind == SourceKind::Web {
            pairs.append_pair("result_filter", "web").append_pair("text_decorations", "false");
        }
        drop(pairs);
        url
    }
}

fn path(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Web => "res/v1/web/search",
        SourceKind::News => "res/v1/news/search",
        SourceKind::Images => "res/v1/images/search",
    }
}

fn per_page(kind: SourceKind) -> usize {
    match kind {
        SourceKind::Web => 20,
        SourceKind::News => 50,
        SourceKind::Images => 100,
    }
}

#[async_trait::async_trait]
impl Provider for Brave {
    fn name(&self) -> &'static str {
        "brave"
    }

    fn supports(&self, _: SourceKind) -> bool {
        true
    }

    fn abilities(&self) -> Abilities {
        // Image search has no freshness option; filtering the other kinds again by date costs nothing.
        Abilities { words: true, file_type: true, time_range: false }
    }

    fn unsupported(&self, question: &Question) -> Vec<&'static str> {
        let mut unsupported: Vec<_> = question.location.iter().map(|_| "location").collect();
        if question.kind == SourceKind::Images && !question.time_range.is_open() {
            unsupported.push("tbs");
        }
        unsupported
    }

    fn max_requests(&self, question: &Question) -> u32 {
        let pages = question.limit.div_ceil(per_page(question.kind));
        u32::try_from(pages).unwrap_or(MAX_PAGES).clamp(1, MAX_PAGES)
    }

    async fn search(
        &self,
        question: &Question,
        budget: &RequestBudget,
    ) -> Result<ProviderResponse, ProviderError> {
        let (query, left_out) = question.query_with_operators(MAX_QUERY_CHARS);
        let mut response = ProviderResponse {
            notes: omitted_domains_note(left_out, self.name()),
            ..ProviderResponse::default()
        };
        let headers = [("x-subscription-token", self.key.reveal())];
        for page in 0..self.max_requests(question) {
            let found =
                match self.client.get(&self.request_url(question, &query, page), &headers, budget).await {
                    Ok(found) => found,
                    Err(error) if page == 0 => return Err(error),
                    Err(error) => {
                        response.notes.push(format!("page {} of brave is missing: it {error}", page + 1));
                        break;
                    }
                };
            let results = match question.kind {
                // A response without results has no `web` but has `query`; without both it is invalid.
                SourceKind::Web if found.get("web").is_none() && found.get("query").is_none() => {
                    return Err(ProviderError::InvalidResponse("no list of results"));
                }
                SourceKind::Web => list_field(&found, &["web", "results"]),
                SourceKind::News | SourceKind::Images
                    if found.get("results").is_none_or(|results| !results.is_array()) =>
                {
                    return Err(ProviderError::InvalidResponse("no list of results"));
                }
                SourceKind::News | SourceKind::Images => list_field(&found, &["results"]),
            };
            response.hits.extend(results.iter().filter_map(|result| hit(result, question)));
            let more = found["query"]["more_results_available"].as_bool() != Some(false);
            if results.is_empty() || !more || response.hits.len() >= question.limit {
                break;
            }
        }
        Ok(response)
    }
}

fn hit(result: &Value, question: &Question) -> Option<Hit> {
    let title = string_field(result, &["title"]).unwrap_or_default();
    let hit = Hit::new(
        string_field(result, &["url"])?,
        title,
        string_field(result, &["description"]).unwrap_or_default(),
    )?;
    let hit = hit.with_date(string_field(result, &["page_age", "age"]), question.now);
    let thumbnail = string_field(&result["thumbnail"], &["original", "src"]);
    if question.kind != SourceKind::Images {
        return Some(hit.with_image(thumbnail, None, None));
    }
    let picture = &result["properties"];
    let hit = hit.with_image(
        string_field(picture, &["url"]).or(thumbnail),
        number_field(picture, "width"),
        number_field(picture, "height"),
    );
    hit.image.is_some().then_some(hit)
}
