//! The research index as a capability: requests become plans (every default filled in, every mistake named),
//! plans are asked of the index that serves now, and its nodes become papers. A new generation is taken up
//! between requests, never within one.

use crate::Error;
use crate::models::SentenceModels;
use papers::{Date, Embedder, Filter, Index, Library, Mode, PaperRef, SearchQuery, SimilarQuery};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use wire::Issues;
use wire::research::{
    Citation, FoundPapers, IdMap, InspectedPaper, Paper, PaperRequest, PaperResult, PaperSignals, Passage,
    SearchRequest, SimilarPapers, SimilarRequest,
};

/// How often a new generation, published by another process, is looked for.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);
/// Anchors, and as many papers to stay away from, in one request.
const MAX_ANCHORS: usize = 50;
/// Characters of an intent or a query. The words that matter come early; a pasted page is not refused.
const MAX_TEXT_CHARS: usize = 200_000;
/// Citations among the papers of one answer.
const MAX_CITATIONS: usize = 10_000;
const DEFAULT_RESULTS: i64 = 40;
const DEFAULT_PASSAGES: i64 = 4;

/// The research index of this process.
#[derive(Debug)]
pub struct Research {
    library: Library,
    models: Arc<SentenceModels>,
}

impl Research {
    /// Opens the index in `folder`; models that it may use are looked for in `models`.
    pub fn open(folder: &Path, models: PathBuf) -> papers::Result<Self> {
        Ok(Self { library: Library::open(folder)?, models: Arc::new(SentenceModels::new(models)) })
    }

    /// The models that the index may use.
    pub fn models(&self) -> &Arc<SentenceModels> {
        &self.models
    }

    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The index that serves now.
    pub fn index(&self) -> Result<Arc<Index>, Error> {
        if let Err(error) = self.library.refresh_if_older_than(REFRESH_INTERVAL) {
            // The one before still serves; whoever runs the service must know all the same.
            tracing::error!(%error, "a new generation of the research index cannot be opened");
        }
        self.library.current().ok_or_else(|| Error::Unavailable {
            reason: "the research index is empty; fill it with: gannet research import",
            retry_after: 30,
        })
    }

    /// Papers related to a seed.
    pub fn similar(&self, id: &str, asked: &SimilarRequest) -> Result<SimilarPapers, Error> {
        let mut issues = Issues::default();
        let intent = text(&mut issues, "intent", asked.intent.as_deref());
        let k = asked.k.unwrap_or(DEFAULT_RESULTS);
        issues.range("k", k, &(1..=500));
        let mode = match asked.mode.as_deref().unwrap_or("similar") {
            "similar" => Mode::Similar,
            "citers" => Mode::Citers,
            "references" => Mode::References,
            _ => {
                issues.add("mode", "must be similar, citers or references", "invalid_value");
                Mode::Similar
            }
        };
        for (name, list) in [("anchor", &asked.anchor), ("exclude", &asked.exclude)] {
            if list.len() > MAX_ANCHORS {
                issues.add(name, &format!("at most {MAX_ANCHORS} are allowed"), "too_big");
            }
        }
        let filter = Filter {
            categories: parted(&asked.fields),
            ..dates(&mut issues, asked.from.as_deref(), asked.to.as_deref())
        };
        issues.finish()?;

        let index = self.index()?;
        let mut seeds = vec![find_paper(&index, id)?];
        let mut notes = Vec::new();
        let mut gather = |given: &[String], what: &str, into: &mut Vec<u32>| {
            for raw in given {
                match PaperRef::parse(raw).and_then(|reference| index.resolve(&reference)) {
                    Some(node) if !into.contains(&node) => into.push(node),
                    Some(_) => {}
                    None => notes.push(format!("{what} {} is not in the index", shortened(raw))),
                }
            }
        };
        gather(&asked.anchor, "anchor", &mut seeds);
        let mut exclude = Vec::new();
        gather(&asked.exclude, "excluded paper", &mut exclude);
        exclude.retain(|node| !seeds.contains(node));

        let rerank = asked.rerank.unwrap_or(false);
        let meaning =
            if rerank && mode == Mode::Similar { self.meaning(&index, &intent, &mut notes) } else { None };
        let query = SimilarQuery {
            seeds,
            exclude,
            intent,
            mode,
            k: usize::try_from(k).unwrap_or(0),
            rerank,
            meaning,
            filter,
            ..SimilarQuery::default()
        };
        let answer = index.similar(&query);
        let citations = asked.citations.unwrap_or(false).then(|| {
            let results = answer.results.iter().map(|ranked| ranked.node);
            citations_among(&index, &query.seeds.iter().copied().chain(results).collect())
        });
        notes.extend(answer.notes);
        notes.push(format!(
            "index of {}",
            stored_data::time::iso(built(&index)).split('T').next().unwrap_or_default()
        ));
        let results = answer
            .results
            .iter()
            .filter_map(|ranked| {
                let signals = PaperSignals {
                    structural: ranked.signals.structural,
                    semantic: ranked.signals.semantic,
                    article_rank: ranked.signals.article_rank,
                    seed_overlap: ranked.signals.seed_overlap,
                };
                Some(result(index.paper(ranked.node)?, ranked.score, Some(signals)))
            })
            .collect();
        Ok(SimilarPapers {
            success: true,
            results,
            pool_size: answer.pool_size as u64,
            truncated: answer.truncated,
            note: Some(notes.join("; ")),
            citations,
        })
    }

    /// The intent as a vector, where the index has vectors and the model that made them is installed. What is
    /// missing is said.
    fn meaning(&self, index: &Index, intent: &str, notes: &mut Vec<String>) -> Option<Vec<f32>> {
        let vectors = index.vectors()?;
        match self.models.current() {
            Ok(Some(model)) if model.identity() == vectors.identity() => model.embed(&[intent]).pop(),
            Ok(Some(_)) => {
                notes.push(
                    "the index has vectors of another model; gannet research vectors makes new ones"
                        .to_owned(),
                );
                None
            }
            Ok(None) => {
                notes.push("the index has vectors but their model is not installed".to_owned());
                None
            }
            Err(error) => {
                tracing::error!(%error, "the sentence model cannot be read");
                notes.push("the sentence model cannot be read".to_owned());
                None
            }
        }
    }

    /// Papers for a text.
    pub fn search(&self, asked: &SearchRequest) -> Result<FoundPapers, Error> {
        let mut issues = Issues::default();
        let words = text(&mut issues, "query", asked.query.as_deref());
        let k = asked.k.unwrap_or(DEFAULT_RESULTS);
        issues.range("k", k, &(1..=500));
        let filter = Filter {
            authors: parted(&asked.authors),
            categories: parted(&asked.categories),
            ..dates(&mut issues, asked.from.as_deref(), asked.to.as_deref())
        };
        issues.finish()?;
        let index = self.index()?;
        let found = index.search(&SearchQuery { text: words, k: usize::try_from(k).unwrap_or(0), filter });
        let results = found
            .iter()
            .filter_map(|(node, score)| Some(result(index.paper(*node)?, *score, None)))
            .collect();
        Ok(FoundPapers { success: true, results })
    }

    /// One paper, and with a question its passages that speak of it.
    pub fn paper(&self, id: &str, asked: &PaperRequest) -> Result<InspectedPaper, Error> {
        let mut issues = Issues::default();
        if asked.k.is_some() && asked.query.is_none() {
            issues.add("k", "is allowed only with query", "custom");
        }
        let question = asked.query.as_deref().map(|query| text(&mut issues, "query", Some(query)));
        let k = asked.k.unwrap_or(DEFAULT_PASSAGES);
        issues.range("k", k, &(1..=50));
        issues.finish()?;
        let index = self.index()?;
        let node = find_paper(&index, id)?;
        let paper = index.paper(node).ok_or_else(|| unknown(id))?;
        let number = paper.number.to_string();
        let passages = question.as_deref().map(|question| {
            let passages = index.passages(node, question, usize::try_from(k).unwrap_or(0));
            passages.into_iter().map(|passage| Passage { text: passage.text, score: passage.score }).collect()
        });
        Ok(InspectedPaper {
            success: true,
            retracted: paper.retracted,
            provenance: provenance(&paper),
            paper: shown(paper),
            paper_id: question.is_some().then_some(number),
            query: question,
            passages,
        })
    }
}

/// When the index was built, in milliseconds since 1970.
fn built(index: &Index) -> i64 {
    i64::try_from(index.facts().built).unwrap_or(0).saturating_mul(1000)
}

fn find_paper(index: &Index, id: &str) -> Result<u32, Error> {
    PaperRef::parse(id).and_then(|reference| index.resolve(&reference)).ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> Error {
    Error::UnknownPaper(shortened(id))
}

/// What a caller sent, short enough to be sent back.
fn shortened(raw: &str) -> String {
    raw.chars().filter(|character| !character.is_control()).take(100).collect()
}

fn text(issues: &mut Issues, name: &str, given: Option<&str>) -> String {
    match given.map(str::trim) {
        None => issues.add(name, "required", "invalid_type"),
        Some("") => issues.add(name, "must not be empty", "too_small"),
        Some(text) => issues.length(name, text, &(1..=MAX_TEXT_CHARS)),
    }
    given.unwrap_or_default().to_owned()
}

fn dates(issues: &mut Issues, from: Option<&str>, to: Option<&str>) -> Filter {
    let mut read = |name: &str, given: Option<&str>| {
        let given = given.filter(|given| !given.is_empty())?;
        let date = (given.len() == 10).then(|| Date::parse(given)).flatten();
        if date.is_none() {
            issues.add(name, "must be a day, YYYY-MM-DD", "invalid_value");
        }
        date
    };
    Filter { from: read("from", from), to: read("to", to), ..Filter::default() }
}

/// Repeated parameters, each of which may be a list parted by commas.
fn parted(given: &[String]) -> Vec<String> {
    given
        .iter()
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|one| !one.is_empty())
        .take(20)
        .map(str::to_owned)
        .collect()
}

/// Which of these papers cite each other.
fn citations_among(index: &Index, nodes: &BTreeSet<u32>) -> Vec<Citation> {
    let names: BTreeMap<u32, String> =
        nodes.iter().filter_map(|node| Some((*node, index.paper(*node)?.primary.to_string()))).collect();
    let mut found = Vec::new();
    for (node, citing) in &names {
        index.references().for_each(*node, |cited| {
            if let Some(cited) = names.get(&cited).filter(|_| found.len() < MAX_CITATIONS) {
                found.push(Citation { citing: citing.clone(), cited: cited.clone() });
            }
        });
    }
    found
}

fn id_map(ids: &[papers::Identifier]) -> IdMap {
    let mut map = IdMap::new();
    for id in ids {
        map.entry(id.namespace().to_owned()).or_default().push(id.value().to_owned());
    }
    map
}

fn result(paper: papers::Paper, score: f64, signals: Option<PaperSignals>) -> PaperResult {
    PaperResult {
        paper_id: paper.number.to_string(),
        primary_id: paper.primary.to_string(),
        ids: id_map(&paper.ids),
        title: paper.title,
        abstract_text: paper.abstract_text,
        score,
        signals,
    }
}

/// Which import each field of a paper is from.
fn provenance(paper: &papers::Paper) -> BTreeMap<String, String> {
    let fields = [
        ("title", paper.provenance.title),
        ("abstract", paper.provenance.abstract_text),
        ("authors", paper.provenance.authors),
        ("createdDate", paper.provenance.dates),
        ("references", paper.provenance.references),
    ];
    let known = fields.into_iter().filter_map(|(field, source)| Some((field, source?)));
    known.map(|(field, source)| (field.to_owned(), source.name().to_owned())).collect()
}

fn shown(paper: papers::Paper) -> Paper {
    Paper {
        paper_id: paper.number.to_string(),
        ids: id_map(&paper.ids),
        title: paper.title,
        abstract_text: paper.abstract_text,
        authors: paper.authors.join(", "),
        categories: paper.categories,
        created_date: paper.created.map(|date| date.to_string()),
        update_date: paper.updated.or(paper.created).map(|date| date.to_string()),
    }
}
