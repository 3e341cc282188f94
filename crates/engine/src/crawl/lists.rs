//! The lists of a site: the sitemaps that its robots.txt names or that lie where sitemaps do, and feeds.

use super::context::{CrawlContext, CrawlSite};
use super::order::host_of;
use super::outcome::{ListedUrls, Outcome};
use super::page::{CAPABILITY, LeadJudge, PageServices};
use crate::map::sitemaps::{self, SitemapCandidate};
use crate::robots_cache::held_to;
use net::{Deadline, FetchError, Request};
use sites::sitemap::SitemapEntry;
use sites::{Discovery, PageUrl, Robots};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use store::crawls::AttemptEnd;
use stored_data::hashed_keys::entry_key;
use url::Url;

/// All lists of a site must be there by then; what is counts.
const LISTS_TIMEOUT: Duration = Duration::from_mins(2);
/// All addresses of them must be judged by then after that; those that are count.
const JUDGING_TIMEOUT: Duration = Duration::from_mins(1);
/// What is left of it for what comes after.
const JUDGING_RESERVE: Duration = Duration::from_secs(1);
/// Addresses that lists may name, whatever the crawl's limit.
const MIN_NAMED: u64 = 10_000;
const MAX_NAMED: u64 = 500_000;
const USUAL_SITEMAPS: [&str; 2] = ["/sitemap.xml", "/sitemap_index.xml"];

/// Reads the lists of a crawl's site, or one list that a page named.
pub async fn read_lists(services: PageServices<'_>, context: &Arc<CrawlContext>, url: &str) -> AttemptEnd {
    let listed = match (&context.site, Url::parse(url)) {
        (Some(site), Ok(url)) => fetch_lists(services, context, site, &url).await,
        _ => ListedUrls::default(),
    };
    AttemptEnd::Fetched { outcome: Outcome::Lists(listed).pack(), document: None, page: None, search: None }
}

async fn fetch_lists(
    services: PageServices<'_>,
    context: &Arc<CrawlContext>,
    site: &CrawlSite,
    url: &Url,
) -> ListedUrls {
    let PageServices { services, politeness, .. } = services;
    let deadline = Deadline::after(LISTS_TIMEOUT);
    let start = site.start.url();
    // robots.txt also names sitemaps, which are read even where its rules are ignored.
    let robots = politeness.robots(start, context.agent(), context.site_credentials(), &context.caller).await;
    let robots = robots.unwrap_or_default();
    let first = if url == start {
        candidates(start, &robots)
    } else {
        vec![SitemapCandidate { url: url.clone(), named: false }]
    };
    let max_named = context.limit.unwrap_or(MAX_NAMED).saturating_mul(2).clamp(MIN_NAMED, MAX_NAMED);
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    let sameness = context.order.follow.sameness();
    let ask = |url: &Url| -> Result<Request, FetchError> {
        let request = sitemaps::request(url, context.site_credentials().clone())?;
        Ok(held_to(&context.caller, request.skip_tls_verification(true)))
    };
    let note = |entry: SitemapEntry| {
        if let Ok(address) = PageUrl::from_url(entry.url, sameness)
            && known.insert(entry_key(&address))
        {
            found.push(address);
        }
        (found.len() as u64) < max_named
    };
    let tally = sitemaps::read_sitemaps(&services.fetcher, &ask, first, deadline, note).await;
    let cut = tally.cut || found.len() as u64 >= max_named;
    let deadline = Deadline::after(JUDGING_TIMEOUT);
    let job = services.cpu_pool.job(context.caller.team, CAPABILITY, deadline);
    let judging = context.clone();
    let listed = job.run(move || judge(&judging, &found, &robots, deadline)).await;
    let listed = listed.unwrap_or_else(|_| ListedUrls { cut: true, ..ListedUrls::default() });
    ListedUrls { failed: tally.failed, cut: listed.cut || cut, ..listed }
}

/// Judges the addresses of lists. The caller's regular expressions may take their time with each; what they
/// do not come to is left out.
fn judge(context: &CrawlContext, found: &[PageUrl], robots: &Robots, deadline: Deadline) -> ListedUrls {
    let mut listed = ListedUrls::default();
    let Some(site) = &context.site else { return listed };
    let host = host_of(site.start.url());
    let leads = LeadJudge { site, robots: context.robots_agent().map(|_| robots), host: &host };
    for address in found {
        if budget::try_spend_long().is_err() || deadline.remaining() < JUDGING_RESERVE {
            listed.cut = true;
            break;
        }
        listed.leads.push(leads.lead(address, Discovery::Listed));
    }
    listed
}

fn candidates(start: &Url, robots: &Robots) -> Vec<SitemapCandidate> {
    let named: Vec<SitemapCandidate> = robots
        .sitemaps()
        .iter()
        .filter_map(|written| start.join(written).ok())
        .map(|url| SitemapCandidate { url, named: true })
        .collect();
    if !named.is_empty() {
        return named;
    }
    USUAL_SITEMAPS
        .iter()
        .filter_map(|path| start.join(path).ok())
        .map(|url| SitemapCandidate { url, named: false })
        .collect()
}
