//! Screenshots, PDFs and action results of a visit in the browser: stored as files, with their addresses in
//! the document.

use super::fetched_page::FetchedPage;
use super::plan::ScrapePlan;
use crate::Error;
use crate::files::Files;
use browser::ActionResult;
use uuid::Uuid;
use wire::scrape::{ActionResults, Document, JavascriptReturn, ScrapedFrame};

/// Stores the browser's outputs and adds them to the document. `base_url` is how the caller reaches this
/// server.
pub async fn store_outputs(
    files: &Files,
    team: Uuid,
    base_url: &str,
    fetched: &FetchedPage,
    plan: &ScrapePlan,
    document: &mut Document,
) -> Result<(), Error> {
    if let Some(picture) = &fetched.browser_outputs.screenshot {
        let address = files.keep(team, base_url, picture.bytes.clone().into(), picture.mime).await?;
        document.screenshot = Some(address);
    }
    if plan.access.actions.is_empty() {
        return Ok(());
    }
    let mut actions = ActionResults::default();
    for result in &fetched.browser_outputs.results {
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
