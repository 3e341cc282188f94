//! Mouse input: clicking elements where they are on the screen, and scrolling.

use super::{ActionError, POLL_INTERVAL, evaluate, js_string};
use crate::error::VisitError;
use crate::tab::Tab;
use net::Deadline;
use serde_json::json;
use tokio::time::sleep;

/// The most elements one action clicks.
const MAX_CLICKS: usize = 100;

/// Clicks the first element that matches a selector, or all of them, with real mouse events.
pub(super) async fn click(
    tab: &Tab,
    selector: &str,
    all: bool,
    appears: Deadline,
) -> Result<(), ActionError> {
    let count = format!("document.querySelectorAll({}).length", js_string(selector));
    let mut found: usize = evaluate(tab, &count).await?;
    while found == 0 && !appears.has_passed() {
        sleep(POLL_INTERVAL).await;
        found = evaluate(tab, &count).await?;
    }
    if found == 0 {
        return Err(ActionError::Action("no element matches the selector".into()));
    }
    let clicks = if all { found.min(MAX_CLICKS) } else { 1 };
    let document = tab.page.state().document.clone();
    let mut clicked = 0;
    for index in 0..clicks {
        // A click may navigate; then the other matches are gone.
        if clicked > 0 && tab.page.state().document != document {
            break;
        }
        match locate(tab, selector, index).await? {
            Some(point) => {
                click_at(tab, point).await?;
                clicked += 1;
            }
            // Of many elements some may be hidden; a single one may not.
            None if all => {}
            None => {
                return Err(ActionError::Action(
                    "the element is not visible, so it cannot be clicked".into(),
                ));
            }
        }
    }
    if clicked == 0 {
        return Err(ActionError::Action("none of the elements is visible".into()));
    }
    Ok(())
}

/// Scrolls to an element and returns its centre; `None` if it is not rendered.
async fn locate(tab: &Tab, selector: &str, index: usize) -> Result<Option<(f64, f64)>, VisitError> {
    let expression = format!(
        "(() => {{ const found = document.querySelectorAll({})[{index}]; if (!found) return null; \
         found.scrollIntoView({{ block: 'center', inline: 'center', behavior: 'instant' }}); \
         const box = [...found.getClientRects()].find(box => box.width > 0 && box.height > 0); \
         return box ? [box.x + box.width / 2, box.y + box.height / 2] : null; }})()",
        js_string(selector)
    );
    evaluate(tab, &expression).await
}

async fn click_at(tab: &Tab, (x, y): (f64, f64)) -> Result<(), VisitError> {
    let event = |kind: &str, buttons: u8| {
        let (button, count) = if kind == "mouseMoved" { ("none", 0) } else { ("left", 1) };
        let event = json!({
            "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": count,
        });
        tab.send("Input.dispatchMouseEvent", &event)
    };
    // Sent together: a page that navigates at the first event must not prevent the others.
    for response in [event("mouseMoved", 0), event("mousePressed", 1), event("mouseReleased", 0)] {
        tab.wait_for(response).await?;
    }
    Ok(())
}

/// Scrolls the page by one window height, or an element by its own height.
pub(super) async fn scroll(tab: &Tab, up: bool, selector: Option<&str>) -> Result<(), ActionError> {
    let sign = if up { "-" } else { "" };
    let expression = match selector {
        None => format!(
            "(() => {{ scrollBy({{ top: {sign}innerHeight, behavior: 'instant' }}); return true; }})()"
        ),
        Some(selector) => format!(
            "(() => {{ const found = document.querySelector({}); if (!found) return false; \
             found.scrollBy({{ top: {sign}found.clientHeight, behavior: 'instant' }}); return true; }})()",
            js_string(selector)
        ),
    };
    if evaluate::<bool>(tab, &expression).await? {
        Ok(())
    } else {
        Err(ActionError::Action("no element matches the selector".into()))
    }
}
