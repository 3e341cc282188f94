//! Serper, which returns Google's results; needs a key.

use super::{omitted_domains_note, url_below};
use crate::hit::{Hit, list_field, number_field, string_field};
use crate::http::{ApiKey, ProviderClient};
use crate::provider::{Abilities, Provider, ProviderError, ProviderResponse, RequestBudget};
use crate::question::{Question, SourceKind};
use serde_json::{Value, json};
use url::Url;

const MAX_QUERY_CHARS: usize = 1_500;
const MAX_RESULTS: usize = 100;

#[derive(Debug)]
pub struct Serper {
    base: Url,
    key: ApiKey,
    client: ProviderClient,
}

impl Serper {
    pub const DEFAULT_BASE_URL: &str = "https://google.serper.dev";

    pub fn new(base: Url, key: ApiKey, client: ProviderClient) -> Self {
        Self { base, key, client }
    }
}

/// The path for a kind of results, and the field of the response that holds them.
fn endpoint(kind: SourceKind) -> (&'static str, &'static str) {
    match kind {
        SourceKind::Web => ("search", "organic"),
        SourceKind::News => ("news", "news"),
        SourceKind::Images => ("images", "images"),
    }
}

fn body(question: &Question, query: &str) -> Value {
    let mut body = json!({ "q": query, "num": question.wanted(false, MAX_RESULTS) });
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            body[name] = value.into();
        }
    };
    set("gl", question.country.as_ref().map(|country| country.to_ascii_lowercase()));
    set("hl", question.language.clone());
    set("location", question.location.clone());
    set("tbs", question.time_range.tbs());
    body
}

#[async_trait::async_trait]
impl Provider for Serper {
    fn name(&self) -> &'static str {
        "serper"
    }

    fn supports(&self, _: SourceKind) -> bool {
        true
    }

    fn abilities(&self) -> Abilities {
        Abilities { words: true, file_type: true, time_range: true }
    }

    fn unsupported(&self, question: &Question) -> Vec<&'static str> {
        question.safe.iter().filter(|safe| **safe).map(|_| "safe").collect()
    }

    fn max_requests(&self, _: &Question) -> u32 {
        1
    }

    async fn search(
        &self,
        question: &Question,
        budget: &RequestBudget,
    ) -> Result<ProviderResponse, ProviderError> {
        let (query, left_out) = question.query_with_operators(MAX_QUERY_CHARS);
        let (path, name) = endpoint(question.kind);
        let headers = [("x-api-key", self.key.reveal())];
        let found =
            self.client.post(&url_below(&self.base, path), &body(question, &query), &headers, budget).await?;
        // A response without results repeats the query and has no list.
        if found.get(name).is_none_or(|results| !results.is_array())
            && found.get("searchParameters").is_none()
        {
            return Err(ProviderError::InvalidResponse("no list of results"));
        }
        let hits = list_field(&found, &[name]).iter().filter_map(|result| hit(result, question)).collect();
        Ok(ProviderResponse { hits, notes: omitted_domains_note(left_out, self.name()), searched: None })
    }
}

fn hit(result: &Value, question: &Question) -> Option<Hit> {
    let title = string_field(result, &["title"]).unwrap_or_default();
    let hit = Hit::new(
        string_field(result, &["link"])?,
        title,
        string_field(result, &["snippet"]).unwrap_or_default(),
    )?;
    let hit = hit.with_date(string_field(result, &["date"]), question.now);
    let (width, height) = (number_field(result, "imageWidth"), number_field(result, "imageHeight"));
    let hit = hit.with_image(string_field(result, &["imageUrl", "thumbnailUrl"]), width, height);
    (question.kind != SourceKind::Images || hit.image.is_some()).then_some(hit)
}
