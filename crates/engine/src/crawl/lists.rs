//! The lists of a site: the sitemaps that its robots.txt names or that lie where sitemaps do, and feeds.

use super::desk::{Desk, Site};
use super::manners::Manners;
use super::order::host_of;
use super::outcome::{Listed, Outcome};
use super::page::Leads;
use crate::map::sitemaps::{self, Candidate};
use net::{Deadline, FetchError, Fetcher, Request};
use sites::sitemap::Entry;
use sites::{Address, Found, Robots};
use std::collections::HashSet;
use std::time::Duration;
use store::crawls::AttemptEnd;
use url::Url;

/// All lists of a site must be there by then; what is counts.
const LISTS_TIME: Duration = Duration::from_mins(2);
/// Addresses that lists may name, whatever the crawl's limit.
const LEAST_NAMED: u64 = 10_000;
const MOST_NAMED: u64 = 500_000;
const GUESSES: [&str; 2] = ["/sitemap.xml", "/sitemap_index.xml"];

/// Reads the lists of a crawl's site, or one list that a page named.
pub async fn read(fetcher: &Fetcher, manners: &Manners, desk: &Desk, url: &str) -> AttemptEnd {
    let listed = match (&desk.site, Url::parse(url)) {
        (Some(site), Ok(url)) => gather(fetcher, manners, desk, site, &url).await,
        _ => Listed::default(),
    };
    AttemptEnd::Fetched { outcome: Outcome::Lists(listed).pack(), document: None, page: None, search: None }
}

async fn gather(fetcher: &Fetcher, manners: &Manners, desk: &Desk, site: &Site, url: &Url) -> Listed {
    let deadline = Deadline::after(LISTS_TIME);
    let start = site.start.url();
    // The rules also name sitemaps, for who ignores the rest of them too.
    let robots = manners.robots(start, desk.agent()).await.unwrap_or_default();
    let first = if url == start {
        candidates(start, &robots)
    } else {
        vec![Candidate { url: url.clone(), named: false }]
    };
    let rules = desk.robots_agent().map(|_| robots.as_ref());
    let host = host_of(start);
    let leads = Leads { site, robots: rules, host: &host };
    let most = desk.limit.unwrap_or(MOST_NAMED).saturating_mul(2).clamp(LEAST_NAMED, MOST_NAMED);
    let (mut listed, mut known) = (Listed::default(), HashSet::new());
    let sameness = desk.order.follow.sameness();
    let ask = |url: &Url| -> Result<Request, FetchError> {
        Ok(sitemaps::request(url)?.skip_tls_verification(true))
    };
    let found = |entry: Entry| {
        if let Ok(address) = Address::of(entry.url, sameness) {
            let lead = leads.lead(&address, Found::Listed);
            if known.insert(lead.key) {
                listed.leads.push(lead);
            }
        }
        (listed.leads.len() as u64) < most
    };
    let tally = sitemaps::read(fetcher, &ask, first, deadline, found).await;
    listed.failed = tally.failed;
    listed.cut = tally.cut || listed.leads.len() as u64 >= most;
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
