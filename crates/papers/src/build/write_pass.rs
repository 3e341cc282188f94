//! The pass over all works that writes everything but the inverted lists, which are then computed from its
//! output.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::article_rank::{article_rank, coupling_norms};
use super::identity::{Identities, MAX_NODES};
use super::invert::{write_in_lists, write_postings};
use super::lexicon::{HashedMap, Lexicon};
use super::prepare::PreparedBatch;
use super::{BuildOptions, Facts, Progress};
use crate::error::{Error, Result};
use crate::file::{
    IndexFile, IndexFileWriter, ListReader, ListWriter, OffsetTable, RecordWriter, Section, write_table,
};
use crate::stage::Stage;
use crate::truncate::truncate_text;
use crate::work::{PaperSource, Provenance, Reference, Work};

/// Title limit of a work that is only cited.
const MAX_CITED_TITLE_BYTES: usize = 300;

pub struct WritePass {
    works: u32,
    /// Receives the records, the largest part, directly. Other sections are written to scratch files
    /// meanwhile.
    index: IndexFileWriter,
    index_path: PathBuf,
    records: RecordWriter,
    passages: IndexFileWriter,
    passages_path: PathBuf,
    passage_records: RecordWriter,
    graph: IndexFileWriter,
    graph_path: PathBuf,
    out_lists: ListWriter,
    lexicon: Lexicon,
    in_degrees: Vec<u32>,
    dates: Vec<u32>,
    cited_only: CitedOnly,
    edges: u64,
    passage_count: u64,
    sources: Vec<(PaperSource, u64)>,
    targets: Vec<u32>,
}

impl WritePass {
    pub fn begin(path: &Path, works: u32) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let [graph_path, passages_path] = ["graph.tmp", "passages.tmp"].map(|name| folder.join(name));
        let begun = |path: &Path, section| {
            let mut file = IndexFileWriter::create(path)?;
            file.begin(section);
            Ok::<_, Error>(file)
        };
        Ok(Self {
            works,
            index: begun(path, Section::Records)?,
            index_path: path.to_owned(),
            records: RecordWriter::default(),
            passages: begun(&passages_path, Section::Passages)?,
            passages_path,
            passage_records: RecordWriter::default(),
            graph: begun(&graph_path, Section::OutLists)?,
            graph_path,
            out_lists: ListWriter::default(),
            lexicon: Lexicon::new(folder)?,
            in_degrees: vec![0; works as usize],
            dates: Vec::with_capacity(works as usize),
            cited_only: CitedOnly::new(folder.join("cited-only.tmp"))?,
            edges: 0,
            passage_count: 0,
            sources: Vec::new(),
            targets: Vec::new(),
        })
    }

    /// Works written so far.
    pub fn pushed(&self) -> u32 {
        self.dates.len() as u32
    }

    pub fn push(&mut self, batch: PreparedBatch) -> Result<()> {
        self.records.append(batch.records, &mut self.index)?;
        self.passage_records.append(batch.passage_records, &mut self.passages)?;
        self.passage_count += batch.passages;
        for (source, count) in batch.sources {
            match self.sources.iter_mut().find(|(known, _)| *known == source) {
                Some((_, known)) => *known += count,
                None => self.sources.push((source, count)),
            }
        }
        let mut unknown = batch.unknown.into_iter();
        let (mut terms, mut cited, mut unknowns) = (0, 0, 0);
        for work in batch.works {
            self.targets.clear();
            self.targets.extend_from_slice(&batch.cited[cited..work.cited_end]);
            for reference in unknown.by_ref().take(work.unknown_end - unknowns) {
                self.targets.push(self.cited_only.node(reference, &mut self.in_degrees)?);
            }
            self.lexicon.push(work.length, &batch.terms[terms..work.terms_end])?;
            self.push_references()?;
            self.dates.push(work.date);
            (terms, cited, unknowns) = (work.terms_end, work.cited_end, work.unknown_end);
        }
        Ok(())
    }

    /// Writes the list of the next work from `targets`.
    fn push_references(&mut self) -> Result<()> {
        let node = self.pushed();
        self.targets.sort_unstable();
        self.targets.dedup();
        self.targets.retain(|target| *target != node);
        for target in &self.targets {
            self.in_degrees[*target as usize] += 1;
        }
        self.edges += self.targets.len() as u64;
        self.out_lists.push(&mut self.graph, &self.targets)
    }

    pub fn finish(
        mut self,
        identities: Identities,
        options: &BuildOptions,
        progress: Progress<'_>,
    ) -> Result<Facts> {
        let nodes = self.in_degrees.len() as u32;
        let numbers = self.cited_only.finish(|record| self.records.push(record, &mut self.index))?;
        self.records.finish(&mut self.index, Section::RecordBlocks)?;
        self.passage_records.finish(&mut self.passages, Section::PassageBlocks)?;
        copy_scratch_sections(
            &mut self.index,
            self.passages,
            &self.passages_path,
            &[Section::Passages, Section::PassageBlocks],
        )?;
        for _ in self.works..nodes {
            self.out_lists.push(&mut self.graph, &[])?;
        }
        self.out_lists.finish(&mut self.graph, Section::OutOffsets)?;
        copy_scratch_sections(
            &mut self.index,
            self.graph,
            &self.graph_path,
            &[Section::OutLists, Section::OutOffsets],
        )?;
        progress("writing identifiers", 0, 0);
        let mut entries = identities.by_identifier.into_entries();
        entries.extend(numbers);
        write_table(&mut self.index, Section::Identifiers, &mut entries)?;
        drop(entries);
        let dates: Vec<u8> = self.dates.iter().flat_map(|date| date.to_le_bytes()).collect();
        self.index.section(Section::Dates, &dates)?;
        progress("writing terms", 0, 0);
        let (frequencies, text) = self.lexicon.finish(&mut self.index)?;

        let turned = InvertedLists {
            works: self.works,
            in_degrees: &self.in_degrees,
            frequencies: &frequencies,
            budget_bytes: options.budget_bytes,
        };
        turned.write(&mut self.index, &self.index_path, progress)?;

        let facts = Facts {
            works: self.works,
            nodes,
            edges: self.edges,
            terms: text.terms,
            postings: text.postings,
            documents: text.documents,
            mean_length: text.length as f64 / text.documents.max(1) as f64,
            passages: self.passage_count,
            built: options.now,
            newest: self.dates.iter().copied().max().unwrap_or(0),
            sources: self.sources.iter().map(|(source, count)| (source.name().to_owned(), *count)).collect(),
        };
        let bytes = serde_json::to_vec(&facts).unwrap_or_default();
        self.index.section(Section::Facts, &bytes)?;
        self.index.finish()?;
        Ok(facts)
    }
}

/// Finishes a scratch file, copies its sections and removes it.
fn copy_scratch_sections(
    index: &mut IndexFileWriter,
    scratch: IndexFileWriter,
    path: &Path,
    sections: &[Section],
) -> Result<()> {
    scratch.finish_scratch()?;
    index.copy(&IndexFile::open(path)?, sections)?;
    std::fs::remove_file(path).map_err(Error::file(path))
}

/// Computes the inverted lists once all lists are written.
struct InvertedLists<'a> {
    works: u32,
    in_degrees: &'a [u32],
    /// Documents of each term.
    frequencies: &'a [u32],
    budget_bytes: u64,
}

impl InvertedLists<'_> {
    /// Terms and citations are inverted in parallel, because they are independent.
    fn write(&self, index: &mut IndexFileWriter, path: &Path, progress: Progress<'_>) -> Result<()> {
        let lists = ListReader::new(index.written(Section::OutLists)?, index.written(Section::OutOffsets)?);
        let forward = index.written(Section::Forward)?;
        let offsets = OffsetTable::new(index.written(Section::ForwardOffsets)?);
        let scratch_path = path.with_extension("lists.tmp");
        progress("inverting lists", 0, 0);
        let scratch = std::thread::scope(|scope| {
            let citations = scope.spawn(|| {
                let mut scratch = IndexFileWriter::create(&scratch_path)?;
                write_in_lists(&mut scratch, &lists, self.in_degrees, self.budget_bytes)?;
                scratch.section(Section::ArticleRank, &article_rank(&lists, self.works))?;
                scratch
                    .section(Section::CouplingNorm, &coupling_norms(&lists, self.in_degrees, self.works))?;
                Ok(scratch)
            });
            write_postings(index, &forward, &offsets, self.frequencies, self.budget_bytes)?;
            progress("ranking works", 0, 0);
            citations.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
        let sections = [Section::InLists, Section::InOffsets, Section::ArticleRank, Section::CouplingNorm];
        copy_scratch_sections(index, scratch, &scratch_path, &sections)
    }
}

/// Works that are cited but not imported: nodes after all works.
struct CitedOnly {
    /// Identifier to node.
    nodes: HashedMap<u32>,
    /// Their records, in order.
    path: PathBuf,
    out: BufWriter<File>,
    framed: Vec<u8>,
}

impl CitedOnly {
    fn new(path: PathBuf) -> Result<Self> {
        let file = File::create(&path).map_err(Error::file(&path))?;
        let out = BufWriter::with_capacity(1 << 20, file);
        Ok(Self { nodes: HashedMap::default(), path, out, framed: Vec::new() })
    }

    /// The node of a reference; a new one at the end if it was not cited before.
    fn node(&mut self, mut reference: Reference, in_degrees: &mut Vec<u32>) -> Result<u32> {
        if let Some(node) = reference.ids.iter().find_map(|id| self.nodes.get(&id.number())) {
            return Ok(*node);
        }
        let node = u32::try_from(in_degrees.len()).ok().filter(|node| u64::from(*node) < MAX_NODES);
        let node = node.ok_or(Error::TooMany { what: "works", limit: MAX_NODES })?;
        in_degrees.push(0);
        for id in &reference.ids {
            self.nodes.insert(id.number(), node);
        }
        truncate_text(&mut reference.title, MAX_CITED_TITLE_BYTES);
        let stub = Work { ids: reference.ids, title: reference.title, ..Work::default() };
        self.framed.clear();
        crate::stage::frame(&stub, &mut self.framed);
        self.out.write_all(&self.framed).map_err(Error::file(&self.path))?;
        Ok(node)
    }

    /// Passes the records to `each` in order, and returns the identifiers.
    fn finish(mut self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<HashedMap<u32>> {
        self.out.flush().map_err(Error::file(&self.path))?;
        let mut stub = Vec::new();
        Stage::open(&self.path, PaperSource::Jsonl)?.for_each(|record| {
            stub.clear();
            Provenance::default().encode(&mut stub);
            stub.extend_from_slice(record);
            each(&stub)
        })?;
        std::fs::remove_file(&self.path).map_err(Error::file(&self.path))?;
        Ok(self.nodes)
    }
}
