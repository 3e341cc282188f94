//! Response times, in-process and through HTTP, including the most cited papers.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use gannet_bench::connection::Connection;
use gannet_bench::processes::{print_own_memory, threads_cpu_ms};
use gannet_bench::timing::{Figures, Stopwatch};
use papers::{Index, Library, SimilarQuery};
use serde_json::Value;

use super::generated_corpus::Random;

/// Citations that make a paper a hub.
const HUB_CITATIONS: u32 = 10_000;

/// Prints the sizes of an index and response times, one query at a time.
pub fn in_process(folder: &Path, questions: usize, rerank: bool) -> Result<()> {
    let library = Library::open(folder)?;
    let index = library.current().context("an index")?;
    let facts = index.facts();
    println!(
        "{} works, {} nodes, {} edges, {} postings",
        facts.works, facts.nodes, facts.edges, facts.postings
    );
    let mut graph = 0;
    for (section, bytes) in index.section_sizes() {
        println!(
            "  {section:16} {:10.1} MB  {:8.2} B a node  {:6.2} B an edge",
            bytes as f64 / 1e6,
            bytes as f64 / f64::from(facts.nodes),
            bytes as f64 / facts.edges.max(1) as f64
        );
        if matches!(
            section.as_str(),
            "OutLists" | "OutOffsets" | "InLists" | "InOffsets" | "CouplingNorm" | "ArticleRank"
        ) {
            graph += bytes;
        }
    }
    println!("graph: {:.1} MB", graph as f64 / 1e6);
    let seeds = seeds(&index, questions);
    let mut costs = Vec::new();
    for name in ["first round", "warm"] {
        costs.clear();
        for (seed, intent) in &seeds {
            let watch = Stopwatch::for_thread();
            let answer = index.similar(&SimilarQuery {
                seeds: vec![*seed],
                intent: intent.clone(),
                k: 40,
                rerank,
                ..SimilarQuery::default()
            });
            let shown = answer.results.iter().filter_map(|ranked| index.paper(ranked.node)).count();
            costs.push((watch.cost(), index.citers().count(*seed) > HUB_CITATIONS));
            ensure!(shown == answer.results.len(), "every result has a record");
        }
        print_costs(name, costs.iter().map(|(cost, _)| cost.wall));
    }
    let hubs = || costs.iter().filter(|(_, is_hub)| *is_hub);
    print_costs("processor, warm", costs.iter().map(|(cost, _)| cost.cpu));
    print_costs("processor, hubs", hubs().map(|(cost, _)| cost.cpu));
    print_costs("warm, hubs only", hubs().map(|(cost, _)| cost.wall));
    print_own_memory(&["VmRSS", "RssFile", "RssAnon"]);
    Ok(())
}

/// Seeds from the whole corpus, every tenth among the most cited, each with the title of a work it cites as
/// the intent.
fn seeds(index: &Index, count: usize) -> Vec<(u32, String)> {
    let works = index.facts().works;
    let mut random = Random::new(7);
    let mut hubs: Vec<(u32, u32)> = (0..works)
        .step_by((works as usize / 200_000).max(1))
        .map(|node| (index.citers().count(node), node))
        .collect();
    // The most cited of all, too: found through what random works cite.
    for _ in 0..20_000 {
        let citing = (random.next() % u64::from(works.max(1))) as u32;
        index.references().for_each(citing, |node| hubs.push((index.citers().count(node), node)));
    }
    hubs.sort_unstable_by(|one, other| other.cmp(one));
    hubs.dedup();
    (0..count)
        .map(|place| {
            let seed = if place % 10 == 0 {
                hubs[(place / 10) % hubs.len().min(100)].1
            } else {
                (random.next() % u64::from(works.max(1))) as u32
            };
            let mut cited = seed;
            index.references().for_each(seed, |node| cited = node);
            let title = index.paper(cited).map(|paper| paper.title).filter(|title| !title.is_empty());
            (seed, title.unwrap_or_else(|| "methods and results".to_owned()))
        })
        .collect()
}

pub fn print_costs(name: &str, milliseconds: impl Iterator<Item = f64>) {
    let figures: Figures = milliseconds.collect();
    if figures.count() > 0 {
        println!(
            "{name:22} {} answers: median {:.2} ms, p95 {:.2} ms, p99 {:.2} ms, worst {:.2} ms",
            figures.count(),
            figures.median(),
            figures.percentile(95),
            figures.percentile(99),
            figures.percentile(100)
        );
    }
}

/// A running server.
#[derive(Debug, clap::Args)]
pub struct Server {
    /// ADDRESS:PORT
    address: String,
    key: String,
    /// Its process, to measure its CPU time.
    #[arg(long)]
    process: Option<u32>,
}

impl Server {
    pub fn connect(&self) -> Result<Connection> {
        Connection::open(&self.address)
    }

    /// Asks for related papers.
    pub fn similar(
        &self,
        connection: &mut Connection,
        id: &str,
        intent: &str,
        k: usize,
        rerank: bool,
    ) -> Result<Value> {
        let (id, intent) = (encoded(id), encoded(intent));
        let path = format!("/v2/search/research/papers/{id}/similar?intent={intent}&k={k}&rerank={rerank}");
        connection.send_json(&self.key, "GET", &path, None)
    }

    /// Sends all queries, one after another, and reports clock time and CPU time of the server.
    pub fn time(&self, name: &str, questions: &[(String, String)], rerank: bool) -> Result<()> {
        let mut connection = self.connect()?;
        let server_cpu = || self.process.and_then(threads_cpu_ms);
        let (mut times, mut cpu) = (Vec::new(), Vec::new());
        for (id, intent) in questions {
            let (watch, before) = (Stopwatch::for_thread(), server_cpu());
            self.similar(&mut connection, id, intent, 40, rerank)?;
            times.push(watch.cost().wall);
            cpu.extend(server_cpu().zip(before).map(|(after, before)| after - before));
        }
        print_costs(name, times.into_iter());
        print_costs(&format!("{name}, processor"), cpu.into_iter());
        Ok(())
    }
}

/// Measures a running server that serves the same library, one query at a time over one connection: all
/// seeds, and the most cited ones alone.
pub fn through_http(folder: &Path, server: &Server, questions: usize, rerank: bool) -> Result<()> {
    let index = Library::open(folder)?.current().context("an index")?;
    let seeds = seeds(&index, questions);
    let most = seeds.iter().map(|(seed, _)| index.citers().count(*seed)).max().unwrap_or(0);
    println!(
        "{questions} questions, every tenth of a seed among the hundred most cited; the most cited {most} times"
    );
    let mut questions = Vec::new();
    for (seed, intent) in seeds {
        questions.push((index.paper(seed).context("a record")?.primary.to_string(), intent));
    }
    let hubs: Vec<_> = questions.iter().step_by(10).cloned().collect();
    server.time("first round", &questions, rerank)?;
    server.time("warm", &questions, rerank)?;
    server.time("hubs alone", &hubs, rerank)
}

fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend(
                [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789ABCDEF"[usize::from(digit)])),
            );
        }
    }
    out
}
