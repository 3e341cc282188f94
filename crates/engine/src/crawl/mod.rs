//! Crawls and batches: whole sites and long lists, every address accounted for. The ledger is the store's
//! (`store::crawls`); here it is decided what goes into it.

pub mod order;

pub use order::{Follow, Order, SitemapUse, Webhook, entry_key, host_of, list_key};
