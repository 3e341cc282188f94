//! Indexing, size and latency, compared with plain tantivy on the same documents.

use super::generated::{Vocabulary, query};
use super::pages::ReadPage;
use super::plain_tantivy::PlainTantivy;
use anyhow::Result;
use gannet_bench::timing::{Cost, Figures, Stopwatch};
use index::{Document, Index, IndexEntry, Options, Query};
use std::path::Path;
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
    let watch = Stopwatch::for_process();
    for (packed, _) in &packed {
        std::hint::black_box(unpack(packed)?);
    }
    let unpacking = watch.cost();
    println!("unpacking as the feeder does: {:.0} documents/s", documents as f64 * 1e3 / unpacking.wall);

    let ours = tempfile::tempdir()?;
    let index = Index::open(
        ours.path(),
        Options { memory: WRITER_MEMORY_BYTES, threads: WRITER_THREADS, ..Options::default() },
    )?;
    let watch = Stopwatch::for_process();
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
    let whole = watch.cost();
    let yardstick = tempfile::tempdir()?;
    let mut plain = PlainTantivy::open(yardstick.path(), WRITER_MEMORY_BYTES, WRITER_THREADS)?;
    let watch = Stopwatch::for_process();
    for (batch, packed) in packed.chunks(BATCH_DOCUMENTS).enumerate() {
        for (at, (packed, _)) in packed.iter().enumerate() {
            plain.add(batch * BATCH_DOCUMENTS + at, &unpack(packed)?)?;
        }
        if ((batch + 1) * BATCH_DOCUMENTS).is_multiple_of(DOCUMENTS_PER_COMMIT) {
            plain.commit()?;
        }
    }
    plain.commit()?;
    let plain_whole = watch.cost();
    println!("{:<28} {:>10} {:>10} {:>7}", "indexing", "ours", "plain", "ratio");
    let line = |name: &str, ours: f64, plain: f64| {
        println!("{name:<28} {ours:>10.2} {plain:>10.2} {:>7.2}", ours / plain);
    };
    let count = documents as f64;
    line("documents/s, unpacked too", count * 1e3 / whole.wall, count * 1e3 / plain_whole.wall);
    line("CPU ms a document", whole.cpu / count, plain_whole.cpu / count);
    line(
        "  without unpacking",
        (whole.cpu - unpacking.cpu) / count,
        (plain_whole.cpu - unpacking.cpu) / count,
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
    let (mut costs, mut plain_costs) = (Vec::new(), Vec::new());
    // The costs of the second round count.
    for _ in 0..2 {
        (costs, plain_costs) = (Vec::new(), Vec::new());
        for text in &queries {
            let query = Query {
                collection: "web".to_owned(),
                text: text.clone(),
                limit: LIMIT,
                passages: 3,
                now: 1_790_000_000_000,
                ..Query::default()
            };
            costs.push(measure(|| Ok(index.search(&query)?.hits.len()))?);
            plain_costs.push(measure(|| Ok(plain.search(text, LIMIT)?.len()))?);
        }
    }
    println!(
        "{:<28} {:>10} {:>10} {:>7}",
        format!("latency, {} segments", index.status()?.segments),
        "ours",
        "plain",
        "ratio"
    );
    let figures = |costs: &[Cost], of: fn(&Cost) -> f64| costs.iter().map(of).collect::<Figures>();
    let both = |of: fn(&Cost) -> f64| (figures(&costs, of), figures(&plain_costs, of));
    let (wall, cpu) = (both(|cost| cost.wall), both(|cost| cost.cpu));
    for share in [50, 95, 99] {
        line(&format!("p{share} ms"), wall.0.percentile(share), wall.1.percentile(share));
        line(&format!("p{share} ms of CPU"), cpu.0.percentile(share), cpu.1.percentile(share));
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

fn measure(work: impl FnOnce() -> Result<usize>) -> Result<Cost> {
    let watch = Stopwatch::for_thread();
    std::hint::black_box(work()?);
    Ok(watch.cost())
}
