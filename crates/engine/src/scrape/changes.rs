//! Change tracking: how a page compares with the last time this team looked at it.

use super::cache::{Fields, pack, unpack, without_fragment};
use super::plan::{ScrapePlan, Tracking};
use crate::{from_store, time};
use store::Store;
use store::snapshots::NewSnapshot;
use uuid::Uuid;
use wire::scrape::ChangeTracking;
use wire::{Kind, WireError};

/// Compares the page with the last snapshot and takes its place. A page that is gone leaves the snapshot where it is.
pub async fn track(
    store: &dyn Store,
    team: Uuid,
    plan: &ScrapePlan,
    tracking: &Tracking,
    status: u16,
    markdown: &str,
) -> Result<ChangeTracking, WireError> {
    let tag = tracking.tag.as_deref().unwrap_or_default();
    let url = without_fragment(&plan.url);
    let mut fields = Fields::new("snapshot");
    fields.add(url.as_str());
    fields.add(tag);
    let key = fields.finish();
    let gone = matches!(status, 404 | 410);
    let previous = if gone {
        store.snapshot(team, &key).await
    } else {
        let body = pack(markdown.as_bytes()).map_err(|_| WireError::from(Kind::Internal))?;
        let new = NewSnapshot { key, url: url.into(), tag: tag.to_owned(), body };
        store.exchange_snapshot(team, new).await
    };
    let Some(previous) = previous.map_err(from_store)? else {
        return Ok(answer(None, "new", None));
    };
    let at = Some(time::iso(previous.taken_at));
    if gone {
        return Ok(answer(at, "removed", None));
    }
    let before = unpack(&previous.body).map_err(|_| WireError::from(Kind::Internal))?;
    let (before, after) = (String::from_utf8_lossy(&before).into_owned(), markdown.to_owned());
    // A diff may take its two seconds on a large page.
    let diff = tokio::task::spawn_blocking(move || content::diff::diff(&before, &after));
    let diff = diff.await.map_err(|_| WireError::from(Kind::Internal))?;
    let status = if diff.is_some() { "changed" } else { "same" };
    let shown = diff.filter(|_| tracking.diff).and_then(|diff| serde_json::to_value(diff).ok());
    Ok(answer(at, status, shown))
}

fn answer(
    previous_scrape_at: Option<String>,
    change_status: &'static str,
    diff: Option<serde_json::Value>,
) -> ChangeTracking {
    ChangeTracking { previous_scrape_at, change_status, visibility: "visible", diff }
}
