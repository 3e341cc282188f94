//! Crawls and batches: whole sites and long lists, every address accounted for. The ledger is the store's
//! (`store::crawls`); here it is decided what goes into it.
//!
//! A [`crew`] claims entries; [`page`] scrapes one and looks where it leads, [`lists`] reads a site's sitemaps and feeds; [`turn`]
//! settles what came of them, in order.

pub mod crew;
mod desk;
mod familiar;
mod lists;
mod manners;
mod memory;
pub mod order;
pub mod outcome;
mod page;
pub mod plan;
pub mod prompt;
pub mod start;
pub mod status;
mod turn;
pub mod watch;

use store::{Store, StoreResult};

use desk::events_of;

pub use crew::{Crew, CrewOptions};
pub use order::{Follow, Order, SitemapUse, Webhook, entry_key, host_of, lists_key, written_key};
pub use start::{CrawlAccepted, Crawler};

/// Overdue crawls that are ended in one round.
const OVERDUE: u32 = 32;

/// Ends crawls whose deadline has passed; how many.
pub async fn fail_overdue(store: &dyn Store) -> StoreResult<u64> {
    let mut failed = 0;
    for crawl in store.overdue_crawls(OVERDUE).await? {
        let error = "the crawl did not end in time".to_owned();
        let order: Option<Order> = serde_json::from_str(&crawl.request).ok();
        let events = order.as_ref().and_then(|order| events_of(order, crawl.id, crawl.team_id, crawl.kind));
        let told = events.and_then(|events| events.failed(&error)).into_iter().collect();
        failed += u64::from(store.fail_crawl(crawl.id, error, told).await?);
    }
    Ok(failed)
}
