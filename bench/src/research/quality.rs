//! Ranking quality on the judged collection, and the learnt weights.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use papers::{
    Blend, Example, FEATURE_COUNT, FEATURES, FIRST, LearntWeights, MEANING, READING, SECOND_COUNT,
    SECOND_FEATURES, Weights, learn_weights,
};

use super::collection::{Collection, ModelVectors};
use super::generated_queries::generate_queries;
use super::judged_collection::{Graph, JudgedCollection, Query};
use super::measure::{Quality, judge};
use super::rankings::write_rankings;

const FOLDS: usize = 5;
/// Candidates of each query that weights are learnt from and judged on.
const MAX_CANDIDATES: usize = 400;
/// Regularisation of the weights that are learnt from the generated queries.
const GENERATED_REGULARISATION: f64 = 1.0;
/// Regularisation of the weights that are learnt from the judged queries alone.
const JUDGED_REGULARISATION: f64 = 0.1;

/// A ranker of the second pass.
struct Ranker {
    name: &'static str,
    /// It does not use the features from this one on.
    sees: usize,
    /// Starts with the weights learnt from generated queries. With few features, the judged queries alone are
    /// as good; with more, they would fit noise.
    begins_with_basics: bool,
}

const RANKERS: [Ranker; 3] = [
    Ranker { name: "SECOND", sees: READING, begins_with_basics: false },
    Ranker { name: "RERANK", sees: MEANING, begins_with_basics: true },
    Ranker { name: "MODEL", sees: SECOND_COUNT, begins_with_basics: true },
];

type Intents = HashMap<String, Vec<f32>>;

/// Queries and the collections they are asked of. A query is asked of every collection, or of one in turn.
struct QuerySet<'a> {
    collections: &'a [Collection],
    queries: &'a [Query],
    intents: &'a Intents,
    in_turn: bool,
}

impl<'a> QuerySet<'a> {
    /// Collection, index of the query, query.
    fn each(&self) -> impl Iterator<Item = (&'a Collection, usize, &'a Query)> {
        let (count, in_turn) = (self.collections.len(), self.in_turn);
        self.collections.iter().enumerate().flat_map(move |(turn, collection)| {
            let chosen = self.queries.iter().enumerate();
            chosen
                .filter(move |(place, _)| !in_turn || place % count == turn)
                .map(move |(place, query)| (collection, place, query))
        })
    }

    /// The pools with the features of the first pass: documents, example.
    fn first(&self) -> Vec<(Vec<u32>, Example<FEATURE_COUNT>)> {
        self.each()
            .map(|(collection, _, query)| {
                let pool = collection.index.pool(&collection.question(query, false, None), &FIRST);
                // Hopeless candidates teach nothing and cost most of the time. All features count alike here:
                // with the current weights, what is learnt would depend on what was learnt before.
                let promise =
                    |place: &usize| pool.first[*place].iter().map(|value| value.sqrt()).sum::<f32>();
                let mut kept: Vec<usize> = (0..pool.nodes.len()).collect();
                kept.sort_by(|one, other| promise(other).total_cmp(&promise(one)));
                kept.truncate(MAX_CANDIDATES);
                let nodes: Vec<u32> =
                    kept.iter().map(|place| collection.document(pool.nodes[*place])).collect();
                let rows = kept.iter().map(|place| pool.first[*place]).collect();
                let relevant = relevant_places(&nodes, query);
                (nodes, Example { density: pool.density, rows, relevant })
            })
            .collect()
    }

    /// The best by `first` with the features of the second pass.
    fn second(
        &self,
        first: &Blend<FEATURE_COUNT>,
        keep: impl Fn(usize) -> bool,
    ) -> Vec<(Vec<u32>, Example<SECOND_COUNT>)> {
        self.each()
            .filter(|(_, place, _)| keep(*place))
            .map(|(collection, _, query)| {
                let question = collection.question(query, true, self.intents.get(&query.intent));
                let pool = collection.index.pool(&question, first);
                let nodes: Vec<u32> =
                    pool.second.iter().map(|(place, _)| collection.document(pool.nodes[*place])).collect();
                let relevant = relevant_places(&nodes, query);
                let rows = pool.second.into_iter().map(|(_, row)| row).collect();
                (nodes, Example { density: pool.density, rows, relevant })
            })
            .collect()
    }
}

fn relevant_places(nodes: &[u32], query: &Query) -> Vec<usize> {
    nodes.iter().enumerate().filter(|(_, node)| query.rel.contains(node)).map(|(place, _)| place).collect()
}

fn order(nodes: &[u32], scores: impl Iterator<Item = f32>) -> Vec<u32> {
    let mut scored: Vec<(f32, u32)> = scores.zip(nodes.iter().copied()).collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    scored.into_iter().map(|(_, node)| node).collect()
}

pub fn report(name: &str, queries: &[Query], rankings: &[Vec<u32>]) -> Quality {
    let quality =
        judge(rankings.iter().zip(queries).map(|(ranked, query)| (ranked.as_slice(), query.rel.as_slice())));
    println!("{name:28} {quality}");
    quality
}

/// Queries from one citing article stay in one fold.
fn folds(queries: &[Query]) -> Vec<usize> {
    let mut sources: Vec<&str> = queries.iter().map(|query| query.src.as_str()).collect();
    sources.sort_unstable();
    sources.dedup();
    queries.iter().map(|query| sources.binary_search(&query.src.as_str()).unwrap_or(0) % FOLDS).collect()
}

fn build_all(pack: &JudgedCollection, meaning: Option<&ModelVectors>) -> Result<Vec<Collection>> {
    let started = Instant::now();
    let built = Graph::ALL.iter().map(|graph| Collection::build(pack, *graph, meaning, false)).collect();
    println!(
        "built {} documents three times in {:.1} s",
        pack.documents.len(),
        started.elapsed().as_secs_f64()
    );
    built
}

/// The features that a ranker uses.
fn seen_by(from: usize, examples: &[(Vec<u32>, Example<SECOND_COUNT>)]) -> Vec<Example<SECOND_COUNT>> {
    let mut out: Vec<_> = examples.iter().map(|(_, example)| example.clone()).collect();
    for row in out.iter_mut().flat_map(|example| &mut example.rows) {
        row[from..].fill(0.0);
    }
    out
}

/// Weights of both passes; of the second, one set for each ranker.
struct PassWeights {
    first: LearntWeights,
    second: Vec<LearntWeights>,
}

/// Weights learnt from the generated queries, where learning from real ones starts.
fn learn_from_generated_queries(
    pack: &JudgedCollection,
    meaning: Option<&ModelVectors>,
) -> Result<Vec<LearntWeights>> {
    let generated_queries = generate_queries(pack);
    let collections = build_all(&generated_queries, meaning)?;
    let intents = meaning.map(|meaning| meaning.intents(&generated_queries.queries)).unwrap_or_default();
    let asked = QuerySet {
        collections: &collections,
        queries: &generated_queries.queries,
        intents: &intents,
        in_turn: true,
    };
    println!("{} generated queries", generated_queries.queries.len());
    let examples = asked.first();
    let first = learn_weights(
        &examples.iter().map(|(_, one)| one).collect::<Vec<_>>(),
        GENERATED_REGULARISATION,
        None,
    );
    let examples = asked.second(&first.blend(), |_| true);
    let second = RANKERS.map(|ranker| {
        learn_weights(
            &seen_by(ranker.sees, &examples).iter().collect::<Vec<_>>(),
            GENERATED_REGULARISATION,
            None,
        )
    });
    Ok(second.into())
}

/// Where `learn` writes to.
#[derive(Debug, Default)]
pub struct OutputPaths {
    /// The rankings of the folds.
    pub ranked: Option<PathBuf>,
    /// The weights, as source files in this folder.
    pub weights: Option<PathBuf>,
}

/// Quality in five folds over three densities of the graph, then weights from everything.
pub fn learn(folder: &Path, written: &OutputPaths, pull: f64, meaning: Option<&ModelVectors>) -> Result<()> {
    let pack = JudgedCollection::read_folder(folder)?;
    let queries = &pack.queries;
    let fold_of = folds(queries);
    let basic = learn_from_generated_queries(&pack, meaning)?;
    let collections = build_all(&pack, meaning)?;
    let intents = meaning.map(|meaning| meaning.intents(queries)).unwrap_or_default();
    let asked = QuerySet { collections: &collections, queries, intents: &intents, in_turn: false };
    let pools = asked.first();
    let teach = |keep: &dyn Fn(usize) -> bool| {
        let places = || asked.each().map(|(_, place, _)| place);
        let seen = pools.iter().zip(places()).filter(|(_, place)| keep(*place));
        let seen: Vec<&Example<FEATURE_COUNT>> = seen.map(|((_, example), _)| example).collect();
        let first = learn_weights(&seen, JUDGED_REGULARISATION, None);
        let examples = asked.second(&first.blend(), keep);
        let second = RANKERS.iter().zip(&basic).map(|(ranker, basic)| {
            let seen = seen_by(ranker.sees, &examples);
            let (pull, before) =
                if ranker.begins_with_basics { (pull, Some(basic)) } else { (JUDGED_REGULARISATION, None) };
            learn_weights(&seen.iter().collect::<Vec<_>>(), pull, before)
        });
        PassWeights { second: second.collect(), first }
    };

    // By graph and ranker (the first pass, then those of the second), the ranking of each query.
    let mut rankings = vec![vec![vec![Vec::new(); queries.len()]; 1 + RANKERS.len()]; collections.len()];
    for fold in 0..FOLDS {
        let lesson = teach(&|place| fold_of[place] != fold);
        let first = lesson.first.blend();
        let tested = asked.second(&first, |place| fold_of[place] == fold);
        let places = asked.each().enumerate().filter(|(_, (_, place, _))| fold_of[*place] == fold);
        for ((number, (_, place, _)), (nodes, example)) in places.zip(&tested) {
            let (pool, first_example) = &pools[number];
            let rankings = &mut rankings[number / queries.len()];
            let weights = first.at(first_example.density);
            let by_first = order(pool, first_example.rows.iter().map(|row| weights.score(row)));
            for (number, (learnt, ranker)) in lesson.second.iter().zip(RANKERS).enumerate() {
                let weights = learnt.blend::<SECOND_COUNT>().at(example.density);
                let mut best = order(
                    nodes,
                    example.rows.iter().map(|row| {
                        let mut row = *row;
                        row[ranker.sees..].fill(0.0);
                        weights.score(&row)
                    }),
                );
                let rest: Vec<u32> = by_first.iter().filter(|node| !best.contains(node)).copied().collect();
                best.extend(rest);
                rankings[1 + number][place] = best;
            }
            rankings[0][place] = by_first;
        }
    }
    for (graph, rankings) in Graph::ALL.iter().zip(&rankings) {
        let names = std::iter::once("first pass").chain(RANKERS.iter().map(|ranker| ranker.name));
        for (name, rankings) in names.zip(rankings) {
            report(&format!("{graph:?}, {name}"), queries, rankings);
        }
    }
    if let Some(path) = &written.ranked {
        for (ranker, rankings) in RANKERS.iter().zip(&rankings[0][1..]) {
            let name = ranker.name.to_lowercase();
            write_rankings(&path.with_extension(format!("{name}.jsonl")), rankings)?;
        }
    }
    let lesson = teach(&|_| true);
    for (name, source) in sources(&lesson, meaning.is_some()) {
        println!("{name}\n\n{source}");
        if let Some(folder) = &written.weights {
            std::fs::write(folder.join(name), source)?;
        }
    }
    Ok(())
}

/// The weights as source files of the ranker: names and texts. Those of the ranker that needs a model are
/// separate, as they can be learnt only with one.
fn sources(lesson: &PassWeights, has_model: bool) -> Vec<(&'static str, String)> {
    let head = |needs: &str| {
        format!(
            "//! Learnt weights. Written by `gannet-bench research learn {needs}--weights`, not by hand: see `docs/research.md`.\n\n\
             use super::{{Blend, Weights}};\n"
        )
    };
    let (mut plain, mut with_model) = (head(""), head("--vectors --model "));
    put_weights(&mut plain, "FIRST", &FEATURES, &lesson.first.blend());
    for (ranker, learnt) in RANKERS.iter().zip(&lesson.second) {
        let out = if ranker.sees > MEANING { &mut with_model } else { &mut plain };
        put_weights(out, ranker.name, &SECOND_FEATURES, &learnt.blend());
    }
    let mut sources = vec![("learned_weights.rs", plain)];
    if has_model {
        sources.push(("learned_model_weights.rs", with_model));
    }
    sources
}

fn put_weights<const N: usize>(out: &mut String, name: &str, features: &[&str; N], blend: &Blend<N>) {
    let one = |weights: &Weights<N>| {
        format!(
            "Weights {{\n        linear: {:.2?},\n        root: {:.2?},\n    }}",
            weights.linear, weights.root
        )
    };
    let _ = write!(
        out,
        "\n/// {}.\npub const {name}: Blend<{N}> = Blend {{\n    thin: {},\n    dense: {},\n}};\n",
        features.join(", "),
        one(&blend.thin),
        one(&blend.dense)
    );
}
