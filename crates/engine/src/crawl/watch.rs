//! Following a crawl or a batch: what it has, then what comes, then its end. One look at its row a second at most, for each who
//! watches; who watches is bounded.

use super::start::{Crawler, is_live};
use super::status::{Window, head, unpacked};
use crate::callers::Caller;
use crate::from_store;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::crawls::{Crawl, CrawlKind};
use tokio::time::Instant;
use uuid::Uuid;
use wire::crawl::JobHead;
use wire::{Kind, WireError};

const EVERY: Duration = Duration::from_secs(1);
/// Who may watch at once: of one team, and of all.
const MOST_OF_A_TEAM: usize = 100;
const MOST: usize = 1_000;
/// Documents that are handed over in one go.
const HANDFUL: u32 = 64;
const HANDFUL_BYTES: u64 = 1 << 20;

/// Somebody who follows a crawl.
#[derive(Debug)]
pub struct Watch {
    crawler: Arc<Crawler>,
    crawl: Crawl,
    /// The number of the last document that was handed over.
    after: u64,
    /// The version that was told last.
    told: Option<u64>,
    looked: Instant,
    every: Duration,
    _seat: Seat,
}

/// What a look brought.
#[derive(Debug)]
pub struct Look {
    pub head: JobHead,
    /// New documents as JSON, each with its number.
    pub documents: Vec<(u64, Vec<u8>)>,
    /// That was all: it has ended, and every document was handed over.
    pub ended: bool,
}

/// What was there when the watch began.
#[derive(Debug)]
pub struct CatchUp {
    /// The status with its documents, as JSON.
    pub status: Vec<u8>,
    pub live: bool,
    /// The documents are all there are by now.
    pub whole: bool,
}

impl Crawler {
    /// Begins to watch, from the document after `after`.
    pub async fn watch(
        self: &Arc<Self>,
        caller: &Caller,
        kind: CrawlKind,
        id: Uuid,
        after: u64,
    ) -> Result<Watch, WireError> {
        let crawl = self.find(caller, kind, id).await?;
        let seat = self.seats.take(caller.team)?;
        let looked = Instant::now();
        Ok(Watch { crawler: self.clone(), crawl, after, told: None, looked, every: EVERY, _seat: seat })
    }
}

impl Watch {
    /// Looks more often, for who is alone with the store.
    #[must_use]
    pub fn looking_every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    /// What is there already; documents that do not fit come with the looks that follow.
    pub async fn catch_up(&mut self) -> Result<CatchUp, WireError> {
        let window = Window { skip: self.after, limit: None };
        let documents = self.crawler.documents(&self.crawl, window).await?;
        self.after = documents.last;
        self.told = Some(self.crawl.version);
        Ok(CatchUp {
            status: head(&self.crawl).with_documents(&documents.json),
            live: is_live(&self.crawl),
            whole: self.has_all(),
        })
    }

    /// Waits for something new: documents, other numbers, or the end.
    pub async fn next(&mut self) -> Result<Look, WireError> {
        while self.has_all() && self.told == Some(self.crawl.version) && is_live(&self.crawl) {
            tokio::time::sleep_until(self.looked + self.every).await;
            let (team, id) = (self.crawl.team_id, self.crawl.id);
            let crawl = self.crawler.store.crawl(team, id).await.map_err(from_store)?;
            self.looked = Instant::now();
            self.crawl = crawl.ok_or(Kind::JobNotFound)?;
        }
        let documents = self.handful().await?;
        self.told = Some(self.crawl.version);
        Ok(Look { head: head(&self.crawl), documents, ended: self.has_all() && !is_live(&self.crawl) })
    }

    async fn handful(&mut self) -> Result<Vec<(u64, Vec<u8>)>, WireError> {
        if self.has_all() {
            return Ok(Vec::new());
        }
        let wanted =
            u32::try_from(self.crawl.counts.completed - self.after).map_or(HANDFUL, |left| left.min(HANDFUL));
        let kept = self.crawler.store.crawl_documents(self.crawl.id, self.after, wanted, HANDFUL_BYTES).await;
        let kept = kept.map_err(from_store)?;
        // Gone since: nothing more will come.
        let last = kept.last().ok_or(Kind::JobNotFound)?.number;
        let unpack = move || kept.iter().map(|one| Ok((one.number, unpacked(one)?))).collect();
        let unpacked = tokio::task::spawn_blocking(unpack).await;
        let documents: Result<Vec<_>, WireError> = unpacked.map_err(|_| WireError::from(Kind::Internal))?;
        self.after = last;
        documents
    }

    fn has_all(&self) -> bool {
        self.after >= self.crawl.counts.completed
    }
}

/// Who watches, by team.
#[derive(Debug, Default)]
pub struct Seats(Mutex<HashMap<Uuid, usize>>);

#[derive(Debug)]
pub struct Seat {
    seats: Arc<Seats>,
    team: Uuid,
}

impl Seats {
    /// A seat for one more of the team, until it is dropped.
    pub fn take(self: &Arc<Self>, team: Uuid) -> Result<Seat, WireError> {
        let mut taken = self.taken();
        if taken.values().sum::<usize>() >= MOST {
            return Err(WireError::unavailable("too many watch already", 5));
        }
        let of_team = taken.entry(team).or_default();
        if *of_team >= MOST_OF_A_TEAM {
            let most = u32::try_from(MOST_OF_A_TEAM).unwrap_or(u32::MAX);
            return Err(WireError::concurrency_limited(most));
        }
        *of_team += 1;
        Ok(Seat { seats: self.clone(), team })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Uuid, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.taken();
        if let Some(of_team) = taken.get_mut(&self.team) {
            *of_team -= 1;
            if *of_team == 0 {
                taken.remove(&self.team);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_given_back() {
        let seats = Arc::new(Seats::default());
        let (ours, theirs) = (Uuid::now_v7(), Uuid::now_v7());
        let held: Vec<Seat> = (0..MOST_OF_A_TEAM).map(|_| seats.take(ours).unwrap()).collect();
        assert_eq!(seats.take(ours).unwrap_err().kind, Kind::ConcurrencyLimited);
        assert!(seats.take(theirs).is_ok(), "one team does not keep another out");
        drop(held);
        assert!(seats.take(ours).is_ok());
        assert!(seats.taken().is_empty());
    }
}
