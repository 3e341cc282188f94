//! Serper, which answers with Google's results, by a key.

use super::{below, note_left_out};
use crate::hit::{Hit, list, number, text};
use crate::line::{Key, Line};
use crate::provider::{Abilities, Answer, Leave, Problem, Provider};
use crate::question::{Kind, Question};
use serde_json::{Value, json};
use url::Url;

const LONGEST_QUERY: usize = 1_500;
const MOST_RESULTS: usize = 100;

#[derive(Debug)]
pub struct Serper {
    base: Url,
    key: Key,
    line: Line,
}

impl Serper {
    pub const HOME: &str = "https://google.serper.dev";

    pub fn new(base: Url, key: Key, line: Line) -> Self {
        Self { base, key, line }
    }
}

/// Where a kind is asked for, and the list its answer is in.
fn place(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Web => ("search", "organic"),
        Kind::News => ("news", "news"),
        Kind::Images => ("images", "images"),
    }
}

fn body(question: &Question, query: &str) -> Value {
    let mut body = json!({ "q": query, "num": question.wanted(false, MOST_RESULTS) });
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            body[name] = value.into();
        }
    };
    set("gl", question.country.as_ref().map(|country| country.to_ascii_lowercase()));
    set("hl", question.language.clone());
    set("location", question.location.clone());
    set("tbs", question.window.tbs());
    body
}

#[async_trait::async_trait]
impl Provider for Serper {
    fn name(&self) -> &'static str {
        "serper"
    }

    fn answers(&self, _: Kind) -> bool {
        true
    }

    fn abilities(&self) -> Abilities {
        Abilities { words: true, file_type: true, window: true }
    }

    fn cannot(&self, question: &Question) -> Vec<&'static str> {
        question.safe.iter().filter(|safe| **safe).map(|_| "safe").collect()
    }

    fn requests(&self, _: &Question) -> u32 {
        1
    }

    async fn ask(&self, question: &Question, leave: &Leave) -> Result<Answer, Problem> {
        let (query, left_out) = question.with_operators(LONGEST_QUERY);
        let (path, name) = place(question.kind);
        let headers = [("x-api-key", self.key.reveal())];
        let found =
            self.line.post(&below(&self.base, path), &body(question, &query), &headers, leave).await?;
        // An answer that found nothing repeats the question and has no list.
        if found.get(name).is_none_or(|results| !results.is_array())
            && found.get("searchParameters").is_none()
        {
            return Err(Problem::Nonsense("no list of results"));
        }
        let hits = list(&found, &[name]).iter().filter_map(|result| hit(result, question)).collect();
        Ok(Answer { hits, notes: note_left_out(left_out, self.name()), searched: None })
    }
}

fn hit(result: &Value, question: &Question) -> Option<Hit> {
    let title = text(result, &["title"]).unwrap_or_default();
    let hit = Hit::new(text(result, &["link"])?, title, text(result, &["snippet"]).unwrap_or_default())?;
    let hit = hit.dated(text(result, &["date"]), question.now);
    let (width, height) = (number(result, "imageWidth"), number(result, "imageHeight"));
    let hit = hit.pictured(text(result, &["imageUrl", "thumbnailUrl"]), width, height);
    (question.kind != Kind::Images || hit.image.is_some()).then_some(hit)
}
