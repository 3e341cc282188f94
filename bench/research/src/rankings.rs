//! Judges rankings by the compiled-in weights, in-process and through a running server.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use papers::SimilarQuery;

use crate::collection::{Collection, ModelVectors};
use crate::judged_collection::{Graph, JudgedCollection};
use crate::latency::{Server, print_times, processor_time};
use crate::quality::report;

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
    let (mut times, mut spent) = (Vec::new(), Vec::new());
    for query in &pack.queries {
        let question = built.question(query, rerank, intents.get(&query.intent));
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
                .map(|result| built.document(result.node))
                .collect::<Vec<_>>(),
        );
    }
    report(if learn { "learnt at import" } else { "compiled in" }, &pack.queries, &rankings);
    print_times("in-process, k=40", times);
    print_times("processor, k=40", spent);
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
    let mut client = server.connect()?;
    let (mut rankings, mut asked) = (Vec::new(), Vec::new());
    for query in &pack.queries {
        let id = format!("doi:{}", pack.documents[query.seed as usize].doi);
        let (answer, _) = client.similar(&id, &query.intent, 200, rerank)?;
        let results = answer["results"].as_array().context("results")?;
        let ranked =
            results.iter().filter_map(|result| number_of.get(result["ids"]["doi"][0].as_str()?).copied());
        rankings.push(ranked.collect::<Vec<_>>());
        asked.push((id, query.intent.clone()));
    }
    report("through HTTP", &pack.queries, &rankings);
    server.time("through HTTP, k=40", &asked, rerank)?;
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
