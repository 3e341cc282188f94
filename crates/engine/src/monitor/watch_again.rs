//! Watching a line again that a monitor had learnt to ignore.

use super::manage::{Monitors, refuse_zero_retention};
use super::page_options::compared;
use super::plan::MonitorPlan;
use super::stored_page::{StoredPage, page_key};
use super::targets::{Target, TargetWork};
use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use monitor::noise::{Focus, NoiseKind};
use monitor::page::{PageRead, watch_again};
use store::monitors::RewrittenSnapshot;
use stored_data::stored_json;
use uuid::Uuid;
use wire::monitor::{WatchAgainRequest, WatchAgainResponse};
use wire::{Issue, Kind};

const MAX_LINE_CHARS: usize = 2_000;

impl Monitors {
    /// Forgets what was learnt of a line of a page, or of the whole page. Refused while a check is at work, which
    /// would write what it knows over it.
    pub fn watch_again<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        asked: &'a WatchAgainRequest,
    ) -> BoxFuture<'a, Result<WatchAgainResponse, Error>> {
        Box::pin(async move {
            refuse_zero_retention(caller)?;
            let monitor = self.find(caller, id).await?;
            let plan = MonitorPlan::from_json(&monitor.request)?;
            let url = asked.url.as_deref().unwrap_or_default();
            if url.is_empty() {
                return Err(Error::invalid(&[Issue::at("url", "required", "invalid_type")]));
            }
            let line = asked.line.as_deref();
            if line.is_some_and(|line| line.trim().is_empty() || line.chars().count() > MAX_LINE_CHARS) {
                let issue = Issue::at("line", "must be 1 to 2000 characters", "invalid_value");
                return Err(Error::invalid(&[issue]));
            }
            let (mut forgotten, mut is_known) = (0, false);
            for target in &plan.targets {
                let Some(focus) = focus(&plan, target) else { continue };
                let key = page_key(target.id, url);
                let found = self.store.monitor_snapshot(id, &key).await.map_err(from_store)?;
                let Some(snapshot) = found else { continue };
                is_known = true;
                let mut page: StoredPage =
                    stored_json::unpack("a snapshot", &snapshot.body).map_err(Error::internal)?;
                let at = Timestamp::from_millisecond(page.read_at).unwrap_or(Timestamp::UNIX_EPOCH);
                let read = PageRead { at, text: &page.text, whole: None };
                let count = watch_again(&mut page.history, read, line, &focus);
                if count == 0 {
                    continue;
                }
                let body = stored_json::pack("a snapshot", &page).map_err(Error::internal)?;
                let written = self.store.rewrite_snapshot(caller.team, id, &key, &snapshot, body);
                match written.await.map_err(from_store)? {
                    RewrittenSnapshot::Rewritten => forgotten += count,
                    RewrittenSnapshot::CheckRunning => return Err(Kind::CheckRunning.into()),
                    RewrittenSnapshot::NotFound => return Err(Kind::MonitorNotFound.into()),
                }
            }
            if !is_known {
                let message = "is no page that a check of this monitor has read";
                return Err(Error::invalid(&[Issue::at("url", message, "invalid_value")]));
            }
            Ok(WatchAgainResponse { success: true, forgotten: u64::try_from(forgotten).unwrap_or(u64::MAX) })
        })
    }
}

/// What the pages of a target are compared by; none for searches, whose results are not compared so.
fn focus(plan: &MonitorPlan, target: &Target) -> Option<Focus> {
    let focus = plan.goal.as_deref().map(Focus::from_goal).unwrap_or_default();
    let links = match &target.work {
        TargetWork::Scrape { options, .. } => compared(options).links,
        TargetWork::Crawl { request, .. } => {
            request.scrape_options.as_ref().is_some_and(|options| compared(options).links)
        }
        TargetWork::Search { .. } => return None,
    };
    Some(if links { focus.with(NoiseKind::LinkTarget) } else { focus })
}
