//! Embeddings of works by a model: one vector for the whole text and a few for its parts, one byte per
//! number, in a mapped file next to the index. Each record has a hash of its text, so that a new generation
//! reuses vectors of unchanged texts and never uses a vector of another text.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::file::{Cursor, Mapped};
use crate::hash::stable_hash;
use crate::index::Index;
use crate::text::sentences;

/// An embedding model.
pub trait Embedder: Sync {
    /// Identifies the model.
    fn identity(&self) -> u64;
    /// Length of a vector.
    fn dimensions(&self) -> usize;
    /// A vector of length one for each text.
    fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>>;
}

/// Called with the number of finished works and the total.
pub type VectorProgress<'a> = &'a dyn Fn(u64, u64);

const MAGIC: &[u8; 8] = b"GANNETVX";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 32;
const TRAILER_BYTES: usize = 8;
const TRAILER_MARK: u32 = 0x5645_4353;
/// Parts of a text that get their own vector.
const TEXT_PARTS: usize = 4;
const MAX_DIMENSIONS: usize = 4096;
/// Works that a thread embeds at a time.
const BATCH_WORKS: usize = 8;

fn record_bytes(dimensions: usize) -> usize {
    8 + (1 + TEXT_PARTS) * (4 + dimensions)
}

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

/// Vectors of one generation, open for reading.
#[derive(Debug)]
pub struct Vectors {
    path: PathBuf,
    data: Mapped,
    identity: u64,
    dimensions: usize,
    works: usize,
}

impl Vectors {
    /// Opens a finished file; [`Vectors::verify`] checks its contents.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::file(path))?;
        let data = Mapped::whole(&file).map_err(Error::file(path))?;
        let mut cursor = Cursor::new(&data);
        if cursor.bytes(8) != MAGIC {
            return Err(Error::damaged(path, "no vectors"));
        }
        let (version, dimensions) = (cursor.u32(), cursor.u32() as usize);
        if version != VERSION {
            return Err(Error::Version { path: path.to_owned(), found: version, expected: VERSION });
        }
        let (identity, works) = (cursor.u64(), cursor.u64());
        let works = usize::try_from(works).unwrap_or(usize::MAX);
        let stated = (dimensions <= MAX_DIMENSIONS)
            .then(|| works.checked_mul(record_bytes(dimensions))?.checked_add(HEADER_BYTES + TRAILER_BYTES))
            .flatten();
        if stated != Some(data.len()) {
            return Err(Error::damaged(path, "truncated, or of another size than stated"));
        }
        Ok(Self { path: path.to_owned(), data, identity, dimensions, works })
    }

    /// Verifies the checksum.
    pub fn verify(&self) -> Result<()> {
        let (body, trailer) = self.data.split_at(self.data.len() - TRAILER_BYTES);
        let mut cursor = Cursor::new(trailer);
        if cursor.u32() == crc32fast::hash(body) && cursor.u32() == TRAILER_MARK {
            Ok(())
        } else {
            Err(Error::damaged(&self.path, "wrong checksum of the vectors"))
        }
    }

    /// The model that computed them.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// Length of a vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn record(&self, node: usize) -> Option<&[u8]> {
        let bytes = record_bytes(self.dimensions);
        (node < self.works).then(|| &self.data[HEADER_BYTES + node * bytes..][..bytes])
    }

    /// Number of works with vectors.
    pub fn filled(&self) -> usize {
        (0..self.works).filter(|node| self.hash(*node) != 0).count()
    }

    fn hash(&self, node: usize) -> u64 {
        self.record(node).map_or(0, |record| Cursor::new(record).u64())
    }

    /// Similarity of a work to `wanted`: of the whole text, and of its most similar part. `None` without
    /// vectors.
    pub fn similarity(&self, node: u32, wanted: &[f32]) -> Option<(f32, f32)> {
        let record = self.record(node as usize).filter(|_| wanted.len() == self.dimensions)?;
        let mut cursor = Cursor::new(record);
        if cursor.u64() == 0 {
            return None;
        }
        let mut near = [0.0_f32; 1 + TEXT_PARTS];
        for near in &mut near {
            let scale = f32::from_bits(cursor.u32());
            let numbers = cursor.bytes(self.dimensions);
            let sum: f32 =
                numbers.iter().zip(wanted).map(|(number, wanted)| f32::from(*number as i8) * wanted).sum();
            *near = if scale.is_finite() { sum * scale } else { 0.0 };
        }
        let best = near[1..].iter().copied().fold(near[0].min(0.0), f32::max);
        Some((near[0], best))
    }
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
    let known =
        plan.before.filter(|before| before.identity == plan.identity && before.dimensions == plan.dimensions);
    let known = known.map(ExistingVectors::new);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let mut out = BufWriter::with_capacity(1 << 20, file);
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
