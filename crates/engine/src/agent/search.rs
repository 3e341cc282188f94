//! Searching the web in a run: as the caller may, over whatever is configured.

use super::web::WebSearch;
use crate::Error;
use crate::search::Searcher;
use access::Caller;
use agent::{WebHit, WebResults};
use net::Deadline;
use std::sync::Arc;

#[async_trait::async_trait]
impl WebSearch for Searcher {
    async fn hits(
        &self,
        caller: &Arc<Caller>,
        query: &str,
        limit: usize,
        deadline: Deadline,
    ) -> Result<WebResults<WebHit>, Error> {
        let found = self.web_hits(caller, query, limit, deadline).await?;
        let items = found.hits.into_iter().map(|hit| WebHit {
            url: hit.url.to_string(),
            title: hit.title,
            description: hit.text,
        });
        let credits = u64::try_from(found.credits).unwrap_or(0);
        Ok(WebResults { items: items.collect(), credits, note: found.warning })
    }
}
