//! Brave Search, by a subscription key.

use super::{below, note_left_out};
use crate::hit::{Hit, list, number, text};
use crate::line::{Key, Line};
use crate::provider::{Abilities, Answer, Leave, Problem, Provider};
use crate::question::{Kind, Question};
use serde_json::Value;
use url::Url;

const LONGEST_QUERY: usize = 400;
/// Pages are numbered 0 to 9.
const MOST_PAGES: u32 = 5;

#[derive(Debug)]
pub struct Brave {
    base: Url,
    key: Key,
    line: Line,
}

impl Brave {
    pub const HOME: &str = "https://api.search.brave.com";

    pub fn new(base: Url, key: Key, line: Line) -> Self {
        Self { base, key, line }
    }

    fn address(&self, question: &Question, query: &str, page: u32) -> Url {
        let (path, per_page) = (path(question.kind), per_page(question.kind));
        let mut url = below(&self.base, path);
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
        if question.kind != Kind::Images {
            pairs.append_pair("offset", &page.to_string());
            if let Some((from, to)) = question.window.days(question.now) {
                pairs.append_pair("freshness", &format!("{from}to{to}"));
            }
        }
        if question.kind == Kind::Web {
            pairs.append_pair("result_filter", "web").append_pair("text_decorations", "false");
        }
        drop(pairs);
        url
    }
}

fn path(kind: Kind) -> &'static str {
    match kind {
        Kind::Web => "res/v1/web/search",
        Kind::News => "res/v1/news/search",
        Kind::Images => "res/v1/images/search",
    }
}

fn per_page(kind: Kind) -> usize {
    match kind {
        Kind::Web => 20,
        Kind::News => 50,
        Kind::Images => 100,
    }
}

#[async_trait::async_trait]
impl Provider for Brave {
    fn name(&self) -> &'static str {
        "brave"
    }

    fn answers(&self, _: Kind) -> bool {
        true
    }

    fn abilities(&self) -> Abilities {
        // Pictures have no freshness; filtering the others once more by their dates costs nothing.
        Abilities { words: true, file_type: true, window: false }
    }

    fn cannot(&self, question: &Question) -> Vec<&'static str> {
        let mut cannot: Vec<_> = question.location.iter().map(|_| "location").collect();
        if question.kind == Kind::Images && !question.window.is_open() {
            cannot.push("tbs");
        }
        cannot
    }

    fn requests(&self, question: &Question) -> u32 {
        let pages = question.limit.div_ceil(per_page(question.kind));
        u32::try_from(pages).unwrap_or(MOST_PAGES).clamp(1, MOST_PAGES)
    }

    async fn ask(&self, question: &Question, leave: &Leave) -> Result<Answer, Problem> {
        let (query, left_out) = question.with_operators(LONGEST_QUERY);
        let mut answer = Answer { notes: note_left_out(left_out, self.name()), ..Answer::default() };
        let headers = [("x-subscription-token", self.key.reveal())];
        for page in 0..self.requests(question) {
            let found = match self.line.get(&self.address(question, &query, page), &headers, leave).await {
                Ok(found) => found,
                Err(problem) if page == 0 => return Err(problem),
                Err(problem) => {
                    answer.notes.push(format!("page {} of brave is missing: it {problem}", page + 1));
                    break;
                }
            };
            let results = match question.kind {
                // Nothing found is an answer without `web`; anything else without it is not.
                Kind::Web if found.get("web").is_none() && found.get("query").is_none() => {
                    return Err(Problem::Nonsense("no list of results"));
                }
                Kind::Web => list(&found, &["web", "results"]),
                Kind::News | Kind::Images
                    if found.get("results").is_none_or(|results| !results.is_array()) =>
                {
                    return Err(Problem::Nonsense("no list of results"));
                }
                Kind::News | Kind::Images => list(&found, &["results"]),
            };
            answer.hits.extend(results.iter().filter_map(|result| hit(result, question)));
            let more = found["query"]["more_results_available"].as_bool() != Some(false);
            if results.is_empty() || !more || answer.hits.len() >= question.limit {
                break;
            }
        }
        Ok(answer)
    }
}

fn hit(result: &Value, question: &Question) -> Option<Hit> {
    let title = text(result, &["title"]).unwrap_or_default();
    let hit = Hit::new(text(result, &["url"])?, title, text(result, &["description"]).unwrap_or_default())?;
    let hit = hit.dated(text(result, &["page_age", "age"]), question.now);
    let thumbnail = text(&result["thumbnail"], &["original", "src"]);
    if question.kind != Kind::Images {
        return Some(hit.pictured(thumbnail, None, None));
    }
    let picture = &result["properties"];
    let hit = hit.pictured(
        text(picture, &["url"]).or(thumbnail),
        number(picture, "width"),
        number(picture, "height"),
    );
    hit.image.is_some().then_some(hit)
}
