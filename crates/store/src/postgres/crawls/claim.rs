//! Handing out entries. Claims take turns at one lock, so counting slots and taking them is one step over all
//! processes; whoever ends an attempt or settles meanwhile only makes room. So a claim may look around
//! without locking a crawl, and locks only those it takes from: all that can have happened to them is that
//! they ended.

use super::super::{PostgresStore, Tx};
use super::lock_live;
use crate::crawls::{ClaimedEntry, EntryClaim, EntryLease};
use crate::ledger::choose::{Candidate, MAX_CANDIDATE_CRAWLS, Round};
use crate::ledger::rows;
use crate::ledger::scan::{QueueScan, QueuedEntry};
use crate::rows::Columns;
use crate::sql::SqlConnection;
use crate::{Millis, StoreResult, clock};
use std::collections::{BTreeSet, HashMap, HashSet};
use uuid::Uuid;

pub(super) async fn claim(store: &PostgresStore, request: &EntryClaim) -> StoreResult<Vec<ClaimedEntry>> {
    if request.limit == 0 {
        return Ok(Vec::new());
    }
    let mut tx = store.change_ledger().await?;
    tx.query("crawls.claim_lock").execute(&mut tx).await?;
    let Some((mut round, mut search)) = ClaimSearch::begin(&mut tx, request).await? else {
        return Ok(Vec::new());
    };
    loop {
        let shares = round.shares();
        if shares.is_empty() {
            break;
        }
        search.look(&mut tx, &mut round, &shares).await?;
    }
    let claimed = search.take_chosen(&mut tx, request).await?;
    tx.commit().await?;
    Ok(claimed)
}

/// What a claim found in one crawl.
#[derive(Debug)]
struct Finding {
    crawl: Uuid,
    team: Uuid,
    /// Entries that were queued before the look.
    waiting: i64,
    /// Pages that may still be taken.
    pages: u64,
    scan_from: i64,
    /// When the next look is worth its while, when that is not at once.
    next_at: Option<Millis>,
    /// Whether anything about the crawl is to be written.
    changed: bool,
    taken: Vec<QueuedEntry>,
}

impl Finding {
    fn of_lists(&self) -> i64 {
        i64::try_from(self.taken.iter().filter(|entry| entry.is_lists).count()).unwrap_or(i64::MAX)
    }

    fn of_pages(&self) -> i64 {
        i64::try_from(self.taken.len()).unwrap_or(i64::MAX) - self.of_lists()
    }
}

/// What a claim has seen and chosen so far, and not written yet.
#[derive(Debug)]
struct ClaimSearch {
    now: Millis,
    /// By the candidate's place in the round.
    findings: Vec<Finding>,
    /// In the order in which they were looked at.
    order: Vec<usize>,
    /// Hosts that gave what they may for now.
    paced: HashSet<String>,
    /// There may be more candidates: those that were looked at go behind them.
    crowded: bool,
}

/// A request for queued entries of a crawl: the candidate's place, after which number, how many.
type Ask = (usize, i64, usize);

impl ClaimSearch {
    /// `None` when nothing could start.
    async fn begin(tx: &mut Tx, request: &EntryClaim) -> StoreResult<Option<(Round, Self)>> {
        let found = tx.query("crawls.candidates").bind(MAX_CANDIDATE_CRAWLS).fetch_all(tx).await?;
        let Some(first) = found.first() else { return Ok(None) };
        let now = first.int("now")?;
        let candidates = found.iter().map(rows::candidate).collect::<StoreResult<Vec<Candidate>>>()?;
        let mut busy = HashMap::new();
        let mut findings = Vec::with_capacity(found.len());
        for (row, candidate) in found.iter().zip(&candidates) {
            busy.insert(candidate.team, row.count("team_busy")?);
            findings.push(Finding {
                crawl: candidate.crawl,
                team: candidate.team,
                waiting: row.int("waiting")?,
                pages: candidate.pages,
                scan_from: candidate.scan_from,
                next_at: None,
                changed: false,
                taken: Vec::new(),
            });
        }
        let crowded = i64::try_from(found.len()).is_ok_and(|found| found >= MAX_CANDIDATE_CRAWLS);
        let search = Self { now, findings, order: Vec::new(), paced: HashSet::new(), crowded };
        Ok(Some((Round::new(request, busy, candidates), search)))
    }

    /// Looks at crawls, each for its share.
    async fn look(&mut self, tx: &mut Tx, round: &mut Round, shares: &[(usize, u32)]) -> StoreResult<()> {
        let mut scans: Vec<(usize, u32, QueueScan)> = Vec::with_capacity(shares.len());
        for (place, share) in shares {
            let finding = &self.findings[*place];
            scans.push((*place, *share, QueueScan::new(*share, finding.pages, finding.scan_from, self.now)));
        }
        let ask = |(place, _, scan): &(usize, u32, QueueScan)| (*place, 0, scan.window());
        let mut windows = self.windows(tx, scans.iter().map(ask).collect()).await?;
        let mut further = HashMap::new();
        for (place, _, scan) in &mut scans {
            let window = self.free(windows.remove(place).unwrap_or_default());
            if let Some(from) = scan.front(window) {
                further.insert(*place, from);
            }
            self.paced.extend(scan.paced.iter().cloned());
        }
        if !further.is_empty() {
            let ask = |(place, _, scan): &(usize, u32, QueueScan)| {
                Some((*place, *further.get(place)?, scan.window()))
            };
            let mut windows = self.windows(tx, scans.iter().filter_map(ask).collect()).await?;
            for (place, _, scan) in &mut scans {
                if let Some(from) = further.get(place) {
                    let window = self.free(windows.remove(place).unwrap_or_default());
                    scan.behind(*from, window);
                    self.paced.extend(scan.paced.iter().cloned());
                }
            }
        }
        for (place, share, scan) in scans {
            round.took(place, share, u32::try_from(scan.taken.len()).unwrap_or(u32::MAX));
            self.note(place, scan);
        }
        Ok(())
    }

    fn note(&mut self, place: usize, scan: QueueScan) {
        if !self.order.contains(&place) {
            self.order.push(place);
        }
        let (scan_from, next_at) = scan.next();
        let finding = &mut self.findings[place];
        finding.next_at = (next_at > self.now || self.crowded).then_some(next_at);
        finding.changed |=
            !scan.taken.is_empty() || finding.next_at.is_some() || scan_from != finding.scan_from;
        finding.scan_from = scan_from;
        let pages = scan.taken.iter().filter(|entry| !entry.is_lists).count() as u64;
        finding.pages = finding.pages.saturating_sub(pages);
        finding.taken.extend(scan.taken);
    }

    /// Entries of hosts that gave what they may must wait for their gap.
    fn free(&self, mut window: Vec<QueuedEntry>) -> Vec<QueuedEntry> {
        for entry in &mut window {
            if self.paced.contains(&entry.host) {
                entry.host_at = entry.host_at.max(self.now + entry.host_gap);
            }
        }
        window
    }

    /// Queued entries as asked for, without those that this claim chose already.
    async fn windows(&self, tx: &mut Tx, asks: Vec<Ask>) -> StoreResult<HashMap<usize, Vec<QueuedEntry>>> {
        let chosen = |place: usize| &self.findings[place].taken;
        let found = tx
            .batch("crawls.windows", &asks)
            .column(|(place, ..)| i64::try_from(*place).unwrap_or(-1))
            .column(|(place, ..)| self.findings[*place].crawl)
            .column(|(_, after, _)| *after)
            .column(|(place, _, size)| i64::try_from(size + chosen(*place).len()).unwrap_or(i64::MAX))
            .fetch_all(tx)
            .await?;
        let mut windows: HashMap<usize, Vec<QueuedEntry>> = HashMap::with_capacity(asks.len());
        for row in &found {
            let place = usize::try_from(row.count("place")?).unwrap_or(usize::MAX);
            let entry = rows::queued(row)?;
            if !chosen(place).iter().any(|taken| taken.seq == entry.seq) {
                windows.entry(place).or_default().push(entry);
            }
        }
        for (place, _, size) in asks {
            windows.entry(place).or_default().truncate(size);
        }
        Ok(windows)
    }

    /// Takes what was chosen, less what belongs to crawls that have ended since.
    async fn take_chosen(mut self, tx: &mut Tx, request: &EntryClaim) -> StoreResult<Vec<ClaimedEntry>> {
        let wanted: BTreeSet<Uuid> =
            self.findings.iter().filter(|one| one.changed).map(|one| one.crawl).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let live = lock_live(tx, wanted).await?;
        for finding in self.findings.iter_mut().filter(|one| !live.contains_key(&one.crawl)) {
            finding.changed = false;
            finding.taken.clear();
        }
        self.write_crawls(tx).await?;
        let mut leases = self.write_entries(tx, request).await?;
        let mut claimed = Vec::with_capacity(leases.len());
        let mut hosts = BTreeSet::new();
        for place in self.order {
            let Finding { crawl, team, taken, .. } = &mut self.findings[place];
            taken.sort_unstable_by_key(|entry| entry.seq);
            for entry in taken.drain(..) {
                let Some((lease, attempt)) = leases.remove(&(*crawl, entry.seq)) else { continue };
                if entry.host_gap > 0 {
                    hosts.insert(entry.host.clone());
                }
                claimed.push(ClaimedEntry {
                    lease,
                    team_id: *team,
                    url: entry.url,
                    host: entry.host,
                    depth: entry.depth,
                    is_lists: entry.is_lists,
                    attempt,
                });
            }
        }
        if !hosts.is_empty() {
            let hosts: Vec<String> = hosts.into_iter().collect();
            tx.query("crawls.paces_started").bind_list(hosts).execute(tx).await?;
        }
        Ok(claimed)
    }

    async fn write_crawls(&self, tx: &mut Tx) -> StoreResult<()> {
        let changed: Vec<&Finding> = self.findings.iter().filter(|one| one.changed).collect();
        tx.batch("crawls.scanned", &changed)
            .column(|one| one.crawl)
            .column(|one| one.of_pages())
            .column(|one| one.of_lists())
            .column(|one| one.waiting)
            .column(|one| one.scan_from)
            .column(|one| one.next_at)
            .execute(tx)
            .await?;
        Ok(())
    }

    /// The leases of what was taken, and which attempt each is.
    async fn write_entries(
        &self,
        tx: &mut Tx,
        request: &EntryClaim,
    ) -> StoreResult<HashMap<(Uuid, i64), (EntryLease, u32)>> {
        let taken: Vec<(Uuid, i64)> = self
            .findings
            .iter()
            .flat_map(|one| one.taken.iter().map(|entry| (one.crawl, entry.seq)))
            .collect();
        let taken = tx
            .batch("crawls.take", &taken)
            .column(|(crawl, _)| *crawl)
            .column(|(_, number)| *number)
            .bind(request.owner)
            .bind(clock::millis(request.lease_for))
            .fetch_all(tx)
            .await?;
        let mut leases = HashMap::with_capacity(taken.len());
        for row in &taken {
            let (crawl, number) = (row.id("crawl_id")?, row.count("lease_number")?);
            let lease = EntryLease { crawl, seq: row.count("seq")?, owner: request.owner, number };
            leases.insert((crawl, row.int("seq")?), (lease, row.small("attempts")?));
        }
        Ok(leases)
    }
}
