//! Judges rankings by the compiled-in weights, in-process and through a running server.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use gannet_bench::timing::Stopwatch;
use papers::SimilarQuery;

use super::collection::{Collection, ModelVectors};
use super::judged_collection::{Graph, JudgedCollection};
use super::latency::{Server, print_costs};
use super::quality::report;

const MAX_RESULTS: usize = 100;

/// Ranks by the compiled-in weights or, with `learn`, by those of the collection, through the same call as the service.
pub fn rank(
    folder: &Path,
    out: &Path,
    (rerank, learn): (bool, bool),
    meaning: Option<&ModelVectors>,
) -> Result<()> {
    let pack = JudgedCollection::read_folder(folder)?;
    let built = Collection::build(&pack, Graph::Whole, meaning, learn)?;
    let intents = meaning.map(|meaning| meaning.intents(&pack.queries)).unwrap_or_default();
    let mut rankings = Vec::new();
    let mut costs = Vec::new();
    for query in &pack.queries {
        let question = built.question(query, rerank, intents.get(&query.intent));
        let short = SimilarQuery { k: 40, ..question.clone() };
        let watch = Stopwatch::for_thread();
        let answer = built.index.similar(&short);
        costs.push(watch.cost());
        drop(answer);
        let results = built.index.similar(&question).results;
        rankings.push(results.iter().map(|result| built.document(result.node)).collect::<Vec<_>>());
    }
    report(if learn { "learnt at import" } else { "compiled in" }, &pack.queries, &rankings);
    print_costs("in-process, k=40", costs.iter().map(|cost| cost.wall));
    print_costs("processor, k=40", costs.iter().map(|cost| cost.cpu));
    write_rankings(out, &rankings)
}

/// Ranks through a running server into which the collection was imported.
pub fn endpoint(folder: &Path, server: &Server, out: &Path, rerank: bool) -> Result<()> {
    let pack = JudgedCollection::read_folder(folder)?;
    let number_of: BTreeMap<&str, u32> = pack
        .documents
        .iter()
        .enumerate()
        .map(|(number, document)| (document.doi.as_str(), number as u32))
        .collect();
    let mut connection = server.connect()?;
    let (mut rankings, mut questions) = (Vec::new(), Vec::new());
    for query in &pack.queries {
        let id = format!("doi:{}", pack.documents[query.seed as usize].doi);
        let answer = server.similar(&mut connection, &id, &query.intent, 200, rerank)?;
        let results = answer["results"].as_array().context("results")?;
        let ranked =
            results.iter().filter_map(|result| number_of.get(result["ids"]["doi"][0].as_str()?).copied());
        rankings.push(ranked.collect::<Vec<_>>());
        questions.push((id, query.intent.clone()));
    }
    report("through HTTP", &pack.queries, &rankings);
    server.time("through HTTP, k=40", &questions, rerank)?;
    write_rankings(out, &rankings)
}

/// One line for each query, as the collection's own scoring script reads them.
pub fn write_rankings(path: &Path, rankings: &[Vec<u32>]) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for ranked in rankings {
        serde_json::to_writer(
            &mut out,
            &serde_json::json!({ "ranked": &ranked[..ranked.len().min(MAX_RESULTS)] }),
        )?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}
