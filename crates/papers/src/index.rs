//! An index open for reading: nodes, lists, texts and records. Immutable, so it is shared between threads.

use std::path::Path;

use crate::build::Facts;
use crate::error::{Error, Result};
use crate::file::{HashTable, IndexFile, ListReader, Mapped, OffsetTable, RecordReader, Section};
use crate::ids::{Identifier, PaperRef};
use crate::vectors::Vectors;
use crate::weights::CollectionWeights;
use crate::work::{Date, Provenance, Work};

/// A paper for display.
#[derive(Debug, Clone)]
pub struct Paper {
    pub node: u32,
    /// The canonical number, `paperId` in the API.
    pub number: u64,
    /// The preferred identifier.
    pub primary: Identifier,
    pub ids: Vec<Identifier>,
    pub title: String,
    pub abstract_text: String,
    pub authors: Vec<String>,
    pub categories: Vec<String>,
    pub created: Option<Date>,
    pub updated: Option<Date>,
    pub retracted: bool,
    pub provenance: Provenance,
}

/// One generation of the research index.
#[derive(Debug)]
pub struct Index {
    file: IndexFile,
    facts: Facts,
    references: ListReader,
    citers: ListReader,
    identifiers: HashTable,
    terms: HashTable,
    frequencies: Mapped,
    forward: Mapped,
    forward_offsets: OffsetTable,
    postings: Mapped,
    posting_offsets: OffsetTable,
    article_rank: Mapped,
    coupling_norm: Mapped,
    dates: Mapped,
    records: RecordReader,
    passages: RecordReader,
    vectors: Option<Vectors>,
    weights: CollectionWeights,
}

impl Index {
    /// Opens an index file and checks its table of contents; [`Index::verify`] checks the rest.
    pub fn open(path: &Path) -> Result<Self> {
        let file = IndexFile::open(path)?;
        let facts: Facts = serde_json::from_slice(&file.section(Section::Facts)?)
            .map_err(|error| Error::damaged(path, error.to_string()))?;
        let index = Self {
            facts,
            references: ListReader::new(file.section(Section::OutLists)?, file.section(Section::OutOffsets)?),
            citers: ListReader::new(file.section(Section::InLists)?, file.section(Section::InOffsets)?),
            identifiers: HashTable::new(file.section(Section::Identifiers)?),
            terms: HashTable::new(file.section(Section::Terms)?),
            frequencies: file.section(Section::Frequencies)?,
            forward: file.section(Section::Forward)?,
            forward_offsets: OffsetTable::new(file.section(Section::ForwardOffsets)?),
            postings: file.section(Section::Postings)?,
            posting_offsets: OffsetTable::new(file.section(Section::PostingOffsets)?),
            article_rank: file.section(Section::ArticleRank)?,
            coupling_norm: file.section(Section::CouplingNorm)?,
            dates: file.section(Section::Dates)?,
            records: RecordReader::new(file.section(Section::Records)?, file.section(Section::RecordBlocks)?),
            passages: RecordReader::new(
                file.section(Section::Passages)?,
                file.section(Section::PassageBlocks)?,
            ),
            // Unreadable vectors are ignored; `verify` reports what is wrong with them.
            vectors: Vectors::open(&vectors_path(path)).ok(),
            weights: CollectionWeights::load(&CollectionWeights::path_beside(path)),
            file,
        };
        let whole = index.references.nodes() == index.facts.nodes as usize
            && index.citers.nodes() == index.facts.nodes as usize
            && index.forward_offsets.len() == index.facts.works as usize
            && index.facts.works <= index.facts.nodes;
        if whole { Ok(index) } else { Err(Error::damaged(path, "its sections do not fit together")) }
    }

    /// Verifies all checksums, then checks that both directions of the graph have the same number of edges.
    pub fn verify(&self) -> Result<()> {
        self.file.verify()?;
        let beside = vectors_path(self.file.path());
        if beside.exists() {
            Vectors::open(&beside)?.verify()?;
        }
        let edges =
            |lists: &ListReader| (0..self.facts.nodes).map(|node| u64::from(lists.count(node))).sum::<u64>();
        let (out, back) = (edges(&self.references), edges(&self.citers));
        if out == self.facts.edges && back == self.facts.edges {
            Ok(())
        } else {
            Err(Error::damaged(
                self.file.path(),
                format!("{} edges expected, {out} outgoing, {back} incoming", self.facts.edges),
            ))
        }
    }

    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Embeddings of the works, if they were computed.
    pub fn vectors(&self) -> Option<&Vectors> {
        self.vectors.as_ref()
    }

    /// The weights of this collection's ranking.
    pub fn weights(&self) -> &CollectionWeights {
        &self.weights
    }

    /// Size of each section in bytes.
    pub fn section_sizes(&self) -> Vec<(String, usize)> {
        self.file.sizes().into_iter().map(|(section, size)| (format!("{section:?}"), size)).collect()
    }

    /// The node of a paper reference.
    pub fn resolve(&self, reference: &PaperRef) -> Option<u32> {
        let number = match reference {
            PaperRef::Number(number) => *number,
            PaperRef::Named(identifier) => identifier.number(),
        };
        // The table stores only a part of each key, so compare with the record.
        self.identifiers.find(number).find(|node| {
            self.record(*node).is_some_and(|(work, _)| match reference {
                PaperRef::Number(number) => work.ids.iter().any(|id| id.number() == *number),
                PaperRef::Named(identifier) => work.ids.contains(identifier),
            })
        })
    }

    fn record(&self, node: u32) -> Option<(Work, Provenance)> {
        let bytes = self.records.get(node)?;
        let (provenance, rest) = Provenance::decode(&bytes);
        Some((Work::decode(rest), provenance))
    }

    /// The paper of a node.
    pub fn paper(&self, node: u32) -> Option<Paper> {
        let (work, provenance) = self.record(node)?;
        let primary = work.ids.iter().min_by_key(|id| id.preference())?.clone();
        Some(Paper {
            node,
            number: primary.number(),
            primary,
            ids: work.ids,
            title: work.title,
            abstract_text: work.abstract_text,
            authors: work.authors,
            categories: work.categories,
            created: work.created,
            updated: work.updated,
            retracted: work.retracted,
            provenance,
        })
    }

    /// Full-text passages of a work in order; empty if the corpus has none.
    pub fn passages_of(&self, node: u32) -> Vec<String> {
        if node >= self.facts.works {
            return Vec::new();
        }
        self.passages.get(node).map(|bytes| Work::decode(&bytes).passages).unwrap_or_default()
    }

    /// The lists of works that each node cites.
    pub fn references(&self) -> &ListReader {
        &self.references
    }

    /// The lists of works that cite each node.
    pub fn citers(&self) -> &ListReader {
        &self.citers
    }

    pub fn is_work(&self, node: u32) -> bool {
        node < self.facts.works
    }

    pub(crate) fn term(&self, hash: u64) -> Option<u32> {
        self.terms.find(hash).next()
    }

    pub(crate) fn term_frequency(&self, term: u32) -> u32 {
        word(&self.frequencies, term)
    }

    /// The forward record of a work: its length, then its terms.
    pub(crate) fn document(&self, node: u32) -> &[u8] {
        self.forward_offsets.slice(&self.forward, node as usize)
    }

    pub(crate) fn postings(&self, term: u32) -> &[u8] {
        self.posting_offsets.slice(&self.postings, term as usize)
    }

    /// ArticleRank of a work; the mean is 1, and 0 stands for works that are only cited.
    pub fn article_rank(&self, node: u32) -> f32 {
        finite(f32::from_bits(word(&self.article_rank, node)))
    }

    pub(crate) fn coupling_norm(&self, node: u32) -> f32 {
        finite(f32::from_bits(word(&self.coupling_norm, node)))
    }

    /// The publication date of a work.
    pub fn date(&self, node: u32) -> Option<Date> {
        Date::from_stored(word(&self.dates, node))
    }
}

/// The file of an index's vectors.
pub(crate) fn vectors_path(path: &Path) -> std::path::PathBuf {
    path.with_extension("vectors")
}

fn word(bytes: &[u8], number: u32) -> u32 {
    let at = number as usize * 4;
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn finite(value: f32) -> f32 {
    if value.is_finite() { value } else { 0.0 }
}
