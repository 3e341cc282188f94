//! Which records are one work: first by shared identifiers, then, carefully, by title. Also answers, while the graph is
//! written, which work a reference means.

use crate::error::{Error, Result};
use crate::hash::stable_hash;
use crate::ordered::in_order;
use crate::stage::{Stage, checked, frames};
use crate::stored::Stored;
use crate::text::title_key;

/// Largest number of nodes an index can hold; the rest of the numbers are kept free for marks.
pub const MAX_NODES: u64 = 0xffff_0000;
/// More records than this under one title are a series ("Editorial board of …"), not one work.
const MAX_TITLE_GROUP: usize = 6;

/// A record's place: which log, and where in it.
#[derive(Debug, Clone, Copy)]
pub struct Place(u64);

impl Place {
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

/// The outcome: works numbered in the order in which they were first seen.
#[derive(Debug)]
pub struct Identities {
    /// Where each record lies, by work, and within a work in the order of import.
    pub places: Vec<Place>,
    /// The records of work `w` are `places[starts[w]..starts[w + 1]]`.
    pub starts: Vec<u32>,
    /// Identifier to work.
    pub by_identifier: Resolver,
    /// Title to work, only for titles that one work has.
    pub by_title: Resolver,
}

impl Identities {
    pub fn works(&self) -> u32 {
        u32::try_from(self.starts.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    pub fn records(&self, work: u32) -> &[Place] {
        &self.places[self.starts[work as usize] as usize..self.starts[work as usize + 1] as usize]
    }

    pub fn find(stages: &[Stage]) -> Result<Self> {
        let mut places = Vec::new();
        let mut identifiers = Vec::new();
        let mut titles = Vec::new();
        let mut traits = Vec::new();
        for (number, stage) in stages.iter().enumerate() {
            let mut is_whole = true;
            in_order(
                stage.pieces(),
                |piece| piece.map(|(place, bytes)| Heads::of(place, &bytes)),
                |heads| {
                    // A log ends at its first spoilt record, wherever the next piece begins.
                    let heads = heads?;
                    if !is_whole {
                        return Ok(());
                    }
                    is_whole = heads.are_all;
                    let first = places.len() as u64;
                    if first + heads.places.len() as u64 > MAX_NODES {
                        return Err(Error::TooMany { what: "records", limit: MAX_NODES });
                    }
                    let first = first as u32;
                    places.extend(heads.places.iter().map(|offset| Place::new(number, *offset)));
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
        let mut sets = Sets::new(places.len());
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
                if one != other && traits[one as usize].may_be_one_with(traits[other as usize]) {
                    sets.join(one, other, &mut traits);
                }
            }
        }
        drop(traits);
        Ok(Self::number(&places, sets, identifiers, titles))
    }

    fn number(
        places: &[Place],
        mut sets: Sets,
        mut identifiers: Vec<(u64, u32)>,
        mut titles: Vec<(u64, u32)>,
    ) -> Self {
        // The root is always the earliest record of its set, so works come out in the order of first sight.
        let mut work_of = vec![0_u32; places.len()];
        let mut works = 0_u32;
        for record in 0..places.len() {
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
        let mut ordered = vec![Place(0); places.len()];
        for (record, place) in places.iter().enumerate() {
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
            places: ordered,
            starts,
            by_identifier: Resolver::new(identifiers),
            by_title: Resolver::new(unique),
        }
    }
}

/// What tells the records of one piece of a log apart. Records are numbered within the piece.
#[derive(Debug, Default)]
struct Heads {
    places: Vec<u64>,
    identifiers: Vec<(u64, u32)>,
    titles: Vec<(u64, u32)>,
    traits: Vec<Traits>,
    /// No record of the piece was spoilt.
    are_all: bool,
}

impl Heads {
    fn of(mut place: u64, bytes: &[u8]) -> Self {
        let mut heads = Self { are_all: true, ..Self::default() };
        for (number, frame) in (0..).zip(frames(bytes)) {
            let Some(record) = checked(frame) else {
                heads.are_all = false;
                break;
            };
            let work = Stored::read(record);
            let mut traits =
                Traits { namespaces: 0, year: u16::try_from(work.created / 10_000).unwrap_or(0) };
            for (hash, well_known) in work.numbers() {
                heads.identifiers.push((hash, number));
                traits.namespaces |= well_known.map_or(0, |place| 1 << place);
            }
            heads.titles.extend(title_key(work.title).map(|key| (stable_hash(&[key.as_bytes()]), number)));
            heads.traits.push(traits);
            heads.places.push(place);
            place += frame.len() as u64;
        }
        heads
    }
}

/// What must agree before a shared title proves anything.
#[derive(Debug, Clone, Copy)]
struct Traits {
    /// One bit for each of the well-known namespaces in which the work has an identifier.
    namespaces: u8,
    year: u16,
}

impl Traits {
    /// Two identifiers in one namespace would have been equal if the works were; years may differ by one, as a preprint's
    /// and an article's do.
    fn may_be_one_with(self, other: Self) -> bool {
        self.namespaces & other.namespaces == 0
            && (self.year == 0 || other.year == 0 || self.year.abs_diff(other.year) <= 1)
    }
}

/// Disjoint sets of records.
#[derive(Debug)]
struct Sets {
    parents: Vec<u32>,
}

impl Sets {
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

    fn join(&mut self, one: u32, other: u32, traits: &mut [Traits]) {
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
