//! Response times, in-process and through HTTP, including the most cited papers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use papers::{Index, Library, SimilarQuery};

use crate::generated_corpus::Random;

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
    let mut times = Vec::new();
    let mut spent = Vec::new();
    for round in 0..2 {
        times.clear();
        spent.clear();
        for (seed, intent) in &seeds {
            let (started, before) = (Instant::now(), processor_time());
            let answer = index.similar(&SimilarQuery {
                seeds: vec![*seed],
                intent: intent.clone(),
                k: 40,
                rerank,
                ..SimilarQuery::default()
            });
            let shown = answer.results.iter().filter_map(|ranked| index.paper(ranked.node)).count();
            spent.push((processor_time() - before, index.citers().count(*seed)));
            times.push((started.elapsed().as_secs_f64() * 1e3, index.citers().count(*seed)));
            ensure!(shown == answer.results.len(), "every result has a record");
        }
        report(
            if round == 0 { "first round" } else { "warm" },
            times.iter().map(|(time, _)| *time).collect(),
        );
    }
    report("processor, warm", spent.iter().map(|(time, _)| *time).collect());
    report(
        "processor, hubs",
        spent.iter().filter(|(_, cited)| *cited > 10_000).map(|(time, _)| *time).collect(),
    );
    report(
        "warm, hubs only",
        times.iter().filter(|(_, cited)| *cited > 10_000).map(|(time, _)| *time).collect(),
    );
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        for line in status.lines().filter(|line| {
            line.starts_with("VmRSS") || line.starts_with("RssFile") || line.starts_with("RssAnon")
        }) {
            println!("{line}");
        }
    }
    Ok(())
}

/// CPU milliseconds of this thread: unlike the clock, not disturbed by other load on the machine.
pub fn processor_time() -> f64 {
    scheduled(Path::new("/proc/thread-self/schedstat"))
}

fn scheduled(path: &Path) -> f64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().next().and_then(|spent| spent.parse::<f64>().ok()).unwrap_or(0.0) / 1e6
}

/// CPU seconds of this process, all its threads together, including those that ended.
pub fn process_seconds() -> f64 {
    /// The unit of these times in `/proc` on Linux, whatever the processor.
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may contain spaces; user and system time are the twelfth and thirteenth field
    // after it.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_SECOND
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

fn report(name: &str, mut times: Vec<f64>) {
    if times.is_empty() {
        return;
    }
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "{name:22} {} answers: median {:.2} ms, p95 {:.2} ms, p99 {:.2} ms, worst {:.2} ms",
        times.len(),
        at(0.5),
        at(0.95),
        at(0.99),
        at(1.0)
    );
}

/// Sends queries to a running server over one kept connection, one at a time.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<TcpStream>,
    key: String,
}

impl Client {
    pub fn connect(address: &str, key: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), key: key.to_owned() })
    }

    /// Asks for related papers; returns the response as JSON and the time it took.
    pub fn similar(
        &mut self,
        id: &str,
        intent: &str,
        k: usize,
        rerank: bool,
    ) -> Result<(serde_json::Value, f64)> {
        let path = format!(
            "/v2/search/research/papers/{}/similar?intent={}&k={k}&rerank={rerank}",
            encoded(id),
            encoded(intent)
        );
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", self.key);
        let started = Instant::now();
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let ok = line.contains(" 200 ");
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        let time = started.elapsed().as_secs_f64() * 1e3;
        ensure!(ok, "{}", String::from_utf8_lossy(&body));
        Ok((serde_json::from_slice(&body)?, time))
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
    pub fn connect(&self) -> Result<Client> {
        Client::connect(&self.address, &self.key)
    }

    /// CPU milliseconds of the server's threads.
    fn spent(&self) -> Option<f64> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.process?)).ok()?;
        Some(tasks.flatten().map(|task| scheduled(&task.path().join("schedstat"))).sum())
    }

    /// Sends all queries, one after another, and reports clock time and CPU time of the server.
    pub fn time(&self, name: &str, questions: &[(String, String)], rerank: bool) -> Result<()> {
        let mut client = self.connect()?;
        let (mut times, mut spent) = (Vec::new(), Vec::new());
        for (id, intent) in questions {
            let before = self.spent();
            times.push(client.similar(id, intent, 40, rerank)?.1);
            spent.extend(self.spent().zip(before).map(|(after, before)| after - before));
        }
        report(name, times);
        report(&format!("{name}, processor"), spent);
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
    let mut asked = Vec::new();
    for (seed, intent) in seeds {
        asked.push((index.paper(seed).context("a record")?.primary.to_string(), intent));
    }
    let hubs: Vec<_> = asked.iter().step_by(10).cloned().collect();
    server.time("first round", &asked, rerank)?;
    server.time("warm", &asked, rerank)?;
    server.time("hubs alone", &hubs, rerank)
}

pub fn print_times(name: &str, times: Vec<f64>) {
    report(name, times);
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
