//! What all targets of a check work with: how pages are read and written, and what the check came to so far.

use super::judging::Judged;
use super::page_check::PageOutcome;
use super::page_options::page_request;
use super::plan::MonitorPlan;
use super::read_page::ReadPage;
use super::tell::CheckEvents;
use super::told::{StoredCheckPage, told_as};
use super::view::page_status_name;
use super::worker::MonitorTools;
use crate::cpu_pool::CpuPool;
use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, TryStreamExt, stream};
use monitor::noise::Focus;
use notifications::message::{CheckMessage, PageStatus};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use store::Store;
use store::monitors::{CheckLease, CheckPageStatus, NewCheckPage};
use stored_data::{stored_json, time};
use uuid::Uuid;
use wire::monitor::{CheckPageView, CheckSummary, TargetResult};
use wire::scrape::{Document, ScrapeOptions};

/// Pages of a check that are read at once.
const PAGES_AT_ONCE: usize = 8;
/// Pages that are read at once from the store.
const PAGES_READ: u32 = 100;

/// Checks pages, some of them at once.
pub async fn check_all(pages: Vec<BoxFuture<'_, Result<(), Error>>>) -> Result<(), Error> {
    stream::iter(pages).buffer_unordered(PAGES_AT_ONCE).try_collect::<()>().await
}

/// A longer page is remembered by its main content alone.
const MAX_WHOLE_BYTES: usize = 1 << 20;

/// One check, while it is worked on.
pub struct CheckContext {
    pub store: Arc<dyn Store>,
    pub cpu_pool: CpuPool,
    pub tools: Arc<MonitorTools>,
    pub caller: Arc<Caller>,
    pub plan: MonitorPlan,
    pub monitor: Uuid,
    pub team: Uuid,
    pub lease: CheckLease,
    /// Credits that were set aside for it, where the team's plan has a limit.
    pub reservation: Option<Uuid>,
    pub counts: Mutex<CheckCounts>,
}

/// What a check came to so far.
#[derive(Debug, Default)]
pub struct CheckCounts {
    pub summary: CheckSummary,
    pub credits: i64,
    /// New pages that are no news: the monitor knew none before, or they do not matter for its goal.
    pub quiet_new: u64,
    /// What there is to tell people so far.
    pub message: Option<CheckMessage>,
    written: HashSet<Vec<u8>>,
    targets: HashMap<Uuid, TargetCounts>,
}

#[derive(Debug, Default)]
struct TargetCounts {
    scrapes: Vec<String>,
    judged: u64,
    judge_credits: i64,
    degraded: Option<String>,
}

impl CheckCounts {
    fn add(&mut self, status: CheckPageStatus, credits: i64) {
        self.credits += credits;
        let summary = &mut self.summary;
        summary.total_pages += 1;
        match status {
            CheckPageStatus::Same => summary.same += 1,
            CheckPageStatus::New => summary.new += 1,
            CheckPageStatus::Changed => summary.changed += 1,
            CheckPageStatus::Removed => summary.removed += 1,
            CheckPageStatus::Error => summary.error += 1,
        }
    }

    fn add_view(&mut self, view: &CheckPageView, told_as: Option<PageStatus>) {
        let target = self.targets.entry(view.target_id).or_default();
        target.scrapes.extend(view.current_scrape_id.clone());
        let is_new = view.status == page_status_name(CheckPageStatus::New);
        self.quiet_new += u64::from(is_new && told_as.is_none());
    }
}

impl CheckContext {
    pub fn events(&self) -> CheckEvents<'_> {
        CheckEvents { plan: &self.plan, monitor: self.monitor, check: self.lease.check, team: self.team }
    }

    /// The kinds of noise that the goal is about.
    pub fn focus(&self) -> Focus {
        self.plan.goal.as_deref().map(Focus::from_goal).unwrap_or_default()
    }

    /// Whether no check before this one knew a page of the target.
    pub async fn is_first_check(&self, target: Uuid) -> Result<bool, Error> {
        let written = self.counts.lock().written.len();
        let limit = u32::try_from(written).unwrap_or(u32::MAX).saturating_add(1);
        let known = self.store.known_pages(self.monitor, target, limit).await.map_err(from_store)?;
        let counts = self.counts.lock();
        Ok(known.iter().all(|page| counts.written.contains(&page.key)))
    }

    pub fn is_written(&self, key: &[u8; 32]) -> bool {
        self.counts.lock().written.contains(key.as_slice())
    }

    /// Credits that no page is charged for, such as those of searches.
    pub fn add_credits(&self, credits: i64) {
        self.counts.lock().credits += credits;
    }

    pub fn count_judged(&self, target: Uuid, judged: &Judged) {
        let mut counts = self.counts.lock();
        let target = counts.targets.entry(target).or_default();
        target.judged += 1;
        target.judge_credits += judged.credits;
        if judged.degraded.is_some() {
            target.degraded.clone_from(&judged.degraded);
        }
    }

    /// Fills in what was counted for a target.
    pub fn add_counts(&self, result: &mut TargetResult) {
        let counts = self.counts.lock();
        let Some(target) = counts.targets.get(&result.target_id) else { return };
        if result.kind == "scrape" {
            result.expected_jobs = Some(target.scrapes.clone());
        }
        if target.judged > 0 {
            result.results_judged = Some(target.judged);
            result.judge_credits = Some(target.judge_credits);
            result.judge_degraded = Some(target.degraded.is_some());
            result.degraded_reason.clone_from(&target.degraded);
        }
    }

    /// Pages that were written before the check was taken up again.
    pub async fn load_written(&self) -> Result<(), Error> {
        let check = self.lease.check;
        let written = self.store.written_pages(check).await.map_err(from_store)?;
        let count = u32::try_from(written.len()).unwrap_or(u32::MAX);
        for page in written {
            let mut counts = self.counts.lock();
            counts.add(page.status, page.credits);
            counts.written.insert(page.key);
        }
        for skip in (0..count).step_by(PAGES_READ as usize) {
            for page in self.store.check_pages(check, None, PAGES_READ, skip).await.map_err(from_store)? {
                let read = stored_json::or_log(stored_json::unpack("a page of a check", &page.body));
                let Some(StoredCheckPage { view, told_as }) = read else { continue };
                self.counts.lock().add_view(&view, told_as);
                if let Some(told_as) = told_as {
                    self.tell_page(&view, told_as);
                }
            }
        }
        Ok(())
    }

    /// Reads a page as a scrape does, never from the cache. It is charged with the page of the check.
    pub async fn read_page(&self, url: &str, options: &ScrapeOptions) -> Result<ReadPage, Error> {
        let scraper = &self.tools.scraper;
        let mut plan = scraper.plan(&self.caller, &page_request(url, options)?)?;
        plan.formats.whole_markdown = true;
        let scraped = scraper.scrape_uncharged(&self.caller, plan, "monitor", &self.tools.base_url).await?;
        let Document { markdown, whole_markdown, json, metadata, screenshot, .. } = scraped.document;
        let page = ReadPage::from_parts(markdown, json, &metadata);
        let whole = whole_markdown.filter(|whole| whole.len() <= MAX_WHOLE_BYTES);
        Ok(ReadPage { credits: scraped.credits, whole, screenshot, ..page })
    }

    /// Writes a page of the check, with its webhooks.
    pub async fn write_page(
        &self,
        (target, url): (Uuid, &str),
        key: [u8; 32],
        outcome: PageOutcome,
    ) -> Result<(), Error> {
        let PageOutcome { mut view, status, snapshot, credits, news } = outcome;
        view.id = Uuid::now_v7();
        view.target_id = target;
        url.clone_into(&mut view.url);
        page_status_name(status).clone_into(&mut view.status);
        view.created_at = time::iso(time::now());
        let deliveries = self.events().page(&view);
        let told_as = told_as(status, &view, news);
        let stored = StoredCheckPage { view, told_as };
        let body = stored_json::pack("a page of a check", &stored).map_err(Error::internal)?;
        let view = stored.view;
        let reservation = self.reservation;
        let page =
            NewCheckPage { id: view.id, key, status, credits, reservation, body, snapshot, deliveries };
        let held = self.store.write_check_page(&self.lease, page).await.map_err(from_store)?;
        if !held {
            // Somebody else goes on with the check, or the monitor was deleted.
            return Err(Error::Cancelled);
        }
        let mut counts = self.counts.lock();
        counts.add(status, credits);
        counts.add_view(&view, told_as);
        drop(counts);
        if let Some(told_as) = told_as {
            self.tell_page(&view, told_as);
        }
        Ok(())
    }
}
