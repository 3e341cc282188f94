//! Change tracking: how a page compares with the last time this team looked at it. Its text is compared, or the data that was taken
//! from it, or both; each has its own snapshot.

use super::cache::{Fields, pack, unpack, without_anchor};
use super::plan::{ScrapePlan, Tracking};
use super::workbench::Job;
use crate::answers::differences;
use crate::{from_store, time};
use serde_json::Value;
use store::Store;
use store::snapshots::NewSnapshot;
use uuid::Uuid;
use wire::scrape::ChangeTracking;
use wire::{Kind, WireError};

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub struct Looked<'a> {
    pub status: u16,
    pub markdown: &'a str,
    /// In json mode.
    pub data: Option<&'a Value>,
}

impl Looked<'_> {
    /// A page that is gone leaves its snapshots where they are.
    fn is_gone(self) -> bool {
        matches!(self.status, 404 | 410)
    }
}

/// One comparison: when the last look was, and what differs where something does.
struct Compared {
    at: Option<String>,
    status: &'static str,
    told: Option<Value>,
}

/// Compares the page with the last snapshots and takes their place.
pub async fn track(
    store: &dyn Store,
    team: Uuid,
    plan: &ScrapePlan,
    tracking: &Tracking,
    looked: Looked<'_>,
    job: &Job,
) -> Result<ChangeTracking, WireError> {
    let shelf = Shelf { store, team, plan, tag: tracking.tag.as_deref().unwrap_or_default(), job };
    let data = match (&tracking.json, looked.data) {
        (Some(asked), Some(data)) => Some(shelf.compare_data(looked, data, &asked.identity()).await?),
        _ => None,
    };
    let text = if tracking.text { Some(shelf.compare_text(looked).await?) } else { None };
    let status = match (&text, &data) {
        (Some(text), Some(data)) if text.status == "same" || text.status == "new" => {
            if data.status == "changed" { "changed" } else { text.status }
        }
        (Some(one), _) | (None, Some(one)) => one.status,
        (None, None) => "new",
    };
    let at = [&text, &data].into_iter().flatten().find_map(|compared| compared.at.clone());
    let diff = text.and_then(|text| text.told).filter(|_| tracking.diff);
    let json = data.and_then(|data| data.told);
    Ok(ChangeTracking { previous_scrape_at: at, change_status: status, visibility: "visible", diff, json })
}

/// The snapshots of one address and tag.
struct Shelf<'a> {
    store: &'a dyn Store,
    team: Uuid,
    plan: &'a ScrapePlan,
    tag: &'a str,
    job: &'a Job,
}

impl Shelf<'_> {
    async fn compare_text(&self, looked: Looked<'_>) -> Result<Compared, WireError> {
        let key = self.key("snapshot", "");
        let Some((at, before)) = self.exchange(key, looked, looked.markdown.as_bytes()).await? else {
            return Ok(Compared { at: None, status: "new", told: None });
        };
        let at = Some(at);
        if looked.is_gone() {
            return Ok(Compared { at, status: "removed", told: None });
        }
        let (before, after) = (String::from_utf8_lossy(&before).into_owned(), looked.markdown.to_owned());
        // A diff may take its two seconds on a large page.
        let diff = self.job.run_on(before.len() + after.len(), move || {
            content::diff::diff(&before, &after).map(|diff| serde_json::to_value(diff).ok())
        });
        let diff = diff.await?;
        let status = if diff.is_some() { "changed" } else { "same" };
        Ok(Compared { at, status, told: diff.flatten() })
    }

    /// Data of another schema or prompt is other data, and has a history of its own.
    async fn compare_data(
        &self,
        looked: Looked<'_>,
        data: &Value,
        identity: &str,
    ) -> Result<Compared, WireError> {
        let key = self.key("snapshot of data", identity);
        let Some((at, before)) = self.exchange(key, looked, data.to_string().as_bytes()).await? else {
            return Ok(Compared { at: None, status: "new", told: None });
        };
        let at = Some(at);
        if looked.is_gone() {
            return Ok(Compared { at, status: "removed", told: None });
        }
        let before: Value = serde_json::from_slice(&before).map_err(|_| WireError::from(Kind::Internal))?;
        let changes = differences(&before, data);
        let status = if changes.is_empty() { "same" } else { "changed" };
        Ok(Compared { at, status, told: Some(Value::Object(changes)) })
    }

    fn key(&self, what: &str, more: &str) -> [u8; 32] {
        let mut fields = Fields::new(what);
        fields.add(without_anchor(&self.plan.url).as_str());
        fields.add(self.tag);
        // What was seen with credentials is only compared with what was seen with the same ones.
        let credentials = &self.plan.access.credentials;
        if credentials.are_secret() {
            fields.add(&credentials.identity());
        }
        if !more.is_empty() {
            fields.add(more);
        }
        fields.finish()
    }

    /// The last snapshot, whose place the new one takes.
    async fn exchange(
        &self,
        key: [u8; 32],
        looked: Looked<'_>,
        body: &[u8],
    ) -> Result<Option<(String, Vec<u8>)>, WireError> {
        let previous = if looked.is_gone() {
            self.store.snapshot(self.team, &key).await
        } else {
            let whole = body.to_vec();
            let packed = self.job.run_on(whole.len(), move || pack(&whole)).await?;
            let body = packed.map_err(|_| WireError::from(Kind::Internal))?;
            let url = without_anchor(&self.plan.url).into();
            self.store
                .exchange_snapshot(self.team, NewSnapshot { key, url, tag: self.tag.to_owned(), body })
                .await
        };
        let Some(previous) = previous.map_err(from_store)? else { return Ok(None) };
        let (at, packed) = (time::iso(previous.taken_at), previous.body);
        let body = self.job.run_on(packed.len() * 8, move || unpack(&packed)).await?;
        Ok(Some((at, body.map_err(|_| WireError::from(Kind::Internal))?)))
    }
}
