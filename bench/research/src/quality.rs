//! Ranking quality on the judged collection.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use papers::{
    Blend, BuildOptions, FEATURE_COUNT, FEATURES, FIRST, Index, Library, PaperRef, READING, SECOND_COUNT,
    SECOND_FEATURES, SimilarQuery, Source,
};

use crate::latency::{Client, print_times, processor_time};
use crate::learn::{Example, learn as learn_weights};
use crate::measure::{Quality, judge};
use crate::pack::{Graph, Pack, Query};

const FOLDS: usize = 5;
const DEPTH: usize = 100;
/// Candidates of each query that weights are learnt from and judged on.
const TRAINED: usize = 400;

/// An index of the collection with a map from its nodes to document numbers.
struct Built {
    index: std::sync::Arc<Index>,
    node_of: Vec<u32>,
    document_of: BTreeMap<u32, u32>,
    _folder: tempfile::TempDir,
}

fn build(pack: &Pack, graph: Graph) -> Result<Built> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("works.jsonl");
    let mut out = BufWriter::new(File::create(&file)?);
    pack.to_jsonl(graph, false, &mut out)?;
    out.flush()?;
    let library = Library::open(&folder.path().join("library"))?;
    library.import(Source::Jsonl, &[file], &BuildOptions::default(), &|_, _, _| {})?;
    let index = library.current().context("an index")?;
    let mut node_of = Vec::new();
    for document in &pack.documents {
        let reference = PaperRef::parse(&document.doi).context("a DOI")?;
        node_of.push(index.resolve(&reference).context("a document that was imported")?);
    }
    let document_of = node_of.iter().enumerate().map(|(document, node)| (*node, document as u32)).collect();
    Ok(Built { index, node_of, document_of, _folder: folder })
}

fn question(built: &Built, query: &Query, rerank: bool) -> SimilarQuery {
    SimilarQuery {
        seeds: vec![built.node_of[query.seed as usize]],
        intent: query.intent.clone(),
        k: 500,
        rerank,
        ..SimilarQuery::default()
    }
}

/// The pools of all queries: documents, features, and the best by `first` with more features.
struct Pools {
    nodes: Vec<Vec<u32>>,
    examples: Vec<Example<FEATURE_COUNT>>,
}

fn relevant_places(nodes: &[u32], query: &Query) -> Vec<usize> {
    nodes.iter().enumerate().filter(|(_, node)| query.rel.contains(node)).map(|(place, _)| place).collect()
}

fn pools(built: &Built, queries: &[Query]) -> Pools {
    let mut pools = Pools { nodes: Vec::new(), examples: Vec::new() };
    for query in queries {
        let pool = built.index.pool(&question(built, query, false), &FIRST);
        let nodes: Vec<u32> = pool.nodes.iter().map(|node| built.document_of[node]).collect();
        // Hopeless candidates teach nothing and cost most of the time: each keeps its best by the weights of today.
        let weights = FIRST.at(pool.density);
        let mut kept: Vec<usize> = (0..nodes.len()).collect();
        kept.sort_by(|one, other| {
            weights.score(&pool.first[*other]).total_cmp(&weights.score(&pool.first[*one]))
        });
        kept.truncate(TRAINED);
        let nodes: Vec<u32> = kept.iter().map(|place| nodes[*place]).collect();
        let rows = kept.iter().map(|place| pool.first[*place]).collect();
        pools.examples.push(Example {
            density: pool.density,
            rows,
            relevant: relevant_places(&nodes, query),
        });
        pools.nodes.push(nodes);
    }
    pools
}

fn order(nodes: &[u32], scores: impl Iterator<Item = f32>) -> Vec<u32> {
    let mut scored: Vec<(f32, u32)> = scores.zip(nodes.iter().copied()).collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    scored.into_iter().map(|(_, node)| node).collect()
}

fn report(name: &str, queries: &[Query], rankings: &[Vec<u32>]) -> Quality {
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

/// Quality in five folds over three densities of the graph, then weights from everything.
pub fn learn(folder: &Path, ranked: Option<&Path>, pull: f64) -> Result<()> {
    let pack = Pack::read(folder)?;
    let queries = &pack.queries;
    let fold_of = folds(queries);
    let mut built = Vec::new();
    for graph in Graph::ALL {
        let started = Instant::now();
        built.push(build(&pack, graph)?);
        println!("{graph:?}: built in {:.1} s", started.elapsed().as_secs_f64());
    }
    let pools: Vec<Pools> = built.iter().map(|built| pools(built, queries)).collect();
    for (graph, pools) in Graph::ALL.iter().zip(&pools) {
        let recall: f64 = pools
            .examples
            .iter()
            .zip(queries)
            .map(|(example, query)| example.relevant.len() as f64 / query.rel.len() as f64)
            .sum();
        let mean: f64 =
            pools.nodes.iter().map(|nodes| nodes.len() as f64).sum::<f64>() / queries.len() as f64;
        println!(
            "{graph:?}: pool {mean:.0}, recall of the pool {:.2}",
            100.0 * recall / queries.len() as f64
        );
    }

    let mut first_rankings = vec![vec![Vec::new(); queries.len()]; Graph::ALL.len()];
    let mut second_rankings = first_rankings.clone();
    let mut reading_rankings = first_rankings.clone();
    for fold in 0..FOLDS {
        let seen: Vec<&Example<FEATURE_COUNT>> = pools
            .iter()
            .flat_map(|pools| {
                pools.examples.iter().zip(&fold_of).filter(|(_, of)| **of != fold).map(|(example, _)| example)
            })
            .collect();
        let first = learn_weights(&seen, pull);
        let second_seen = second_examples(&built, queries, &first, |place| fold_of[place] != fold);
        let second = learn_weights(&unread(&second_seen).iter().collect::<Vec<_>>(), pull);
        let reading = learn_weights(&second_seen.iter().collect::<Vec<_>>(), pull);
        for (graph, built) in built.iter().enumerate() {
            for (place, query) in queries.iter().enumerate().filter(|(place, _)| fold_of[*place] == fold) {
                let nodes = &pools[graph].nodes[place];
                let weights = first.at(pools[graph].examples[place].density);
                let by_first =
                    order(nodes, pools[graph].examples[place].rows.iter().map(|row| weights.score(row)));
                [second_rankings[graph][place], reading_rankings[graph][place]] =
                    rerank(built, query, &first, [&second, &reading], &by_first);
                first_rankings[graph][place] = by_first;
            }
        }
    }
    for (place, graph) in Graph::ALL.iter().enumerate() {
        report(&format!("{graph:?}, first pass"), queries, &first_rankings[place]);
        report(&format!("{graph:?}, second pass"), queries, &second_rankings[place]);
        report(&format!("{graph:?}, rerank"), queries, &reading_rankings[place]);
    }
    if let Some(path) = ranked {
        write_rankings(path, &second_rankings[0])?;
        write_rankings(&path.with_extension("rerank.jsonl"), &reading_rankings[0])?;
    }

    let all: Vec<&Example<FEATURE_COUNT>> = pools.iter().flat_map(|pools| pools.examples.iter()).collect();
    let first = learn_weights(&all, pull);
    let second_all = second_examples(&built, queries, &first, |_| true);
    print_weights("FIRST", &FEATURES, &first);
    print_weights(
        "SECOND",
        &SECOND_FEATURES,
        &learn_weights(&unread(&second_all).iter().collect::<Vec<_>>(), pull),
    );
    print_weights("RERANK", &SECOND_FEATURES, &learn_weights(&second_all.iter().collect::<Vec<_>>(), pull));
    Ok(())
}

fn second_examples(
    built: &[Built],
    queries: &[Query],
    first: &Blend<FEATURE_COUNT>,
    keep: impl Fn(usize) -> bool,
) -> Vec<Example<SECOND_COUNT>> {
    let mut out = Vec::new();
    for built in built {
        for (_, query) in queries.iter().enumerate().filter(|(place, _)| keep(*place)) {
            let pool = built.index.pool(&question(built, query, true), first);
            let nodes: Vec<u32> =
                pool.second.iter().map(|(place, _)| built.document_of[&pool.nodes[*place]]).collect();
            out.push(Example {
                density: pool.density,
                relevant: relevant_places(&nodes, query),
                rows: pool.second.into_iter().map(|(_, row)| row).collect(),
            });
        }
    }
    out
}

/// The same without what needs the texts of candidates.
fn unread(examples: &[Example<SECOND_COUNT>]) -> Vec<Example<SECOND_COUNT>> {
    let mut out = examples.to_vec();
    for row in out.iter_mut().flat_map(|example| &mut example.rows) {
        row[READING..].fill(0.0);
    }
    out
}

fn rerank(
    built: &Built,
    query: &Query,
    first: &Blend<FEATURE_COUNT>,
    second: [&Blend<SECOND_COUNT>; 2],
    by_first: &[u32],
) -> [Vec<u32>; 2] {
    let pool = built.index.pool(&question(built, query, true), first);
    let nodes: Vec<u32> =
        pool.second.iter().map(|(place, _)| built.document_of[&pool.nodes[*place]]).collect();
    second.map(|blend| {
        let weights = blend.at(pool.density);
        let mut ranked = order(&nodes, pool.second.iter().map(|(_, row)| weights.score(row)));
        let rest: Vec<u32> = by_first.iter().filter(|node| !ranked.contains(node)).copied().collect();
        ranked.extend(rest);
        ranked
    })
}

fn print_weights<const N: usize>(name: &str, features: &[&str; N], blend: &Blend<N>) {
    println!("{name}: {features:?}");
    for (name, weights) in [("thin", &blend.thin), ("dense", &blend.dense)] {
        println!("    {name}: Weights {{ linear: {:.2?}, root: {:.2?} }},", weights.linear, weights.root);
    }
}

/// Ranks by what is compiled in, through the same call as the service.
pub fn rank(folder: &Path, out: &Path, rerank: bool) -> Result<()> {
    let pack = Pack::read(folder)?;
    let built = build(&pack, Graph::Whole)?;
    let mut rankings = Vec::new();
    let (mut times, mut spent) = (Vec::new(), Vec::new());
    for query in &pack.queries {
        let question = question(&built, query, rerank);
        let (started, before) = (Instant::now(), processor_time());
        let answer = built.index.similar(&SimilarQuery { k: 40, ..question.clone() });
        times.push(started.elapsed().as_secs_f64() * 1e3);
        spent.push(processor_time() - before);
        drop(answer);
        rankings.push(
            built
                .index
                .similar(&question)
                .results
                .iter()
                .map(|result| built.document_of[&result.node])
                .collect::<Vec<_>>(),
        );
    }
    report("compiled in", &pack.queries, &rankings);
    print_times("in-process, k=40", times);
    print_times("processor, k=40", spent);
    write_rankings(out, &rankings)
}

/// Ranks through a running server into which the collection was imported.
pub fn endpoint(folder: &Path, address: &str, key: &str, out: &Path, rerank: bool) -> Result<()> {
    let pack = Pack::read(folder)?;
    let number_of: BTreeMap<&str, u32> = pack
        .documents
        .iter()
        .enumerate()
        .map(|(number, document)| (document.doi.as_str(), number as u32))
        .collect();
    let mut client = Client::connect(address, key)?;
    let (mut rankings, mut times) = (Vec::new(), Vec::new());
    for query in &pack.queries {
        let id = format!("doi:{}", pack.documents[query.seed as usize].doi);
        let (answer, _) = client.similar(&id, &query.intent, 200, rerank)?;
        let results = answer["results"].as_array().context("results")?;
        let ranked =
            results.iter().filter_map(|result| number_of.get(result["ids"]["doi"][0].as_str()?).copied());
        rankings.push(ranked.collect::<Vec<_>>());
        times.push(client.similar(&id, &query.intent, 40, rerank)?.1);
    }
    report("through HTTP", &pack.queries, &rankings);
    print_times("through HTTP", times);
    write_rankings(out, &rankings)
}

fn write_rankings(path: &Path, rankings: &[Vec<u32>]) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for ranked in rankings {
        serde_json::to_writer(
            &mut out,
            &serde_json::json!({ "ranked": &ranked[..ranked.len().min(DEPTH)] }),
        )?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}
