//! Wikipedia or another `MediaWiki`: needs no key; its API requires a user agent that identifies the client.

use super::url_below;
use crate::hit::{Hit, list_field, string_field};
use crate::http::ProviderClient;
use crate::provider::{Abilities, Provider, ProviderError, ProviderResponse, RequestBudget};
use crate::question::{Question, SourceKind};
use serde_json::Value;
use url::Url;

const MAX_RESULTS: usize = 50;
const MAX_QUERY_CHARS: usize = 300;
/// Wikimedia's user agent policy requires this.
const USER_AGENT: &str =
    concat!("Gannet/", env!("CARGO_PKG_VERSION"), " (self-hosted search; one request for each question)");
/// Editions that are searched for questions in their language; English for all other languages.
const EDITIONS: [&str; 30] = [
    "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "fa", "fi", "fr", "he", "hi", "hu", "id", "it",
    "ja", "ko", "nl", "no", "pl", "pt", "ro", "ru", "sv", "tr", "uk", "vi", "zh",
];

#[derive(Debug)]
pub struct Wikipedia {
    /// None: the edition in the language of the question.
    base: Option<Url>,
    client: ProviderClient,
}

impl Wikipedia {
    pub fn new(base: Option<Url>, client: ProviderClient) -> Self {
        Self { base, client }
    }

    fn base_url(&self, question: &Question) -> Option<Url> {
        if let Some(base) = &self.base {
            return Some(base.clone());
        }
        let asked = question.language.as_deref().unwrap_or("en");
        let edition = EDITIONS.into_iter().find(|edition| *edition == asked).unwrap_or("en");
        Url::parse(&format!("https://{edition}.wikipedia.org/")).ok()
    }
}

/// The query in the search syntax of `MediaWiki`.
fn query(question: &Question) -> String {
    let terms = &question.terms;
    let mut parts = terms.words.clone();
    parts.extend(terms.phrases.iter().map(|phrase| format!("\"{phrase}\"")));
    parts.extend(terms.without.iter().map(|word| format!("-\"{word}\"")));
    parts.extend(terms.in_title.iter().map(|word| format!("intitle:\"{word}\"")));
    let joined = parts.join(if terms.either { " OR " } else { " " });
    joined.chars().take(MAX_QUERY_CHARS).collect()
}

#[async_trait::async_trait]
impl Provider for Wikipedia {
    fn name(&self) -> &'static str {
        "wikipedia"
    }

    fn supports(&self, kind: SourceKind) -> bool {
        kind == SourceKind::Web
    }

    fn abilities(&self) -> Abilities {
        // Its snippets are too short to search for words; it supports words itself.
        Abilities { words: true, file_type: false, time_range: false }
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
        1
    }

    async fn search(
        &self,
        question: &Question,
        budget: &RequestBudget,
    ) -> Result<ProviderResponse, ProviderError> {
        let home = self.base_url(question).ok_or(ProviderError::Unreachable)?;
        let own_sites = question.site_list();
        let elsewhere = !own_sites.is_empty()
            && !own_sites.iter().any(|site| crate::category::is_within_site(&home, site));
        if elsewhere || !question.terms.file_types.is_empty() {
            return Ok(ProviderResponse {
                notes: vec!["wikipedia cannot search the requested sites or file types".to_owned()],
                ..ProviderResponse::default()
            });
        }
        let mut url = url_below(&home, "w/api.php");
        url.query_pairs_mut()
            .append_pair("action", "query")
            .append_pair("list", "search")
            .append_pair("format", "json")
            .append_pair("formatversion", "2")
            .append_pair("srprop", "snippet|timestamp")
            .append_pair("srlimit", &question.wanted(false, MAX_RESULTS).to_string())
            .append_pair("srsearch", &query(question));
        let found = self.client.get(&url, &[("user-agent", USER_AGENT)], budget).await?;
        if let Some(code) = found["error"]["code"].as_str() {
            return Err(ProviderError::Message(format!(
                "responded with the error {}",
                crate::hit::plain_text(code, 40)
            )));
        }
        if found["query"]["search"].as_array().is_none() {
            return Err(ProviderError::InvalidResponse("no list of results"));
        }
        let results = list_field(&found, &["query", "search"]);
        Ok(ProviderResponse {
            hits: results.iter().filter_map(|result| hit(&home, result, question)).collect(),
            ..ProviderResponse::default()
        })
    }
}

fn hit(home: &Url, result: &Value, question: &Question) -> Option<Hit> {
    let title = string_field(result, &["title"])?;
    let mut url = url_below(home, "wiki/");
    url.path_segments_mut().ok()?.pop_if_empty().push(&title.replace(' ', "_"));
    let hit = Hit::new(url.as_str(), title, string_field(result, &["snippet"]).unwrap_or_default())?;
    Some(hit.with_date(string_field(result, &["timestamp"]), question.now))
}
