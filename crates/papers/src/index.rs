//! An index that is open for reading: nodes, lists, texts and records behind plain methods. Shared between threads, never
//! changed.

use std::path::Path;

use crate::build::Facts;
use crate::error::{Error, Result};
use crate::file::{HashTable, IndexFile, ListReader, Mapped, OffsetTable, RecordReader, Section};
use crate::ids::{Identifier, PaperRef};
use crate::vectors::Vectors;
use crate::work::{Date, Provenance, Work};

/// A paper as it is shown.
#[derive(Debug, Clone)]
pub struct Paper {
    pub node: u32,
    /// The canonical number.
    pub number: u64,
    /// The identifier to cite and retrieve by.
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
}

impl Index {
    /// Opens an index file. Checks its table of contents; [`Index::verify`] checks the rest.
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
            // Vectors that cannot be read are as good as none; `verify` says what is wrong with them.
            vectors: Vectors::open(&vectors_beside(path)).ok(),
            file,
        };
        let whole = index.references.nodes() == index.facts.nodes as usize
            && index.citers.nodes() == index.facts.nodes as usize
            && index.forward_offsets.len() == index.facts.works as usize
            && index.facts.works <= index.facts.nodes;
        if whole { Ok(index) } else { Err(Error::damaged(path, "its parts are of different sizes")) }
    }

    /// Reads the whole file and compares every checksum, then checks that both directions of the graph agree in number.
    pub fn verify(&self) -> Result<()> {
        self.file.verify()?;
        let beside = vectors_beside(self.file.path());
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
                format!("{} edges stated, {out} out, {back} in", self.facts.edges),
            ))
        }
    }

    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What the works mean, where a model was asked.
    pub fn vectors(&self) -> Option<&Vectors> {
        self.vectors.as_ref()
    }

    /// Bytes of each section, for reports.
    pub fn section_sizes(&self) -> Vec<(String, usize)> {
        self.file.sizes().into_iter().map(|(section, size)| (format!("{section:?}"), size)).collect()
    }

    /// The node that `reference` names.
    pub fn resolve(&self, reference: &PaperRef) -> Option<u32> {
        let number = match reference {
            PaperRef::Number(number) => *number,
            PaperRef::Named(identifier) => identifier.number(),
        };
        // The table keeps only a part of each key; the record has the whole.
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

    /// Everything to be shown of a node.
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

    /// Full-text passages of a work, in their order; empty when the corpus has none.
    pub fn passages_of(&self, node: u32) -> Vec<String> {
        if node >= self.facts.works {
            return Vec::new();
        }
        self.passages.get(node).map(|bytes| Work::decode(&bytes).passages).unwrap_or_default()
    }

    /// What a node cites.
    pub fn references(&self) -> &ListReader {
        &self.references
    }

    /// Who cites a node.
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

    /// ArticleRank of a work, 1 being the mean; 0 for cited-only works.
    pub fn article_rank(&self, node: u32) -> f32 {
        finite(f32::from_bits(word(&self.article_rank, node)))
    }

    pub(crate) fn coupling_norm(&self, node: u32) -> f32 {
        finite(f32::from_bits(word(&self.coupling_norm, node)))
    }

    /// When a work appeared.
    pub fn date(&self, node: u32) -> Option<Date> {
        Date::from_stored(word(&self.dates, node))
    }
}

/// Where the vectors of an index lie.
pub(crate) fn vectors_beside(path: &Path) -> std::path::PathBuf {
    path.with_extension("vectors")
}

fn word(bytes: &[u8], number: u32) -> u32 {
    let at = number as usize * 4;
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn finite(value: f32) -> f32 {
    if value.is_finite() { value } else { 0.0 }
}
