//! What callers say of an answer: checked against what was answered, kept once, and used. Sources that a team
//! marked as valuable rank higher for that team from then on.

use super::Searcher;
use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use search::parse_site;
use serde_json::{Value, json};
use store::search::{FeedbackPut, NewFeedback};
use url::Url;
use uuid::Uuid;
use wire::search::{
    FeedbackRequest, FeedbackResponse, MissingContent, SearchFeedbackRequest, ValuableSource,
};
use wire::{Issue, Issues, Kind, PathPart};

const MAX_SOURCES: usize = 50;
const MAX_MISSING: usize = 20;
const MAX_SLUGS: usize = 20;
const MAX_PAGES: usize = 100;
const MAX_METADATA_BYTES: usize = 8 << 10;

impl Searcher {
    /// Feedback for a search.
    pub fn take_search_feedback<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        asked: SearchFeedbackRequest,
    ) -> BoxFuture<'a, Result<FeedbackResponse, Error>> {
        Box::pin(async move {
            let asked = FeedbackRequest {
                endpoint: Some("search".to_owned()),
                job_id: Some(id.to_string()),
                rating: asked.rating,
                valuable_sources: asked.valuable_sources,
                missing_content: asked.missing_content,
                query_suggestions: asked.query_suggestions,
                ..FeedbackRequest::default()
            };
            self.take_feedback(caller, asked).await
        })
    }

    /// Feedback for anything that was answered.
    pub fn take_feedback<'a>(
        &'a self,
        caller: &'a Caller,
        asked: FeedbackRequest,
    ) -> BoxFuture<'a, Result<FeedbackResponse, Error>> {
        Box::pin(async move {
            let (endpoint, subject) = check(&asked).map_err(|error| coded(error, "INVALID_FEEDBACK"))?;
            let found = match endpoint {
                "search" => self
                    .services
                    .store
                    .search_record(caller.team, subject)
                    .await
                    .map_err(from_store)?
                    .is_some(),
                _ => self.services.store.scrape(caller.team, subject).await.map_err(from_store)?.is_some(),
            };
            if !found {
                return Err(coded(Kind::NotFound.into(), "NOT_FOUND"));
            }
            let feedback = NewFeedback {
                id: Uuid::now_v7(),
                team_id: caller.team,
                endpoint: endpoint.to_owned(),
                subject,
                body: body(&asked, caller.zero_data_retention),
                valued: if caller.zero_data_retention { Vec::new() } else { valued(&asked) },
            };
            let id = feedback.id;
            match self.services.store.put_feedback(feedback).await.map_err(from_store)? {
                FeedbackPut::Written => Ok(FeedbackResponse::new(id, false)),
                FeedbackPut::KnownBefore(first) => Ok(FeedbackResponse::new(first, true)),
            }
        })
    }
}

fn coded(error: Error, code: &'static str) -> Error {
    Error::Feedback { code, error: Box::new(error) }
}

/// What it is about, when nothing is wrong with it.
fn check(asked: &FeedbackRequest) -> Result<(&'static str, Uuid), Error> {
    let mut issues = Issues::default();
    let endpoints = ["search", "scrape", "parse", "map"];
    let endpoint = endpoints.into_iter().find(|known| asked.endpoint.as_deref() == Some(known));
    if endpoint.is_none() {
        issues.add("endpoint", "must be search, scrape, parse or map", "invalid_value");
    }
    let subject = asked.job_id.as_deref().and_then(|id| id.parse::<Uuid>().ok());
    if subject.is_none() {
        issues.add("jobId", "must be the id of an answer", "invalid_value");
    }
    check_parts(asked, &mut issues);
    check_rating(asked, &mut issues);
    issues.finish()?;
    endpoint.zip(subject).ok_or_else(|| Kind::BadRequest.into())
}

/// A rating must come with what it is made of.
fn check_rating(asked: &FeedbackRequest, issues: &mut Issues) {
    let valuable = asked.valuable_sources.as_ref().is_some_and(|sources| !sources.is_empty());
    let missing = asked.missing_content.as_ref().is_some_and(|missing| !missing.is_empty());
    let suggested = asked.query_suggestions.as_ref().is_some_and(|text| !text.trim().is_empty());
    let search = asked.endpoint.as_deref() == Some("search");
    match asked.rating.as_deref() {
        Some("good") if search && !valuable => {
            issues.add("valuableSources", "a good rating needs at least one", "custom");
        }
        Some("partial") if search && !valuable && !missing => {
            issues.add("rating", "a partial rating needs valuableSources or missingContent", "custom");
        }
        Some("bad") if search && !missing && !suggested => {
            issues.add("rating", "a bad rating needs missingContent or querySuggestions", "custom");
        }
        Some("good" | "partial" | "bad") => {}
        _ => issues.add("rating", "must be good, partial or bad", "invalid_value"),
    }
}

fn check_parts(asked: &FeedbackRequest, issues: &mut Issues) {
    let at = |field: &str, place: usize, name: &str| {
        vec![PathPart::Key(field.to_owned()), PathPart::Index(place), PathPart::Key(name.to_owned())]
    };
    let sources = asked.valuable_sources.as_deref().unwrap_or_default();
    most(issues, "valuableSources", sources.len(), MAX_SOURCES);
    for (place, ValuableSource { url, reason }) in sources.iter().enumerate().take(MAX_SOURCES) {
        if web_address(url).is_none() {
            issues.push(Issue::new(
                at("valuableSources", place, "url"),
                "must be an http or https address",
                "invalid_value",
            ));
        }
        if reason.as_ref().is_some_and(|reason| reason.chars().count() > 1000) {
            issues.push(Issue::new(
                at("valuableSources", place, "reason"),
                "must have at most 1000 characters",
                "too_big",
            ));
        }
    }
    let missing = asked.missing_content.as_deref().unwrap_or_default();
    most(issues, "missingContent", missing.len(), MAX_MISSING);
    for (place, MissingContent { topic, description }) in missing.iter().enumerate().take(MAX_MISSING) {
        if topic.trim().is_empty() || topic.chars().count() > 200 {
            issues.push(Issue::new(
                at("missingContent", place, "topic"),
                "must have 1 to 200 characters",
                "invalid_value",
            ));
        }
        if description.as_ref().is_some_and(|text| text.chars().count() > 2000) {
            issues.push(Issue::new(
                at("missingContent", place, "description"),
                "must have at most 2000 characters",
                "too_big",
            ));
        }
    }
    for (field, slugs) in [("issues", &asked.issues), ("tags", &asked.tags)] {
        let slugs = slugs.as_deref().unwrap_or_default();
        most(issues, field, slugs.len(), MAX_SLUGS);
        for (place, slug) in slugs.iter().enumerate().take(MAX_SLUGS).filter(|(_, slug)| !is_slug(slug)) {
            let path = vec![PathPart::Key(field.to_owned()), PathPart::Index(place)];
            let shown: String = slug.chars().take(40).collect();
            issues.push(Issue::new(
                path,
                &format!("`{shown}` is not a slug of at most 80 characters"),
                "invalid_value",
            ));
        }
    }
    for (field, text, longest) in
        [("querySuggestions", &asked.query_suggestions, 2000), ("note", &asked.note, 4000)]
    {
        if let Some(text) = text {
            issues.length(field, text, &(0..=longest));
        }
    }
    if asked.url.as_ref().is_some_and(|url| web_address(url).is_none()) {
        issues.add("url", "must be an http or https address", "invalid_value");
    }
    let pages = asked.page_numbers.as_deref().unwrap_or_default();
    most(issues, "pageNumbers", pages.len(), MAX_PAGES);
    if pages.iter().any(|page| *page < 1) {
        issues.add("pageNumbers", "must be numbers from 1", "too_small");
    }
    let metadata = asked.metadata.as_ref().and_then(|metadata| serde_json::to_vec(metadata).ok());
    if metadata.is_some_and(|bytes| bytes.len() > MAX_METADATA_BYTES) {
        issues.add("metadata", "must have at most 8192 bytes as JSON", "too_big");
    }
}

fn most(issues: &mut Issues, field: &str, count: usize, most: usize) {
    if count > most {
        issues.add(field, &format!("at most {most} are allowed"), "too_big");
    }
}

/// Lower-case words, joined by single marks.
fn is_slug(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    (1..=80).contains(&text.len()) && text.bytes().all(legal) && text.as_bytes()[0].is_ascii_alphanumeric()
}

fn web_address(text: &str) -> Option<Url> {
    let url = (text.len() <= net::MAX_URL_BYTES).then(|| Url::parse(text.trim()).ok())??;
    (matches!(url.scheme(), "http" | "https") && url.host_str().is_some()).then_some(url)
}

/// Hosts and addresses that were marked, as the index and the fusion compare them.
fn valued(asked: &FeedbackRequest) -> Vec<String> {
    let mut valued = Vec::new();
    for source in asked.valuable_sources.iter().flatten() {
        let Some(url) = web_address(&source.url) else { continue };
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => parse_site(&format!("{host}:{port}")),
            (Some(host), None) => parse_site(host),
            (None, _) => None,
        };
        valued.extend(host);
        valued.push(url.to_string());
    }
    valued
}

/// What is kept: all of it, or of a team that keeps nothing the rating alone.
fn body(asked: &FeedbackRequest, private: bool) -> String {
    let rating = json!({ "rating": asked.rating });
    if private {
        return rating.to_string();
    }
    let whole = [
        ("rating", json!(asked.rating)),
        ("valuableSources", json!(asked.valuable_sources)),
        ("missingContent", json!(asked.missing_content)),
        ("querySuggestions", json!(asked.query_suggestions)),
        ("issues", json!(asked.issues)),
        ("tags", json!(asked.tags)),
        ("note", json!(asked.note)),
        ("url", json!(asked.url)),
        ("pageNumbers", json!(asked.page_numbers)),
        ("metadata", json!(asked.metadata)),
    ];
    let given =
        whole.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value));
    Value::Object(given.collect()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(body: &Value) -> FeedbackRequest {
        let mut whole = json!({ "endpoint": "search", "jobId": Uuid::nil().to_string() });
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        wire::read::body(whole.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_rating_comes_with_what_it_is_made_of() {
        let source = json!([{ "url": "https://a.example/x", "reason": "exact" }]);
        let missing = json!([{ "topic": "prices" }]);
        for good in [
            json!({ "rating": "good", "valuableSources": source }),
            json!({ "rating": "partial", "missingContent": missing }),
            json!({ "rating": "bad", "querySuggestions": "ask for prices" }),
            json!({ "rating": "good", "endpoint": "scrape", "issues": ["wrong-title"], "tags": ["x_1"] }),
        ] {
            assert!(check(&asked(&good)).is_ok(), "{good}");
        }
        for bad in [
            json!({}),
            json!({ "rating": "good" }),
            json!({ "rating": "good", "valuableSources": [] }),
            json!({ "rating": "partial", "querySuggestions": "x" }),
            json!({ "rating": "bad", "valuableSources": source }),
            json!({ "rating": "great", "valuableSources": source }),
            json!({ "rating": "good", "valuableSources": [{ "url": "javascript:1" }] }),
            json!({ "rating": "good", "valuableSources": vec![json!({ "url": "https://a.example" }); 51] }),
            json!({ "rating": "bad", "missingContent": [{ "topic": "" }] }),
            json!({ "rating": "good", "endpoint": "crawl", "valuableSources": source }),
            json!({ "rating": "good", "jobId": "7", "valuableSources": source }),
            json!({ "rating": "good", "endpoint": "scrape", "issues": ["Not A Slug"] }),
            json!({ "rating": "good", "endpoint": "scrape", "note": "x".repeat(4001) }),
            json!({ "rating": "good", "endpoint": "scrape", "pageNumbers": [0] }),
            json!({ "rating": "good", "endpoint": "scrape", "metadata": { "x": "y".repeat(9000) } }),
        ] {
            assert_eq!(check(&asked(&bad)).unwrap_err().to_wire().status(), 400, "{bad}");
        }
    }

    #[test]
    fn hosts_and_addresses_are_remembered() {
        let body = json!({ "rating": "good", "valuableSources": [{ "url": "https://www.A.example/x?y=1" }, { "url": "http://127.0.0.1:81/" }] });
        assert_eq!(
            valued(&asked(&body)),
            ["a.example", "https://www.a.example/x?y=1", "127.0.0.1:81", "http://127.0.0.1:81/"]
        );
    }
}
