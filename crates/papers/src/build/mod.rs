//! From staging logs to one index file. Reads logs, writes one file and scratch files beside it; knows nothing of where an
//! index is served from.
//!
//! Memory, per ten million works with ten references each: identifiers and titles 0.6 GB while records are told apart, then
//! the resolver 0.4 GB, degrees and dates 0.1 GB, terms and cited-only works by their number. Lists are turned round within
//! a set budget.

mod identity;
mod invert;
mod lexicon;
mod merge;
mod prepare;
mod rank;
mod scratch;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::file::{IndexFile, IndexFileWriter, ListReader, ListWriter, OffsetTable, Section, write_table};
use crate::hash::stable_hash;
use crate::ids::Identifier;
use crate::stage::Stage;
use crate::text::title_key;
use crate::work::{Reference, Work, cut};
use identity::{Identities, MAX_NODES};
pub use invert::{for_each_pair, for_each_weight};
use lexicon::{HashedMap, Lexicon};
use prepare::Prepared;
pub use rank::reference_weight;
use rank::{article_rank, coupling_norms};
use scratch::Scratch;

/// What an index holds, as numbers. Stored in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Works with metadata.
    pub works: u32,
    /// Works and cited-only works.
    pub nodes: u32,
    pub edges: u64,
    pub terms: u64,
    pub postings: u64,
    /// Works with any text.
    pub documents: u64,
    /// Mean length of the works with text, in terms.
    pub mean_length: f64,
    pub passages: u64,
    /// When the index was built, in seconds since 1970.
    pub built: u64,
    /// The newest date of any work, `YYYYMMDD`.
    pub newest: u32,
    /// Records by source.
    pub sources: Vec<(String, u64)>,
}

/// How an index is built.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Bytes that turning lists round may take at a time.
    pub budget_bytes: u64,
    /// When the index is said to have been built, in seconds since 1970.
    pub now: u64,
}

impl Default for BuildOptions {
    fn default() -> Self {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        Self { budget_bytes: 512 << 20, now }
    }
}

/// Told now and then how far the work is.
pub type Progress<'a> = &'a dyn Fn(&str, u64, u64);

/// Builds an index at `path` from everything in `stages`. Scratch files lie in the same folder and are gone afterwards.
pub fn build(stages: &[Stage], path: &Path, options: &BuildOptions, progress: Progress<'_>) -> Result<Facts> {
    let folder = path.parent().unwrap_or(Path::new("."));
    progress("telling works apart", 0, 0);
    let identities = Identities::find(stages)?;
    let works = identities.works();

    let graph_path = folder.join("graph.tmp");
    let mut pass = Pass::begin(folder, &graph_path, works)?;
    let mut sources = Vec::<(String, u64)>::new();
    prepare::for_each_work(stages, &identities, |work, prepared| {
        if work % 65_536 == 0 {
            progress("reading works", u64::from(work), u64::from(works));
        }
        for source in &prepared.sources {
            match sources.iter_mut().find(|(name, _)| name == source.name()) {
                Some((_, count)) => *count += 1,
                None => sources.push((source.name().to_owned(), 1)),
            }
        }
        pass.push(work, prepared, &identities)
    })?;
    pass.finish(identities, &graph_path, path, options, sources, progress)
}

/// The one pass over all works, in which everything but the inverse lists is written.
struct Pass {
    works: u32,
    graph: IndexFileWriter,
    out_lists: ListWriter,
    lexicon: Lexicon,
    records: Scratch,
    passages: Scratch,
    in_degrees: Vec<u32>,
    dates: Vec<u32>,
    cited_only: HashedMap<u32>,
    cited_only_records: Vec<u8>,
    cited_only_path: PathBuf,
    cited_only_out: BufWriter<File>,
    edges: u64,
    passage_count: u64,
    targets: Vec<u32>,
}

impl Pass {
    fn begin(folder: &Path, graph_path: &Path, works: u32) -> Result<Self> {
        let mut graph = IndexFileWriter::create(graph_path)?;
        graph.begin(Section::OutLists);
        let cited_only_path = folder.join("cited-only.tmp");
        let cited_only_out = BufWriter::with_capacity(
            1 << 20,
            File::create(&cited_only_path).map_err(Error::file(&cited_only_path))?,
        );
        Ok(Self {
            works,
            graph,
            out_lists: ListWriter::default(),
            lexicon: Lexicon::new(folder)?,
            records: Scratch::create(folder.join("records.tmp"))?,
            passages: Scratch::create(folder.join("passages.tmp"))?,
            in_degrees: vec![0; works as usize],
            dates: Vec::with_capacity(works as usize),
            cited_only: HashedMap::default(),
            cited_only_records: Vec::new(),
            cited_only_path,
            cited_only_out,
            edges: 0,
            passage_count: 0,
            targets: Vec::new(),
        })
    }

    fn push(&mut self, node: u32, work: Prepared, identities: &Identities) -> Result<()> {
        self.targets.clear();
        for reference in work.references {
            if let Some(target) = self.resolve(reference, identities)?.filter(|target| *target != node) {
                self.targets.push(target);
            }
        }
        self.targets.sort_unstable();
        self.targets.dedup();
        for target in &self.targets {
            self.in_degrees[*target as usize] += 1;
        }
        self.edges += self.targets.len() as u64;
        self.out_lists.push(&mut self.graph, &self.targets)?;
        self.lexicon.push(&work.terms)?;
        self.dates.push(work.date);
        self.passage_count += work.passages;
        self.passages.push(work.passage_record)?;
        self.records.push(work.record)
    }

    /// The node that a reference means; a new cited-only one when nothing is known of it.
    fn resolve(&mut self, mut reference: Reference, identities: &Identities) -> Result<Option<u32>> {
        if let Some(work) = reference.ids.iter().find_map(|id| identities.by_identifier.find(id.number())) {
            return Ok(Some(work));
        }
        if let Some(key) = title_key(&reference.title) {
            if let Some(work) = identities.by_title.find(stable_hash(&[key.as_bytes()])) {
                return Ok(Some(work));
            }
            if reference.ids.is_empty() {
                reference.ids.extend(Identifier::new("title", &key));
            }
        }
        if let Some(node) = reference.ids.iter().find_map(|id| self.cited_only.get(&id.number())).copied() {
            return Ok(Some(node));
        }
        if reference.ids.is_empty() {
            return Ok(None);
        }
        let node = u32::try_from(self.in_degrees.len()).ok().filter(|node| u64::from(*node) < MAX_NODES);
        let node = node.ok_or(Error::TooMany { what: "works", limit: MAX_NODES })?;
        self.in_degrees.push(0);
        for id in &reference.ids {
            self.cited_only.insert(id.number(), node);
        }
        cut(&mut reference.title, 300);
        self.cited_only_records.clear();
        let stub = Work { ids: reference.ids, title: reference.title, ..Work::default() };
        crate::stage::frame(&stub, &mut self.cited_only_records);
        self.cited_only_out
            .write_all(&self.cited_only_records)
            .map_err(Error::file(&self.cited_only_path))?;
        Ok(Some(node))
    }

    fn finish(
        mut self,
        identities: Identities,
        graph_path: &Path,
        path: &Path,
        options: &BuildOptions,
        sources: Vec<(String, u64)>,
        progress: Progress<'_>,
    ) -> Result<Facts> {
        let nodes = self.in_degrees.len() as u32;
        self.cited_only_out.flush().map_err(Error::file(&self.cited_only_path))?;
        let stubs = Stage::open(&self.cited_only_path, crate::work::Source::Jsonl)?;
        stubs.for_each(|_, record| {
            let mut stub = Vec::new();
            crate::work::Provenance::default().encode(&mut stub);
            stub.extend_from_slice(record);
            self.records.push(stub)
        })?;
        drop(stubs);
        std::fs::remove_file(&self.cited_only_path).map_err(Error::file(&self.cited_only_path))?;
        for _ in self.works..nodes {
            self.out_lists.push(&mut self.graph, &[])?;
        }
        self.out_lists.finish(&mut self.graph, Section::OutOffsets)?;
        progress("writing terms", 0, 0);
        let (frequencies, text) = self.lexicon.finish(&mut self.graph, self.works)?;
        self.graph.finish()?;

        let mut out = IndexFileWriter::create(path)?;
        progress("writing identifiers", 0, 0);
        let mut entries = identities.by_identifier.into_entries();
        entries.extend(self.cited_only.drain());
        write_table(&mut out, Section::Identifiers, &mut entries)?;
        drop(entries);
        self.records.finish(&mut out, Section::Records, Section::RecordBlocks)?;
        self.passages.finish(&mut out, Section::Passages, Section::PassageBlocks)?;
        let dates: Vec<u8> = self.dates.iter().flat_map(|date| date.to_le_bytes()).collect();
        out.section(Section::Dates, &dates)?;

        let first = IndexFile::open(graph_path)?;
        for section in [
            Section::OutLists,
            Section::OutOffsets,
            Section::Terms,
            Section::Frequencies,
            Section::Forward,
            Section::ForwardOffsets,
        ] {
            out.section(section, &first.section(section)?)?;
        }
        let lists = ListReader::new(first.section(Section::OutLists)?, first.section(Section::OutOffsets)?);
        let forward = first.section(Section::Forward)?;
        let offsets = OffsetTable::new(first.section(Section::ForwardOffsets)?);
        let postings_path = path.with_extension("postings.tmp");
        // Words and citations are turned round at the same time: neither needs the other, and each keeps one processor busy.
        std::thread::scope(|scope| {
            let postings = scope.spawn(|| {
                let mut scratch = IndexFileWriter::create(&postings_path)?;
                invert::write_postings(&mut scratch, &forward, &offsets, &frequencies, options.budget_bytes)?;
                scratch.finish()
            });
            progress("turning lists round", 0, 0);
            invert::write_in_lists(&mut out, &lists, &self.in_degrees, options.budget_bytes)?;
            progress("ranking works", 0, 0);
            out.section(Section::ArticleRank, &article_rank(&lists, self.works))?;
            out.section(Section::CouplingNorm, &coupling_norms(&lists, &self.in_degrees, self.works))?;
            progress("writing postings", 0, 0);
            postings.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
        let postings = IndexFile::open(&postings_path)?;
        for section in [Section::Postings, Section::PostingOffsets] {
            out.section(section, &postings.section(section)?)?;
        }
        drop(postings);
        std::fs::remove_file(&postings_path).map_err(Error::file(&postings_path))?;

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
            sources,
        };
        let bytes = serde_json::to_vec(&facts).unwrap_or_default();
        out.section(Section::Facts, &bytes)?;
        out.finish()?;
        std::fs::remove_file(graph_path).map_err(Error::file(graph_path))?;
        Ok(facts)
    }
}
