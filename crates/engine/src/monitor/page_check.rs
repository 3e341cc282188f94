//! One page of a check: read until it is clear whether it changed, compared, judged, and written with its
//! snapshot, its credits and its webhooks.

use super::context::CheckContext;
use super::judging::{Judged, JudgedChange, judge_change};
use super::page_options::Compared;
use super::read_page::{FailedRead, ReadPage};
use super::stored_page::{KeptScreenshot, StoredPage, page_key};
use crate::{Error, from_store};
use jiff::Timestamp;
use monitor::data::{self, DataRead};
use monitor::noise::NoiseKind;
use monitor::page::{CheckStep, CheckedPage, Ignored, PageChange, PageRead, first_step, next_step};
use net::Deadline;
use serde_json::{Map, Value, json};
use std::time::Duration;
use store::monitors::{CheckPageStatus, SnapshotChange};
use stored_data::{stored_json, time};
use text::diff::Diff;
use uuid::Uuid;
use wire::monitor::{CheckPageView, DiffView, SnapshotView};

/// How long after a read the page is read again, where a difference or a failure has to be confirmed.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(3);
/// Reads that may fail before the page counts as one that cannot be read.
const MAX_FAILED_READS: usize = 2;
/// How long comparing two versions may take.
const COMPARE_TIMEOUT: Duration = Duration::from_secs(30);

/// A page that is checked.
#[derive(Debug, Clone, Copy)]
pub struct PageTask<'a> {
    pub target: Uuid,
    pub url: &'a str,
    pub compared: Compared,
    /// The monitor names the page itself: it stays known when it is gone. One that a crawl found does not.
    pub is_named: bool,
    /// No check before this one knew a page of the target: its pages are new to the monitor, not to the
    /// world.
    pub is_first_check: bool,
}

/// What became of a page.
pub struct PageOutcome {
    pub view: CheckPageView,
    pub status: CheckPageStatus,
    pub snapshot: SnapshotChange,
    pub credits: i64,
    pub news: PageNews,
}

/// What decides, besides its status, whether people are told of a page.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageNews {
    /// The page is new to the monitor, not to the world.
    pub is_first: bool,
    /// Checks that could not read it, with this one if it could not; or those that ended with this one.
    pub errors_in_a_row: u32,
}

/// What changed on a page. One of both is there.
struct PageDifference {
    text: Option<Diff>,
    data: Option<Value>,
}

impl CheckContext {
    /// Checks one page. `read` reads it; it is called up to five times.
    pub async fn check_page<F>(&self, page: PageTask<'_>, mut read: impl FnMut() -> F) -> Result<(), Error>
    where
        F: Future<Output = Result<ReadPage, Error>>,
    {
        let key = page_key(page.target, page.url);
        if self.is_written(&key) {
            return Ok(());
        }
        let stored = self.stored_page(&key).await?;
        let errors = stored.as_ref().map_or(0, |stored| stored.errors_in_a_row);
        let before = stored.filter(|stored| !stored.is_unread);
        let mut reads: Vec<ReadPage> = Vec::new();
        let mut failed_reads = 0;
        let outcome = loop {
            let failed = match read().await {
                Err(error) if matches!(error, Error::Cancelled | Error::Store(_)) => return Err(error),
                Err(error) => FailedRead::from_error(&error),
                Ok(read) if read.status >= 400 || read.wall.is_some() => FailedRead::from_page(read),
                Ok(read) => {
                    // A page that the monitor names is read twice at first, to learn what changes by itself.
                    // A whole site is not: what differs later is read again then.
                    if before.is_none() && !page.is_named {
                        reads.push(read.clone());
                    }
                    reads.push(read);
                    let known = before.as_ref().filter(|before| !before.is_removed);
                    if let Some(checked) = self.next_step(page.compared, known, &reads).await? {
                        break Some(self.outcome(page, (before.as_ref(), errors), &reads, checked).await?);
                    }
                    tokio::time::sleep(READ_AGAIN_AFTER).await;
                    continue;
                }
            };
            failed_reads += 1;
            if failed_reads >= MAX_FAILED_READS {
                break failed_outcome(page, (before.as_ref(), errors), failed)?;
            }
            tokio::time::sleep(READ_AGAIN_AFTER).await;
        };
        match outcome {
            Some(outcome) => self.write_page((page.target, page.url), key, outcome).await,
            None => Ok(()),
        }
    }

    pub async fn stored_page(&self, key: &[u8; 32]) -> Result<Option<StoredPage>, Error> {
        let found = self.store.monitor_snapshot(self.monitor, key).await.map_err(from_store)?;
        Ok(found.and_then(|found| stored_json::or_log(stored_json::unpack("a snapshot", &found.body))))
    }

    /// Asks the detector, off the threads that serve requests. `None` when the page must be read again.
    async fn next_step(
        &self,
        compared: Compared,
        before: Option<&StoredPage>,
        reads: &[ReadPage],
    ) -> Result<Option<CheckedPage>, Error> {
        let bytes_of = |page: &ReadPage| page.text.len() + page.whole.as_ref().map_or(0, String::len);
        let bytes = reads.iter().map(bytes_of).sum::<usize>();
        let (before, reads) = (before.cloned(), reads.to_vec());
        let focus = if compared.links { self.focus().with(NoiseKind::LinkTarget) } else { self.focus() };
        let job = self.cpu_pool.job(self.team, "monitor", Deadline::after(COMPARE_TIMEOUT));
        let step = job.run_on(bytes, move || {
            let reads: Vec<PageRead> =
                reads.iter().map(|page| page_read(page.read_at, &page.text, page.whole.as_ref())).collect();
            match &before {
                None => first_step(&reads, &focus),
                Some(before) => {
                    let read = page_read(before.read_at, &before.text, before.whole.as_ref());
                    next_step(read, &reads, &before.history, &focus)
                }
            }
        });
        Ok(match step.await? {
            CheckStep::ReadAgain => None,
            CheckStep::Done(checked) => Some(*checked),
        })
    }

    async fn outcome(
        &self,
        task: PageTask<'_>,
        (before, errors): (Option<&StoredPage>, u32),
        reads: &[ReadPage],
        checked: CheckedPage,
    ) -> Result<PageOutcome, Error> {
        let CheckedPage { change, ignored, ignored_unlisted, history, new_version, new_text } = checked;
        let last = reads.last().cloned().unwrap_or_default();
        let page = new_version.and_then(|place| reads.get(place)).unwrap_or(&last);
        // Reading a page again is our doubt, and not charged for.
        let credits = reads.first().map_or(0, |first| first.credits);
        let mut view = CheckPageView {
            current_scrape_id: page.scrape_id.clone(),
            previous_scrape_id: before.and_then(|before| before.scrape_id.clone()),
            status_code: Some(page.status),
            metadata: page_metadata((&ignored, ignored_unlisted), page, task.url),
            ..CheckPageView::default()
        };
        let difference = match (before.filter(|before| !before.is_removed), change) {
            (_, PageChange::Unreadable(reason)) => {
                view.error = Some(reason.message().to_owned());
                // How often it was so decides when it is the page.
                let before = before.map(|before| StoredPage { history, ..before.clone() });
                let (status, snapshot) =
                    (CheckPageStatus::Error, after_error(task, before.as_ref(), errors)?);
                let news = PageNews { is_first: false, errors_in_a_row: errors.saturating_add(1) };
                return Ok(PageOutcome { view, status, snapshot, credits, news });
            }
            (None, _) => None,
            (Some(before), change) => Some(self.difference(task.compared, before, page, change)),
        };
        let status = match &difference {
            None => CheckPageStatus::New,
            Some(None) => CheckPageStatus::Same,
            Some(Some(_)) => CheckPageStatus::Changed,
        };
        if task.compared.data {
            // Clients accept an object and nothing else.
            let data = page.data.clone().filter(Value::is_object);
            view.snapshot = data.map(|data| SnapshotView { json: Some(data) });
        }
        let mut judged = Judged::default();
        if let Some(Some(difference)) = difference {
            judged = self.judge_difference(task, &difference).await;
            view.judgment.clone_from(&judged.judgment);
            view.diff = Some(diff_view(difference)?);
        }
        let is_changed = matches!(status, CheckPageStatus::New | CheckPageStatus::Changed);
        let screenshot = self.keep_screenshot(before, page, is_changed).await;
        add_screenshots(&mut view, before, screenshot.as_ref(), is_changed);
        let kept = match (status, before) {
            // What was learnt is kept; the version that is compared with stays.
            (CheckPageStatus::Same, Some(before)) => {
                // A version that was stored without the whole page gets it where it is the same one.
                let read_whole = page.whole.clone().filter(|_| before.text == page.text);
                let whole = before.whole.clone().or(read_whole);
                StoredPage { history, errors_in_a_row: 0, screenshot, whole, ..before.clone() }
            }
            _ => StoredPage {
                read_at: page.read_at,
                scrape_id: page.scrape_id.clone(),
                text: new_text.unwrap_or_else(|| page.text.clone()),
                whole: page.whole.clone(),
                data: page.data.clone(),
                history,
                screenshot,
                ..StoredPage::default()
            },
        };
        let snapshot = kept.to_change(task.target, task.url)?;
        let is_first = before.is_none() && (task.is_named || task.is_first_check);
        let news = PageNews { is_first, errors_in_a_row: errors };
        Ok(PageOutcome { view, status, snapshot, credits: credits + judged.credits, news })
    }

    /// Keeps the screenshot of a version that later checks compare with. That of a page that stays the same
    /// is taken anew before it expires.
    async fn keep_screenshot(
        &self,
        before: Option<&StoredPage>,
        page: &ReadPage,
        is_changed: bool,
    ) -> Option<KeptScreenshot> {
        let known = before.and_then(|before| before.screenshot.clone());
        let retain_for = self.plan.retain_for();
        let half = i64::try_from(retain_for.as_millis() / 2).unwrap_or(i64::MAX);
        let is_fresh = |kept: &KeptScreenshot| time::now().saturating_sub(kept.kept_at) < half;
        let Some(address) = page.screenshot.as_deref() else { return known.filter(|_| !is_changed) };
        if !is_changed && known.as_ref().is_some_and(is_fresh) {
            return known;
        }
        // Twice as long: it is shown with a check that ends when this version does.
        match self.tools.services.files.keep_copy(self.team, address, retain_for * 2).await {
            Ok(name) => name.map(|name| KeptScreenshot { name, kept_at: time::now() }),
            Err(error) => {
                tracing::warn!(%error, "a screenshot of a monitor could not be kept");
                None
            }
        }
    }

    fn difference(
        &self,
        compared: Compared,
        before: &StoredPage,
        page: &ReadPage,
        change: PageChange,
    ) -> Option<PageDifference> {
        let read = |at, data| DataRead { at: timestamp(at), data };
        // Other data of the same text is the doubt of whoever reads it, and no change.
        let data = match (&before.data, &page.data) {
            (Some(previous), Some(current)) if compared.data && before.text != page.text => {
                let changes =
                    data::compare(read(before.read_at, previous), read(page.read_at, current), &self.focus());
                changes.map(|changes| Value::Object(changes.into_map()))
            }
            _ => None,
        };
        let text = match change {
            PageChange::Changed(changed) if compared.text => Some(changed.into_diff()),
            _ => None,
        };
        (text.is_some() || data.is_some()).then_some(PageDifference { text, data })
    }

    async fn judge_difference(&self, task: PageTask<'_>, difference: &PageDifference) -> Judged {
        let Some(goal) = self.plan.judged_goal() else { return Judged::default() };
        let change = match (&difference.data, &difference.text) {
            (Some(data), _) => JudgedChange::Data(data),
            (None, Some(text)) => JudgedChange::Text(text),
            (None, None) => return Judged::default(),
        };
        let judged = judge_change(&self.tools.services.models, goal, task.url, change).await;
        self.count_judged(task.target, &judged);
        judged
    }
}

fn diff_view(difference: PageDifference) -> Result<DiffView, Error> {
    let PageDifference { text, data } = difference;
    let (text, tree) = match text {
        Some(diff) => (Some(diff.text), Some(serde_json::to_value(diff.json).map_err(Error::internal)?)),
        None => (None, None),
    };
    Ok(DiffView { text, json: data.or(tree) })
}

/// A page that was there is removed; one that never was cannot be read, or is none of the site.
fn failed_outcome(
    task: PageTask<'_>,
    (before, errors): (Option<&StoredPage>, u32),
    failed: FailedRead,
) -> Result<Option<PageOutcome>, Error> {
    let FailedRead { error, page } = failed;
    let is_gone = page.as_ref().is_some_and(ReadPage::is_gone);
    let mut view = CheckPageView {
        status_code: page.as_ref().map(|page| page.status),
        previous_scrape_id: before.and_then(|before| before.scrape_id.clone()),
        current_scrape_id: page.as_ref().and_then(|page| page.scrape_id.clone()),
        ..CheckPageView::default()
    };
    let (status, snapshot) = match (is_gone, before) {
        (true, Some(before)) if before.is_removed => (CheckPageStatus::Same, SnapshotChange::Keep),
        (true, Some(before)) if task.is_named => {
            let removed = StoredPage { is_removed: true, errors_in_a_row: 0, ..before.clone() };
            (CheckPageStatus::Removed, removed.to_change(task.target, task.url)?)
        }
        (true, Some(_)) => (CheckPageStatus::Removed, SnapshotChange::Delete),
        (true, None) if !task.is_named => return Ok(None),
        _ => {
            view.error = Some(error);
            (CheckPageStatus::Error, after_error(task, before, errors)?)
        }
    };
    let credits = page.map_or(0, |page| page.credits);
    let errors_in_a_row = errors.saturating_add(u32::from(status == CheckPageStatus::Error));
    let news = PageNews { is_first: false, errors_in_a_row };
    Ok(Some(PageOutcome { view, status, snapshot, credits, news }))
}

/// The snapshot after a check that could not read the page: what is compared with stays, and the error
/// counts.
fn after_error(
    task: PageTask<'_>,
    before: Option<&StoredPage>,
    errors: u32,
) -> Result<SnapshotChange, Error> {
    // A page of a site that was never read is not one of the site's pages.
    if before.is_none() && !task.is_named {
        return Ok(SnapshotChange::Keep);
    }
    let is_unread = before.is_none();
    let before = before.cloned().unwrap_or_default();
    let errors_in_a_row = errors.saturating_add(1);
    StoredPage { is_unread, errors_in_a_row, ..before }.to_change(task.target, task.url)
}

/// The screenshots of a page that changed, by the names of their files.
fn add_screenshots(
    view: &mut CheckPageView,
    before: Option<&StoredPage>,
    current: Option<&KeptScreenshot>,
    is_changed: bool,
) {
    let previous = before.and_then(|before| before.screenshot.as_ref());
    if !is_changed || (previous.is_none() && current.is_none()) {
        return;
    }
    let name = |screenshot: Option<&KeptScreenshot>| screenshot.map(|screenshot| screenshot.name.clone());
    let pair = json!({ "previous": name(previous), "current": name(current) });
    view.metadata.get_or_insert_default().insert("screenshots".to_owned(), pair);
}

fn page_metadata(
    (ignored, unlisted): (&[Ignored], usize),
    page: &ReadPage,
    url: &str,
) -> Option<Map<String, Value>> {
    let mut metadata = Map::new();
    if !ignored.is_empty() {
        metadata.insert("ignored".to_owned(), json!(ignored));
    }
    if unlisted > 0 {
        metadata.insert("ignoredUnlisted".to_owned(), json!(unlisted));
    }
    if let Some(final_url) = page.final_url.as_ref().filter(|final_url| *final_url != url) {
        metadata.insert("url".to_owned(), json!(final_url));
    }
    Some(metadata).filter(|metadata| !metadata.is_empty())
}

fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn page_read<'a>(at: i64, text: &'a str, whole: Option<&'a String>) -> PageRead<'a> {
    PageRead { at: timestamp(at), text, whole: whole.map(String::as_str) }
}
