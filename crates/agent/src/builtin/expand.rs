//! Opens a page in a browser and clicks what it hides content behind, for as long as something new comes.

use crate::agent::Agent;
use crate::controls::{ControlKind, consent_rank};
use crate::run::{AccessError, ParsedPage};
use crate::{BrowserView, Phase};
use std::collections::HashSet;
use std::sync::Arc;

/// Reads the page after each click; what is new becomes part of the pages of the run. The trace says what failed.
pub(super) async fn expand(lead: &Agent<'_>, url: &str) -> Result<(), AccessError> {
    lead.progress(Phase::Working, "Opening the page in a browser: a button of it may show more").await;
    let opened = lead.open_browser(url).await?;
    let done = click_through(lead, opened).await;
    lead.close_browser().await;
    done
}

async fn click_through(lead: &Agent<'_>, mut view: BrowserView) -> Result<(), AccessError> {
    let mut page = lead.read_browser().await?;
    // Labels that have nothing more to show.
    let mut spent: HashSet<String> = HashSet::new();
    for _ in 0..lead.run.limits.clicks {
        let mut open = page.controls.iter().filter(|control| !spent.contains(&control.label));
        let next = open.find_map(|control| Some((control.clone(), reference(&view, &control.label)?)));
        let Some((control, target)) = next else { break };
        match click(lead, &view, &control.label, &target).await {
            Ok(now) => view = now,
            Err(error @ AccessError::CommandLimit) => return Err(error),
            // It is in the trace; another control may work.
            Err(_) => {
                spent.insert(control.label);
                continue;
            }
        }
        let now = lead.read_browser().await?;
        if control.kind == ControlKind::Tab || is_same(&page, &now) {
            spent.insert(control.label);
        }
        page = now;
    }
    Ok(())
}

/// Clicks; where that fails because a banner is in front of the page, the banner is answered first.
async fn click(
    lead: &Agent<'_>,
    view: &BrowserView,
    label: &str,
    target: &str,
) -> Result<BrowserView, AccessError> {
    let failed = match lead.act_in_browser(&format!("click {target}")).await {
        Ok(acted) => return Ok(acted.view),
        Err(error) => error,
    };
    let answers = view.elements.iter().filter_map(|(target, name)| Some((consent_rank(name)?, target)));
    let Some((_, answer)) = answers.min() else { return Err(failed) };
    let view = lead.act_in_browser(&format!("click {answer}")).await?.view;
    let target = reference(&view, label).ok_or(failed)?;
    Ok(lead.act_in_browser(&format!("click {target}")).await?.view)
}

fn reference(view: &BrowserView, label: &str) -> Option<String> {
    view.elements.iter().find(|(_, name)| name == label).map(|(target, _)| target.clone())
}

fn is_same(before: &Arc<ParsedPage>, now: &Arc<ParsedPage>) -> bool {
    let length = |parsed: &ParsedPage| parsed.page.dom().text_len(parsed.page.dom().root());
    before.url == now.url && before.markdown == now.markdown && length(before) == length(now)
}
