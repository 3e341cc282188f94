//! Groups records into works: by shared identifiers, then carefully by title. Also resolves references to
//! works while the graph is written.

use crate::error::{Error, Result};
use crate::hash::stable_hash;
use crate::parallel::map_in_order;
use crate::stage::{Stage, frames, verified_record};
use crate::stored_work::StoredWork;
use crate::terms::title_key;

/// Larger numbers are reserved for markers.
pub const MAX_NODES: u64 = 0xffff_0000;
/// More records with one title are a series ("Editorial board of …"), not one work.
const MAX_TITLE_GROUP: usize = 6;

/// The log of a record and its offset.
#[derive(Debug, Clone, Copy)]
pub struct RecordPosition(u64);

impl RecordPosition {
    fn new(stage: usize, offset: u64) -> Self {
        Self((stage as u64) << 48 | offset)
    }

    pub fn stage(self) -> usize {
        (self.0 >> 48) as usize
    }

    pub fn offset(self) -> u64 {
        self.0 & 0xffff_ffff_ffff
    }
}

/// Sorted hashes with a directory by their leading bits.
#[derive(Debug)]
pub struct Resolver {
    entries: Vec<(u64, u32)>,
    starts: Vec<u32>,
    bits: u32,
}

impl Resolver {
    fn new(mut entries: Vec<(u64, u32)>) -> Self {
        entries.sort_unstable();
        entries.dedup();
        let bits = (entries.len() / 4).max(2).ilog2().clamp(1, 30);
        let mut starts = vec![0_u32; (1 << bits) + 1];
        for (hash, _) in &entries {
            starts[(hash >> (64 - bits)) as usize + 1] += 1;
        }
        for bucket in 1..starts.len() {
            starts[bucket] += starts[bucket - 1];
        }
        Self { entries, starts, bits }
    }

    pub fn find(&self, hash: u64) -> Option<u32> {
        let bucket = (hash >> (64 - self.bits)) as usize;
        let range = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
        self.entries[range].iter().find(|(known, _)| *known == hash).map(|(_, number)| *number)
    }

    pub fn into_entries(self) -> Vec<(u64, u32)> {
        self.entries
    }
}

/// The result: works numbered in the order of their first record.
#[derive(Debug)]
pub struct Identities {
    /// Positions of records, grouped by work, in the order of import.
    pub positions: Vec<RecordPosition>,
    /// The records of work `w` are `positions[starts[w]..starts[w + 1]]`.
    pub starts: Vec<u32>,
    /// Identifier to work.
    pub by_identifier: Resolver,
    /// Title to work, only for unique titles.
    pub by_title: Resolver,
}

impl Identities {
    pub fn works(&self) -> u32 {
        u32::try_from(self.starts.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    pub fn records(&self, work: u32) -> &[RecordPosition] {
        &self.positions[self.starts[work as usize] as usize..self.starts[work as usize + 1] as usize]
    }

    pub fn find(stages: &[Stage]) -> Result<Self> {
        let mut positions = Vec::new();
        let mut identifiers = Vec::new();
        let mut titles = Vec::new();
        let mut traits = Vec::new();
        for (number, stage) in stages.iter().enumerate() {
            let mut is_whole = true;
            map_in_order(
                stage.chunks_of_records(),
                |piece| piece.map(|(place, bytes)| ChunkIdentifiers::collect(place, &bytes)),
                |heads| {
                    // A log ends at its first damaged record.
                    let heads = heads?;
                    if !is_whole {
                        return Ok(());
                    }
                    is_whole = heads.are_all;
                    let first = positions.len() as u64;
                    if first + heads.positions.len() as u64 > MAX_NODES {
                        return Err(Error::TooMany { what: "records", limit: MAX_NODES });
                    }
                    let first = first as u32;
                    positions
                        .extend(heads.positions.iter().map(|offset| RecordPosition::new(number, *offset)));
                    identifiers
                        .extend(heads.identifiers.iter().map(|(hash, record)| (*hash, first + record)));
                    titles.extend(heads.titles.iter().map(|(hash, record)| (*hash, first + record)));
                    traits.extend(heads.traits);
                    Ok(())
                },
            )?;
        }
        std::thread::scope(|scope| {
            scope.spawn(|| titles.sort_unstable());
            identifiers.sort_unstable();
        });
        let mut sets = DisjointSets::new(positions.len());
        for pair in identifiers.windows(2) {
            if pair[0].0 == pair[1].0 {
                sets.join(pair[0].1, pair[1].1, &mut traits);
            }
        }
        for group in titles
            .chunk_by(|one, other| one.0 == other.0)
            .filter(|group| (2..=MAX_TITLE_GROUP).contains(&group.len()))
        {
            for (_, other) in &group[1..] {
                let (one, other) = (sets.root(group[0].1), sets.root(*other));
                if one != other && traits[one as usize].may_be_same_work(traits[other as usize]) {
                    sets.join(one, other, &mut traits);
                }
            }
        }
        drop(traits);
        Ok(Self::number(&positions, sets, identifiers, titles))
    }

    fn number(
        positions: &[RecordPosition],
        mut sets: DisjointSets,
        mut identifiers: Vec<(u64, u32)>,
        mut titles: Vec<(u64, u32)>,
    ) -> Self {
        // The root is the earliest record of its set, so works are numbered in the order of their first
        // record.
        let mut work_of = vec![0_u32; positions.len()];
        let mut works = 0_u32;
        for record in 0..positions.len() {
            let root = sets.root(record as u32) as usize;
            if root == record {
                work_of[record] = works;
                works += 1;
            } else {
                work_of[record] = work_of[root];
            }
        }
        drop(sets);
        let mut starts = vec![0_u32; works as usize + 1];
        for work in &work_of {
            starts[*work as usize + 1] += 1;
        }
        for work in 1..starts.len() {
            starts[work] += starts[work - 1];
        }
        let mut next = starts.clone();
        let mut ordered = vec![RecordPosition(0); positions.len()];
        for (record, place) in positions.iter().enumerate() {
            let slot = &mut next[work_of[record] as usize];
            ordered[*slot as usize] = *place;
            *slot += 1;
        }
        for (_, record) in identifiers.iter_mut().chain(&mut titles) {
            *record = work_of[*record as usize];
        }
        titles.sort_unstable();
        titles.dedup();
        let unique = titles
            .chunk_by(|one, other| one.0 == other.0)
            .filter(|group| group.len() == 1)
            .map(|group| group[0])
            .collect();
        Self {
            positions: ordered,
            starts,
            by_identifier: Resolver::new(identifiers),
            by_title: Resolver::new(unique),
        }
    }
}

/// Identifying data of the records of one chunk of a log. Records are numbered within the chunk.
#[derive(Debug, Default)]
struct ChunkIdentifiers {
    positions: Vec<u64>,
    identifiers: Vec<(u64, u32)>,
    titles: Vec<(u64, u32)>,
    traits: Vec<WorkTraits>,
    /// No record of the chunk is damaged.
    are_all: bool,
}

impl ChunkIdentifiers {
    fn collect(mut place: u64, bytes: &[u8]) -> Self {
        let mut heads = Self { are_all: true, ..Self::default() };
        for (number, frame) in (0..).zip(frames(bytes)) {
            let Some(record) = verified_record(frame) else {
                heads.are_all = false;
                break;
            };
            let work = StoredWork::parse(record);
            let mut traits =
                WorkTraits { namespaces: 0, year: u16::try_from(work.created / 10_000).unwrap_or(0) };
            for (hash, well_known) in work.numbers() {
                heads.identifiers.push((hash, number));
                traits.namespaces |= well_known.map_or(0, |place| 1 << place);
            }
            heads.titles.extend(title_key(work.title).map(|key| (stable_hash(&[key.as_bytes()]), number)));
            heads.traits.push(traits);
            heads.positions.push(place);
            place += frame.len() as u64;
        }
        heads
    }
}

/// Attributes that must agree before a shared title means the same work.
#[derive(Debug, Clone, Copy)]
struct WorkTraits {
    /// One bit for each of the well-known namespaces in which the work has an identifier.
    namespaces: u8,
    year: u16,
}

impl WorkTraits {
    /// Works with different identifiers in one namespace are different; years may differ by one, as for a
    /// preprint and its article.
    fn may_be_same_work(self, other: Self) -> bool {
        self.namespaces & other.namespaces == 0
            && (self.year == 0 || other.year == 0 || self.year.abs_diff(other.year) <= 1)
    }
}

/// Disjoint sets of records.
#[derive(Debug)]
struct DisjointSets {
    parents: Vec<u32>,
}

impl DisjointSets {
    fn new(count: usize) -> Self {
        Self { parents: (0..count as u32).collect() }
    }

    fn root(&mut self, mut record: u32) -> u32 {
        while self.parents[record as usize] != record {
            let grandparent = self.parents[self.parents[record as usize] as usize];
            self.parents[record as usize] = grandparent;
            record = grandparent;
        }
        record
    }

    fn join(&mut self, one: u32, other: u32, traits: &mut [WorkTraits]) {
        let (one, other) = (self.root(one), self.root(other));
        let (first, second) = (one.min(other), one.max(other));
        if first != second {
            self.parents[second as usize] = first;
            traits[first as usize].namespaces |= traits[second as usize].namespaces;
            if traits[first as usize].year == 0 {
                traits[first as usize].year = traits[second as usize].year;
            }
        }
    }
}
