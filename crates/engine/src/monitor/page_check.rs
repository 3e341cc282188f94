//! One page of a check: read until it is clear whether it changed, compared, judged, and written with its
//! snapshot, its credits and its webhooks.

use super::context::CheckContext;
use super::judging::{Judged, JudgedChange, judge_change};
use super::page_options::Compared;
use super::read_page::{FailedRead, ReadPage};
use super::stored_page::{StoredPage, page_key};
use crate::{Error, from_store, stored_json};
use jiff::Timestamp;
use monitor::data::{self, DataRead};
use monitor::page::{CheckStep, CheckedPage, Ignored, PageChange, PageRead, first_step, next_step};
use net::Deadline;
use serde_json::{Map, Value, json};
use std::time::Duration;
use store::monitors::{CheckPageStatus, SnapshotChange};
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
}

/// What became of a page.
pub struct PageOutcome {
    pub view: CheckPageView,
    pub status: CheckPageStatus,
    pub snapshot: SnapshotChange,
    pub credits: i64,
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
        let before = self.stored_page(&key).await?;
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
                    if let Some(checked) = self.next_step(known, &reads).await? {
                        break Some(self.outcome(page, before.as_ref(), &reads, checked).await?);
                    }
                    tokio::time::sleep(READ_AGAIN_AFTER).await;
                    continue;
                }
            };
            failed_reads += 1;
            if failed_reads >= MAX_FAILED_READS {
                break failed_outcome(page, before.as_ref(), failed)?;
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
        before: Option<&StoredPage>,
        reads: &[ReadPage],
    ) -> Result<Option<CheckedPage>, Error> {
        let bytes = reads.iter().map(|page| page.text.len()).sum::<usize>();
        let (before, reads) = (before.cloned(), reads.to_vec());
        let focus = self.focus();
        let job = self.cpu_pool.job(self.team, "monitor", Deadline::after(COMPARE_TIMEOUT));
        let step = job.run_on(bytes, move || {
            let reads: Vec<PageRead> =
                reads.iter().map(|page| PageRead { at: timestamp(page.read_at), text: &page.text }).collect();
            match &before {
                None => first_step(&reads, &focus),
                Some(before) => {
                    let read = PageRead { at: timestamp(before.read_at), text: &before.text };
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
        before: Option<&StoredPage>,
        reads: &[ReadPage],
        checked: CheckedPage,
    ) -> Result<PageOutcome, Error> {
        let CheckedPage { change, ignored, history, new_version } = checked;
        let last = reads.last().cloned().unwrap_or_default();
        let page = new_version.and_then(|place| reads.get(place)).unwrap_or(&last);
        // Reading a page again is our doubt, and not charged for.
        let credits = reads.first().map_or(0, |first| first.credits);
        let mut view = CheckPageView {
            current_scrape_id: page.scrape_id.clone(),
            previous_scrape_id: before.and_then(|before| before.scrape_id.clone()),
            status_code: Some(page.status),
            metadata: page_metadata(&ignored, page, task.url),
            ..CheckPageView::default()
        };
        let difference = match (before.filter(|before| !before.is_removed), change) {
            (_, PageChange::Unreadable(reason)) => {
                view.error = Some(reason.message().to_owned());
                let (status, snapshot) = (CheckPageStatus::Error, SnapshotChange::Keep);
                return Ok(PageOutcome { view, status, snapshot, credits });
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
        let kept = match (status, before) {
            // What was learnt is kept; the version that is compared with stays.
            (CheckPageStatus::Same, Some(before)) => StoredPage { history, ..before.clone() },
            _ => StoredPage {
                read_at: page.read_at,
                scrape_id: page.scrape_id.clone(),
                text: page.text.clone(),
                data: page.data.clone(),
                history,
                ..StoredPage::default()
            },
        };
        let snapshot = kept.to_change(task.target, task.url)?;
        Ok(PageOutcome { view, status, snapshot, credits: credits + judged.credits })
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
    before: Option<&StoredPage>,
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
            let removed = StoredPage { is_removed: true, ..before.clone() };
            (CheckPageStatus::Removed, removed.to_change(task.target, task.url)?)
        }
        (true, Some(_)) => (CheckPageStatus::Removed, SnapshotChange::Delete),
        (true, None) if !task.is_named => return Ok(None),
        _ => {
            view.error = Some(error);
            (CheckPageStatus::Error, SnapshotChange::Keep)
        }
    };
    let credits = page.map_or(0, |page| page.credits);
    Ok(Some(PageOutcome { view, status, snapshot, credits }))
}

fn page_metadata(ignored: &[Ignored], page: &ReadPage, url: &str) -> Option<Map<String, Value>> {
    let mut metadata = Map::new();
    if !ignored.is_empty() {
        metadata.insert("ignored".to_owned(), json!(ignored));
    }
    if let Some(final_url) = page.final_url.as_ref().filter(|final_url| *final_url != url) {
        metadata.insert("url".to_owned(), json!(final_url));
    }
    Some(metadata).filter(|metadata| !metadata.is_empty())
}

fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}
