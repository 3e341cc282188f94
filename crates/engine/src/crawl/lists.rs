//! The lists of a site: the sitemaps that its robots.txt names or that lie where sitemaps do, and feeds.

use super::desk::{Desk, Site};
use super::order::{entry_key, host_of};
use super::outcome::{Listed, Outcome};
use super::page::{CAPABILITY, Leads, Ways};
use crate::map::sitemaps::{self, Candidate};
use content::budget;
use net::{Deadline, FetchError, Request};
use sites::sitemap::Entry;
use sites::{Address, Found, Robots};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use store::crawls::AttemptEnd;
use url::Url;

/// All lists of a site must be there by then; what is counts.
const LISTS_TIME: Duration = Duration::from_mins(2);
/// All addresses of them must be judged by then after that; those that are count.
const JUDGING_TIME: Duration = Duration::from_mins(1);
/// What is left of it for what comes after.
const JUDGED: Duration = Duration::from_secs(1);
/// Addresses that lists may name, whatever the crawl's limit.
const LEAST_NAMED: u64 = 10_000;
const MOST_NAMED: u64 = 500_000;
const GUESSES: [&str; 2] = ["/sitemap.xml", "/sitemap_index.xml"];

/// Reads the lists of a crawl's site, or one list that a page named.
pub async fn read(ways: Ways<'_>, desk: &Arc<Desk>, url: &str) -> AttemptEnd {
    let listed = match (&desk.site, Url::parse(url)) {
        (Some(site), Ok(url)) => gather(ways, desk, site, &url).await,
        _ => Listed::default(),
    };
    AttemptEnd::Fetched { outcome: Outcome::Lists(listed).pack(), document: None, page: None, search: None }
}

async fn gather(ways: Ways<'_>, desk: &Arc<Desk>, site: &Site, url: &Url) -> Listed {
    let (ladder, manners) = (ways.scraper.ladder(), ways.manners);
    let deadline = Deadline::after(LISTS_TIME);
    let start = site.start.url();
    // The rules also name sitemaps, for who ignores the rest of them too.
    let robots = manners.robots(start, desk.agent(), desk.site_credentials()).await.unwrap_or_default();
    let first = if url == start {
        candidates(start, &robots)
    } else {
        vec![Candidate { url: url.clone(), named: false }]
    };
    let most = desk.limit.unwrap_or(MOST_NAMED).saturating_mul(2).clamp(LEAST_NAMED, MOST_NAMED);
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    let sameness = desk.order.follow.sameness();
    let ask = |url: &Url| -> Result<Request, FetchError> {
        Ok(sitemaps::request(url, desk.site_credentials().clone())?.skip_tls_verification(true))
    };
    let note = |entry: Entry| {
        if let Ok(address) = Address::of(entry.url, sameness)
            && known.insert(entry_key(&address))
        {
            found.push(address);
        }
        (found.len() as u64) < most
    };
    let tally = sitemaps::read(&ladder.fetcher, &ask, first, deadline, note).await;
    let cut = tally.cut || found.len() as u64 >= most;
    let deadline = Deadline::after(JUDGING_TIME);
    let job = ladder.bench.job(desk.caller.team, CAPABILITY, deadline);
    let judging = desk.clone();
    let listed = job.run(move || judge(&judging, &found, &robots, deadline)).await;
    let listed = listed.unwrap_or_else(|_| Listed { cut: true, ..Listed::default() });
    Listed { failed: tally.failed, cut: listed.cut || cut, ..listed }
}

/// Judges the addresses of lists. The caller's regular expressions may take their time with each; what they do not come to is left out.
fn judge(desk: &Desk, found: &[Address], robots: &Robots, deadline: Deadline) -> Listed {
    let mut listed = Listed::default();
    let Some(site) = &desk.site else { return listed };
    let host = host_of(site.start.url());
    let leads = Leads { site, robots: desk.robots_agent().map(|_| robots), host: &host };
    for address in found {
        if budget::try_spend_long().is_err() || deadline.remaining() < JUDGED {
            listed.cut = true;
            break;
        }
        listed.leads.push(leads.lead(address, Found::Listed));
    }
    listed
}

fn candidates(start: &Url, robots: &Robots) -> Vec<Candidate> {
    let named: Vec<Candidate> = robots
        .sitemaps()
        .iter()
        .filter_map(|written| start.join(written).ok())
        .map(|url| Candidate { url, named: true })
        .collect();
    if !named.is_empty() {
        return named;
    }
    GUESSES
        .iter()
        .filter_map(|path| start.join(path).ok())
        .map(|url| Candidate { url, named: false })
        .collect()
}
