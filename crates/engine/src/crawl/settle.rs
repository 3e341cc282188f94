//! Settling: decides what becomes of the pages that were fetched, in the order of their numbers, so that a
//! crawl has the same result however many workers it has and whenever they come back.

use super::context::{CrawlContext, CrawlContexts};
use super::hash_routes::HASH_ROUTE;
use super::memory::SettlementMemory;
use super::order::{SitemapUse, host_of};
use super::outcome::{EntryError, Lead, ListedUrls, Outcome, PageFindings};
use crate::{Error, from_store};
use sites::PageUrl;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use store::CrawlStore;
use store::crawls::{
    Crawl, CrawlKind, CrawlState, EntryDecision, EntryKey, FetchedEntry, KnownEntry, NewEntry, NewEntryKind,
    Settled, Settlement, UnsettledCrawl,
};
use stored_data::hashed_keys::lists_key;
use stored_data::stored_json;
use url::Url;
use uuid::Uuid;
use wire::Kind;

/// How long a page in its first attempt holds up the settling of pages after it.
pub const FIRST_ATTEMPT_WAIT: Duration = Duration::from_secs(10);
/// Entries, and addresses on them, that one transaction settles.
const MAX_ENTRIES: u32 = 64;
const MAX_LEADS: usize = 4_000;
/// New addresses among them, and their bytes. SQLite has one writer, and every scrape that ends meanwhile waits
/// for it: a page full of long links is written in parts that take a few milliseconds each.
const MAX_NEW_LEADS: usize = 300;
const MAX_NEW_LEAD_BYTES: usize = 48 * 1024;
/// Addresses that a ledger takes for each page that may be returned, and for any crawl.
const LEDGER_ADDRESSES_PER_PAGE: u64 = 20;
const MIN_LEDGER_ADDRESSES: u64 = 10_000;

/// Settles what can be settled of a crawl now.
pub async fn settle_crawl(
    store: &dyn CrawlStore,
    contexts: &CrawlContexts,
    crawl: Uuid,
) -> Result<(), Error> {
    let context = match contexts.get(crawl).await {
        Ok(Some(context)) => context,
        Ok(None) => return Ok(()),
        Err(error) => return end_if_unreadable(store, crawl, error).await,
    };
    let mut unfinished = None;
    loop {
        let Some(unsettled) =
            store.unsettled_crawl(crawl, MAX_ENTRIES, FIRST_ATTEMPT_WAIT).await.map_err(from_store)?
        else {
            contexts.close(crawl);
            return Ok(());
        };
        let Some(mut round) = Round::open(&context, &unsettled, unfinished.take()) else { return Ok(()) };
        let keys = round.keys();
        let known = store.entries_by_key(crawl, &keys).await.map_err(from_store)?;
        round.known = keys.into_iter().zip(known).filter_map(|(key, known)| Some((key, known?))).collect();
        round.decide_fates();
        if let Some(failure) = round.failure() {
            let delivery = context.events().and_then(|events| events.failed(&failure.error));
            let delivery = delivery.into_iter().collect();
            store.fail_crawl(crawl, failure.error, delivery).await.map_err(from_store)?;
            contexts.close(crawl);
            return Ok(());
        }
        let held = round.accounted_keys();
        let rest = round.unfinished.take();
        let settlement = round.finish();
        match store.settle_entries(crawl, unsettled.crawl.version, settlement).await.map_err(from_store)? {
            Settled::Now(CrawlState::Active) => {
                context.known_urls.add(held);
                unfinished = rest;
            }
            Settled::Overtaken => {}
            Settled::Now(_) => {
                contexts.close(crawl);
                return Ok(());
            }
        }
    }
}

/// Ends a crawl whose request cannot be read any more, which no later attempt would change.
async fn end_if_unreadable(store: &dyn CrawlStore, crawl: Uuid, error: Error) -> Result<(), Error> {
    let found = store.crawl_for_work(crawl).await.map_err(from_store)?;
    if found.is_none_or(|found| !found.request.is_empty()) {
        return Err(error);
    }
    store.fail_crawl(crawl, crate::error::REQUEST_LOST.to_owned(), Vec::new()).await.map_err(from_store)?;
    Ok(())
}

fn read_outcome(entry: &FetchedEntry) -> Outcome {
    entry.outcome.as_deref().and_then(|packed| stored_json::or_log(Outcome::unpack(packed))).unwrap_or_else(
        || {
            let text = "its workers were lost too often";
            Outcome::Failed(EntryError::from_error(&Error::with_text(Kind::ScrapeAllFailed, text)))
        },
    )
}

/// The word for a page that names another one to take instead.
const CANONICAL: &str = "canonical";

/// One settlement in the making.
struct Round<'a> {
    context: &'a CrawlContext,
    crawl: &'a Crawl,
    work: Vec<EntryPart<'a>>,
    /// The last of them when only a part of it is settled now, so that it is not read again for the next.
    unfinished: Option<(u64, Outcome)>,
    known: HashMap<EntryKey, KnownEntry>,
    memory: SettlementMemory,
    remembered: Option<&'a [u8]>,
    settlement: Settlement,
    /// Places in `settlement.found`.
    found_at: HashMap<EntryKey, usize>,
    revived: HashSet<u64>,
    completed: u64,
    /// Why the crawl's start came to nothing.
    no_start: Option<EntryError>,
}

/// An entry, and the part of its addresses that is settled now.
struct EntryPart<'a> {
    entry: &'a FetchedEntry,
    outcome: Outcome,
    from: usize,
    to: usize,
}

impl Outcome {
    fn leads(&self) -> &[Lead] {
        match self {
            Self::Page(seen) => &seen.leads,
            Self::Lists(listed) => &listed.leads,
            Self::Failed(_) | Self::Skipped(_) => &[],
        }
    }
}

impl<'a> Round<'a> {
    /// Takes as much as one transaction should; none when there is nothing.
    fn open(
        context: &'a CrawlContext,
        unsettled: &'a UnsettledCrawl,
        mut unfinished: Option<(u64, Outcome)>,
    ) -> Option<Self> {
        let memory = SettlementMemory::from_stored(unsettled.memory.as_deref(), unsettled.crawl.now);
        let (mut room, mut new_room, mut new_bytes) = (MAX_LEADS, MAX_NEW_LEADS, 0);
        let mut work = Vec::new();
        for entry in &unsettled.fetched {
            if room == 0 || new_room == 0 || new_bytes >= MAX_NEW_LEAD_BYTES {
                break;
            }
            let outcome = match unfinished.take() {
                Some((seq, outcome)) if seq == entry.seq => outcome,
                _ => read_outcome(entry),
            };
            let from = memory.offset_in(entry.seq);
            let mut to = from;
            while let Some(lead) = outcome.leads().get(to)
                && room > 0
                && new_room > 0
                && new_bytes < MAX_NEW_LEAD_BYTES
            {
                room -= 1;
                if !context.known_urls.contains(&lead.key) {
                    new_room -= 1;
                    new_bytes += lead.url.len();
                }
                to += 1;
            }
            work.push(EntryPart { entry, outcome, from, to });
        }
        (!work.is_empty()).then(|| Self {
            context,
            crawl: &unsettled.crawl,
            work,
            unfinished: None,
            known: HashMap::new(),
            memory,
            remembered: unsettled.memory.as_deref(),
            settlement: Settlement::default(),
            found_at: HashMap::new(),
            revived: HashSet::new(),
            completed: 0,
            no_start: None,
        })
    }

    /// The addresses that must be looked up in the ledger.
    fn keys(&self) -> Vec<EntryKey> {
        let mut keys = HashSet::new();
        for EntryPart { outcome, from, to, .. } in &self.work {
            let leads = outcome.leads()[*from..*to].iter().map(|lead| lead.key);
            keys.extend(leads.filter(|key| !self.context.known_urls.contains(key)));
            if let Outcome::Page(seen) = outcome {
                keys.extend(seen.landed.iter().chain(&seen.canonical).map(|lead| lead.key));
                keys.extend(seen.feeds.iter().map(|feed| lists_key(feed)));
            }
        }
        keys.into_iter().collect()
    }

    fn decide_fates(&mut self) {
        for EntryPart { entry, outcome, from, to } in std::mem::take(&mut self.work) {
            let mut whole = to == outcome.leads().len();
            let decision = match &outcome {
                Outcome::Failed(failure) => {
                    if self.is_start(entry) {
                        self.no_start = Some(failure.clone());
                    }
                    self.fail(entry, failure)
                }
                Outcome::Skipped(word) => EntryDecision::Skipped(word.clone().into_owned()),
                Outcome::Lists(listed) => {
                    self.list(listed, from, to);
                    EntryDecision::Skipped("lists".to_owned())
                }
                Outcome::Page(seen) => {
                    let skipped = self.reason_to_skip(entry, seen, from);
                    // Where a page leads does not count when it is left out, but for a further page of a list.
                    if skipped.is_some() && !self.follows_links_of_skipped(entry, seen) {
                        whole = true;
                    } else {
                        self.follow_page(entry, seen, from, to, skipped.is_none());
                    }
                    match skipped {
                        Some(word) => EntryDecision::Skipped(word),
                        None => self.complete_page(seen, whole),
                    }
                }
            };
            if whole {
                self.memory.at = None;
                self.settlement.decisions.push((entry.seq, decision));
            } else {
                // What is left of this page is next; nothing after it may be settled before.
                self.memory.at = Some((entry.seq, to));
                self.unfinished = Some((entry.seq, outcome));
                break;
            }
        }
    }

    fn is_start(&self, entry: &FetchedEntry) -> bool {
        let start = self.context.site.as_ref().map(|site| site.start.url().as_str());
        entry.depth == 0 && !entry.is_lists && start == Some(entry.url.as_str())
    }

    fn fail(&mut self, entry: &FetchedEntry, failure: &EntryError) -> EntryDecision {
        let delivery =
            self.context.events().and_then(|events| events.page_failed(&failure.error, &entry.url));
        self.settlement.deliveries.extend(delivery);
        EntryDecision::Failed(failure.to_json())
    }

    fn list(&mut self, listed: &ListedUrls, from: usize, to: usize) {
        for lead in &listed.leads[from..to] {
            self.add_lead(lead, 0);
        }
        if from == 0 && (listed.failed > 0 || listed.cut) {
            let (failed, cut) = (listed.failed, listed.cut);
            tracing::warn!(crawl = %self.crawl.id, failed, cut, "could not read all sitemaps and feeds of a site");
        }
    }

    /// Why a page is left out. What was decided with the first part of its addresses holds for the others.
    fn reason_to_skip(&mut self, entry: &FetchedEntry, seen: &PageFindings, from: usize) -> Option<String> {
        if self.context.kind != CrawlKind::Crawl {
            None
        } else if from == 0 {
            self.duplicate_reason(entry, seen)
        } else {
            self.follows_links_of_skipped(entry, seen).then(|| CANONICAL.to_owned())
        }
    }

    /// Whether the links of a page are followed though it names another page to take instead of it.
    fn follows_links_of_skipped(&self, entry: &FetchedEntry, seen: &PageFindings) -> bool {
        let canonical = seen.canonical.as_ref();
        canonical.is_some_and(|canonical| {
            self.memory.names_canonical(entry.key, canonical.key) && has_own_links(&entry.url, &canonical.url)
        })
    }

    /// Adds where a page leads.
    fn follow_page(
        &mut self,
        entry: &FetchedEntry,
        seen: &PageFindings,
        from: usize,
        to: usize,
        with_feeds: bool,
    ) {
        if self.context.kind == CrawlKind::Crawl && from == 0 && with_feeds {
            for feed in &seen.feeds {
                self.read_feed(feed);
            }
        }
        for lead in &seen.leads[from..to] {
            self.add_lead(lead, entry.depth + 1);
        }
    }

    /// Counts and charges for a page when it is settled as a whole.
    fn complete_page(&mut self, seen: &PageFindings, whole: bool) -> EntryDecision {
        if whole {
            self.completed += 1;
            self.settlement.credits += self.context.price().saturating_add(seen.extra_credits.max(0));
            let number = self.crawl.counts.completed + self.completed;
            let delivery = self.context.events().and_then(|events| events.page(number));
            self.settlement.deliveries.extend(delivery);
        }
        EntryDecision::Completed
    }

    /// The word for a page that the crawl has, or wants, under another address.
    fn duplicate_reason(&mut self, entry: &FetchedEntry, seen: &PageFindings) -> Option<String> {
        let mut own = entry.key;
        if let Some(landed) = seen.landed.as_ref().filter(|landed| landed.key != entry.key) {
            if let Some(word) = &landed.skip {
                if self.is_start(entry) {
                    let text = format!(
                        "the start address leads to {}, which is not part of this crawl; start there",
                        landed.url
                    );
                    self.no_start = Some(EntryError::from_error(&Error::with_text(Kind::ScrapeSite, &text)));
                }
                return Some(word.clone().into_owned());
            }
            if self.is_accounted_for(&landed.key) {
                return Some("duplicate".to_owned());
            }
            // From now on this page counts for both addresses.
            own = landed.key;
            let alias = Lead { skip: Some("duplicate".into()), ..landed.clone() };
            self.add_lead(&alias, entry.depth);
        }
        if let Some(canonical) = seen.canonical.as_ref().filter(|canonical| canonical.skip.is_none())
            && !self.memory.leads_back_to(own, canonical.key)
            && is_plausible(&entry.url, &canonical.url)
        {
            self.memory.remember_canonical(entry.key, canonical.key);
            self.add_lead(canonical, entry.depth);
            return Some(CANONICAL.to_owned());
        }
        if let Some(likeness) = seen.likeness
            && self.context.order.follow.similar_are_one
            && self.memory.is_like_another(likeness)
        {
            return Some("duplicate".to_owned());
        }
        None
    }

    fn read_feed(&mut self, feed: &str) {
        let key = lists_key(feed);
        let wanted = self.context.order.follow.sitemap == SitemapUse::Include;
        if !wanted || self.known.contains_key(&key) || self.found_at.contains_key(&key) {
            return;
        }
        if let Ok(url) = Url::parse(feed) {
            self.found_at.insert(key, self.settlement.found.len());
            let (url, host) = (feed.to_owned(), host_of(&url));
            self.settlement.found.push(NewEntry { key, url, host, depth: 0, kind: NewEntryKind::Lists });
        }
    }

    /// Addresses that are accounted for when this is settled.
    fn accounted_keys(&self) -> Vec<EntryKey> {
        self.found_at
            .keys()
            .chain(self.known.keys())
            .filter(|key| self.is_accounted_for(key))
            .copied()
            .collect()
    }

    /// Whether an address is accounted for in a way that another link to it cannot change.
    fn is_accounted_for(&self, key: &EntryKey) -> bool {
        if self.context.known_urls.contains(key) {
            return true;
        }
        match (self.found_at.get(key), self.known.get(key)) {
            (Some(place), _) => !may_change_later(&self.settlement.found[*place].kind),
            (None, Some(known)) => {
                known.skipped.as_deref().is_none_or(|word| !may_change(word))
                    || self.revived.contains(&known.seq)
            }
            (None, None) => false,
        }
    }

    /// Writes an address down, as a page to come or with why it is none.
    fn add_lead(&mut self, lead: &Lead, depth: u32) {
        if self.is_accounted_for(&lead.key) {
            return;
        }
        let place = self.found_at.get(&lead.key).copied();
        let known = self.known.get(&lead.key).map(|known| known.seq);
        if lead.skip.is_some() && (place.is_some() || known.is_some()) {
            return;
        }
        let kind = self.kind_for_lead(lead);
        match (place, known) {
            (Some(place), _) => self.settlement.found[place].kind = kind,
            (None, Some(seq)) => {
                if kind == NewEntryKind::Page {
                    self.revived.insert(seq);
                }
            }
            (None, None) => self.add_entry(lead, depth, kind),
        }
    }

    fn kind_for_lead(&mut self, lead: &Lead) -> NewEntryKind {
        if let Some(word) = &lead.skip {
            return NewEntryKind::Skipped(word.clone().into_owned());
        }
        let address = PageUrl::parse(&lead.url, self.context.order.follow.sameness());
        match address.map(|address| self.memory.traps.admit(&address)) {
            Ok(None) => NewEntryKind::Page,
            Ok(Some(trap)) => NewEntryKind::Skipped(trap.name().to_owned()),
            Err(unusable) => NewEntryKind::Skipped(sites::SkipReason::from(unusable).name().to_owned()),
        }
    }

    fn add_entry(&mut self, lead: &Lead, depth: u32, kind: NewEntryKind) {
        let most = self
            .context
            .limit
            .unwrap_or(u64::MAX)
            .saturating_mul(LEDGER_ADDRESSES_PER_PAGE)
            .saturating_add(MIN_LEDGER_ADDRESSES);
        let written = self.crawl.counts.discovered + self.settlement.found.len() as u64;
        // A full ledger says so once, with the first address that found no room.
        let kind = match written.cmp(&most) {
            Ordering::Less => kind,
            Ordering::Equal => NewEntryKind::Skipped("ledgerFull".to_owned()),
            Ordering::Greater => return,
        };
        let host = if kind == NewEntryKind::Page {
            Url::parse(&lead.url).map(|url| host_of(&url)).unwrap_or_default()
        } else {
            String::new()
        };
        self.found_at.insert(lead.key, self.settlement.found.len());
        self.settlement.found.push(NewEntry { key: lead.key, url: lead.url.clone(), host, depth, kind });
    }

    /// A crawl whose start came to nothing, with nothing else to go on with, has failed.
    fn failure(&mut self) -> Option<EntryError> {
        let failure = self.no_start.take()?;
        let counts = &self.crawl.counts;
        let more = self.settlement.decisions.len() > 1
            || !self.settlement.found.iter().all(|entry| matches!(entry.kind, NewEntryKind::Skipped(_)));
        let others = counts.completed + counts.queued + counts.running + counts.reading_lists > 0;
        (!more && !others && counts.fetched <= 1).then_some(failure)
    }

    fn finish(mut self) -> Settlement {
        self.settlement.revived = self.revived.into_iter().collect();
        self.settlement.revived.sort_unstable();
        self.settlement.memory = self.memory.to_stored(self.remembered);
        self.settlement.at_end.extend(self.context.events().and_then(|events| events.completed()));
        self.settlement
    }
}

/// Skipped because of the way it was found: another way may be open.
fn may_change(word: &str) -> bool {
    matches!(word, "nofollow" | "tooDeep" | "offSite" | HASH_ROUTE)
}

fn may_change_later(kind: &NewEntryKind) -> bool {
    matches!(kind, NewEntryKind::Skipped(word) if may_change(word))
}

/// Whether a page leads to more than the page it names to take instead: it has another path, or is a further page of a
/// list by a number in its query (`?page=2`). Filters and orders of a list lead to the same pages in ever new ways.
fn has_own_links(page: &str, canonical: &str) -> bool {
    let (Ok(page), Ok(canonical)) = (Url::parse(page), Url::parse(canonical)) else { return false };
    if page.path() != canonical.path() {
        return true;
    }
    let known: HashSet<_> = canonical.query_pairs().collect();
    let mut own = page.query_pairs().filter(|pair| !known.contains(pair)).peekable();
    own.peek().is_some()
        && own.all(|(_, value)| !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Some sites name their front page as the one to take for every page they have.
fn is_plausible(page: &str, canonical: &str) -> bool {
    let is_front = |url: &str| Url::parse(url).is_ok_and(|url| url.path() == "/" && url.query().is_none());
    let is_front_path = |url: &str| Url::parse(url).is_ok_and(|url| url.path() == "/");
    !is_front(canonical) || is_front_path(page)
}
