//! Writes the vectors of an index's works: those that an older file has for the same text are reused, the others
//! are computed by a model.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::error::{Error, Result};
use crate::hash::stable_hash;
use crate::index::Index;
use crate::terms::sentences;
use crate::vectors::{Embedder, MAGIC, TEXT_PARTS, TRAILER_MARK, VERSION, Vectors, record_bytes};

/// Works that a thread embeds at a time.
const BATCH_WORKS: usize = 8;

/// Called with the number of finished works and the total: once at the start, then after each batch.
pub type VectorProgress<'a> = &'a dyn Fn(u64, u64);

/// The hash of a text; never 0, which stands for no vector.
fn text_hash(title: &str, abstract_text: &str) -> u64 {
    stable_hash(&[title.as_bytes(), b"\n", abstract_text.as_bytes()]).max(1)
}

/// The whole text, then its parts: groups of neighbouring sentences, the title first.
fn text_parts(title: &str, abstract_text: &str) -> Vec<String> {
    let pieces: Vec<&str> =
        std::iter::once(title).chain(sentences(abstract_text)).filter(|text| !text.is_empty()).collect();
    let mut texts =
        vec![if abstract_text.is_empty() { title.to_owned() } else { format!("{title}. {abstract_text}") }];
    let parts = pieces.len().min(TEXT_PARTS);
    let mut start = 0;
    for part in 0..parts {
        let end = start + pieces.len() / parts + usize::from(part < pieces.len() % parts);
        texts.push(pieces[start..end].join(" "));
        start = end;
    }
    texts
}

/// Encodes a vector with one byte per number and a scale that restores its length.
fn put_vector(out: &mut Vec<u8>, vector: &[f32]) {
    let most = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs())).max(f32::MIN_POSITIVE);
    let rounded: Vec<i8> = vector.iter().map(|value| (value / most * 127.0).round() as i8).collect();
    let length = rounded.iter().map(|value| f32::from(*value).powi(2)).sum::<f32>().sqrt();
    out.extend_from_slice(&(if length > 0.0 { 1.0 / length } else { 0.0 }).to_bits().to_le_bytes());
    out.extend(rounded.iter().map(|value| *value as u8));
}

/// Existing vectors by the hash of their text.
struct ExistingVectors<'a> {
    vectors: &'a Vectors,
    by_hash: HashMap<u64, u32>,
}

impl<'a> ExistingVectors<'a> {
    fn new(vectors: &'a Vectors) -> Self {
        let hashes = (0..vectors.works).map(|node| (vectors.hash(node), node as u32));
        Self { vectors, by_hash: hashes.filter(|(hash, _)| *hash != 0).collect() }
    }

    fn find(&self, hash: u64) -> Option<&'a [u8]> {
        self.vectors.record(*self.by_hash.get(&hash)? as usize)
    }
}

/// What to write, and from which data.
#[derive(Clone, Copy)]
pub struct VectorPlan<'a> {
    pub index: &'a Index,
    pub identity: u64,
    pub dimensions: usize,
    /// Vectors of the same model to reuse.
    pub before: Option<&'a Vectors>,
    /// Computes missing vectors; without it they stay empty.
    pub embedder: Option<&'a dyn Embedder>,
}

/// Writes the vectors of all works of an index to `path`; continues an interrupted run. The file appears at
/// `path` only when it is complete.
pub fn write_vectors(plan: &VectorPlan<'_>, path: &Path, progress: VectorProgress<'_>) -> Result<()> {
    let temporary = path.with_extension("vectors.new");
    let works = plan.index.facts().works as usize;
    let size = record_bytes(plan.dimensions);
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&(plan.dimensions as u32).to_le_bytes());
    header.extend_from_slice(&plan.identity.to_le_bytes());
    header.extend_from_slice(&(works as u64).to_le_bytes());
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&temporary)
        .map_err(Error::file(&temporary))?;
    let (mut done, mut checksum) =
        resume(&mut file, &header, size, works).map_err(Error::file(&temporary))?;
    let known = plan
        .before
        .filter(|before| before.identity() == plan.identity && before.dimensions() == plan.dimensions);
    let known = known.map(ExistingVectors::new);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let mut out = BufWriter::with_capacity(1 << 20, file);
    // How much an earlier run left, so that callers can tell how fast this one is.
    progress(done as u64, works as u64);
    while done < works {
        let end = (done + threads * BATCH_WORKS).min(works);
        let nodes: Vec<usize> = (done..end).collect();
        let records: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let slices: Vec<_> = nodes
                .chunks(BATCH_WORKS)
                .map(|nodes| scope.spawn(|| records(plan, known.as_ref(), nodes, size)))
                .collect();
            slices.into_iter().flat_map(|slice| slice.join().unwrap_or_default()).collect()
        });
        if records.len() < nodes.len() {
            return Err(Error::damaged(&temporary, "the model failed on a text"));
        }
        for record in &records {
            checksum.update(record);
            out.write_all(record).map_err(Error::file(&temporary))?;
        }
        done = end;
        // Embeddings are expensive, so flush them to disk at once.
        if plan.embedder.is_some() {
            out.flush().map_err(Error::file(&temporary))?;
        }
        progress(done as u64, works as u64);
    }
    out.write_all(&checksum.finalize().to_le_bytes()).map_err(Error::file(&temporary))?;
    out.write_all(&TRAILER_MARK.to_le_bytes()).map_err(Error::file(&temporary))?;
    let file = out
        .into_inner()
        .map_err(|error| Error::File { path: temporary.clone(), source: error.into_error() })?;
    file.sync_all().map_err(Error::file(&temporary))?;
    fs::rename(&temporary, path).map_err(Error::file(path))
}

/// The number of complete records of an interrupted run with the same header, and their checksum; truncates
/// the file to them.
fn resume(
    file: &mut File,
    header: &[u8],
    size: usize,
    works: usize,
) -> std::io::Result<(usize, crc32fast::Hasher)> {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(header);
    let mut found = vec![0; header.len()];
    let length = file.metadata()?.len();
    if length < header.len() as u64 || file.read_exact(&mut found).is_err() || found != header {
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(header)?;
        return Ok((0, checksum));
    }
    let done = usize::try_from((length - header.len() as u64) / size as u64).unwrap_or(0).min(works);
    let mut record = vec![0; size];
    for _ in 0..done {
        file.read_exact(&mut record)?;
        checksum.update(&record);
    }
    file.set_len((header.len() + done * size) as u64)?;
    file.seek(SeekFrom::End(0))?;
    Ok((done, checksum))
}

/// Records of some works: reused, computed, or empty.
fn records(
    plan: &VectorPlan<'_>,
    known: Option<&ExistingVectors<'_>>,
    nodes: &[usize],
    size: usize,
) -> Vec<Vec<u8>> {
    let mut out = vec![vec![0; size]; nodes.len()];
    let mut wanted: Vec<(usize, u64, Vec<String>)> = Vec::new();
    for (place, node) in nodes.iter().enumerate() {
        let Some(paper) = plan.index.paper(*node as u32).filter(|paper| !paper.title.is_empty()) else {
            continue;
        };
        let hash = text_hash(&paper.title, &paper.abstract_text);
        if let Some(record) = known.and_then(|known| known.find(hash)) {
            out[place].copy_from_slice(record);
        } else if plan.embedder.is_some() {
            wanted.push((place, hash, text_parts(&paper.title, &paper.abstract_text)));
        }
    }
    let Some(embedder) = plan.embedder else { return out };
    let texts: Vec<&str> = wanted.iter().flat_map(|(_, _, texts)| texts.iter().map(String::as_str)).collect();
    let mut vectors = embedder.embed(&texts).into_iter();
    for (place, hash, texts) in wanted {
        let mut record = Vec::with_capacity(size);
        record.extend_from_slice(&hash.to_le_bytes());
        for vector in vectors.by_ref().take(texts.len()) {
            put_vector(&mut record, &vector);
        }
        record.resize(size, 0);
        out[place] = record;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Cursor;

    #[test]
    fn parts_cover_the_text_once() {
        let texts = text_parts("Title", "One. Two. Three. Four. Five.");
        assert_eq!(
            texts,
            ["Title. One. Two. Three. Four. Five.", "Title One.", "Two. Three.", "Four.", "Five."]
        );
        assert_eq!(text_parts("Title", ""), ["Title", "Title"]);
    }

    #[test]
    fn an_encoded_vector_keeps_its_direction() {
        let vector = [0.6_f32, -0.8, 0.001];
        let mut bytes = Vec::new();
        put_vector(&mut bytes, &vector);
        let mut cursor = Cursor::new(&bytes);
        let scale = f32::from_bits(cursor.u32());
        let back: Vec<f32> = cursor.bytes(3).iter().map(|byte| f32::from(*byte as i8) * scale).collect();
        assert!(back.iter().zip(vector).all(|(one, other)| (one - other).abs() < 0.005), "{back:?}");
    }
}
