//! Generated queries with judgements. A later article that cites two earlier ones says that they belong
//! together, and one of its own sentences says why. Thousands of such queries keep weights stable where a few
//! hundred real ones would let them fit noise. They are made from the collection alone and use nothing of the
//! real queries.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::generated_corpus::Random;
use super::judged_collection::{Document, JudgedCollection, Query};

/// Share of the articles, the newest, that queries are made from and that are taken out of the graph.
const NEWEST_SHARE: f64 = 0.28;
/// Queries from one article.
const QUERIES_PER_ARTICLE: usize = 3;
/// One in this many queries asks by the title instead of a sentence.
const TITLE_QUERY_INTERVAL: u64 = 7;

/// The words of a text, each once.
fn words(text: &str) -> BTreeSet<String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| word.len() >= 3)
        .map(str::to_lowercase)
        .collect()
}

/// How rare each word is among the documents.
struct WordRarity(HashMap<String, f64>);

impl WordRarity {
    fn from_texts(texts: &[BTreeSet<String>]) -> Self {
        let mut counts: HashMap<String, f64> = HashMap::new();
        for word in texts.iter().flatten() {
            *counts.entry(word.clone()).or_default() += 1.0;
        }
        let documents = texts.len() as f64;
        for count in counts.values_mut() {
            *count = (documents / *count).ln();
        }
        Self(counts)
    }

    /// Weight of the shared words, damped by how many there could be.
    fn shared(&self, one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
        let weight: f64 = one.intersection(other).filter_map(|word| self.0.get(word)).sum();
        weight / (5.0 + one.len() as f64).sqrt()
    }
}

/// The collection without its newest articles, and the queries made from them.
pub fn generate_queries(pack: &JudgedCollection) -> JudgedCollection {
    let mut years: Vec<u32> = pack.documents.iter().map(|document| document.year.unwrap_or(0)).collect();
    years.sort_unstable();
    let cut = years[(years.len() as f64 * (1.0 - NEWEST_SHARE)) as usize];
    let is_old =
        |document: u32| pack.documents.get(document as usize).is_some_and(|one| one.year.unwrap_or(0) < cut);

    // Old documents keep their order; works that are only cited follow them.
    let mut number_of: BTreeMap<u32, u32> = BTreeMap::new();
    let mut documents = Vec::new();
    for (number, document) in pack.documents.iter().enumerate().filter(|(number, _)| is_old(*number as u32)) {
        number_of.insert(number as u32, documents.len() as u32);
        // Contexts name documents by the numbers they had before.
        documents.push(Document { contexts: Vec::new(), ..document.clone() });
    }
    let count = pack.documents.len() as u32;
    let mut edges = Vec::new();
    let mut asked: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (citing, cited) in &pack.edges {
        if !is_old(*citing) {
            if is_old(*cited) && citing != cited {
                asked.entry(*citing).or_default().insert(number_of[cited]);
            }
        } else if *cited >= count || is_old(*cited) {
            let next = number_of.len() as u32;
            edges.push((number_of[citing], *number_of.entry(*cited).or_insert(next)));
        }
    }

    let texts: Vec<BTreeSet<String>> = documents
        .iter()
        .map(|document| {
            words(&format!("{} {}", document.title, document.abstract_text.as_deref().unwrap_or_default()))
        })
        .collect();
    let rarity = WordRarity::from_texts(&texts);
    let mut random = Random::new(11);
    let mut queries = Vec::new();
    for (citing, cited) in asked.into_iter().filter(|(_, cited)| cited.len() >= 2) {
        let article = &pack.documents[citing as usize];
        let cited: Vec<u32> = cited.into_iter().collect();
        for _ in 0..if cited.len() < 4 { QUERIES_PER_ARTICLE - 1 } else { QUERIES_PER_ARTICLE } {
            let seed = cited[random.next() as usize % cited.len()];
            let near = |other: &u32| rarity.shared(&texts[*other as usize], &texts[seed as usize]);
            let others = cited.iter().copied().filter(|other| *other != seed);
            // The one nearest to the seed: they may be cited in one sentence.
            let Some(relevant) = others.max_by(|one, other| near(one).total_cmp(&near(other))) else {
                continue;
            };
            let sentences =
                article.abstract_text.as_deref().unwrap_or_default().split(". ").filter(|one| one.len() > 30);
            let by_sentence = sentences
                .max_by(|one, other| {
                    let fit = |text: &str| rarity.shared(&words(text), &texts[seed as usize]);
                    fit(one).total_cmp(&fit(other))
                })
                .filter(|_| !random.next().is_multiple_of(TITLE_QUERY_INTERVAL));
            queries.push(Query {
                src: article.doi.clone(),
                intent: by_sentence.unwrap_or(&article.title).to_owned(),
                seed,
                rel: vec![relevant],
            });
        }
    }
    JudgedCollection { documents, edges, queries }
}
