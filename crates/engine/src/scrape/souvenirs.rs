//! Pictures and files that a visit brought: kept as objects, their addresses put into the document.

use super::capture::Capture;
use super::plan::ScrapePlan;
use crate::files::Files;
use browser::ActionResult;
use uuid::Uuid;
use wire::WireError;
use wire::scrape::{ActionResults, Document, JavascriptReturn, ScrapedFrame};

/// Keeps the souvenirs of a capture. `base_url` is how the caller reaches this server.
pub async fn add(
    files: &Files,
    team: Uuid,
    base_url: &str,
    capture: &Capture,
    plan: &ScrapePlan,
    document: &mut Document,
) -> Result<(), WireError> {
    if let Some(picture) = &capture.souvenirs.screenshot {
        let address = files.keep(team, base_url, picture.bytes.clone().into(), picture.mime).await?;
        document.screenshot = Some(address);
    }
    if plan.access.actions.is_empty() {
        return Ok(());
    }
    let mut actions = ActionResults::default();
    for result in &capture.souvenirs.results {
        match result {
            ActionResult::Screenshot(picture) => {
                let kept = files.keep(team, base_url, picture.bytes.clone().into(), picture.mime).await?;
                actions.screenshots.push(kept);
            }
            ActionResult::Pdf(bytes) => {
                let kept = files.keep(team, base_url, bytes.clone().into(), "application/pdf").await?;
                actions.pdfs.push(kept);
            }
            ActionResult::Scrape { url, html } => {
                actions.scrapes.push(ScrapedFrame { url: url.clone(), html: html.clone() });
            }
            ActionResult::Javascript { kind, value } => {
                let (kind, value) = (kind.clone(), value.clone());
                actions.javascript_returns.push(JavascriptReturn { kind, value });
            }
        }
    }
    document.actions = Some(actions);
    Ok(())
}
