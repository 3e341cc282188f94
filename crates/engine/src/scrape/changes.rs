//! Change tracking: how a page compares with the last time this team looked at it. Its text is compared, or
//! the data that was taken from it, or both; each has its own snapshot.

use super::cache::without_anchor;
use super::plan::{ScrapePlan, TrackingFormat};
use crate::cpu_pool::CpuJob;
use crate::{Error, from_store};
use serde_json::Value;
use store::SnapshotStore;
use store::snapshots::NewSnapshot;
use stored_data::compression::{pack, unpack};
use stored_data::hashed_keys::KeyHasher;
use stored_data::time;
use uuid::Uuid;
use wire::SecretText;
use wire::scrape::ChangeTracking;

/// The page as it is now.
#[derive(Debug, Clone, Copy)]
pub struct ComparedPage<'a> {
    pub status: u16,
    pub markdown: &'a str,
    /// The extracted data, in json mode.
    pub data: Option<&'a Value>,
}

impl ComparedPage<'_> {
    /// A page that is gone leaves its snapshots where they are.
    fn is_gone(self) -> bool {
        matches!(self.status, 404 | 410)
    }
}

/// How a page compares with its last snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeStatus {
    New,
    Same,
    Changed,
    Removed,
}

impl ChangeStatus {
    fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// The outcome of one comparison: when the previous snapshot was taken, and what differs.
struct Comparison {
    at: Option<String>,
    status: ChangeStatus,
    differences: Option<Value>,
}

/// Compares the page with the last snapshots and replaces them.
pub async fn track(
    store: &dyn SnapshotStore,
    team: Uuid,
    plan: &ScrapePlan,
    tracking: &TrackingFormat,
    page: ComparedPage<'_>,
    job: &CpuJob,
) -> Result<ChangeTracking, Error> {
    let snapshots = Snapshots { store, team, plan, tag: tracking.tag.as_deref().unwrap_or_default(), job };
    let data = match (&tracking.json, page.data) {
        (Some(asked), Some(data)) => Some(snapshots.compare_data(page, data, &asked.identity()).await?),
        _ => None,
    };
    let text = if tracking.text { Some(snapshots.compare_text(page).await?) } else { None };
    let status = match (&text, &data) {
        (Some(text), Some(data)) if matches!(text.status, ChangeStatus::Same | ChangeStatus::New) => {
            if data.status == ChangeStatus::Changed { ChangeStatus::Changed } else { text.status }
        }
        (Some(one), _) | (None, Some(one)) => one.status,
        (None, None) => ChangeStatus::New,
    };
    let at = [&text, &data].into_iter().flatten().find_map(|compared| compared.at.clone());
    let diff = text.and_then(|text| text.differences).filter(|_| tracking.diff);
    let json = data.and_then(|data| data.differences);
    let change_status = status.name();
    Ok(ChangeTracking { previous_scrape_at: at, change_status, visibility: "visible", diff, json })
}

/// The snapshots of one address and tag.
struct Snapshots<'a> {
    store: &'a dyn SnapshotStore,
    team: Uuid,
    plan: &'a ScrapePlan,
    tag: &'a str,
    job: &'a CpuJob,
}

impl Snapshots<'_> {
    async fn compare_text(&self, page: ComparedPage<'_>) -> Result<Comparison, Error> {
        let key = self.key("snapshot", "");
        let Some((at, before)) = self.exchange(key, page, page.markdown.as_bytes()).await? else {
            return Ok(Comparison { at: None, status: ChangeStatus::New, differences: None });
        };
        let at = Some(at);
        if page.is_gone() {
            return Ok(Comparison { at, status: ChangeStatus::Removed, differences: None });
        }
        let (before, after) = (String::from_utf8_lossy(&before).into_owned(), page.markdown.to_owned());
        // A diff may take its two seconds on a large page.
        let diff = self.job.run_on(before.len() + after.len(), move || {
            text::diff::diff(&before, &after).map(serde_json::to_value).transpose()
        });
        let diff = diff.await?.map_err(Error::internal)?;
        let status = if diff.is_some() { ChangeStatus::Changed } else { ChangeStatus::Same };
        Ok(Comparison { at, status, differences: diff })
    }

    /// Data of another schema or prompt is other data, and has a history of its own.
    async fn compare_data(
        &self,
        page: ComparedPage<'_>,
        data: &Value,
        identity: &str,
    ) -> Result<Comparison, Error> {
        let key = self.key("snapshot of data", identity);
        let Some((at, before)) = self.exchange(key, page, data.to_string().as_bytes()).await? else {
            return Ok(Comparison { at: None, status: ChangeStatus::New, differences: None });
        };
        let at = Some(at);
        if page.is_gone() {
            return Ok(Comparison { at, status: ChangeStatus::Removed, differences: None });
        }
        let before: Value = serde_json::from_slice(&before).map_err(Error::internal)?;
        let changes = monitor::data::differences(&before, data);
        let status = if changes.is_empty() { ChangeStatus::Same } else { ChangeStatus::Changed };
        Ok(Comparison { at, status, differences: Some(Value::Object(changes)) })
    }

    fn key(&self, what: &str, more: &str) -> [u8; 32] {
        let mut fields = KeyHasher::new(what);
        fields.add(without_anchor(&self.plan.url).as_str());
        fields.add(self.tag);
        // What was seen with credentials is only compared with what was seen with the same ones.
        let credentials = &self.plan.access.credentials;
        if credentials.contain_secrets() {
            fields.add(&credentials.identity());
        }
        if let Some(SecretText(password)) = self.plan.parsers.password() {
            fields.add(&format!("password {password}"));
        }
        if !more.is_empty() {
            fields.add(more);
        }
        fields.finish()
    }

    /// Stores the new snapshot and returns the one before it.
    async fn exchange(
        &self,
        key: [u8; 32],
        page: ComparedPage<'_>,
        body: &[u8],
    ) -> Result<Option<(String, Vec<u8>)>, Error> {
        let previous = if page.is_gone() {
            self.store.snapshot(self.team, &key).await
        } else {
            let whole = body.to_vec();
            let packed = self.job.run_on(whole.len(), move || pack(&whole)).await?;
            let body = packed.map_err(Error::internal)?;
            let url = without_anchor(&self.plan.url).into();
            self.store
                .exchange_snapshot(self.team, NewSnapshot { key, url, tag: self.tag.to_owned(), body })
                .await
        };
        let Some(previous) = previous.map_err(from_store)? else { return Ok(None) };
        let (at, packed) = (time::iso(previous.taken_at), previous.body);
        let body = self.job.run_on(packed.len() * 8, move || unpack(&packed)).await?;
        Ok(Some((at, body.map_err(Error::internal)?)))
    }
}
