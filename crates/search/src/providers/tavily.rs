//! Tavily, by a key. It takes plain questions and lists of domains; operators are done to its results.

use super::below;
use crate::hit::{Hit, list, text};
use crate::line::{Key, Line};
use crate::provider::{Abilities, Answer, Leave, Problem, Provider};
use crate::question::{Kind, Question};
use serde_json::{Value, json};
use url::Url;

const MOST_RESULTS: usize = 20;
/// What it takes of each list of domains.
const MOST_INCLUDED: usize = 300;
const MOST_EXCLUDED: usize = 150;

#[derive(Debug)]
pub struct Tavily {
    base: Url,
    key: Key,
    line: Line,
}

impl Tavily {
    pub const HOME: &str = "https://api.tavily.com";

    pub fn new(base: Url, key: Key, line: Line) -> Self {
        Self { base, key, line }
    }
}

fn body(question: &Question) -> Value {
    let terms = &question.terms;
    // Words of operators are worth looking for even where the operators themselves are unknown.
    let mut query = terms.text();
    for word in terms.in_title.iter().chain(&terms.in_url).chain(&terms.file_types) {
        query.push(' ');
        query.push_str(word);
    }
    let filtered = !terms.without.is_empty() || !terms.phrases.is_empty() || !question.categories.is_empty();
    let images = question.kind == Kind::Images;
    let mut body = json!({
        "query": query.trim(),
        "topic": if question.kind == Kind::News { "news" } else { "general" },
        "search_depth": "basic",
        "max_results": question.wanted(filtered, MOST_RESULTS),
        "include_images": images,
        "include_image_descriptions": images,
    });
    let hosts = |sites: &[String], most: usize| -> Vec<String> {
        // It knows domains and no paths; those are filtered by afterwards.
        let mut hosts: Vec<String> =
            sites.iter().map(|site| site.split('/').next().unwrap_or(site).to_owned()).collect();
        hosts.dedup();
        hosts.truncate(most);
        hosts
    };
    let include = hosts(&question.site_list(), MOST_INCLUDED);
    let without: Vec<String> = question.without_sites.iter().chain(&terms.without_sites).cloned().collect();
    let exclude =
        hosts(&without.into_iter().filter(|site| !site.contains('/')).collect::<Vec<_>>(), MOST_EXCLUDED);
    if !include.is_empty() {
        body["include_domains"] = include.into();
    }
    if !exclude.is_empty() {
        body["exclude_domains"] = exclude.into();
    }
    if question.window.last.is_some() {
        body["time_range"] = question.window.range(question.now).into();
    } else if let Some((from, to)) = question.window.days(question.now) {
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

    fn answers(&self, _: Kind) -> bool {
        true
    }

    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    fn cannot(&self, question: &Question) -> Vec<&'static str> {
        let asked = [
            (question.safe == Some(true), "safe"),
            (question.location.is_some(), "location"),
            (question.country.is_some(), "country"),
            (question.language.is_some(), "lang"),
        ];
        asked.into_iter().filter_map(|(asked, name)| asked.then_some(name)).collect()
    }

    fn requests(&self, _: &Question) -> u32 {
        1
    }

    async fn ask(&self, question: &Question, leave: &Leave) -> Result<Answer, Problem> {
        let authorization = format!("Bearer {}", self.key.reveal());
        let headers = [("authorization", authorization.as_str())];
        let found = self.line.post(&below(&self.base, "search"), &body(question), &headers, leave).await?;
        if found.get("results").is_none_or(|results| !results.is_array()) {
            return Err(Problem::Nonsense("no list of results"));
        }
        let results = list(&found, &["results"]);
        let hits = if question.kind == Kind::Images {
            list(&found, &["images"]).iter().filter_map(picture).collect()
        } else {
            results.iter().filter_map(|result| hit(result, question)).collect()
        };
        Ok(Answer { hits, ..Answer::default() })
    }
}

fn hit(result: &Value, question: &Question) -> Option<Hit> {
    let title = text(result, &["title"]).unwrap_or_default();
    let hit = Hit::new(text(result, &["url"])?, title, text(result, &["content"]).unwrap_or_default())?;
    Some(hit.dated(text(result, &["published_date"]), question.now))
}

/// A picture comes as its address, or with a description; the page it is on is not told.
fn picture(image: &Value) -> Option<Hit> {
    let address = image.as_str().or_else(|| text(image, &["url"]))?;
    let title = text(image, &["description"]).unwrap_or_default();
    let hit = Hit::new(address, title, "")?.pictured(Some(address), None, None);
    hit.image.is_some().then_some(hit)
}
