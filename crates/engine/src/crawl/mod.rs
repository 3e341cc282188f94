//! Crawls and batches: whole sites and long lists, every address accounted for. The ledger is the store's
//! (`store::crawls`); here it is decided what goes into it.
//!
//! The [`worker`] claims entries; [`page`] scrapes one and looks where it leads, [`lists`] reads a site's
//! sitemaps and feeds; [`settle`] settles what came of them, in order.

mod context;
mod hash_routes;
mod known_urls;
mod lists;
mod memory;
pub mod order;
pub mod outcome;
mod page;
pub mod plan;
mod politeness;
pub mod prompt;
mod settle;
mod shells;
pub mod start;
pub mod status;
#[cfg(test)]
mod tests;
pub mod warc;
pub mod watch;
pub mod worker;

use futures_util::future::BoxFuture;
use store::crawls::Crawl;
pub use store::crawls::CrawlKind;
use store::{CrawlStore, Store, StoreResult};
use stored_data::stored_json;

use context::events_of;

pub use order::{Follow, Order, SitemapUse, host_of};
pub use start::{CrawlAccepted, Crawler};
pub use worker::{CrawlWorker, take_back_pages};

/// Overdue crawls that are ended in one round.
const MAX_ENDED_TOGETHER: u32 = 32;

/// Ends crawls whose deadline has passed; how many.
pub fn fail_overdue(store: &dyn CrawlStore) -> BoxFuture<'_, StoreResult<u64>> {
    Box::pin(async move {
        let mut failed = 0;
        for crawl in store.overdue_crawls(MAX_ENDED_TOGETHER).await? {
            failed += u64::from(fail(store, &crawl, "the crawl did not end in time").await?);
        }
        Ok(failed)
    })
}

/// Ends crawls and batches that store more than `each` bytes, and the largest when all that run store more
/// than `together`. What they have so far stays readable. How many.
pub async fn fail_oversized(store: &dyn Store, each: u64, together: u64) -> StoreResult<u64> {
    let mut failed = 0;
    for crawl in store.oversized_crawls(each, together, MAX_ENDED_TOGETHER).await? {
        let done = crawl.counts.completed;
        let error = format!(
            "the storage limit of this server was reached after {done} pages, which can be read; the rest was not scraped"
        );
        tracing::warn!(crawl = %crawl.id, pages = done, "a crawl was ended because it stores too much");
        failed += u64::from(fail(store, &crawl, &error).await?);
    }
    Ok(failed)
}

async fn fail(store: &dyn CrawlStore, crawl: &Crawl, error: &str) -> StoreResult<bool> {
    // A request that could not be decrypted is empty, which was logged when it was read.
    let order: Option<Order> = (!crawl.request.is_empty())
        .then(|| stored_json::or_log(stored_json::from_text("the request of a crawl", &crawl.request)))
        .flatten();
    let events = order.as_ref().and_then(|order| events_of(order, crawl.id, crawl.team_id, crawl.kind));
    let deliveries = events.and_then(|events| events.failed(error)).into_iter().collect();
    store.fail_crawl(crawl.id, error.to_owned(), deliveries).await
}
