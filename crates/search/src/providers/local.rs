//! This server's own index: what it has scraped, crawled or been given.

use crate::category::Category;
use crate::hit::Hit;
use crate::provider::{Abilities, Answer, Leave, Problem, Provider};
use crate::question::{Kind, Question, common};
use std::sync::Arc;

const MOST: usize = 200;
/// Pictures of one page that may be among the results.
const MOST_PICTURES: usize = 3;
const PASSAGES: usize = 2;

/// The index, wherever it lies. Whoever serves it gives it.
#[async_trait::async_trait]
pub trait Local: Send + Sync + std::fmt::Debug {
    /// Answers a query; an error says why not, for people.
    async fn search(&self, query: index::Query) -> Result<index::Found, String>;
}

/// The index as a provider among others.
#[derive(Debug)]
pub struct LocalProvider(Arc<dyn Local>);

impl LocalProvider {
    pub fn new(local: Arc<dyn Local>) -> Self {
        Self(local)
    }

    async fn search(&self, query: index::Query, answer: &mut Answer) -> Result<Vec<index::Hit>, Problem> {
        let found =
            self.0.search(query).await.map_err(|why| Problem::Said(format!("cannot answer: {why}")))?;
        answer.searched = Some(found.searched);
        Ok(found.hits)
    }
}

/// The questions that together are this one: categories are alternatives, and the index knows none.
fn queries(question: &Question) -> Vec<index::Query> {
    let asked: Vec<String> = question.sites.iter().chain(&question.terms.sites).cloned().collect();
    if question.categories.is_empty() {
        return vec![query(question, asked, None)];
    }
    let of = |category: &Category| match category.file_type() {
        Some(kind) => Some(query(question, asked.clone(), Some(kind))),
        None if asked.is_empty() => {
            let sites = category.sites().iter().map(|site| (*site).to_owned()).collect();
            Some(query(question, sites, None))
        }
        None => {
            let sites = common(&asked, category.sites());
            (!sites.is_empty()).then(|| query(question, sites, None))
        }
    };
    question.categories.iter().filter_map(of).collect()
}

fn query(question: &Question, sites: Vec<String>, file_type: Option<&str>) -> index::Query {
    let terms = &question.terms;
    let without = question.without_sites.iter().chain(&terms.without_sites);
    // Dates and pictures are looked at afterwards, so more are asked for than are wanted.
    let spare = if question.kind == Kind::Web { 1 } else { 3 };
    index::Query {
        team: question.team,
        collection: question.collection.to_owned(),
        text: terms.words.join(" "),
        phrases: terms.phrases.clone(),
        without: terms.without.clone(),
        in_title: terms.in_title.clone(),
        in_url: terms.in_url.clone(),
        file_types: terms.file_types.iter().cloned().chain(file_type.map(str::to_owned)).collect(),
        sites,
        without_sites: without.cloned().collect(),
        since: question.window.since(question.now),
        until: question.window.until(),
        newest_first: question.window.newest_first,
        language: question.language.clone(),
        valued: question.valued.clone(),
        limit: question.limit.saturating_mul(spare).clamp(1, MOST),
        passages: if question.highlights { PASSAGES } else { 0 },
        now: question.now,
        ..index::Query::default()
    }
}

#[async_trait::async_trait]
impl Provider for LocalProvider {
    fn name(&self) -> &'static str {
        "local"
    }

    fn is_local(&self) -> bool {
        true
    }

    fn answers(&self, _: Kind) -> bool {
        true
    }

    fn abilities(&self) -> Abilities {
        Abilities { words: true, file_type: true, window: true }
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
        0
    }

    async fn ask(&self, question: &Question, _: &Leave) -> Result<Answer, Problem> {
        let mut answer = Answer { searched: Some(0), ..Answer::default() };
        let mut found = Vec::new();
        for query in queries(question) {
            found.push(self.search(query, &mut answer).await?);
        }
        // The best of each, then the second best of each.
        let longest = found.iter().map(Vec::len).max().unwrap_or(0);
        for rank in 0..longest {
            for hit in found.iter().filter_map(|hits| hits.get(rank)) {
                match question.kind {
                    Kind::Web => answer.hits.extend(page(question, hit)),
                    Kind::News if hit.document.published.is_some() => answer.hits.extend(page(question, hit)),
                    Kind::News => {}
                    Kind::Images => answer.hits.extend(pictures(question, hit)),
                }
            }
        }
        Ok(answer)
    }
}

fn page(question: &Question, found: &index::Hit) -> Option<Hit> {
    let document = &found.document;
    let said = found.passages.join(" … ");
    let highlighted = question.highlights && !said.is_empty();
    let opening: String = document.body.chars().take(300).collect();
    let text = match (highlighted, document.description.is_empty()) {
        (true, _) => &said,
        (false, false) => &document.description,
        (false, true) => &opening,
    };
    let mut hit = Hit::of_index(&document.url, &document.title, text)?;
    hit.highlighted = highlighted;
    hit.of_file_type = document.kind.as_deref() == Some("pdf");
    hit.published = document.published;
    hit.date = document.published.and_then(day);
    Some(hit.pictured_by(document))
}

impl Hit {
    fn pictured_by(self, document: &index::Document) -> Self {
        match document.images.first() {
            Some(image) => self.pictured(Some(&image.url), image.width, image.height),
            None => self,
        }
    }
}

/// Pictures of a page that matches: first those whose own text has the words.
fn pictures(question: &Question, found: &index::Hit) -> Vec<Hit> {
    let document = &found.document;
    let words: Vec<String> =
        question.terms.words.iter().chain(&question.terms.phrases).map(|word| word.to_lowercase()).collect();
    let said = |image: &index::Image| {
        let text = image.text.to_lowercase();
        words.iter().filter(|word| text.contains(word.as_str())).count()
    };
    let mut images: Vec<&index::Image> = document.images.iter().collect();
    images.sort_by_key(|image| std::cmp::Reverse(said(image)));
    let hit = |image: &index::Image| {
        let title = if image.text.is_empty() { &document.title } else { &image.text };
        let hit = Hit::of_index(&document.url, title, &document.title)?.pictured(
            Some(&image.url),
            image.width,
            image.height,
        );
        hit.image.is_some().then_some(hit)
    };
    images.into_iter().filter_map(hit).take(MOST_PICTURES).collect()
}

fn day(millis: i64) -> Option<String> {
    let stamp = jiff::Timestamp::from_millisecond(millis).ok()?;
    Some(stamp.to_zoned(jiff::tz::TimeZone::UTC).date().to_string())
}
