//! Indexing, size and latency, compared with plain tantivy on the same documents.

use crate::generated::{Vocabulary, query};
use crate::pages::ReadPage;
use crate::plain_tantivy::PlainTantivy;
use anyhow::Result;
use index::{Document, Index, IndexEntry, Options, Query};
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::time::Instant;
use uuid::Uuid;

/// Documents in one batch, and between two commits, as the feeder does it.
const BATCH_DOCUMENTS: usize = 1_000;
const DOCUMENTS_PER_COMMIT: usize = 20_000;
/// Memory and threads of both writers, as the server has them.
const WRITER_MEMORY_BYTES: usize = 256 << 20;
const WRITER_THREADS: usize = 2;
const QUERIES: usize = 2_000;
const LIMIT: usize = 10;

pub fn report(pages: &[ReadPage], documents: usize) -> Result<()> {
    let vocabulary = Vocabulary::from_pages(pages);
    let packed =
        (0..documents).map(|number| pack(&vocabulary.document(number))).collect::<Result<Vec<_>>>()?;
    let bytes: usize = packed.iter().map(|(_, len)| len).sum();
    println!(
        "{documents} documents of {:.1} KB, from {} different words; {DOCUMENTS_PER_COMMIT} to a commit, {WRITER_THREADS} threads, {} MB",
        bytes as f64 / documents as f64 / 1e3,
        vocabulary.different_words(),
        WRITER_MEMORY_BYTES >> 20
    );
    let unpacking = Clock::start();
    for (packed, _) in &packed {
        std::hint::black_box(unpack(packed)?);
    }
    let unpacking = unpacking.spent();
    println!("unpacking as the feeder does: {:.0} documents/s", documents as f64 / unpacking.0);

    let ours = tempfile::tempdir()?;
    let index = Index::open(
        ours.path(),
        Options { memory: WRITER_MEMORY_BYTES, threads: WRITER_THREADS, ..Options::default() },
    )?;
    let clock = Clock::start();
    for (batch, packed) in packed.chunks(BATCH_DOCUMENTS).enumerate() {
        let entries = packed
            .iter()
            .enumerate()
            .map(|(at, (packed, _))| Ok(entry(batch * BATCH_DOCUMENTS + at, unpack(packed)?)));
        index.feed(entries.collect::<Result<Vec<_>>>()?)?;
        if ((batch + 1) * BATCH_DOCUMENTS).is_multiple_of(DOCUMENTS_PER_COMMIT) {
            index.commit()?;
        }
    }
    index.commit()?;
    let whole = clock.spent();
    let yardstick = tempfile::tempdir()?;
    let mut plain = PlainTantivy::open(yardstick.path(), WRITER_MEMORY_BYTES, WRITER_THREADS)?;
    let clock = Clock::start();
    for (batch, packed) in packed.chunks(BATCH_DOCUMENTS).enumerate() {
        for (at, (packed, _)) in packed.iter().enumerate() {
            plain.add(batch * BATCH_DOCUMENTS + at, &unpack(packed)?)?;
        }
        if ((batch + 1) * BATCH_DOCUMENTS).is_multiple_of(DOCUMENTS_PER_COMMIT) {
            plain.commit()?;
        }
    }
    plain.commit()?;
    let plain_whole = clock.spent();
    println!("{:<28} {:>10} {:>10} {:>7}", "indexing", "ours", "plain", "ratio");
    let line = |name: &str, ours: f64, plain: f64| {
        println!("{name:<28} {ours:>10.2} {plain:>10.2} {:>7.2}", ours / plain);
    };
    let count = documents as f64;
    line("documents/s, unpacked too", count / whole.0, count / plain_whole.0);
    line("CPU ms a document", whole.1 * 1e3 / count, plain_whole.1 * 1e3 / count);
    line(
        "  without unpacking",
        (whole.1 - unpacking.1) * 1e3 / count,
        (plain_whole.1 - unpacking.1) * 1e3 / count,
    );
    line(
        "KB a document on disk",
        index.status()?.bytes as f64 / 1e3 / count,
        disk(yardstick.path())? as f64 / 1e3 / count,
    );

    let queries: Vec<String> = (0..QUERIES)
        .map(|at| at * 7_919 % documents)
        .map(|number| Ok(query(number, &unpack(&packed[number].0)?)))
        .collect::<Result<_>>()?;
    let mut times = Times::default();
    let mut plain_times = Times::default();
    for round in 0..2 {
        for text in &queries {
            let query = Query {
                collection: "web".to_owned(),
                text: text.clone(),
                limit: LIMIT,
                passages: 3,
                now: 1_790_000_000_000,
                ..Query::default()
            };
            times.measure(round > 0, || Ok(index.search(&query)?.hits.len()))?;
            plain_times.measure(round > 0, || Ok(plain.search(text, LIMIT)?.len()))?;
        }
    }
    println!(
        "{:<28} {:>10} {:>10} {:>7}",
        format!("latency, {} segments", index.status()?.segments),
        "ours",
        "plain",
        "ratio"
    );
    for share in [50, 95, 99] {
        line(&format!("p{share} ms"), times.wall(share), plain_times.wall(share));
        line(&format!("p{share} ms of CPU"), times.cpu(share), plain_times.cpu(share));
    }
    Ok(())
}

fn entry(number: usize, document: Document) -> IndexEntry {
    IndexEntry {
        seq: number as i64 + 1,
        key: (number as u128 + 1).to_be_bytes(),
        team: Uuid::nil(),
        collection: "web".to_owned(),
        seen_at: 1_780_000_000_000 + number as i64,
        document: Some(document),
    }
}

/// A document as the store keeps it, and its size before compression.
fn pack(document: &Document) -> Result<(Vec<u8>, usize)> {
    let text = serde_json::to_vec(document)?;
    Ok((zstd::bulk::compress(&text, 3)?, text.len()))
}

fn unpack(packed: &[u8]) -> Result<Document> {
    Ok(serde_json::from_slice(&zstd::decode_all(packed)?)?)
}

fn disk(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for file in std::fs::read_dir(folder)? {
        bytes += file?.metadata()?.len();
    }
    Ok(bytes)
}

/// Clock time and CPU time.
struct Clock {
    wall: Instant,
    cpu: f64,
}

impl Clock {
    fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu(ClockId::ProcessCPUTime) }
    }

    /// Seconds of both.
    fn spent(&self) -> (f64, f64) {
        (self.wall.elapsed().as_secs_f64(), cpu(ClockId::ProcessCPUTime) - self.cpu)
    }
}

/// CPU seconds so far.
fn cpu(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Clock and CPU times of queries.
#[derive(Default)]
struct Times(Vec<(f64, f64)>);

impl Times {
    fn measure(&mut self, counts: bool, work: impl FnOnce() -> Result<usize>) -> Result<()> {
        let (wall, before) = (Instant::now(), cpu(ClockId::ThreadCPUTime));
        std::hint::black_box(work()?);
        let spent = (wall.elapsed().as_secs_f64() * 1e3, (cpu(ClockId::ThreadCPUTime) - before) * 1e3);
        if counts {
            self.0.push(spent);
        }
        Ok(())
    }

    fn wall(&self, share: usize) -> f64 {
        self.at_share(share, |times| times.0)
    }

    fn cpu(&self, share: usize) -> f64 {
        self.at_share(share, |times| times.1)
    }

    fn at_share(&self, share: usize, which: fn(&(f64, f64)) -> f64) -> f64 {
        let mut times: Vec<f64> = self.0.iter().map(which).collect();
        times.sort_by(f64::total_cmp);
        times.get((times.len() * share / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}
