//! One page of a crawl or a batch: fetched politely, scraped as every page is, and read for the
//! addresses it leads to.

use super::context::{CrawlContext, CrawlSite};
use super::hash_routes::{FoundLink, HASH_ROUTE, found_links};
use super::order::host_of;
use super::outcome::{EntryError, Lead, Likeness, Outcome, PageFindings};
use super::politeness::Politeness;
use super::shells;
use crate::Error;
use crate::allowed_urls::AllowedUrls;
use crate::cpu_pool::CpuJob;
use crate::scrape::fetched_page::FetchedPage;
use crate::scrape::plan::NamedPage;
use crate::scrape::{ScrapedPage, Scraper, cache, document};
use crate::services::Services;
use crate::wall::Rung;
use access::credits::ExtraCredits;
use content::metadata::Metadata;
use net::Deadline;
use sites::robots::{PageRules, page_rules};
use sites::{Decision, Discovery, Fingerprint, PageUrl, Robots};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use store::crawls::{AttemptEnd, ClaimedEntry, CrawlKind};
use stored_data::hashed_keys::{entry_key, written_key};
use url::Url;
use uuid::Uuid;
use wire::Kind;
use wire::scrape::Document;

/// What work on pages is counted under.
pub(super) const CAPABILITY: &str = "crawl";
/// Attempts at a page whose host does not answer, or breaks off.
const MAX_ATTEMPTS: u32 = 3;
/// Attempts at a page whose host answers 429 or 503.
const MAX_THROTTLED_ATTEMPTS: u32 = 8;
/// Claims of a page after which storage of our own that is not available fails it: about two hours.
const MAX_CLAIMS: u64 = 1_000;
/// Addresses taken from one page.
const MAX_LEADS_PER_PAGE: usize = 20_000;
/// Feeds of a start page that are read.
const MAX_FEEDS: usize = 8;

/// What pages are scraped with.
#[derive(Debug, Clone, Copy)]
pub struct PageServices<'a> {
    pub services: &'a Services,
    pub scraper: &'a Scraper,
    pub politeness: &'a Politeness,
}

/// Does one attempt at a page.
pub async fn scrape_page(
    services: PageServices<'_>,
    context: &Arc<CrawlContext>,
    entry: &ClaimedEntry,
) -> AttemptEnd {
    let host = entry.host.as_str();
    let page = match named_page(context, &entry.url) {
        Ok(page) => page,
        Err(error) => return failed(EntryError::from_error(&error)),
    };
    let url = &page.url;
    let robots = match robots_rules(services.politeness, context, url).await {
        Ok(robots) => robots,
        Err(error) => return failed_or_retried(services.politeness, entry, &error),
    };
    if let Some(robots) = &robots
        && !robots.allows(&url[url::Position::BeforePath..url::Position::AfterQuery])
    {
        let word = if robots.is_unreachable() { "robotsUnreachable" } else { "robots" };
        return ended(&Outcome::Skipped(word.into()));
    }
    let mut plan = context.plan(&page);
    plan.timeout = services.politeness.timeout_for(host, plan.timeout);
    let id = page_id(context.id, entry.lease.seq);
    if services.politeness.was_shell(id) {
        shells::wait_for_scripts(&mut plan, entry.attempt);
    }
    let plan = Arc::new(plan);
    let (finder, depth, asked) = (context.clone(), entry.depth, entry.host.clone());
    let see = move |capture: &FetchedPage, said: &Metadata| {
        let answer = (capture.response.status, capture.response.retry_after);
        let rules = rules_of_page(&finder, capture, said);
        let page = (capture, said, rules.follow);
        let seen = finder
            .site
            .as_ref()
            .map(|site| find_leads(&finder, site, page, (depth, &asked), robots.as_deref()));
        (answer, seen.unwrap_or_default(), rules.index)
    };
    let job = services.services.cpu_pool.job(context.team, CAPABILITY, Deadline::after(plan.timeout));
    let (base_url, extra) = (&context.order.base_url, ExtraCredits::Crawl(context.id));
    match services.scraper.scrape_page(&context.caller, &plan, id, base_url, extra, &job, see).await {
        Ok(ScrapedPage { seen: ((status @ (429 | 503), retry_after), ..), .. }) => {
            let error = Error::SiteStatus(status);
            throttled(services.politeness, entry, retry_after, EntryError::from_error(&error)).await
        }
        Ok(gathered) => {
            services.politeness.note_success(host).await;
            let ((status, _), seen, may_index) = gathered.seen;
            let seen = PageFindings { extra_credits: gathered.extra_credits, ..seen };
            if context.kind == CrawlKind::Crawl && status >= 400 {
                let error = Error::SiteStatus(status);
                let again = matches!(status, 502 | 504) && entry.attempt < MAX_ATTEMPTS;
                return if again {
                    retry_later(entry, &error)
                } else {
                    failed(EntryError::from_error(&error))
                };
            }
            let packed = match pack_document(&job, gathered.document).await {
                Ok(packed) => packed,
                Err(error) => return failed_or_retried(services.politeness, entry, &error),
            };
            let is_kept = !is_outside(context, entry, &seen);
            AttemptEnd::Fetched {
                outcome: Outcome::Page(seen).pack(),
                document: Some(packed),
                page: gathered.kept.cached.filter(|_| is_kept),
                search: gathered.kept.search.filter(|_| is_kept && may_index),
            }
        }
        Err(error) if let Some(seen) = left_crawl(context, &error) => ended(&Outcome::Page(seen)),
        Err(Error::Wall(wall)) if matches!(wall.status, 429 | 503) => {
            let retry_after = wall.retry_after;
            throttled(services.politeness, entry, retry_after, EntryError::from_error(&Error::Wall(wall)))
                .await
        }
        Err(Error::Wall(wall)) if wall.is_shell_in_browser() => {
            shells::try_again(services.politeness, entry, id, &Error::Wall(wall)).unwrap_or_else(failed)
        }
        Err(error) => failed_or_retried(services.politeness, entry, &error),
    }
}

/// A document as the ledger keeps it.
async fn pack_document(job: &CpuJob, document: Document) -> Result<Vec<u8>, Error> {
    // The job itself ended with the scrape.
    let packing = job.apart(job.deadline());
    let size = document::size(&document);
    packing.run_on(size, move || cache::pack_document(&document)).await?
}

/// What is fetched for an entry: a crawl's addresses are ours, a batch's are as they were written.
fn named_page(context: &CrawlContext, written: &str) -> Result<NamedPage, Error> {
    match context.kind {
        CrawlKind::Batch => NamedPage::parse(written, &|_| true),
        CrawlKind::Crawl => {
            let url = Url::parse(written).map_err(|_| Error::from(Kind::InvalidUrl))?;
            Ok(NamedPage { url, login: None, written: written.to_owned() })
        }
    }
}

async fn robots_rules(
    politeness: &Politeness,
    context: &CrawlContext,
    url: &Url,
) -> Result<Option<Arc<Robots>>, Error> {
    // A batch names its pages itself; nothing about their hosts is asked or changed.
    if context.site.is_none() {
        return Ok(None);
    }
    AllowedUrls::check_key(&context.caller, url.as_str()).map_err(Error::RefusedUrl)?;
    let robots = match context.robots_agent() {
        Some(agent) => {
            Some(politeness.robots(url, agent, context.site_credentials(), &context.caller).await?)
        }
        None => None,
    };
    let delay = robots.as_deref().and_then(Robots::delay).unwrap_or_default();
    politeness.set_robots_gap(&host_of(url), delay).await;
    Ok(robots)
}

/// The same entry is the same scrape, however often it is tried.
fn page_id(crawl: Uuid, seq: u64) -> Uuid {
    let mut bytes = *crawl.as_bytes();
    for (byte, of_seq) in bytes[8..].iter_mut().zip(seq.to_be_bytes()) {
        *byte ^= of_seq;
    }
    Uuid::from_bytes(bytes)
}

/// A redirect led out of the crawl and was not followed.
fn left_crawl(context: &CrawlContext, error: &Error) -> Option<PageFindings> {
    let site = context.site.as_ref()?;
    let address = PageUrl::parse(error.refused_url()?, context.order.follow.sameness()).ok()?;
    let found = Discovery::Linked { depth: 0, on_own_page: true, nofollow: false };
    let lead = LeadJudge { site, robots: None, host: "" }.lead(&address, found);
    lead.skip.is_some().then(|| PageFindings { landed: Some(lead), ..PageFindings::default() })
}

/// Whether a page turned out to be at another address, which the crawl leaves out. It will be skipped for
/// that, so nothing of it is stored or found by search.
fn is_outside(context: &CrawlContext, entry: &ClaimedEntry, seen: &PageFindings) -> bool {
    let Some(landed) = seen.landed.as_ref().filter(|landed| landed.skip.is_some()) else { return false };
    let asked = PageUrl::parse_with_hash_route(&entry.url, context.order.follow.sameness());
    asked.is_ok_and(|asked| entry_key(&asked) != landed.key)
}

/// The end of an attempt that brought nothing to keep.
fn ended(outcome: &Outcome) -> AttemptEnd {
    AttemptEnd::Fetched { outcome: outcome.pack(), document: None, page: None, search: None }
}

fn failed(failure: EntryError) -> AttemptEnd {
    ended(&Outcome::Failed(failure))
}

/// The host answered 429 or 503.
async fn throttled(
    politeness: &Politeness,
    entry: &ClaimedEntry,
    retry_after: Option<Duration>,
    failure: EntryError,
) -> AttemptEnd {
    let pause = politeness.note_throttled(&entry.host, retry_after).await;
    if entry.attempt < MAX_THROTTLED_ATTEMPTS {
        AttemptEnd::Retry { error: failure.error, delay: pause }
    } else {
        failed(failure)
    }
}

/// An error that may be temporary is retried, unless the host seems to be dead.
fn failed_or_retried(politeness: &Politeness, entry: &ClaimedEntry, error: &Error) -> AttemptEnd {
    if let Some(postponed) = postponed(entry, error) {
        return postponed;
    }
    let silent = error.is_transient();
    if silent {
        politeness.note_silence(&entry.host);
    }
    let passing = silent || error.is_own_fault();
    if passing && entry.attempt < MAX_ATTEMPTS && !politeness.is_dead(&entry.host) {
        return retry_later(entry, error);
    }
    failed(EntryError::from_error(error))
}

/// While our own database or object storage is not available a page waits, and is none the worse for it. How
/// often it was claimed bounds how long.
pub fn postponed(entry: &ClaimedEntry, error: &Error) -> Option<AttemptEnd> {
    let is_ours = error.is_unavailable() && entry.lease.number < MAX_CLAIMS;
    is_ours.then(|| {
        let doubled = u32::try_from(entry.lease.number).unwrap_or(u32::MAX).clamp(1, 3);
        AttemptEnd::Postponed { delay: Duration::from_secs(1 << doubled) }
    })
}

fn retry_later(entry: &ClaimedEntry, error: &Error) -> AttemptEnd {
    let delay = work::retry::backoff(entry.attempt);
    AttemptEnd::Retry { error: error.text(), delay }
}

/// Finds the addresses that a page leads to. Runs among the work that is bounded by CPU time.
fn find_leads(
    context: &CrawlContext,
    site: &CrawlSite,
    (capture, metadata, may_follow): (&FetchedPage, &Metadata, bool),
    (depth, host): (u32, &str),
    robots: Option<&Robots>,
) -> PageFindings {
    let sameness = context.order.follow.sameness();
    // Scripts show other pages for other hash routes; a server sends one page for all of them.
    let has_hash_routes = capture.rung == Rung::Browser;
    let from_url = if has_hash_routes { PageUrl::from_url_with_hash_route } else { PageUrl::from_url };
    let Ok(here) = from_url(capture.response.url.clone(), sameness) else {
        return PageFindings::default();
    };
    let leads = LeadJudge { site, robots, host };
    let own = site.scope.is_own_page(&here);
    let sideways = Discovery::Linked { depth, on_own_page: true, nofollow: false };
    let mut seen = PageFindings {
        landed: Some(leads.lead(&here, sideways)),
        canonical: canonical(metadata, &here, context).map(|address| leads.lead(&address, sideways)),
        likeness: likeness(capture, here.url()),
        ..PageFindings::default()
    };
    if depth == 0 && here.key() == site.start.key() {
        seen.feeds = metadata.feeds.iter().take(MAX_FEEDS).map(|feed| feed.url.clone()).collect();
    }
    if context.follows_links() && own {
        let lead = |link: FoundLink| {
            // The caller's regular expressions may take their time with each address.
            budget::spend_long();
            let found = Discovery::Linked {
                depth: depth + 1,
                on_own_page: own,
                nofollow: !may_follow || link.nofollow,
            };
            let parse = if link.is_hash_route { PageUrl::parse_with_hash_route } else { PageUrl::parse };
            match parse(&link.url, sameness) {
                Ok(address) => {
                    let lead = leads.lead(&address, found);
                    let unseen = link.is_hash_route && !has_hash_routes && lead.skip.is_none();
                    Lead { skip: if unseen { Some(HASH_ROUTE.into()) } else { lead.skip }, ..lead }
                }
                Err(unusable) => Lead {
                    key: written_key(&link.url),
                    url: shortened(link.url),
                    skip: Some(sites::SkipReason::from(unusable).name().into()),
                },
            }
        };
        let links = capture.page.links().into_iter().take(MAX_LEADS_PER_PAGE);
        let links = links.flat_map(|link| found_links(link, has_hash_routes, here.url()));
        seen.leads = context.known_urls.new_leads(links, |link| &link.url, lead);
    }
    seen
}

/// The part of an address that is stored when it will not be fetched.
fn shortened(mut url: String) -> String {
    url.truncate(url.floor_char_boundary(sites::scope::MAX_FOLLOWED_URL_BYTES));
    url
}

/// Decides which addresses belong to a crawl.
pub struct LeadJudge<'a> {
    pub site: &'a CrawlSite,
    /// The robots rules of `host`; those of other hosts are read when their pages are scraped.
    pub robots: Option<&'a Robots>,
    pub host: &'a str,
}

impl LeadJudge<'_> {
    pub fn lead(&self, address: &PageUrl, found: Discovery) -> Lead {
        let robots = self.robots.filter(|_| host_of(address.url()) == self.host);
        let skip = match self.site.scope.decide(address, found, robots) {
            Decision::Accept => None,
            Decision::Skip(reason) => Some(Cow::Borrowed(reason.name())),
        };
        Lead { key: entry_key(address), url: address.url().as_str().to_owned(), skip }
    }
}

/// The page that this one says to take instead, when that is another page. All hash routes of a document have
/// its head, which names the document itself.
fn canonical(metadata: &Metadata, here: &PageUrl, context: &CrawlContext) -> Option<PageUrl> {
    let sameness = context.order.follow.sameness();
    let named = PageUrl::parse(metadata.canonical.as_deref()?, sameness).ok()?;
    let document = here.document(sameness).ok()?;
    (named.key() != here.key() && named.key() != document.key()).then_some(named)
}

/// What a page allows robots, in its head (`<meta name=robots>`) and its headers (`X-Robots-Tag`). Whoever
/// ignores robots rules ignores these too.
fn rules_of_page(context: &CrawlContext, capture: &FetchedPage, metadata: &Metadata) -> PageRules {
    let Some(agent) = context.robots_agent() else { return PageRules { follow: true, index: true } };
    let for_us = |name: &str| name == "robots" || name.eq_ignore_ascii_case(agent);
    let tags: Vec<&str> = metadata
        .tags
        .iter()
        .filter(|(name, _)| for_us(name))
        .flat_map(|(_, values)| values.iter().map(String::as_str))
        .collect();
    let headers: Vec<&str> = capture.response.robots_tags.iter().map(String::as_str).collect();
    page_rules(&tags, &headers, agent)
}

/// The fingerprint of a page whose address has a query, which tells it from pages that differ in their query
/// only.
fn likeness(capture: &FetchedPage, url: &Url) -> Option<Likeness> {
    url.query()?;
    let place = sites::stable_hash(&url[..url::Position::AfterPath]);
    let wanted =
        content::page::ContentScope { only_main_content: true, include_tags: &[], exclude_tags: &[] };
    let selection = capture.page.select(&wanted).ok()?;
    let print = Fingerprint::from_text(&capture.page.markdown(&selection, true))?.bits();
    Some(Likeness { place, print })
}
