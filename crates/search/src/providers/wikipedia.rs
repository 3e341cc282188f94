//! Wikipedia, or another `MediaWiki`: no key, an API that is open to all who say who they are and ask one thing at a time.

use super::below;
use crate::hit::{Hit, list, text};
use crate::line::Line;
use crate::provider::{Abilities, Answer, Leave, Problem, Provider};
use crate::question::{Kind, Question};
use serde_json::Value;
use url::Url;

const MOST_RESULTS: usize = 50;
const LONGEST_QUERY: usize = 300;
/// Its operators ask who they are dealing with.
const AGENT: &str =
    concat!("Gannet/", env!("CARGO_PKG_VERSION"), " (self-hosted search; one request for each question)");
/// Editions that are asked for questions in their language; English for all others.
const EDITIONS: [&str; 30] = [
    "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "fa", "fi", "fr", "he", "hi", "hu", "id", "it",
    "ja", "ko", "nl", "no", "pl", "pt", "ro", "ru", "sv", "tr", "uk", "vi", "zh",
];

#[derive(Debug)]
pub struct Wikipedia {
    /// None: the edition in the question's language.
    base: Option<Url>,
    line: Line,
}

impl Wikipedia {
    pub fn new(base: Option<Url>, line: Line) -> Self {
        Self { base, line }
    }

    fn home(&self, question: &Question) -> Option<Url> {
        if let Some(base) = &self.base {
            return Some(base.clone());
        }
        let asked = question.language.as_deref().unwrap_or("en");
        let edition = EDITIONS.into_iter().find(|edition| *edition == asked).unwrap_or("en");
        Url::parse(&format!("https://{edition}.wikipedia.org/")).ok()
    }
}

/// The query in its search engine's words.
fn query(question: &Question) -> String {
    let terms = &question.terms;
    let mut parts = terms.words.clone();
    parts.extend(terms.phrases.iter().map(|phrase| format!("\"{phrase}\"")));
    parts.extend(terms.without.iter().map(|word| format!("-\"{word}\"")));
    parts.extend(terms.in_title.iter().map(|word| format!("intitle:\"{word}\"")));
    let joined = parts.join(if terms.either { " OR " } else { " " });
    joined.chars().take(LONGEST_QUERY).collect()
}

#[async_trait::async_trait]
impl Provider for Wikipedia {
    fn name(&self) -> &'static str {
        "wikipedia"
    }

    fn answers(&self, kind: Kind) -> bool {
        kind == Kind::Web
    }

    fn abilities(&self) -> Abilities {
        // Its snippets are too short to look for words in; it does words itself.
        Abilities { words: true, file_type: false, window: false }
    }

    fn cannot(&self, question: &Question) -> Vec<&'static str> {
        let asked = [
            (question.safe == Some(true), "safe"),
            (question.location.is_some(), "location"),
            (question.country.is_some(), "country"),
        ];
        asked.into_iter().filter_map(|(asked, name)| asked.then_some(name)).collect()
    }

    fn requests(&self, _: &Question) -> u32 {
        1
    }

    async fn ask(&self, question: &Question, leave: &Leave) -> Result<Answer, Problem> {
        let home = self.home(question).ok_or(Problem::Unreachable)?;
        let own_sites = question.site_list();
        let elsewhere =
            !own_sites.is_empty() && !own_sites.iter().any(|site| crate::question::lies_within(&home, site));
        if elsewhere || !question.terms.file_types.is_empty() {
            return Ok(Answer {
                notes: vec!["wikipedia has nothing of the sites or files asked for".to_owned()],
                ..Answer::default()
            });
        }
        let mut url = below(&home, "w/api.php");
        url.query_pairs_mut()
            .append_pair("action", "query")
            .append_pair("list", "search")
            .append_pair("format", "json")
            .append_pair("formatversion", "2")
            .append_pair("srprop", "snippet|timestamp")
            .append_pair("srlimit", &question.wanted(false, MOST_RESULTS).to_string())
            .append_pair("srsearch", &query(question));
        let found = self.line.get(&url, &[("user-agent", AGENT)], leave).await?;
        if let Some(code) = found["error"]["code"].as_str() {
            return Err(Problem::Said(format!("answered with the error {}", crate::hit::plain(code, 40))));
        }
        if found["query"]["search"].as_array().is_none() {
            return Err(Problem::Nonsense("no list of results"));
        }
        let results = list(&found, &["query", "search"]);
        Ok(Answer {
            hits: results.iter().filter_map(|result| hit(&home, result, question)).collect(),
            ..Answer::default()
        })
    }
}

fn hit(home: &Url, result: &Value, question: &Question) -> Option<Hit> {
    let title = text(result, &["title"])?;
    let mut url = below(home, "wiki/");
    url.path_segments_mut().ok()?.pop_if_empty().push(&title.replace(' ', "_"));
    let hit = Hit::new(url.as_str(), title, text(result, &["snippet"]).unwrap_or_default())?;
    Some(hit.dated(text(result, &["timestamp"]), question.now))
}
