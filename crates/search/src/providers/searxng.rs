//! `SearXNG`, a self-hosted metasearch engine. Its JSON output must be enabled (`search.formats` in its
//! settings).

use super::{omitted_domains_note, url_below};
use crate::hit::{Hit, list_field, string_field};
use crate::http::ProviderClient;
use crate::provider::{Abilities, Provider, ProviderError, ProviderResponse, RequestBudget};
use crate::question::{Question, SourceKind};
use serde_json::Value;
use std::fmt::Write as _;
use url::Url;

/// The usual number of results on a page; it cannot be changed by a request.
const RESULTS_PER_PAGE: usize = 10;
const MAX_PAGES: u32 = 5;
const MAX_QUERY_CHARS: usize = 900;

#[derive(Debug)]
pub struct Searxng {
    name: String,
    base: Url,
    client: ProviderClient,
}

impl Searxng {
    pub fn new(name: &str, base: Url, client: ProviderClient) -> Self {
        Self { name: name.to_owned(), base, client }
    }

    fn request_url(&self, question: &Question, query: &str, page: u32) -> Url {
        let category = match question.kind {
            SourceKind::Web => "general",
            SourceKind::News => "news",
            SourceKind::Images => "images",
        };
        let mut url = url_below(&self.base, "search");
        let mut pairs = url.query_pairs_mut();
        pairs.append_pair("q", query).append_pair("format", "json").append_pair("categories", category);
        pairs.append_pair("pageno", &page.to_string());
        let language = match (&question.language, &question.country) {
            (Some(language), Some(country)) => format!("{language}-{country}"),
            (Some(language), None) => language.clone(),
            (None, _) => "all".to_owned(),
        };
        pairs.append_pair("language", &language);
        if let Some(range) = question.time_range.shortest_range(question.now) {
            pairs.append_pair("time_range", range);
        }
        if let Some(safe) = question.safe {
            pairs.append_pair("safesearch", if safe { "2" } else { "0" });
        }
        drop(pairs);
        url
    }
}

#[async_trait::async_trait]
impl Provider for Searxng {
    fn name(&self) -> &str {
        &self.name
    }

    fn supports(&self, _: SourceKind) -> bool {
        true
    }

    /// Some of the engines behind it support operators and some do not, so words are also checked here.
    fn abilities(&self) -> Abilities {
        Abilities { words: false, file_type: true, time_range: false }
    }

    fn unsupported(&self, question: &Question) -> Vec<&'static str> {
        question.location.iter().map(|_| "location").collect()
    }

    fn max_requests(&self, question: &Question) -> u32 {
        u32::try_from(question.limit.div_ceil(RESULTS_PER_PAGE)).unwrap_or(MAX_PAGES).clamp(1, MAX_PAGES)
    }

    async fn search(
        &self,
        question: &Question,
        budget: &RequestBudget,
    ) -> Result<ProviderResponse, ProviderError> {
        let (query, left_out) = question.query_with_operators(MAX_QUERY_CHARS);
        let mut response = ProviderResponse {
            notes: omitted_domains_note(left_out, &self.name),
            ..ProviderResponse::default()
        };
        for page in 1..=self.max_requests(question) {
            let found = match self.client.get(&self.request_url(question, &query, page), &[], budget).await {
                Ok(found) => found,
                Err(ProviderError::KeyRejected) if page == 1 => {
                    let said = "refused the request: its JSON output is off (search.formats in its settings.yml) or it requires a login";
                    return Err(ProviderError::Message(said.to_owned()));
                }
                Err(error) if page == 1 => return Err(error),
                Err(error) => {
                    response.notes.push(format!("page {page} of {} is missing: it {error}", self.name));
                    break;
                }
            };
            if found.get("results").is_none_or(|results| !results.is_array()) {
                return Err(ProviderError::InvalidResponse("no list of results"));
            }
            let results = list_field(&found, &["results"]);
            if results.is_empty() && page == 1 {
                check_engines(&found)?;
            }
            response.hits.extend(results.iter().filter_map(|result| hit(result, question)));
            if results.is_empty() || response.hits.len() >= question.limit {
                break;
            }
        }
        Ok(response)
    }
}

fn hit(result: &Value, question: &Question) -> Option<Hit> {
    let hit = Hit::new(
        string_field(result, &["url"])?,
        string_field(result, &["title"]).unwrap_or_default(),
        string_field(result, &["content"]).unwrap_or_default(),
    )?;
    let hit = hit.with_date(string_field(result, &["publishedDate", "pubdate"]), question.now);
    let (width, height) = string_field(result, &["resolution"]).and_then(resolution).unzip();
    let image = string_field(result, &["img_src", "thumbnail_src", "thumbnail"]);
    let hit = hit.with_image(image, width, height);
    (question.kind != SourceKind::Images || hit.image.is_some()).then_some(hit)
}

/// Parses `1920 x 1080`, with any separator.
fn resolution(text: &str) -> Option<(u32, u32)> {
    let mut numbers =
        text.split(|character: char| !character.is_ascii_digit()).filter(|part| !part.is_empty());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// An empty page is an error if the engines behind it report errors.
fn check_engines(found: &Value) -> Result<(), ProviderError> {
    let mut said = String::new();
    for engine in list_field(found, &["unresponsive_engines"]).iter().take(5) {
        let part = |at: usize| engine.get(at).and_then(Value::as_str).unwrap_or_default();
        if part(0).is_empty() {
            continue;
        }
        let comma = if said.is_empty() { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(
            said,
            "{comma}{} ({})",
            crate::hit::plain_text(part(0), 40),
            crate::hit::plain_text(part(1), 60)
        );
    }
    if said.is_empty() {
        Ok(())
    } else {
        Err(ProviderError::Message(format!("got nothing from its engines: {said}")))
    }
}
