//! One page of a crawl or a batch: asked for politely, scraped as every page is, and looked at for what it leads to.

use super::desk::{Desk, Site};
use super::manners::Manners;
use super::order::{entry_key, host_of, written_key};
use super::outcome::{Failure, Lead, Likeness, Outcome, Seen};
use crate::scrape::capture::Capture;
use crate::scrape::plan::NamedPage;
use crate::scrape::{Gathered, Scraper, may_pass};
use content::budget;
use content::link::Link;
use content::metadata::Metadata;
use sites::robots::page_rules;
use sites::{Address, Decision, Fingerprint, Found, Robots};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use store::crawls::{AttemptEnd, ClaimedEntry, CrawlKind};
use url::Url;
use uuid::Uuid;
use wire::{Kind, WireError};

/// What work on pages is counted under.
pub(super) const CAPABILITY: &str = "crawl";
/// Tries of a page whose host does not answer, or breaks off.
const TRIES: u32 = 3;
/// Tries of a page whose host says that it is asked too much.
const POLITE_TRIES: u32 = 8;
/// Claims of a page after which storage of our own that is not available fails it: about two hours.
const MAX_CLAIMS: u64 = 1_000;
/// Addresses taken from one page.
const MOST_LEADS: usize = 20_000;
/// Feeds of a start page that are read.
const MOST_FEEDS: usize = 8;

/// Where pages come from.
#[derive(Debug, Clone, Copy)]
pub struct Ways<'a> {
    pub scraper: &'a Scraper,
    pub manners: &'a Manners,
}

/// Does one attempt at a page.
pub async fn visit(ways: Ways<'_>, desk: &Arc<Desk>, entry: &ClaimedEntry) -> AttemptEnd {
    let host = entry.host.as_str();
    let page = match named_page(desk, &entry.url) {
        Ok(page) => page,
        Err(error) => return failed(Failure::of(&error)),
    };
    let url = &page.url;
    let robots = match rules_of(ways.manners, desk, url).await {
        Ok(robots) => robots,
        Err(error) => return failed_or_again(ways.manners, entry, &error),
    };
    if let Some(robots) = &robots
        && !robots.allows(&url[url::Position::BeforePath..url::Position::AfterQuery])
    {
        let word = if robots.is_unreachable() { "robotsUnreachable" } else { "robots" };
        return ended(&Outcome::Skipped(word.into()));
    }
    let mut plan = desk.plan(&page);
    plan.timeout = ways.manners.patience(host, plan.timeout);
    let plan = Arc::new(plan);
    let (looker, depth, asked) = (desk.clone(), entry.depth, entry.host.clone());
    let see = move |capture: &Capture| {
        let answer = (capture.answer.status, capture.answer.retry_after);
        let seen =
            looker.site.as_ref().map(|site| look(&looker, site, capture, (depth, &asked), robots.as_deref()));
        (answer, seen.unwrap_or_default())
    };
    let id = page_id(desk.id, entry.lease.seq);
    match ways.scraper.gather(&desk.caller, &plan, id, &desk.order.base_url, CAPABILITY, see).await {
        Ok(Gathered { seen: ((status @ (429 | 503), retry_after), _), .. }) => {
            let error = answered_with(status);
            too_much(ways.manners, entry, retry_after, Failure::of(&error)).await
        }
        Ok(gathered) => {
            ways.manners.answered(host).await;
            let ((status, _), seen) = gathered.seen;
            if desk.kind == CrawlKind::Crawl && status >= 400 {
                let error = answered_with(status);
                let again = matches!(status, 502 | 504) && entry.attempt < TRIES;
                return if again { later(entry, &error) } else { failed(Failure::of(&error)) };
            }
            let is_kept = !is_outside(desk, entry, &seen);
            AttemptEnd::Fetched {
                outcome: Outcome::Page(seen).pack(),
                document: Some(gathered.document),
                page: gathered.page.filter(|_| is_kept),
                search: gathered.search.filter(|_| is_kept),
            }
        }
        Err(error) if let Some(seen) = led_away(desk, &error) => ended(&Outcome::Page(seen)),
        Err(error) => match walled_with(&error) {
            Some((429 | 503, retry_after)) => {
                too_much(ways.manners, entry, retry_after, Failure::of(&error)).await
            }
            _ => failed_or_again(ways.manners, entry, &error),
        },
    }
}

/// What is fetched for an entry: a crawl's addresses are ours, a batch's are as they were written.
fn named_page(desk: &Desk, written: &str) -> Result<NamedPage, WireError> {
    match desk.kind {
        CrawlKind::Batch => NamedPage::parse(written, &|_| true),
        CrawlKind::Crawl => {
            let url = Url::parse(written).map_err(|_| WireError::from(Kind::InvalidUrl))?;
            Ok(NamedPage { url, login: None, written: written.to_owned() })
        }
    }
}

async fn rules_of(manners: &Manners, desk: &Desk, url: &Url) -> Result<Option<Arc<Robots>>, WireError> {
    match desk.robots_agent() {
        Some(agent) => manners.robots(url, agent, desk.site_credentials()).await.map(Some),
        None => Ok(None),
    }
}

/// The same entry is the same scrape, however often it is tried.
fn page_id(crawl: Uuid, seq: u64) -> Uuid {
    let mut bytes = *crawl.as_bytes();
    for (byte, of_seq) in bytes[8..].iter_mut().zip(seq.to_be_bytes()) {
        *byte ^= of_seq;
    }
    Uuid::from_bytes(bytes)
}

fn answered_with(status: u16) -> WireError {
    WireError::because(Kind::ScrapeSite, &format!("the site answered with status {status}"))
}

/// The status behind a page that was judged to be a wall, and when to come back.
fn walled_with(error: &WireError) -> Option<(u16, Option<Duration>)> {
    let details = error.details()?;
    let status = details.get("statusCode")?.as_u64()?.try_into().ok()?;
    let retry_after = details.get("retryAfterSeconds").and_then(serde_json::Value::as_u64);
    Some((status, retry_after.map(Duration::from_secs)))
}

/// A redirect led out of the crawl and was not followed.
fn led_away(desk: &Desk, error: &WireError) -> Option<Seen> {
    let site = desk.site.as_ref()?;
    let refused = error.details()?.get("refused")?.as_str()?;
    let address = Address::parse(refused, desk.order.follow.sameness()).ok()?;
    let found = Found::Linked { depth: 0, on_own_page: true, nofollow: false };
    let lead = Leads { site, robots: None, host: "" }.lead(&address, found);
    lead.skip.is_some().then(|| Seen { landed: Some(lead), ..Seen::default() })
}

/// Whether a page turned out to be at another address, which the crawl leaves out. It will be skipped for that, so nothing of it is stored
/// or found by search.
fn is_outside(desk: &Desk, entry: &ClaimedEntry, seen: &Seen) -> bool {
    let Some(landed) = seen.landed.as_ref().filter(|landed| landed.skip.is_some()) else { return false };
    let asked = Address::parse(&entry.url, desk.order.follow.sameness());
    asked.is_ok_and(|asked| entry_key(&asked) != landed.key)
}

/// The end of an attempt that brought nothing to keep.
fn ended(outcome: &Outcome) -> AttemptEnd {
    AttemptEnd::Fetched { outcome: outcome.pack(), document: None, page: None, search: None }
}

fn failed(failure: Failure) -> AttemptEnd {
    ended(&Outcome::Failed(failure))
}

/// The host asks for a pause.
async fn too_much(
    manners: &Manners,
    entry: &ClaimedEntry,
    retry_after: Option<Duration>,
    failure: Failure,
) -> AttemptEnd {
    let pause = manners.complained(&entry.host, retry_after).await;
    if entry.attempt < POLITE_TRIES {
        AttemptEnd::Retry { error: failure.error, delay: pause }
    } else {
        failed(failure)
    }
}

/// What may be better in a moment is tried again, unless the host seems to be gone.
fn failed_or_again(manners: &Manners, entry: &ClaimedEntry, error: &WireError) -> AttemptEnd {
    if let Some(postponed) = postponed(entry, error) {
        return postponed;
    }
    let silent = may_pass(error);
    if silent {
        manners.was_silent(&entry.host);
    }
    let ours = [
        Kind::Internal,
        Kind::Unavailable,
        Kind::ConcurrencyLimited,
        Kind::QueueFull,
        Kind::ModelTimeout,
        Kind::ModelUnavailable,
    ];
    let passing = silent || ours.contains(&error.kind);
    if passing && entry.attempt < TRIES && !manners.is_dead(&entry.host) {
        return later(entry, error);
    }
    failed(Failure::of(error))
}

/// While our own database or object storage is not available a page waits, and is none the worse for it. How often it was claimed
/// bounds how long.
pub fn postponed(entry: &ClaimedEntry, error: &WireError) -> Option<AttemptEnd> {
    let is_ours = error.kind == Kind::Unavailable && entry.lease.number < MAX_CLAIMS;
    is_ours.then(|| {
        let doubled = u32::try_from(entry.lease.number).unwrap_or(u32::MAX).clamp(1, 3);
        AttemptEnd::Postponed { delay: Duration::from_secs(1 << doubled) }
    })
}

fn later(entry: &ClaimedEntry, error: &WireError) -> AttemptEnd {
    let delay = crate::runner::backoff(entry.attempt);
    AttemptEnd::Retry { error: error.text().to_owned(), delay }
}

/// Reads a page for what it leads to. Work for the bench.
fn look(
    desk: &Desk,
    site: &Site,
    capture: &Capture,
    (depth, host): (u32, &str),
    robots: Option<&Robots>,
) -> Seen {
    let sameness = desk.order.follow.sameness();
    let metadata = capture.page.metadata();
    let Ok(here) = Address::of(capture.answer.url.clone(), sameness) else { return Seen::default() };
    let leads = Leads { site, robots, host };
    let own = site.scope.is_own(&here);
    let sideways = Found::Linked { depth, on_own_page: true, nofollow: false };
    let mut seen = Seen {
        landed: Some(leads.lead(&here, sideways)),
        canonical: canonical(&metadata, &here, desk).map(|address| leads.lead(&address, sideways)),
        likeness: likeness(capture, here.url()),
        ..Seen::default()
    };
    if depth == 0 && here.key() == site.start.key() {
        seen.feeds = metadata.feeds.iter().take(MOST_FEEDS).map(|feed| feed.url.clone()).collect();
    }
    if desk.follows_links() && own {
        let nofollow = forbids_following(&metadata, desk.agent());
        let lead = |link: Link| {
            // The caller's regular expressions may take their time with each address.
            budget::spend_long();
            let found =
                Found::Linked { depth: depth + 1, on_own_page: own, nofollow: nofollow || link.nofollow };
            match Address::parse(&link.url, sameness) {
                Ok(address) => leads.lead(&address, found),
                Err(unusable) => Lead {
                    key: written_key(&link.url),
                    url: shortened(link.url),
                    skip: Some(sites::Reason::from(unusable).name().into()),
                },
            }
        };
        let links = capture.page.links().into_iter().take(MOST_LEADS);
        seen.leads = desk.familiar.sift(links, |link| &link.url, lead);
    }
    seen
}

/// What is written of an address nobody will fetch.
fn shortened(mut url: String) -> String {
    url.truncate(url.floor_char_boundary(sites::scope::LONGEST_FOLLOWED));
    url
}

/// Judges addresses.
pub struct Leads<'a> {
    pub site: &'a Site,
    /// The rules of `host`; those of others are asked when it comes to that.
    pub robots: Option<&'a Robots>,
    pub host: &'a str,
}

impl Leads<'_> {
    pub fn lead(&self, address: &Address, found: Found) -> Lead {
        let robots = self.robots.filter(|_| host_of(address.url()) == self.host);
        let skip = match self.site.scope.decide(address, found, robots) {
            Decision::Take => None,
            Decision::Skip(reason) => Some(Cow::Borrowed(reason.name())),
        };
        Lead { key: entry_key(address), url: address.url().as_str().to_owned(), skip }
    }
}

/// The page that this one says to take instead, when that is another page.
fn canonical(metadata: &Metadata, here: &Address, desk: &Desk) -> Option<Address> {
    let named = Address::parse(metadata.canonical.as_deref()?, desk.order.follow.sameness()).ok()?;
    (named.key() != here.key()).then_some(named)
}

fn forbids_following(metadata: &Metadata, agent: &str) -> bool {
    let for_us = |name: &str| name == "robots" || name.eq_ignore_ascii_case(agent);
    let rules: Vec<&str> = metadata
        .tags
        .iter()
        .filter(|(name, _)| for_us(name))
        .flat_map(|(_, values)| values.iter().map(String::as_str))
        .collect();
    !page_rules(&rules, &[], agent).follow
}

/// What a page whose address has a query says, to be told from its neighbours by.
fn likeness(capture: &Capture, url: &Url) -> Option<Likeness> {
    url.query()?;
    let place = sites::hash_of(&url[..url::Position::AfterPath]);
    let wanted = content::page::Wanted { only_main_content: true, include_tags: &[], exclude_tags: &[] };
    let selection = capture.page.select(&wanted).ok()?;
    let print = Fingerprint::of(&capture.page.markdown(&selection, true))?.bits();
    Some(Likeness { place, print })
}
