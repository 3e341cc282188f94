//! One suite over both stores: each behaviour is a function of a [`ground::TestStore`], run once on SQLite
//! and once on PostgreSQL. A behaviour that differs between the two is a bug.
//!
//! `GANNET_TEST_SOAK=1` runs the random tests much longer.

// Under the name that the rest of the workspace uses.
extern crate gannet_store as store;

/// Makes a test of each function for each store.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(crate::ground::TestStore::sqlite().await).await;
                }
            )*
        }
        mod postgres {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(crate::ground::TestStore::postgres().await).await;
                }
            )*
        }
    };
}

mod activity;
mod agents;
mod agents_ground;
mod agents_model;
mod audit_log;
mod authorizations;
mod browser_sessions;
mod cache_model;
mod ceilings;
mod crawls_ends;
mod crawls_ground;
mod crawls_kill;
mod crawls_leases;
mod crawls_life;
mod crawls_long;
mod crawls_many_workers;
mod crawls_model;
mod crawls_modelled;
mod crawls_seen;
mod crawls_slots;
mod credits;
mod dropped;
mod faults;
mod frozen;
mod ground;
mod idempotency;
mod keys;
mod kill;
mod limits;
mod monitors;
mod monitors_model;
mod objects;
mod opening;
mod outage;
mod pages;
mod privacy;
mod profiles;
mod races;
mod registrations;
mod scrapes;
mod search;
mod secrets;
mod sign_ins;
mod snapshots;
mod uploads;
mod webhooks;
