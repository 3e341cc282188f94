//! `SearXNG`, a metasearch engine to host oneself. Its JSON output must be switched on (`search.formats` in its settings).

use super::{below, note_left_out};
use crate::hit::{Hit, list, text};
use crate::line::Line;
use crate::provider::{Abilities, Answer, Leave, Problem, Provider};
use crate::question::{Kind, Question};
use serde_json::Value;
use std::fmt::Write as _;
use url::Url;

/// A page of it has about this many results; it cannot be asked for more at once.
const PER_PAGE: usize = 10;
const MOST_PAGES: u32 = 5;
const LONGEST_QUERY: usize = 900;

#[derive(Debug)]
pub struct Searxng {
    name: String,
    base: Url,
    line: Line,
}

impl Searxng {
    pub fn new(name: &str, base: Url, line: Line) -> Self {
        Self { name: name.to_owned(), base, line }
    }

    fn address(&self, question: &Question, query: &str, page: u32) -> Url {
        let category = match question.kind {
            Kind::Web => "general",
            Kind::News => "news",
            Kind::Images => "images",
        };
        let mut url = below(&self.base, "search");
        let mut pairs = url.query_pairs_mut();
        pairs.append_pair("q", query).append_pair("format", "json").append_pair("categories", category);
        pairs.append_pair("pageno", &page.to_string());
        let language = match (&question.language, &question.country) {
            (Some(language), Some(country)) => format!("{language}-{country}"),
            (Some(language), None) => language.clone(),
            (None, _) => "all".to_owned(),
        };
        pairs.append_pair("language", &language);
        if let Some(range) = question.window.range(question.now) {
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

    fn answers(&self, _: Kind) -> bool {
        true
    }

    /// The query goes on to engines of which some know operators and some do not, so words are looked after here as well.
    fn abilities(&self) -> Abilities {
        Abilities { words: false, file_type: true, window: false }
    }

    fn cannot(&self, question: &Question) -> Vec<&'static str> {
        question.location.iter().map(|_| "location").collect()
    }

    fn requests(&self, question: &Question) -> u32 {
        u32::try_from(question.limit.div_ceil(PER_PAGE)).unwrap_or(MOST_PAGES).clamp(1, MOST_PAGES)
    }

    async fn ask(&self, question: &Question, leave: &Leave) -> Result<Answer, Problem> {
        let (query, left_out) = question.with_operators(LONGEST_QUERY);
        let mut answer = Answer { notes: note_left_out(left_out, &self.name), ..Answer::default() };
        for page in 1..=self.requests(question) {
            let found = match self.line.get(&self.address(question, &query, page), &[], leave).await {
                Ok(found) => found,
                Err(Problem::Refused) if page == 1 => {
                    let said = "refused: its JSON output is off (search.formats in its settings.yml) or it asks for a login";
                    return Err(Problem::Said(said.to_owned()));
                }
                Err(problem) if page == 1 => return Err(problem),
                Err(problem) => {
                    answer.notes.push(format!("page {page} of {} is missing: it {problem}", self.name));
                    break;
                }
            };
            if found.get("results").is_none_or(|results| !results.is_array()) {
                return Err(Problem::Nonsense("no list of results"));
            }
            let results = list(&found, &["results"]);
            if results.is_empty() && page == 1 {
                empty(&found)?;
            }
            answer.hits.extend(results.iter().filter_map(|result| hit(result, question)));
            if results.is_empty() || answer.hits.len() >= question.limit {
                break;
            }
        }
        Ok(answer)
    }
}

fn hit(result: &Value, question: &Question) -> Option<Hit> {
    let hit = Hit::new(
        text(result, &["url"])?,
        text(result, &["title"]).unwrap_or_default(),
        text(result, &["content"]).unwrap_or_default(),
    )?;
    let hit = hit.dated(text(result, &["publishedDate", "pubdate"]), question.now);
    let (width, height) = text(result, &["resolution"]).and_then(resolution).unzip();
    let image = text(result, &["img_src", "thumbnail_src", "thumbnail"]);
    let hit = hit.pictured(image, width, height);
    (question.kind != Kind::Images || hit.image.is_some()).then_some(hit)
}

/// `1920 x 1080`, with whatever sign between the numbers.
fn resolution(text: &str) -> Option<(u32, u32)> {
    let mut numbers =
        text.split(|character: char| !character.is_ascii_digit()).filter(|part| !part.is_empty());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// An empty page is a failure when the engines behind it say that they failed.
fn empty(found: &Value) -> Result<(), Problem> {
    let mut said = String::new();
    for engine in list(found, &["unresponsive_engines"]).iter().take(5) {
        let part = |at: usize| engine.get(at).and_then(Value::as_str).unwrap_or_default();
        if part(0).is_empty() {
            continue;
        }
        let comma = if said.is_empty() { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ =
            write!(said, "{comma}{} ({})", crate::hit::plain(part(0), 40), crate::hit::plain(part(1), 60));
    }
    if said.is_empty() { Ok(()) } else { Err(Problem::Said(format!("got nothing from its engines: {said}"))) }
}
