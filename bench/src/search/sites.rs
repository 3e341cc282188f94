//! Natural questions over an index that the product itself filled: `gannet index add` of real documentation,
//! then the questions of `documentation-queries.jsonl` with the pages that answer them. Plain BM25 gets the
//! documents of that same index.

use super::learn;
use super::plain_tantivy::PlainTantivy;
use super::quality::Quality;
use anyhow::{Context, Result, bail};
use gannet_bench::pages;
use index::{Document, Index, Options, Query, Weights};
use serde::Deserialize;
use std::path::Path;
use tantivy::schema::Value;
use tantivy::{TantivyDocument, store::StoreReader};

/// Results that are looked at; a page further down counts as not found.
const MAX_RESULTS: usize = 100;
/// Blocks of stored documents that a reader keeps unpacked.
const CACHED_BLOCKS: usize = 4;

/// A question and the addresses of the pages that answer it.
#[derive(Debug, Deserialize)]
pub struct Question {
    query: String,
    answers: Vec<String>,
}

impl Question {
    fn rank(&self, urls: &[String]) -> Option<usize> {
        urls.iter().position(|url| self.answers.contains(url))
    }
}

/// Every other question is for tuning, the others for reporting.
fn is_judged(number: usize) -> bool {
    number % 2 == 1
}

pub fn read_questions(path: &Path) -> Result<Vec<Question>> {
    pages::rows(path)?.collect()
}

/// Prints both rankings for each half, and with `all` the rank of every question.
pub fn report(folder: &Path, questions: &Path, all: bool) -> Result<()> {
    let questions = read_questions(questions)?;
    let documents = stored_documents(folder)?;
    println!("{} documents, {} questions", documents.len(), questions.len());
    let directory = tempfile::tempdir()?;
    let plain = PlainTantivy::build(directory.path(), &documents)?;
    let index = Index::open_read_only(folder, Options::default())?;
    let names = ["plain BM25", "BM25 without stop words", "ours"];
    let mut sums = [[Quality::default(); 2]; 3];
    for (number, question) in questions.iter().enumerate() {
        let urls = |numbers: Vec<usize>| numbers.into_iter().map(|at| documents[at].url.clone()).collect();
        let results: [Vec<String>; 3] = [
            urls(plain.search(&question.query, MAX_RESULTS)?),
            urls(plain.search_topic(&question.query, MAX_RESULTS)?),
            search(&index, question)?,
        ];
        let half = usize::from(is_judged(number));
        let ranks = results.each_ref().map(|urls| question.rank(urls));
        for (sums, rank) in sums.iter_mut().zip(ranks) {
            sums[half].add(rank);
        }
        if all {
            let printed = ranks.map(|rank| rank.map_or("-".to_owned(), |rank| (rank + 1).to_string()));
            println!("{half} {:>4} {:>4} {:>4}  {}", printed[0], printed[1], printed[2], question.query);
            if ranks[2] != Some(0) {
                println!("       {}", results[2].iter().take(4).cloned().collect::<Vec<_>>().join(" "));
            }
        }
    }
    println!("{:<32} {:>12} {:>7} {:>7} {:>7} {:>7}", "", "half", "MRR", "R@1", "R@5", "R@10");
    for (half, title) in ["tuned on", "judged"].into_iter().enumerate() {
        for (name, sums) in names.iter().zip(&sums) {
            let mean = sums[half].mean();
            let [first, five, ten] = [mean.recall1, mean.recall5, mean.recall10];
            println!("{name:<32} {title:>12} {:>7.4} {first:>7.4} {five:>7.4} {ten:>7.4}", mean.reciprocal);
        }
    }
    Ok(())
}

/// Learns weights on the questions of the tuning half.
pub fn tune(folder: &Path, questions: &Path) -> Result<()> {
    let questions = read_questions(questions)?;
    learn::search_weights(|weights| tuning_score(folder, &questions, weights))
}

fn tuning_score(folder: &Path, questions: &[Question], weights: &Weights) -> Result<f64> {
    let options = Options { weights: weights.clone(), ..Options::default() };
    let index = Index::open_read_only(folder, options)?;
    let mut quality = Quality::default();
    for (_, question) in questions.iter().enumerate().filter(|(number, _)| !is_judged(*number)) {
        quality.add(question.rank(&search(&index, question)?));
    }
    Ok(quality.mean().reciprocal)
}

fn search(index: &Index, question: &Question) -> Result<Vec<String>> {
    let query = Query {
        collection: "web".to_owned(),
        text: question.query.clone(),
        limit: MAX_RESULTS,
        ..Query::default()
    };
    Ok(index.search(&query)?.hits.into_iter().map(|hit| hit.document.url).collect())
}

/// The documents that an index holds, as it stores them.
fn stored_documents(folder: &Path) -> Result<Vec<Document>> {
    let index = tantivy::Index::open_in_dir(folder.join("current"))
        .with_context(|| format!("no index in {}", folder.display()))?;
    let stored = index.schema().get_field("stored")?;
    let mut documents = Vec::new();
    for segment in index.reader()?.searcher().segment_readers() {
        let reader: StoreReader = segment.get_store_reader(CACHED_BLOCKS)?;
        for row in reader.iter::<TantivyDocument>(segment.alive_bitset()) {
            let row = row?;
            let Some(text) = row.get_first(stored).and_then(|value| value.as_str()) else {
                bail!("a document without its text");
            };
            documents.push(serde_json::from_str(text)?);
        }
    }
    Ok(documents)
}
