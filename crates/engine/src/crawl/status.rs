//! How crawls and batches stand: their numbers, their documents page by page, what failed and why, the whole
//! ledger.

mod documents;
mod ledger;
pub mod shown;

pub(super) use documents::unpacked;
pub use documents::{Documents, Window};

use super::hash_routes::HASH_ROUTE;
use super::order::{Order, SitemapUse, host_of};
use super::start::{Crawler, PRIVATE_RESULT_RETENTION, RESULT_RETENTION, is_live, stored_order};
use crate::scrape::plan::NamedPage;
use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use ledger::{MAX_LEDGER_LINES, is_blocked, is_shell};
use std::time::Duration;
use store::crawls::{CancelOutcome, Crawl, CrawlKind, CrawlState, EntryState};
use stored_data::time;
use uuid::Uuid;
use wire::Kind;
use wire::crawl::{ActiveCrawl, CrawlRequest, JobHead, PageQuery};
use wire::webhook::WebhookInput;

const MAX_ACTIVE: u32 = 1_000;
/// Gaps between the pages of a host that a caller is told about.
const MIN_NOTED_GAP: Duration = Duration::from_secs(1);

/// The path of a kind in the API.
pub fn path(kind: CrawlKind) -> &'static str {
    match kind {
        CrawlKind::Crawl => "/v2/crawl",
        CrawlKind::Batch => "/v2/batch/scrape",
    }
}

impl Crawler {
    /// Its status with a page of its documents, as JSON.
    pub fn status<'a>(
        &'a self,
        caller: &'a Caller,
        kind: CrawlKind,
        id: Uuid,
        page: &'a PageQuery,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<Vec<u8>, Error>> {
        Box::pin(async move {
            let window = Window::from_query(page)?;
            let crawl = self.find(caller, kind, id).await?;
            let documents = self.documents(&crawl, window).await?;
            let mut head = head(&crawl);
            if window.skip == 0 {
                head.warning = self.warning(&crawl).await?;
            }
            head.next = window.next(&crawl, &documents, base_url);
            Ok(head.with_documents(&documents.json))
        })
    }

    /// What to know about a result that is not what one would expect of a site.
    async fn warning(&self, crawl: &Crawl) -> Result<Option<String>, Error> {
        match (crawl.kind, crawl.state) {
            (CrawlKind::Crawl, CrawlState::Active) => return self.slow_host_warning(crawl).await,
            (CrawlKind::Crawl, CrawlState::Completed) => {}
            _ => return Ok(None),
        }
        let counts = crawl.counts;
        let mut notes = Vec::new();
        if counts.skipped > 0 {
            let lines =
                self.store.crawl_entries(crawl.id, Some(EntryState::Skipped), 0, MAX_LEDGER_LINES).await;
            let lines = lines.map_err(from_store)?;
            let blocked = lines.iter().filter(|line| is_blocked(line)).count();
            let many = if counts.skipped > u64::from(MAX_LEDGER_LINES) { " or more" } else { "" };
            if blocked > 0 {
                notes.push(format!(
                    "{blocked}{many} addresses were left out because robots.txt asks for it; the errors list them"
                ));
            }
            let routes = lines.iter().filter(|line| line.reason.as_deref() == Some(HASH_ROUTE)).count();
            if routes > 0 {
                notes.push(format!(
                    "{routes}{many} addresses differ after their # only and were not followed, as their page came \
                     without scripts; scrapeOptions.waitFor reads pages in the browser, where these are pages"
                ));
            }
        }
        if counts.failed > 0 {
            let lines =
                self.store.crawl_entries(crawl.id, Some(EntryState::Failed), 0, MAX_LEDGER_LINES).await;
            let shells = lines.map_err(from_store)?.iter().filter(|line| is_shell(line)).count();
            if shells > 0 {
                let many = if counts.failed > u64::from(MAX_LEDGER_LINES) { " or more" } else { "" };
                notes.push(format!(
                    "{shells}{many} pages stayed empty in the browser, however often they were tried; the errors list them"
                ));
            }
        }
        if counts.completed == 0 {
            notes.push("no page could be had; the errors and the ledger say why".to_owned());
        } else if counts.completed == 1 && crawl.limit != Some(1) {
            notes.push(
                "one page was found; crawlEntireDomain, allowSubdomains or another start may find more"
                    .to_owned(),
            );
        }
        Ok((!notes.is_empty()).then(|| notes.join("; ")))
    }

    /// Why a crawl that runs is slow, where its site asks for it.
    async fn slow_host_warning(&self, crawl: &Crawl) -> Result<Option<String>, Error> {
        // The request of a crawl whose key was lost cannot be read; its status can.
        let order = serde_json::from_str::<Order>(&crawl.request).ok();
        let start = order.and_then(|order| NamedPage::parse(&order.start?, &|_| true).ok());
        let Some(start) = start else { return Ok(None) };
        let host = host_of(&start.url);
        let gap = self.store.host_gap(&host).await.map_err(from_store)?;
        Ok((gap >= MIN_NOTED_GAP).then(|| {
            format!(
                "{host} is asked for a page every {} s only, as its robots.txt (Crawl-delay) or its answers (429, 503) ask for",
                gap.as_secs()
            )
        }))
    }

    /// The crawls of the caller's team that run, newest first, without their secrets.
    pub fn active<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Vec<ActiveCrawl>, Error>> {
        Box::pin(async move {
            let crawls = self.store.active_crawls(caller.team, CrawlKind::Crawl, MAX_ACTIVE).await;
            // One whose request cannot be read any more is about to be ended.
            let crawls = crawls.map_err(from_store)?.into_iter().filter(|crawl| !crawl.request.is_empty());
            crawls.map(|crawl| active(&crawl)).collect()
        })
    }

    /// Ends it, whatever is open in it. Cancelling it again is not an error.
    pub fn cancel<'a>(
        &'a self,
        caller: &'a Caller,
        kind: CrawlKind,
        id: Uuid,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            self.find(caller, kind, id).await?;
            match self.store.cancel_crawl(caller.team, id).await.map_err(from_store)? {
                CancelOutcome::Cancelled | CancelOutcome::AlreadyFinished(CrawlState::Cancelled) => Ok(()),
                CancelOutcome::AlreadyFinished(_) => Err(match kind {
                    CrawlKind::Crawl => Kind::CrawlFinished.into(),
                    CrawlKind::Batch => Kind::BatchFinished.into(),
                }),
                CancelOutcome::NotFound => Err(Kind::JobNotFound.into()),
            }
        })
    }
}

/// The status of a crawl without its documents.
pub fn head(crawl: &Crawl) -> JobHead {
    let counts = crawl.counts;
    let failed_to_start = crawl.state == CrawlState::Failed && counts.completed == 0;
    let kept = if crawl.private { PRIVATE_RESULT_RETENTION } else { RESULT_RETENTION };
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let until = crawl.finished_at.unwrap_or(crawl.now);
    JobHead {
        success: !failed_to_start,
        status: match crawl.state {
            CrawlState::Active => "scraping",
            CrawlState::Completed => "completed",
            CrawlState::Failed => "failed",
            CrawlState::Cancelled => "cancelled",
        },
        completed: counts.completed,
        total: total(crawl),
        credits_used: crawl.credits,
        expires_at: time::iso(crawl.expires_at.unwrap_or(crawl.now + millis(kept))),
        created_at: time::iso(crawl.created_at),
        completed_at: crawl.finished_at.map(time::iso),
        duration: (until - crawl.created_at).max(0) as f64 / 1000.0,
        discovered: counts.discovered,
        queued: counts.queued + counts.running + counts.fetched,
        failed: counts.failed,
        skipped: counts.skipped,
        cancelled: counts.cancelled,
        error: crawl.error.clone().filter(|_| !is_live(crawl)),
        warning: None,
        next: None,
    }
}

/// How many pages it will come to, as far as is known: what was found and not skipped. Of a crawl that still
/// runs, no more than its limit and what failed besides, or the number would fall at the end.
fn total(crawl: &Crawl) -> u64 {
    let counts = crawl.counts;
    let found = counts.discovered.saturating_sub(counts.skipped);
    match crawl.limit.filter(|_| is_live(crawl)) {
        Some(limit) => found.min(limit.saturating_add(counts.failed)),
        None => found,
    }
}

fn active(crawl: &Crawl) -> Result<ActiveCrawl, Error> {
    let order = stored_order(crawl)?;
    Ok(ActiveCrawl {
        id: crawl.id,
        team_id: crawl.team_id,
        url: order.start.clone().unwrap_or_default(),
        created_at: time::iso(crawl.created_at),
        options: options(order, crawl.limit),
    })
}

/// A request that would make this crawl, without its secrets.
fn options(order: Order, limit: Option<u64>) -> CrawlRequest {
    let follow = order.follow;
    let sitemap = match follow.sitemap {
        SitemapUse::Include => "include",
        SitemapUse::Skip => "skip",
        SitemapUse::Only => "only",
    };
    CrawlRequest {
        url: order.start,
        include_paths: Some(follow.include_paths),
        exclude_paths: Some(follow.exclude_paths),
        regex_on_full_url: Some(follow.regex_on_full_url),
        max_discovery_depth: follow.max_discovery_depth.map(i64::from),
        sitemap: Some(sitemap.to_owned()),
        ignore_query_parameters: Some(follow.ignore_query),
        deduplicate_similar_urls: Some(follow.similar_are_one),
        limit: limit.and_then(|limit| i64::try_from(limit).ok()),
        crawl_entire_domain: Some(follow.crawl_entire_domain),
        allow_external_links: Some(follow.allow_external_links),
        allow_subdomains: Some(follow.allow_subdomains),
        ignore_robots_txt: Some(follow.ignore_robots),
        robots_user_agent: follow.robots_agent,
        webhook: order.webhook.map(|hook| WebhookInput::Plain(shown::receiver(&hook.url))),
        scrape_options: Some(shown::without_secrets(order.scrape)),
        zero_data_retention: Some(order.private),
        ..CrawlRequest::default()
    }
}

#[cfg(test)]
mod tests;
