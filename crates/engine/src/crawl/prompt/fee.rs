//! What understanding a prompt costs. A model that reads one is the operator's expense like any other: it
//! costs what a format that asks a model costs, is set aside before the model is asked, and stands in the
//! team's usage and activity.

use super::MODEL_TIMEOUT;
use crate::{Error, from_store};
use access::idempotency::Unfinished;
use access::{Caller, credits};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::scrapes::{NewScrape, Recorded};
use uuid::Uuid;
use wire::crawl::CrawlRequest;

/// As much as `json` and `question` of a scrape.
pub const PROMPT_CREDITS: i64 = 4;
/// What its credits are counted under, and its activity.
pub const PROMPT_ENDPOINT: &str = "crawl_params_preview";
/// Set-aside credits that nobody settles by then were left behind by a crash.
const SETTLE_SLACK: Duration = Duration::from_mins(2);
const RECORD_RETENTION: Duration = Duration::from_hours(24);

/// The price of one prompt, set aside. Dropping it gives it back.
pub struct Fee {
    store: Arc<dyn Store>,
    held: Unfinished,
}

impl std::fmt::Debug for Fee {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Fee").field("held", &self.held).finish_non_exhaustive()
    }
}

impl Fee {
    /// Sets the price aside where the plan has a limit, or answers 402.
    pub async fn set_aside(store: &Arc<dyn Store>, caller: &Caller) -> Result<Self, Error> {
        let mut held = Unfinished::begin(store, None, MODEL_TIMEOUT).await?;
        if caller.plan.credits.is_some() {
            let hold_for = MODEL_TIMEOUT + SETTLE_SLACK;
            let reserve = credits::reserve(store.as_ref(), caller, PROMPT_CREDITS, PROMPT_ENDPOINT, hold_for);
            held.hold(Some(reserve.await?));
        }
        Ok(Self { store: store.clone(), held })
    }

    /// Charges what the model answered, and writes down that it was asked. An answer that is of no use costs
    /// nothing.
    pub async fn charge_prompt(
        mut self,
        caller: &Caller,
        asked: &CrawlRequest,
        answered: bool,
    ) -> Result<(), Error> {
        let (claim, reservation) = self.held.hand_over();
        let record = NewScrape {
            id: Uuid::now_v7(),
            team_id: caller.team,
            key_id: caller.key,
            endpoint: PROMPT_ENDPOINT.to_owned(),
            url: asked.url.as_deref().map(net::without_login).unwrap_or_default(),
            ok: answered,
            result: None,
            error: None,
            page: None,
            search: None,
            credits: if answered { PROMPT_CREDITS } else { 0 },
            reservation,
            audit: None,
            took: None,
            keep_for: RECORD_RETENTION,
            private: caller.zero_data_retention || asked.zero_data_retention == Some(true),
            claim,
        };
        match self.store.record_scrapes(vec![record]).await.map_err(from_store)?.pop() {
            Some(Recorded::Written | Recorded::KnownBefore) => Ok(()),
            refused => {
                tracing::error!(?refused, "the price of a prompt could not be charged");
                Err(Error::already_logged("the price of a prompt could not be charged"))
            }
        }
    }
}
